"""``reelscore stories`` and the commands below it."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
from msgspec import structs

from reelscore.cli.commands.score import candidates_argument
from reelscore.cli.file_options import FilesCommand, system_files
from reelscore.cli.main import LazyGroup
from reelscore.cli.messages import as_options
from reelscore.cli.options import (
    ChosenTests,
    EngineChoice,
    choice_option,
    engine_option,
    match_ids_option,
    number_option,
    resamples_option,
    seed_option,
    significance_option,
    threads_option,
)
from reelscore.cli.protocol_options import protocol_option, scored_protocol_options, truth_option
from reelscore.cli.report_options import (
    Pictures,
    ResultFiles,
    layout_options,
    output_option,
    picture_options,
    result_files,
)
from reelscore.cli.terminal import (
    check_targets,
    progress_bar,
    show_engine,
    show_grid,
    show_notes,
    show_origin,
    terminal_width,
)
from reelscore.data.captions.inputs import references_note
from reelscore.data.file_names import expanded
from reelscore.data.tables.table import ScoreTable
from reelscore.report.tables.grid import Grid
from reelscore.report.tables.leaderboard import TableLayout, leaderboard
from reelscore.stories.protocol import ACTIVITYNET, CHAPTERS, SODA_SCORES, Protocol
from reelscore.stories.score_tables import score_systems
from reelscore.stories.video_scores import CHAPTERS_LABEL, LABEL, PREFIX

if TYPE_CHECKING:
    from reelscore.significance.comparison import Comparison

_PARTS = ("_precision", "_recall")


# name: (attribute of this module, what it does)
_COMMANDS = {
    "score": ("stories:score", "Score timed captions of long videos: one row per system."),
    "show": ("stories:show", "Show how one video is matched: references above, candidates below."),
}


@click.command("stories", cls=LazyGroup, package=__package__, modules=_COMMANDS, default="score")
def command() -> None:
    """Score timed captions of long videos: SODA, ActivityNet and chapters."""


@click.command("score", cls=FilesCommand, headings={"Protocol": "protocol"})
@candidates_argument
@truth_option
@scored_protocol_options
@match_ids_option
@click.option("--intervals", is_flag=True, help="Add 95 % bootstrap intervals over videos.")
@click.option("--baseline", "-b", metavar="NAME", help="Test the other systems against this one.")
@significance_option
@resamples_option("Number of resamples of the intervals and of the bootstrap test.")
@seed_option
@threads_option
@engine_option
@result_files()
@layout_options()
@picture_options
def score(
    candidates: tuple[str, ...],
    refs: tuple[str, ...],
    protocol: Protocol,
    match_ids: str | None,
    intervals: bool,
    baseline: str | None,
    test: ChosenTests,
    resamples: int,
    seed: int,
    threads: int | None,
    engine: EngineChoice,
    files: ResultFiles,
    layout: TableLayout,
    pictures: Pictures,
) -> None:
    """Score timed captions of long videos: one row per system.

    CANDIDATES are files of timed captions, one for each system, or NAME=FILE: ActivityNet's
    format, TimeChat's, or JSON Lines. SODA matches them with the references in order; the
    ActivityNet scorer pairs all captions that overlap.

    \b
    Examples:
      reelscore stories ours.json --refs val_1.json val_2.json
      reelscore stories ours.json -r val.json --protocol 'pdvc|f:sts'
      reelscore stories a.json b.json -r val.json --scores soda_c --baseline a -o table.tex
    """
    workers = engine.start()
    with progress_bar("Scoring", engine=workers) as progress:
        table = score_systems(
            system_files(candidates),
            list(refs),
            match_ids=match_ids,
            threads=threads,
            progress=progress,
            engine=workers,
            **structs.asdict(protocol),
        )
    show_engine(workers)
    comparisons = test.made(table, baseline, resamples, seed) if baseline is not None else []
    if intervals:
        from reelscore.scoring.intervals import with_intervals

        table = with_intervals(table, resamples=resamples, seed=seed)
    notes = [*references_note([str(path) for path in expanded(refs)]), *table.notes]
    table = structs.replace(table, notes=[*map(as_options, notes)])
    grids = _grids(table, comparisons, layout)
    printed = [
        structs.replace(grid, notes=[f"{_heading(name, protocol)}.", *grid.notes])
        for name, grid in grids
    ]
    files.write_table(table, printed, comparisons=comparisons or None)
    if pictures.wanted:
        extra: dict[str, Any] = {"baseline": baseline, "resamples": resamples, "seed": seed}
        if comparisons:
            from reelscore.significance.comparison import strictest

            extra["tests"] = strictest(comparisons)
        f1_first = sorted(table.metrics, key=lambda name: name.endswith(_PARTS))
        pictures.write(table, metrics=f1_first, **extra)
    if files.shows:
        for name, grid in grids:
            heading = textwrap.fill(_heading(name, protocol), terminal_width())
            click.echo(click.style(heading, bold=True))
            whole = [column.replace(" ", "\u00a0") for column in grid.columns]  # "SODA_a P"
            show_grid(structs.replace(grid, columns=whole))
        show_origin(table)


def _heading(name: str, protocol: Protocol) -> str:
    """Return in a line which protocol made the numbers below."""
    if name == ACTIVITYNET:
        at = ", ".join(f"{tiou:g}" for tiou in protocol.tious)
        return (
            f"ActivityNet scorer {protocol.variant}, IoU {at}, missing videos: {protocol.missing}"
        )
    if name == CHAPTERS:
        tious, missing = protocol.chapter_tious, protocol.missing
        opening = ", opening added" if protocol.opening == "add" else ""
        return f"Chapters, IoU {tious[0]:g}–{tious[-1]:g}{opening}, missing videos: {missing}"
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
    table: ScoreTable, tests: Sequence[Comparison], layout: TableLayout
) -> list[tuple[str, Grid]]:
    """Lay out the frameworks as a table each."""
    table = layout.arranged(table)
    numbers = structs.replace(layout, sort=None, columns=None)
    grids = []
    for name, prefix in (("soda", "soda_"), (ACTIVITYNET, PREFIX), (CHAPTERS, f"{CHAPTERS}_")):
        metrics = [metric for metric in table.metrics if metric.startswith(prefix)]
        if prefix == "soda_" and layout.columns is None:
            metrics.sort(key=lambda metric: metric.endswith(_PARTS))  # F1 first
        if not metrics:
            continue
        grid = _grid(table.select(metrics), tests, numbers)
        label = CHAPTERS_LABEL if name == CHAPTERS else LABEL
        columns = [heading.removeprefix(label) for heading in grid.columns]
        grids.append((name, structs.replace(grid, columns=columns)))
    return grids


def _grid(table: ScoreTable, tests: Sequence[Comparison], layout: TableLayout) -> Grid:
    if not tests:
        return leaderboard(table, layout=layout)
    from reelscore.report.tables.differences import marked_leaderboard

    return marked_leaderboard(table, tests, layout=layout)


@click.command("show", cls=FilesCommand)
@candidates_argument
@truth_option
@click.option("--video", required=True, metavar="ID", help="The video to show.")
@choice_option(
    "--score", choices=SODA_SCORES, default="soda_c", help="The score whose matching to show."
)
@number_option(
    "--tiou",
    default=0.5,
    least=0,
    most=1,
    help="Threshold of soda_a; its score averages over several.",
)
@output_option(".html", figure="with the timeline")
@protocol_option(listed=False, help="Choices are those of 'reelscore stories score --help'.")
def show(
    candidates: tuple[str, ...],
    refs: tuple[str, ...],
    video: str,
    score: str,
    tiou: float,
    paths: tuple[str, ...],
    protocol: Protocol,
) -> None:
    """Show how one video is matched: references above, candidates below.

    CANDIDATES are files of timed captions, or NAME=FILE; several are shown side by side. Matched
    pairs come with their overlap (IoU) and sentence score (f); captions without a match are marked.

    \b
    Examples:
      reelscore stories show ours.json -r val_1.json --video v_uqiMw7tQ1Cc
      reelscore stories show a.json b.json -r val_1.json --video v_1 -o story.html
    """
    from reelscore.report.timeline.drawings import timeline_text, write_timeline
    from reelscore.stories.timelines import side_by_side

    check_targets(*paths)
    systems = system_files(candidates)
    choices = structs.asdict(protocol)
    shown = side_by_side(systems, list(refs), video, score, tiou=tiou, **choices)
    show_notes(shown.notes, err=True)
    for path in paths:
        write_timeline(shown, path)
    if not paths:
        click.echo(timeline_text(shown, terminal_width()), nl=False)
