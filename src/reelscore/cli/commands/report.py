"""``reelscore report``."""

from __future__ import annotations

from typing import Any

import click

from reelscore.cli.file_options import FilesCommand, reading_options, refs_option
from reelscore.cli.options import gathered, match_ids_option, resamples_option, seed_option
from reelscore.cli.report_options import (
    Pictures,
    ResultFiles,
    layout_options,
    page_options,
    result_files,
    title_option,
)
from reelscore.cli.table_options import (
    People,
    captions_option,
    human_option,
    read_tables,
    unscored,
    with_sources,
)
from reelscore.data.checks import counted
from reelscore.data.reading import Reading
from reelscore.data.tables.table_forms import matched_table, table_items
from reelscore.report.tables.differences import marked_leaderboard
from reelscore.report.tables.leaderboard import TableLayout, leaderboard_csv


@click.command("report", cls=FilesCommand)
@click.argument("tables", nargs=-1, metavar="[TABLE]...")
@gathered("pictures", Pictures, {"title": title_option, **page_options})
@human_option()
@click.option(
    "--metrics",
    "-m",
    "--columns",
    metavar="LIST",
    help="Which scores to show, in this order; all if not given.",
)
@captions_option
@refs_option()
@match_ids_option
@reading_options()
@resamples_option("Number of resamples of the intervals and of the paired bootstrap.")
@seed_option
@result_files("json_file", "table_file")
@layout_options("columns")
def command(
    tables: tuple[str, ...],
    pictures: Pictures,
    human: People | None,
    captions: tuple[str, ...],
    refs: tuple[str, ...],
    match_ids: str | None,
    reading: Reading,
    files: ResultFiles,
    layout: TableLayout,
    **choices: Any,
) -> None:
    """Write stored score tables as one HTML page to explore, as figures, as tables for a paper.

    TABLEs are what 'reelscore score --table' and other commands write, or CSV with the columns
    system, item, score; NAME=FILE names the metric of such a file. With the captions and the
    references that were scored, the report shows them and explains METEOR and CIDEr; captions
    alone, without a TABLE, can be looked at too. With --videos, it begins with a gallery.

    \b
    Examples:
      reelscore report scores.json --html report.html
      reelscore report scores.json bertha=bertha.csv --human da.csv --html report.html
      reelscore report --captions a.json b.json --videos clips --html gallery.html
    """
    page = pictures.html_file
    if not (files.wanted or pictures.wanted):
        raise click.UsageError("Nothing to write; give --html FILE, --plots DIR or -o FILE.")
    if not tables and (not captions or human or pictures.plots or files.wanted):
        raise click.UsageError("Missing argument 'TABLE...'; only a page needs no scores.")
    if tables:
        table = with_sources(read_tables(tables, match_ids), captions, refs, reading, match_ids)
    else:
        table = unscored(captions, refs, reading, match_ids)
    people = human.read() if human else None
    if people is not None:
        people = matched_table(people, match_ids, table_items(table))
    from reelscore.report.html import report_of
    from reelscore.report.html.page import marks_of

    made = pictures.write(table, people, **choices)
    if files.wanted:
        made = made or report_of(table, people, **choices)
        marks = marks_of(made)
        files.write_table(
            made.table,
            [marked_leaderboard(made.table, made.tests, made.human, layout)],
            csv=lambda: leaderboard_csv(made.table, marks, people=made.human),
        )
    if made is not None and page and files.shows:
        counts = [counted(len(table.systems), "system")]
        counts += [counted(len(made.table.metrics), "score")] if made.table.metrics else []
        counts += [counted(len(made.previews), "preview")] if pictures.videos else []
        click.echo(f"{page}: {', '.join(counts)}.")
