"""``reelscore score``."""

from __future__ import annotations

import click
from msgspec.structs import replace

from reelscore.cli.file_options import FilesCommand
from reelscore.cli.options import resamples_option
from reelscore.cli.report_options import Pictures, layout_options, picture_options
from reelscore.cli.scoring_options import ScoringOptions, scoring_options
from reelscore.cli.terminal import show, terminal_width
from reelscore.data.lint.defects import worst_notes
from reelscore.errors import DataError
from reelscore.report.tables.leaderboard import TableLayout, item_rows, leaderboard, leaderboard_csv


@click.command("score", cls=FilesCommand)
@scoring_options
@click.option("--items", is_flag=True, help="Also show the score of every item.")
@click.option("--intervals", is_flag=True, help="Add 95 % bootstrap intervals over items.")
@resamples_option("Number of resamples of the intervals.")
@layout_options()
@picture_options
def command(
    scoring: ScoringOptions,
    items: bool,
    intervals: bool,
    resamples: int,
    layout: TableLayout,
    pictures: Pictures,
) -> None:
    """Score captions: one row per system.

    CANDIDATES are files of captions, one for each system, or NAME=FILE; a folder or a quoted
    pattern stands for its files, - for standard input. If a file holds references as well as
    captions, --refs is not needed. The content of a file tells its format.

    \b
    Examples:
      reelscore score ours.json --refs refs.json
      reelscore score a=run1.jsonl b=run2.jsonl -r refs.json -m meteor,cider
      reelscore score ours.txt -r annotator1.txt annotator2.txt --json -
      reelscore score predictions_with_references.jsonl
      reelscore score runs -r MSRVTT_data.json --split test
      reelscore score runs/*.json -r refs.json --html report.html
      reelscore score runs/*.json -r refs.json --scale 100 --latex table.tex
      reelscore score captions/ -r references/ --out scores/
    """
    if items and scoring.large:
        raise DataError("--items: with --out, the scores of items are in the parts of its folder.")
    table = scoring.run(resamples if intervals else 0)
    table = replace(table, notes=[*table.notes, *worst_notes(table.sources.captions)])
    if intervals:
        from reelscore.scoring.intervals import with_intervals

        table = with_intervals(table, resamples=resamples, seed=scoring.seed)
    grid = leaderboard(table, layout=layout)
    by_item = item_rows(table, layout) if items else None
    scoring.files.write(
        table,
        [by_item or grid],
        csv=lambda: leaderboard_csv(layout.arranged(table), items=items),
    )
    pictures.write(table, resamples=resamples, seed=scoring.seed)
    if scoring.files.shows:
        show(table, grid)
        if by_item is not None:
            click.echo("\n" + by_item.to_text(terminal_width()))
