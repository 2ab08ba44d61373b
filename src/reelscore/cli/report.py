"""``reelscore report``."""

from __future__ import annotations

import click

from reelscore.cli.file_options import FilesCommand, refs_option
from reelscore.cli.option_kinds import (
    file_option,
    match_ids_option,
    resamples_option,
    seed_option,
)
from reelscore.cli.options import STDOUT, check_targets, write
from reelscore.cli.reading_options import reading_options
from reelscore.cli.report_options import (
    Pictures,
    layout_options,
    plot_options,
    title_option,
    topics_option,
    video_option,
    videos_option,
)
from reelscore.cli.table_options import (
    captions_option,
    column_option,
    read_people,
    read_tables,
    unscored,
    with_sources,
)
from reelscore.data.checks import counted
from reelscore.data.reading import Reading
from reelscore.data.tables.table_forms import matched_table, table_items
from reelscore.report.tables.differences import marked_leaderboard
from reelscore.report.tables.layout import Layout
from reelscore.report.tables.leaderboard import leaderboard_csv


@click.command("report", cls=FilesCommand)
@click.argument("tables", nargs=-1, metavar="[TABLE]...")
@click.option("--output", "-o", metavar="FILE", help="Where to write the report, one HTML file.")
@click.option("--human", metavar="TABLE", help="People's scores, .csv or .json.")
@column_option("all if not given")
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
@title_option
@video_option
@videos_option
@topics_option
@plot_options[0]
@plot_options[1]
@resamples_option("Number of resamples of the intervals and of the paired bootstrap.")
@seed_option
@file_option("--latex", "Write the leaderboard as LaTeX.")
@file_option("--markdown", "Write the leaderboard as Markdown.")
@file_option("--csv", "Write the leaderboard as CSV with numbers in full precision.")
@layout_options("columns")
def command(
    tables: tuple[str, ...],
    output: str | None,
    human: str | None,
    column: str | None,
    metrics: str | None,
    captions: tuple[str, ...],
    refs: tuple[str, ...],
    match_ids: str | None,
    reading: Reading,
    title: str | None,
    video: str,
    videos: str | None,
    topics: bool,
    plots: str | None,
    plot_format: str,
    resamples: int,
    seed: int,
    latex_file: str | None,
    markdown_file: str | None,
    csv_file: str | None,
    layout: Layout,
) -> None:
    """Write stored score tables as one HTML page to explore, as figures, as tables for a paper.

    TABLEs are what 'reelscore score --table' and other commands write, or CSV with the columns
    system, item, score; NAME=FILE names the metric of such a file. With the captions and the
    references that were scored, the report shows them and explains METEOR and CIDEr; captions
    alone, without a TABLE, can be looked at too. With --videos, it begins with a gallery.

    \b
    Examples:
      reelscore report scores.json -o report.html
      reelscore report scores.json bertha=bertha.csv --human da.csv -o report.html
      reelscore report scores.json --captions a.json -r refs.json -o report.html
      reelscore report --captions a.json b.json --videos clips -o gallery.html
    """
    written = [latex_file, markdown_file, csv_file]
    check_targets(*written, output)
    if not any((*written, output, plots)):
        raise click.UsageError("Nothing to write; give -o FILE, --plots DIR or --latex FILE.")
    if not tables and (not captions or human or plots or any(written)):
        raise click.UsageError("Missing argument 'TABLE...'; only a page needs no scores.")
    pictures = Pictures(output, title, video, plots, plot_format, topics, videos)
    if tables:
        table = with_sources(read_tables(tables, match_ids), captions, refs, reading, match_ids)
    else:
        table = unscored(captions, refs, reading, match_ids)
    people = read_people(human, column) if human else None
    if people is not None:
        people = matched_table(people, match_ids, table_items(table))
    from reelscore.report.html import report_of
    from reelscore.report.html.page import marks_of

    made = pictures.write(table, people, metrics=metrics, resamples=resamples, seed=seed)
    if any(written):
        made = made or report_of(table, people, metrics=metrics, resamples=resamples, seed=seed)
        marks = marks_of(made)
        grid = marked_leaderboard(made.table, made.tests, made.human, layout)
        for path, text in (
            (latex_file, grid.to_latex),
            (markdown_file, grid.to_markdown),
            (csv_file, lambda: leaderboard_csv(made.table, marks, people=made.human)),
        ):
            if path:
                write(path, text())
    if made is not None and output and STDOUT not in written:
        counts = [counted(len(table.systems), "system")]
        if made.table.metrics:
            counts.append(counted(len(made.table.metrics), "score"))
        if videos:
            counts.append(counted(len(made.previews), "preview"))
        click.echo(f"{output}: {', '.join(counts)}.")
