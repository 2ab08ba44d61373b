"""``reelscore stories``."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
import msgspec
from msgspec import structs

from reelscore.cli.file_options import FilesCommand
from reelscore.cli.option_kinds import (
    file_option,
    json_option,
    match_ids_option,
    resamples_option,
    seed_option,
)
from reelscore.cli.options import (
    STDOUT,
    EngineChoice,
    check_targets,
    engine_options,
    progress_bar,
    show_engine,
    show_grid,
    show_notes,
    show_origin,
    terminal_width,
    trials_option,
    write,
)
from reelscore.cli.reading_options import system_files
from reelscore.cli.report_options import Pictures, layout_options, picture_options
from reelscore.cli.stories.options import choices, given_of, preset_option, truth_option
from reelscore.data.captions.inputs import references_note
from reelscore.data.file_names import expanded
from reelscore.data.tables.table import ScoreTable
from reelscore.data.tables.table import file_format as table_format
from reelscore.report.tables.grid import Grid
from reelscore.report.tables.layout import Layout
from reelscore.report.tables.leaderboard import leaderboard, leaderboard_csv
from reelscore.stories.protocol import ACTIVITYNET, Protocol, protocol_of
from reelscore.stories.score_tables import score_systems
from reelscore.stories.video_scores import LABEL, PREFIX

if TYPE_CHECKING:
    from reelscore.significance.comparison import Comparison

_LEVEL = 0.05
_PARTS = ("_precision", "_recall")


@click.command("score", cls=FilesCommand)
@click.argument("candidates", nargs=-1, required=True, metavar="CANDIDATES...")
@truth_option
@preset_option()
@choices()
@match_ids_option
@click.option(
    "--common", is_flag=True, help="Score all systems only on the videos that every system has."
)
@click.option("--intervals", is_flag=True, help="Add 95 % bootstrap intervals over videos.")
@click.option("--baseline", "-b", metavar="NAME", help="Test the other systems against this one.")
@resamples_option("Number of resamples of the intervals and of the bootstrap test.")
@trials_option
@seed_option
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    metavar="N",
    help="Threads to use; all cores if not given.",
)
@engine_options
@json_option
@file_option("--csv", "Write the scores as CSV with numbers in full precision.")
@file_option("--latex", "Write the displayed tables as LaTeX.")
@file_option("--markdown", "Write the displayed tables as Markdown.")
@file_option("--table", "Write the score table (system, video, score), .csv or .json.")
@layout_options()
@picture_options
def command(
    candidates: tuple[str, ...],
    refs: tuple[str, ...],
    match_ids: str | None,
    common: bool,
    intervals: bool,
    baseline: str | None,
    resamples: int,
    trials: int,
    seed: int,
    threads: int | None,
    engine: EngineChoice,
    json_file: str | None,
    csv_file: str | None,
    latex_file: str | None,
    markdown_file: str | None,
    table_file: str | None,
    layout: Layout,
    pictures: Pictures,
    **choices: Any,
) -> None:
    """Score timed captions of long videos: one row per system.

    CANDIDATES are files of timed captions, one for each system, or NAME=FILE: ActivityNet's
    format, TimeChat's, or JSON Lines. SODA matches them with the references in order; the
    ActivityNet scorer pairs all captions that overlap.

    \b
    Examples:
      reelscore stories ours.json --refs val_1.json val_2.json
      reelscore stories ours.json -r val_1.json val_2.json --preset pdvc
      reelscore stories a.json b.json -r val.json --scores soda_c --baseline a
      reelscore stories *.json -r val.json --scores SODA_c --scale 100 --latex table.tex
    """
    targets = [json_file, csv_file, latex_file, markdown_file, table_file]
    check_targets(*targets)
    if table_file:
        table_format(table_file)
    given = given_of(choices)
    workers = engine.start()
    with progress_bar("Scoring", engine=workers) as progress:
        table = score_systems(
            system_files(candidates),
            list(refs),
            match_ids=match_ids,
            common=common,
            threads=threads,
            progress=progress,
            engine=workers,
            **given,
        )
    show_engine(workers)
    comparisons: list[Comparison] = []
    tests: list[Comparison] = []
    if baseline is not None:
        from reelscore.significance.comparison import strictest
        from reelscore.significance.pair_tests import compare

        with progress_bar("Testing") as progress:
            comparisons = compare(
                table,
                baseline,
                level=_LEVEL,
                resamples=resamples,
                trials=trials,
                seed=seed,
                progress=progress,
            )
        tests = strictest(comparisons)
    if intervals:
        from reelscore.scoring.intervals import with_intervals

        table = with_intervals(table, resamples=resamples, seed=seed)
    table = structs.replace(
        table, notes=[*references_note([str(path) for path in expanded(refs)]), *table.notes]
    )
    protocol = protocol_of(given.pop("preset", None), given)
    grids = _grids(table, comparisons, layout)
    printed = [
        structs.replace(grid, notes=[f"{_heading(name, protocol)}.", *grid.notes])
        for name, grid in grids
    ]
    if table_file:
        table.write(table_file)
    if csv_file:
        write(csv_file, leaderboard_csv(table))
    if latex_file:
        write(latex_file, "\n\n".join(grid.to_latex() for grid in printed))
    if markdown_file:
        write(markdown_file, "\n\n".join(grid.to_markdown() for grid in printed))
    if json_file:
        write(json_file, _json(table, comparisons))
    if pictures.wanted:
        extra: dict[str, Any] = {"baseline": baseline, "resamples": resamples, "seed": seed}
        if tests:
            extra["tests"] = tests
        f1_first = sorted(table.metrics, key=lambda name: name.endswith(_PARTS))
        pictures.write(table, metrics=f1_first, **extra)
    if STDOUT in targets:
        show_notes(table.notes, err=True)
    else:
        for name, grid in grids:
            heading = textwrap.fill(_heading(name, protocol), terminal_width())
            click.echo(click.style(heading, bold=True))
            show_grid(grid)
        show_origin(table)


def _heading(name: str, protocol: Protocol) -> str:
    """Return in a line which protocol made the numbers below."""
    if name == ACTIVITYNET:
        at = ", ".join(f"{tiou:g}" for tiou in protocol.tious)
        return (
            f"ActivityNet scorer {protocol.variant}, IoU {at}, missing videos: {protocol.missing}"
        )
    unusual = {
        ", METEOR swapped": protocol.meteor_order == "swapped",
        ", references in file order": protocol.reference_order == "file",
        ", ASCII alone": protocol.characters == "ascii",
    }
    chosen = "".join(text for text, is_chosen in unusual.items() if is_chosen)
    return (
        f"SODA, f: {protocol.f}{chosen}, annotators: {protocol.annotators}, "
        f"missing videos: {protocol.missing}"
    )


def _grids(
    table: ScoreTable, tests: Sequence[Comparison], layout: Layout
) -> list[tuple[str, Grid]]:
    """Lay out the two frameworks as a table each."""
    table = layout.arranged(table)
    numbers = structs.replace(layout, sort=None, columns=None)
    grids = []
    for name, prefix in (("soda", "soda_"), (ACTIVITYNET, PREFIX)):
        metrics = [metric for metric in table.metrics if metric.startswith(prefix)]
        if prefix == "soda_" and layout.columns is None:
            metrics.sort(key=lambda metric: metric.endswith(_PARTS))  # F1 first
        if not metrics:
            continue
        grid = _grid(table.select(metrics), tests, numbers)
        columns = [heading.removeprefix(LABEL) for heading in grid.columns]
        grids.append((name, structs.replace(grid, columns=columns)))
    return grids


def _grid(table: ScoreTable, tests: Sequence[Comparison], layout: Layout) -> Grid:
    if not tests:
        return leaderboard(table, layout=layout)
    from reelscore.report.tables.differences import marked_leaderboard

    return marked_leaderboard(table, tests, layout=layout)


def _json(table: ScoreTable, comparisons: Sequence[Comparison]) -> str:
    everything = table.to_dict()
    if comparisons:
        everything["comparisons"] = [p for each in comparisons for p in each.pair_dicts()]
    return msgspec.json.encode(everything).decode()
