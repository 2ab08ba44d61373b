"""Options of the commands that can write a report and figures."""

from __future__ import annotations

import functools
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reelscore.cli.option_kinds import choice_option, file_option
from reelscore.cli.options import check_targets, progress_bar
from reelscore.data.table import ScoreTable
from reelscore.errors import DataError
from reelscore.report.plots.style import FORMATS, need_matplotlib

if TYPE_CHECKING:
    from reelscore.report.html import Report


@dataclass(frozen=True)
class Pictures:
    """Where a report and figures go, if they are wanted."""

    html_file: str | None
    title: str | None
    video: str
    plots: str | None
    plot_format: str

    def __post_init__(self) -> None:
        if self.html_file:
            check_targets(self.html_file)
        if self.plots:
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
        if self.html_file:
            with progress_bar("Writing") as progress:
                write_report(self.html_file, made, progress=progress)
        if self.plots and draw is None:
            draw_table(made.table, self.plots, self.plot_format, made.tests, made.human)
        return made


def command_line() -> str:
    """The command as it was typed, to be shown in a report."""
    return shlex.join(["reelscore", *sys.argv[1:]])


def make_folder(path: str) -> None:
    """Make a folder for figures before the work begins."""
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{path}: the folder cannot be made ({error.strerror}).") from error


html_option = file_option("--html", "Write an interactive report, one HTML file.")
title_option = click.option("--title", metavar="TEXT", help="Heading of the report.")
video_option = click.option(
    "--video",
    default="",
    metavar="PATTERN",
    help="Where the report finds the videos: 'clips/{item}.mp4' or a URL.",
)
plot_options = [
    click.option("--plots", metavar="DIR", help="Write figures into this folder."),
    choice_option("--plot-format", choices=FORMATS, default="pdf", help="Format of the figures."),
]


def picture_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of reports, as one `Pictures` in the argument ``pictures``."""

    @functools.wraps(command)
    def with_pictures(*positional: Any, **arguments: Any) -> None:
        values = {field.name: arguments.pop(field.name) for field in fields(Pictures)}
        command(*positional, pictures=Pictures(**values), **arguments)

    for option in reversed([html_option, title_option, video_option, *plot_options]):
        with_pictures = option(with_pictures)
    return with_pictures
