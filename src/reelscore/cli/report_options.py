"""Options of the commands that print scores: the layout of tables, reports and figures."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
import msgspec

from reelscore.cli.option_kinds import choice_option, file_option
from reelscore.cli.options import check_targets, progress_bar
from reelscore.data.tables.table import ScoreTable
from reelscore.report.plots import FORMATS
from reelscore.report.tables.layout import Layout

if TYPE_CHECKING:
    from reelscore.report.html import Report


class Pictures(msgspec.Struct, frozen=True):
    """Where a report and figures go, if they are wanted."""

    html_file: str | None
    title: str | None
    video: str
    plots: str | None
    plot_format: str
    topics: bool = False
    videos: str | None = None

    def __post_init__(self) -> None:
        if self.html_file:
            check_targets(self.html_file)
        elif self.topics or self.videos:
            option = "--topics" if self.topics else "--videos"
            raise click.UsageError(f"{option} adds to a report; name its file.")
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
        """Write the page and the figures that were asked for.

        Args:
            table: The scores.
            people: People's scores, to stand beside them.
            draw: Draws other figures than those of a table, given the folder and the format.
            report: Further arguments of `reelscore.report.html.report_of`.

        Returns:
            The report, if it was made.
        """
        if self.plots and draw is not None:
            draw(self.plots, self.plot_format)
        if not (self.html_file or (self.plots and draw is None)):
            return None
        from reelscore.report.html import report_of, write_report
        from reelscore.report.plots.tables import draw_table

        title = self.title or ", ".join(table.systems[:4]) + (
            f" and {len(table.systems) - 4} more" if len(table.systems) > 4 else ""
        )
        made = report_of(
            table, people, title=title, video=self.video, command=command_line(), **report
        )
        if self.topics:
            from reelscore.meta.report.topic_page import topic_section

            made = replace(made, sections=[*made.sections, topic_section(made)])
        if self.html_file and self.videos:
            made = self._with_previews(made, self.html_file, self.videos)
        if self.html_file:
            with progress_bar("Writing") as progress:
                write_report(self.html_file, made, progress=progress)
        if self.plots and draw is None:
            draw_table(made.table, self.plots, self.plot_format, made.tests, made.human)
        return made

    @staticmethod
    def _with_previews(report: Report, page: str, videos: str) -> Report:
        from reelscore.report.html import read_previews
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
    """The command as it was typed, to be shown in a report."""
    import shlex

    return shlex.join(["reelscore", *sys.argv[1:]])


html_option = file_option("--html", "Write an interactive report, one HTML file.")
title_option = click.option("--title", metavar="TEXT", help="Heading of the report.")
video_option = click.option(
    "--video",
    default="",
    metavar="PATTERN",
    help="Where the report finds the videos: 'clips/{item}.mp4' or a URL.",
)
videos_option = click.option(
    "--videos",
    metavar="DIR|LIST",
    help="Show previews of the videos: a folder with files named after the items, or a list.",
)
topics_option = click.option(
    "--topics", is_flag=True, help="Add the topics of the captions' verbs to the report."
)
plot_options = [
    click.option("--plots", metavar="DIR", help="Write figures into this folder."),
    choice_option("--plot-format", choices=FORMATS, default="pdf", help="Format of the figures."),
]


_PICTURE_OPTIONS = [
    html_option,
    title_option,
    video_option,
    videos_option,
    topics_option,
    *plot_options,
]


def picture_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command the options of reports, as one `Pictures` in the argument ``pictures``."""

    @functools.wraps(command)
    def with_pictures(*positional: Any, **arguments: Any) -> None:
        values = {name: arguments.pop(name) for name in Pictures.__struct_fields__}
        command(*positional, pictures=Pictures(**values), **arguments)

    for option in reversed(_PICTURE_OPTIONS):
        with_pictures = option(with_pictures)
    return with_pictures


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


def layout_options(
    *without: str,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a command the options of a table's layout, as one `Layout` in the argument ``layout``.

    Args:
        without: Options that the command does not have.
    """
    names = [name for name in Layout.__struct_fields__ if name not in without]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def with_layout(*positional: Any, **arguments: Any) -> None:
            values = {name: arguments.pop(name) for name in names}
            command(*positional, layout=Layout(**values), **arguments)

        for name in reversed(names):
            with_layout = _LAYOUT_OPTIONS[name](with_layout)
        return with_layout

    return decorate
