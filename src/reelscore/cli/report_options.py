"""Options of the commands that print scores: the table's layout, files, reports and figures."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
import msgspec

from reelscore.cli.options import (
    Decorator,
    choice_option,
    file_option,
    gathered,
)
from reelscore.cli.terminal import (
    STDOUT,
    check_targets,
    progress_bar,
    show_notes,
    write,
    write_json,
)
from reelscore.data.tables.table import ScoreTable
from reelscore.data.tables.table import file_format as table_format
from reelscore.report.plots import FORMATS
from reelscore.report.tables.grid import Grid
from reelscore.report.tables.leaderboard import TableLayout, leaderboard_csv

if TYPE_CHECKING:
    from reelscore.report.html import Report
    from reelscore.significance.comparison import Comparison


_NAMED = 4  # systems that the title of a report names


class ResultFiles(msgspec.Struct, frozen=True):
    """The files that scores are written to."""

    json_file: str | None = None
    csv_file: str | None = None
    latex_file: str | None = None
    markdown_file: str | None = None
    table_file: str | None = None

    def __post_init__(self) -> None:
        check_targets(*self._printed, self.table_file)
        if self.table_file:
            table_format(self.table_file)

    @property
    def _printed(self) -> tuple[str | None, ...]:
        return (self.json_file, self.csv_file, self.latex_file, self.markdown_file)

    @property
    def wanted(self) -> bool:
        """Whether any file is to be written."""
        return any((*self._printed, self.table_file))

    @property
    def shows(self) -> bool:
        """Whether the terminal is free for the table: nothing else goes to standard output."""
        return STDOUT not in self._printed

    def write(
        self,
        table: ScoreTable,
        grids: Sequence[Grid],
        *,
        csv: Callable[[], str] | None = None,
        comparisons: Sequence[Comparison] | None = None,
    ) -> None:
        """Write the files that were asked for."""
        if self.table_file:
            table.write(self.table_file)
        if self.csv_file:
            write(self.csv_file, csv() if csv else leaderboard_csv(table))
        if self.latex_file:
            write(self.latex_file, "\n\n".join(grid.to_latex() for grid in grids))
        if self.markdown_file:
            write(self.markdown_file, "\n\n".join(grid.to_markdown() for grid in grids))
        if self.json_file:
            if comparisons is None:
                write(self.json_file, table.to_json())
            else:
                pairs = [pair for each in comparisons for pair in each.pair_dicts()]
                untested = {each.metric: each.untested for each in comparisons if each.untested}
                content = {**table.to_dict(), "comparisons": pairs, "untested": untested}
                write_json(self.json_file, content)
        if not self.shows:
            show_notes(table.notes, err=True)


_RESULT_FILES = {
    "json_file": file_option(
        "--json",
        "Write all scores, signatures and items as JSON; - for standard output.",
    ),
    "csv_file": file_option("--csv", "Write the table as CSV with numbers in full precision."),
    "latex_file": file_option("--latex", "Write the displayed tables as LaTeX."),
    "markdown_file": file_option("--markdown", "Write the displayed tables as Markdown."),
    "table_file": file_option(
        "--table", "Write the score table (system, item, metric, score), .csv or .json."
    ),
}


def result_files(*without: str) -> Decorator:
    """Return a decorator that adds the options of files with results, as `ResultFiles`."""
    options = {name: add for name, add in _RESULT_FILES.items() if name not in without}
    return gathered("files", ResultFiles, options)


class Pictures(msgspec.Struct, frozen=True):
    """Where a report and figures go, if they are wanted."""

    html_file: str | None = None
    title: str | None = None
    video: str = ""
    plots: str | None = None
    plot_format: str = FORMATS[0]
    videos: str | None = None

    def __post_init__(self) -> None:
        if self.html_file:
            check_targets(self.html_file)
        elif self.videos:
            raise click.UsageError("--videos adds to a report; name its file.")
        if self.plots:
            from reelscore.data.atomic_files import make_folder
            from reelscore.report.plots.style import need_matplotlib

            need_matplotlib()
            make_folder(self.plots)

    @property
    def wanted(self) -> bool:
        """Whether anything is to be made."""
        return bool(self.html_file or self.plots)

    def write(
        self,
        table: ScoreTable,
        people: ScoreTable | None = None,
        *,
        draw: Callable[[str, str], object] | None = None,
        **report: Any,
    ) -> Report | None:
        """Write the page and the figures that were asked for."""
        if self.plots and draw is not None:
            draw(self.plots, self.plot_format)
        if not (self.html_file or (self.plots and draw is None)):
            return None
        from reelscore.report.html.contents import report_of
        from reelscore.report.html.page import write_report

        few = len(table.systems) <= _NAMED
        own = ", ".join(table.systems) if few else f"{len(table.systems)} systems"
        title = self.title or own
        made = report_of(
            table, people, title=title, video=self.video, command=command_line(), **report
        )
        if self.html_file and self.videos:
            made = _with_previews(made, self.html_file, self.videos)
        if self.html_file:
            with progress_bar("Writing") as progress:
                write_report(self.html_file, made, progress=progress)
        if self.plots and draw is None:
            from reelscore.report.plots.figures import draw_table

            draw_table(made.table, self.plots, self.plot_format, made.tests, made.human)
        return made


def _with_previews(report: Report, page: str, videos: str) -> Report:
    from reelscore.report.html.previews import read_previews
    from reelscore.video.clips import find_clips

    with progress_bar("Looking at the videos") as progress:
        previews = read_previews(find_clips(videos), report.items, page, progress)
    return replace(
        report,
        previews=previews.pictures,
        videos={**previews.videos, **report.videos},
        notes=[*report.notes, *previews.notes],
    )


def command_line() -> str:
    """Return the command as it was typed, to be shown in a report."""
    import shlex

    return shlex.join(["reelscore", *sys.argv[1:]])


html_option = file_option("--html", "Write an interactive report, one HTML file.")
title_option = click.option("--title", metavar="TEXT", help="Heading of the report.")
videos_option = click.option(
    "--videos",
    metavar="DIR|LIST",
    help="Show previews of the videos: a folder with files named after the items, or a list.",
)
page_options: dict[str, Decorator] = {
    "video": click.option(
        "--video",
        default="",
        metavar="PATTERN",
        help="Where the report finds the videos: 'clips/{item}.mp4' or a URL.",
    ),
    "videos": videos_option,
    "plots": click.option("--plots", metavar="DIR", help="Write figures into this folder."),
    "plot_format": choice_option(
        "--plot-format",
        choices=FORMATS,
        default=FORMATS[0],
        help="Format of the figures.",
    ),
}
picture_options = gathered("pictures", Pictures, {"html_file": html_option, **page_options})

_LAYOUT_OPTIONS = {
    "scale": click.option(
        "--scale",
        type=click.FloatRange(0, min_open=True),
        default=1,
        show_default=True,
        metavar="N",
        help="Print scores that papers give as percentages times N, as a rule 100.",
    ),
    "digits": click.option(
        "--digits",
        type=click.IntRange(0, 17),
        metavar="N",
        help="Decimals of printed scores.  [default: four below 10]",
    ),
    "sort": click.option(
        "--sort",
        metavar="NAME",
        help="Sort the systems by this score, best first, or by name: system.",
    ),
    "columns": click.option(
        "--columns",
        metavar="LIST",
        help="Which scores to print, in this order: 'BLEU-4,METEOR,CIDEr'; all if not given.",
    ),
}


def layout_options(*without: str) -> Decorator:
    """Return a decorator that adds the options of a table's layout, as one `TableLayout`."""
    options = {name: add for name, add in _LAYOUT_OPTIONS.items() if name not in without}
    return gathered("layout", TableLayout, options)
