"""``reelscore meta``."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click
import msgspec

from reelscore.cli.options import (
    STDOUT,
    check_targets,
    progress_bar,
    terminal_width,
    wrapped,
    write,
)
from reelscore.data.table import MetricResult, ScoreTable
from reelscore.data.table_files import Repeats
from reelscore.errors import DataError
from reelscore.meta.audit import quick_audit
from reelscore.meta.cells import SystemScores, merge_tables
from reelscore.meta.correlation import COEFFICIENTS, DEFAULT_COEFFICIENTS, INTERVALS, IntervalMethod
from reelscore.meta.evaluation import MetaEvaluation, evaluate_metrics
from reelscore.meta.significance import TESTS
from reelscore.report.agreement import correlation_grid, footnotes, significance_grid
from reelscore.report.plots import FORMATS, need_matplotlib
from reelscore.stats.corrections import Correction
from reelscore.stats.levels import LEVELS, Level


@click.command("meta")
@click.argument("tables", nargs=-1, required=True, metavar="TABLE...")
@click.option("--human", required=True, metavar="TABLE", help="People's scores, .csv or .json.")
@click.option("--column", metavar="NAME", help="Which human score, where the table has several.")
@click.option(
    "--level",
    type=click.Choice(LEVELS),
    default="system",
    show_default=True,
    help="Correlate the systems' means; the systems for each item; all captions; the "
    "captions of each system.",
)
@click.option(
    "--coefficients",
    "-c",
    default=",".join(DEFAULT_COEFFICIENTS),
    show_default=True,
    metavar="LIST",
    help=f"Out of {', '.join(COEFFICIENTS)}. The first is the one tested.",
)
@click.option(
    "--tests",
    "-t",
    metavar="LIST",
    help=f"Out of {', '.join(TESTS)}, or none. Default: williams where it applies, and perm-both.",
)
@click.option(
    "--intervals",
    type=click.Choice(INTERVALS),
    help="Add 95 % intervals: Fisher's, or by bootstrap.",
)
@click.option(
    "--system-scores",
    type=click.Choice(["means", "own"]),
    default="means",
    show_default=True,
    help="A system's score: the mean over the captions people judged, or the tables' own score.",
)
@click.option(
    "--correction",
    type=click.Choice(["none", "holm", "bonferroni", "bh"]),
    default="none",
    show_default=True,
    help="Correction for the number of pairs of metrics.",
)
@click.option(
    "--significance",
    type=click.FloatRange(0, 1),
    default=0.05,
    show_default=True,
    help="Below this p a metric wins.",
)
@click.option(
    "--draws",
    type=click.IntRange(min=10),
    default=1000,
    show_default=True,
    help="Permutations of a test, and resamples of an interval.",
)
@click.option("--seed", type=int, default=12345, show_default=True, help="Seed of the draws.")
@click.option("--json", "json_file", metavar="FILE", help="Write all as JSON; - for the terminal.")
@click.option("--latex", "latex_file", metavar="FILE", help="Write the tables as LaTeX.")
@click.option("--plots", metavar="DIR", help="Draw scatter plots and p-values into a folder.")
@click.option(
    "--plot-format",
    type=click.Choice(FORMATS),
    default="pdf",
    show_default=True,
    help="Format of the plots.",
)
def command(
    tables: tuple[str, ...],
    human: str,
    column: str | None,
    level: Level,
    coefficients: str,
    tests: str | None,
    intervals: IntervalMethod | None,
    system_scores: SystemScores,
    correction: Correction,
    significance: float,
    draws: int,
    seed: int,
    json_file: str | None,
    latex_file: str | None,
    plots: str | None,
    plot_format: str,
) -> None:
    """Measure which metrics agree with people, and which do so better than others.

    TABLEs hold the metrics' scores as 'reelscore score --table' writes them, or as CSV with the
    columns system, item, score; NAME=FILE names the metric of such a file. The human table has
    the same form. Several human rows of a caption are averaged.

    \b
    Examples:
      reelscore meta scores.csv --human judgments.csv
      reelscore meta scores.csv ours=ours.csv --human da.csv --level pooled
      reelscore meta scores.csv --human da.csv -t perm-both --plots figures
    """
    check_targets([target for target in (json_file, latex_file) if target])
    if plots:
        need_matplotlib()
        _make_folder(plots)
    metrics = merge_tables([_read_table(argument) for argument in tables])
    people = _read(human, repeats="mean")
    with progress_bar("Testing") as progress:
        found = evaluate_metrics(
            metrics,
            people,
            column=column,
            level=level,
            coefficients=_names(coefficients),
            tests=None if tests is None else _names(tests),  # type: ignore[arg-type]
            intervals=intervals,
            system_scores=system_scores,
            correction=correction,
            significant=significance,
            draws=draws,
            seed=seed,
            progress=progress,
        )
    warning = _misalignment(metrics, people, column)
    if plots:
        from reelscore.report.agreement_plots import draw_all

        draw_all(found, plots, plot_format)
    grids = [correlation_grid(found.correlations), *map(significance_grid, found.tests)]
    if latex_file:
        write(latex_file, "\n\n".join(grid.to_latex() for grid in grids))
    if json_file:
        everything = {**found.to_dict(), "warning": warning}
        write(json_file, msgspec.json.encode(everything).decode())
    if STDOUT not in (json_file, latex_file):
        _show(found)
    if warning:
        click.echo(click.style(warning, fg="red"), err=True)


def _misalignment(metrics: ScoreTable, human: ScoreTable, column: str | None) -> str:
    """Warn where the judgments seem to be of other captions than the metrics scored."""
    verdict = quick_audit(metrics, human, column=column)
    if not verdict.misaligned:
        return ""
    return (
        f"Warning: judgments and scores seem misaligned: {verdict}. "
        "Check with 'reelscore audit' before you trust these numbers."
    )


def _read_table(argument: str) -> ScoreTable:
    """Read FILE, or NAME=FILE, which names its metric, or goes before its metrics' names."""
    name, equals, path = argument.partition("=")
    if not equals or Path(argument).exists():
        return _read(argument)
    table = _read(path)
    several = len(table.metrics) > 1

    def renamed(result: MetricResult) -> MetricResult:
        return replace(result, metric=f"{name}.{result.metric}" if several else name)

    return ScoreTable(
        {
            system: {renamed(result).metric: renamed(result) for result in row.values()}
            for system, row in table.results.items()
        },
        table.notes,
    )


