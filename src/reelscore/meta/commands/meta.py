"""``reelscore meta``."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from reelscore.cli.file_options import FilesCommand, reading_options, refs_option
from reelscore.cli.main import LazyGroup
from reelscore.cli.messages import as_options
from reelscore.cli.options import choice_option, match_ids_option, number_option, seed_option
from reelscore.cli.report_options import Outputs, Pictures, outputs, picture_options
from reelscore.cli.table_options import (
    People,
    captions_option,
    human_option,
    read_tables,
    tables_argument,
    with_sources,
)
from reelscore.cli.terminal import progress_bar, show_notes, show_signature, terminal_width
from reelscore.data.checks import counted
from reelscore.data.reading import Reading
from reelscore.data.tables.table import ScoreTable
from reelscore.data.tables.table_forms import matched_table, table_items
from reelscore.meta.audit import quick_audit
from reelscore.meta.correlation import COEFFICIENTS, DEFAULT_COEFFICIENTS, INTERVALS
from reelscore.meta.evaluation import TESTS, MetaEvaluation, evaluate_metrics
from reelscore.meta.report.agreement_tables import (
    agreement_sections,
    correlation_grid,
    draw_agreement,
    footnotes,
    significance_grid,
)
from reelscore.stats.correlations import LEVELS

_TABLES = ("meta:tables", "Which metrics agree with people, and which do so better.")


@click.command(
    "meta", cls=LazyGroup, package=__package__, modules={"tables": _TABLES}, default="tables"
)
def command() -> None:
    """Measure which metrics agree with people, and which do so better than others.

    'reelscore meta TABLE...' is 'reelscore meta tables TABLE...'; a file that is called as a
    command is written ./tables.

    \b
    Example:
      reelscore meta scores.csv --human judgments.csv
    """


def _names(context: click.Context, option: click.Parameter, text: str | None) -> list[str] | None:
    """Read a list; none of it is an empty list."""
    if text is None:
        return None
    names = [part.strip() for part in text.split(",") if part.strip()]
    return [] if names == ["none"] else list(dict.fromkeys(names))


@click.command("tables", cls=FilesCommand)
@tables_argument
@human_option(required=True)
@choice_option(
    "--level",
    choices=LEVELS,
    default="system",
    help="What to correlate: systems' means; systems in each item; all captions; each system's.",
)
@click.option(
    "--coefficients",
    "-c",
    default=",".join(DEFAULT_COEFFICIENTS),
    show_default=True,
    metavar="LIST",
    callback=_names,
    help=f"One or more of {', '.join(COEFFICIENTS)}. The first is tested.",
)
@click.option(
    "--tests",
    "-t",
    metavar="LIST",
    callback=_names,
    help=f"One or more of {', '.join(TESTS)}, or none. Default: williams, if it applies, "
    "and perm-both.",
)
@click.option(
    "--intervals", type=click.Choice(INTERVALS), help="Add 95 % intervals: Fisher's, or bootstrap."
)
@choice_option(
    "--system-scores",
    choices=["means", "own"],
    default="means",
    help="A system's score: the mean over the captions people judged, or the tables' own score.",
)
@choice_option(
    "--correction",
    choices=["none", "holm", "bonferroni", "bh"],
    default="none",
    help="Correction for the number of pairs of metrics.",
)
@number_option(
    *("--significance", "significant"),
    default=0.05,
    least=0,
    most=1,
    help="A metric wins with a p-value below this level.",
)
@number_option(
    *("--resamples", "draws"),
    default=1000,
    least=10,
    help="Permutations of a test, and resamples of an interval.",
)
@seed_option
@outputs(".tex", ".md")
@picture_options
@captions_option
@refs_option()
@match_ids_option
@reading_options()
def tables(
    tables: tuple[str, ...],
    human: People,
    seed: int,
    outputs: Outputs,
    pictures: Pictures,
    captions: tuple[str, ...],
    refs: tuple[str, ...],
    match_ids: str | None,
    reading: Reading,
    **options: Any,
) -> None:
    """Measure which metrics agree with people, and which do so better than others.

    TABLEs hold the metrics' scores as 'reelscore score --table' writes them, or as CSV with the
    columns system, item, score; NAME=FILE names the metric of such a file. The human table has
    the same form. Several human rows of a caption are averaged.

    \b
    Examples:
      reelscore meta scores.csv --human judgments.csv
      reelscore meta scores.csv ours=ours.csv --human da.csv --level pooled
      reelscore meta scores.csv --human da.csv --html agreement.html
    """
    metrics = with_sources(read_tables(tables, match_ids), captions, refs, reading, match_ids)
    people = matched_table(human.read(), match_ids, table_items(metrics))
    with progress_bar("Testing") as progress:
        evaluation = evaluate_metrics(metrics, people, seed=seed, progress=progress, **options)
    warning = _misalignment(metrics, people)
    grids = [correlation_grid(evaluation.correlations), *map(significance_grid, evaluation.tests)]
    outputs.write(grids, json=lambda: {**evaluation.to_dict(), "warning": warning})
    if pictures.wanted:
        draw, sections = partial(draw_agreement, evaluation), agreement_sections(evaluation)
        pictures.write(metrics, people, draw=draw, sections=sections, seed=seed)
    if outputs.shows:
        _show(evaluation)
    if warning:
        click.echo(click.style(warning, fg="red"), err=True)


def _misalignment(metrics: ScoreTable, human: ScoreTable) -> str:
    """Warn where the judgments seem to be of other captions than the metrics scored."""
    verdict = quick_audit(metrics, human)
    if not verdict.misaligned:
        return ""
    return (
        f"Warning: judgments and scores seem misaligned: {verdict}. "
        "Check with 'reelscore audit' before you trust these numbers."
    )


def _show(evaluation: MetaEvaluation) -> None:
    width = terminal_width()
    cells = evaluation.cells
    judged = int((cells.human == cells.human).sum())
    click.echo(
        f"level: {evaluation.level} ({counted(len(cells.systems), 'system')}, "
        f"{counted(len(cells.items), 'item')}, {counted(judged, 'judged caption')})\n"
        if cells.items != [""]
        else f"level: {evaluation.level} ({len(cells.systems):,} systems, by their own scores)\n"
    )
    click.echo(correlation_grid(evaluation.correlations).to_text(width))
    show_notes(footnotes(evaluation.correlations))
    for test in evaluation.tests:
        click.echo("\n" + significance_grid(test).to_text(width))
        show_signature(test.signature)
    if evaluation.tests:
        level = f"{evaluation.tests[0].level:g}"
        click.echo(f"\np that the row agrees better with people than the column; * p < {level}")
    if cells.notes:
        click.echo()
        show_notes(list(map(as_options, cells.notes)))
