"""``reelscore ensemble``."""

from __future__ import annotations

import math

import click

from reelscore.cli.file_options import FilesCommand, refs_option
from reelscore.cli.messages import as_options
from reelscore.cli.options import json_option, number_option, seed_option
from reelscore.cli.table_options import (
    People,
    human_option,
    read_tables,
    tables_argument,
    with_sources,
)
from reelscore.cli.terminal import (
    STDOUT,
    check_targets,
    show_notes,
    show_signature,
    terminal_width,
    write_json,
)
from reelscore.learned.ensemble import Ensemble, fit_ensemble
from reelscore.learned.metrics.fusion import write_coefficients
from reelscore.report.tables.grid import Cell, Grid

_UNKNOWN = (
    "The items are not known without their references: scoring them again by these weights gives "
    "no warning. Give --refs."
)


@click.command("ensemble", cls=FilesCommand)
@tables_argument
@human_option(required=True)
@click.option("--metrics", "-m", metavar="LIST", help="Which scores to combine; all if not given.")
@refs_option("References of the items, by which the ensemble knows them again")
@number_option("--folds", default=5, least=2, help="Into how many parts the items are divided.")
@seed_option
@click.option(
    "--output", "-o", required=True, metavar="FILE", help="Where to write the weights, as JSON."
)
@json_option
def command(
    tables: tuple[str, ...],
    human: People,
    metrics: str | None,
    refs: tuple[str, ...],
    folds: int,
    seed: int,
    output: str,
    json_file: str | None,
) -> None:
    """Combine metrics by weights fitted to people's scores, and measure it on unseen items.

    TABLEs hold scores with signatures, as 'reelscore score --table FILE.json' writes them. The
    weights are then used by the metric: -m 'ensemble|weights:FILE'.

    \b
    Examples:
      reelscore ensemble scores.json --human judgments.csv -r refs.json -o ours.json
      reelscore ensemble scores.json --human da.csv -m meteor,sts,judge -o ours.json
    """
    check_targets(output, json_file)
    names = None if metrics is None else [each.strip() for each in metrics.split(",")]
    people, table = human.read(), with_sources(read_tables(tables), (), refs)
    fitted = fit_ensemble(table, people, metrics=names, folds=folds, seed=seed)
    write_coefficients(output, fitted.coefficients)
    if json_file:
        write_json(json_file, {**vars(fitted), "coefficients": fitted.coefficients.weights})
    if json_file == STDOUT:
        return
    click.echo(_grid(fitted).to_text(terminal_width()) + "\n")
    parts = [r for r in fitted.parts if not math.isnan(r)]
    spread = f"; in the {folds} parts {min(parts):.3f} to {max(parts):.3f}" if parts else ""
    unknown = not fitted.coefficients.training_items
    about = (
        "Pearson's r with people. Each caption's ensemble score was made with weights fitted on "
        f"the items of other parts{spread}. equal: the sum of all standardised scores."
    )
    show_notes([about, *[_UNKNOWN] * unknown, *map(as_options, people.notes)])
    show_signature(f"ensemble|weights:{output}")


def _grid(fitted: Ensemble) -> Grid:
    weights = {name: f"{weight:.4g}" for name, weight in fitted.coefficients.weights.items()}
    rows = [
        (name, weights.get(name, ""), _shown(fitted.captions[name]), _shown(fitted.systems[name]))
        for name in fitted.captions
    ]
    heads = ["score", "weight", "r captions", "r systems"]
    return Grid(heads, [list(map(Cell, row)) for row in rows])


def _shown(r: float) -> str:
    return "" if math.isnan(r) else f"{r:.3f}"