def _read(path: str, repeats: Repeats = "error") -> ScoreTable:
    """Read a table; its notes say which file they are about."""
    table = ScoreTable.read(path, repeats=repeats)
    return replace(table, notes=[f"{path}: {note}" for note in table.notes])


def _make_folder(path: str) -> None:
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{path}: the folder cannot be made ({error.strerror}).") from error


def _names(text: str) -> list[str]:
    names = [part.strip() for part in text.split(",") if part.strip()]
    return [] if names == ["none"] else list(dict.fromkeys(names))


def _show(found: MetaEvaluation) -> None:
    width = terminal_width()
    cells = found.cells
    judged = int((cells.human == cells.human).sum())
    click.echo(
        f"level: {found.level} ({len(cells.systems):,} systems, {len(cells.items):,} items, "
        f"{judged:,} judged captions)\n"
        if cells.items != [""]
        else f"level: {found.level} ({len(cells.systems):,} systems, by their own scores)\n"
    )
    click.echo(correlation_grid(found.correlations).to_text(width))
    _paragraph(footnotes(found.correlations), width)
    for test in found.tests:
        click.echo("\n" + significance_grid(test).to_text(width))
        for line in wrapped(test.signature, width):
            click.echo(click.style(line, dim=True))
    if found.tests:
        level = f"{found.tests[0].significant:g}"
        click.echo(f"\np that the row agrees better with people than the column; * p < {level}")
    _paragraph(cells.notes, width, before="\n")


def _paragraph(lines: Sequence[str], width: int, *, before: str = "") -> None:
    if lines:
        text = "\n".join(textwrap.fill(line, width, subsequent_indent="  ") for line in lines)
        click.echo(before + text)
