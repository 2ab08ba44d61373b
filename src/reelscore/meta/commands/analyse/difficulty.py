"""``reelscore analyse difficulty``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click
import numpy as np

from reelscore.cli.commands.score import tokenizer_option
from reelscore.cli.file_options import FilesCommand, read_captions, reading_options, refs_option
from reelscore.cli.options import (
    json_option,
    metric_option,
    number_option,
    plot_option,
    threads_option,
)
from reelscore.cli.terminal import (
    STDOUT,
    check_targets,
    progress_bar,
    show_notes,
    terminal_width,
    write_json,
)
from reelscore.data.reading import Reading
from reelscore.errors import DataError
from reelscore.meta.difficulty import Difficulties, difficulties, extremes
from reelscore.report.tables.grid import Cell, Grid
from reelscore.scoring.captions import score_systems
from reelscore.stats.correlations import spearman
from reelscore.text.tokens import Tokenizer

_PARTS = 5


@click.command("difficulty", cls=FilesCommand)
@click.argument("candidates", nargs=-1, required=True, metavar="CANDIDATES...")
@refs_option()
@metric_option
@number_option(
    "--window",
    default=500,
    least=1,
    help="Number of items in the running mean of the plot; at most a fifth of all items.",
)
@number_option(
    "--top", default=3, least=0, help="How many of the best and of the worst items to show."
)
@tokenizer_option
@reading_options()
@threads_option
@plot_option("the smoothed scores")
@json_option
def command(
    candidates: tuple[str, ...],
    refs: tuple[str, ...],
    metric: str,
    window: int,
    top: int,
    tokenizer: Tokenizer,
    reading: Reading,
    threads: int | None,
    plot: str | None,
    json_file: str | None,
) -> None:
    """Scores by length and word frequency of the references; best and worst items.

    Items are sorted by difficulty (long references, rare words). The tables show the mean score
    of each fifth of the items, from easy to hard, and Spearman's rho of score and difficulty.

    \b
    Example:
      reelscore analyse systems/*.json -r references.json --plot hard.pdf
    """
    check_targets(plot, json_file)
    inputs = read_captions(candidates, refs, reading)
    systems, references = inputs.systems, inputs.references
    if references is None:
        raise DataError("An analysis needs references; none were given. Add --refs FILE.")
    with inputs.explained(), progress_bar("Scoring") as progress:
        table = score_systems(
            systems,
            references,
            metric,
            tokenizer=tokenizer,
            empty="zero",
            threads=threads,
            progress=progress,
        )
    show_notes([*inputs.notes, *table.notes], err=True)
    name = table.metrics[-1]
    scores = {system: table[system][name].items for system in table.systems}
    orders = [
        difficulties(references, kind, tokenizer=tokenizer) for kind in ("length", "frequency")
    ]
    if plot:
        from reelscore.meta.report.plots import draw_difficulty

        span = min(window, max(1, len(references) // _PARTS))
        draw_difficulty(scores, orders, name, plot, span)
    ends = {system: extremes(items, top) for system, items in scores.items()}
    if json_file:
        content = {
            "metric": name,
            "difficulty": {order.kind: _numbers(order, scores) for order in orders},
            "best": {system: best for system, (best, _) in ends.items()},
            "worst": {system: worst for system, (_, worst) in ends.items()},
        }
        write_json(json_file, content)
    if json_file == STDOUT:
        return
    click.echo("\n\n".join(_grid(order, scores).to_text(terminal_width()) for order in orders))
    for system, (best, worst) in ends.items():
        for label, items in (("best", best), ("worst", worst)):
            click.echo("\n" + click.style(f"{system}, {label} by {name}", bold=True))
            for item in items:
                click.echo(f"{scores[system][item]:.3f}  {item}: {systems[system][item]}")
                for reference in references[item]:
                    click.echo(f"       reference: {reference}")


def _numbers(order: Difficulties, scores: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    numbers: dict[str, Any] = {"fifths": [float(part.mean()) for part in _fifths(order.values)]}
    hard = -order.values if order.kind == "frequency" else order.values
    for system, items in scores.items():
        along = order.along(items)
        numbers[system] = {
            "fifths": [float(part.mean()) for part in _fifths(along)],
            "spearman": float(spearman(hard, along)),
        }
    return numbers


def _fifths(values: Any) -> Sequence[Any]:
    return [part for part in np.array_split(values, _PARTS) if len(part)]


def _grid(order: Difficulties, scores: Mapping[str, Mapping[str, float]]) -> Grid:
    numbers = _numbers(order, scores)
    heads = [f"{value:.1f}" if value < 1000 else f"{value:.0f}" for value in numbers["fifths"]]
    rows = [
        [
            Cell(system),
            *(Cell(f"{value:.4f}") for value in numbers[system]["fifths"]),
            Cell(f"{numbers[system]['spearman']:+.3f}"),
        ]
        for system in scores
    ]
    return Grid([f"mean {order.kind}", *heads, "rho"], rows)
