"""Options of the commands that print scores: the table's layout, files, reports and figures."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from reelscore.cli.options import (
    Decorator,
    file_option,
    gathered,
    json_option,
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
from reelscore.errors import DataError, check_choice
from reelscore.report.plots import FORMATS
from reelscore.report.tables.grid import Grid
from reelscore.report.tables.leaderboard import TableLayout, leaderboard_csv

if TYPE_CHECKING:
    from reelscore.report.html import Report
    from reelscore.significance.comparison import Comparison


_NAMED = 4  # systems that the title of a report names
_TEXTS = {".csv": ".csv (numbers in full)", ".tex": ".tex (LaTeX)", ".md": ".md (Markdown)"}
_FIGURES = tuple(f".{name}" for name in FORMATS)


class Outputs(msgspec.Struct, frozen=True):
    """The files that results are written to: of `--output` by their endings, and of `--json`.

    >>> Outputs(("-.csv",)).shows
    False
    """

    paths: tuple[str, ...] = ()
    json_file: str | None = None

    def __post_init__(self) -> None:
        check_targets(*self._places)

    @property
    def _places(self) -> tuple[str | None, ...]:
        return (*map(_place, self.paths), self.json_file)

    @property
    def wanted(self) -> bool:
        """Whether any file is to be written."""
        return any(self._places)

    @property
    def shows(self) -> bool:
        """Whether the terminal is free for the table: nothing else goes to standard output."""
        return STDOUT not in self._places

    def write(
        self,
        grids: Sequence[Grid] = (),
        *,
        draw: Callable[[str], object] | None = None,
        json: Callable[[], object] | None = None,
        private: Collection[str] = (),
        **forms: Callable[[], str],
    ) -> None:
        """Write the files: tables from their grids or as `forms` say, figures by `draw`.

        Files of the endings in `private` can be read by nobody else.
        """
        forms = {
            "tex": lambda: "\n\n".join(grid.to_latex() for grid in grids),
            "md": lambda: "\n\n".join(grid.to_markdown() for grid in grids),
            **forms,
        }
        for path in self.paths:
            form = _ending(path)[1:]
            if form in forms:
                write(_place(path), forms[form](), private=form in private)
            elif draw is not None:
                draw(path)
        if self.json_file and json is not None:
            write_json(self.json_file, json(), private="json" in private)


def _ending(path: str) -> str:
    return Path(path).suffix.lower()


def _place(path: str) -> str:
    """Return where to write: ``-.csv`` is standard output."""
    return STDOUT if Path(path).stem == STDOUT else path


def output_option(*endings: str, figure: str = "") -> Decorator:
    """Return the option ``--output``: files by these endings, and the figure that is named."""
    texts = ", ".join(_TEXTS.get(ending, ending) for ending in endings)
    drawn = f"{', '.join(_FIGURES[:-1])} or {_FIGURES[-1]} {figure}" if figure else ""
    known = (*endings, *(_FIGURES if figure else ()))

    def check(
        context: click.Context, option: click.Parameter, paths: tuple[str, ...]
    ) -> tuple[str, ...]:
        for path in paths:
            if _ending(path) not in known:
                raise DataError(
                    f"{path}: the results here are written as {', '.join(known)}; give the file "
                    "one of these endings."
                )
            if _ending(path) not in endings:
                from reelscore.report.plots.style import need_matplotlib

                need_matplotlib()
        return paths

    what = "; ".join(filter(None, [texts, drawn]))
    printed = next((f" -{each} prints it." for each in endings if each in _TEXTS), "")
    return click.option(
        *("--output", "-o", "paths"),
        metavar="FILE",
        multiple=True,
        callback=check,
        help=f"Write the results, by the file's ending: {what}. Repeatable.{printed}",
    )


def outputs(*endings: str, figure: str = "", json: str = "") -> Decorator:
    """Return a decorator that adds ``--output``, for any form, and ``--json``: `Outputs`."""
    paths = {"paths": output_option(*endings, figure=figure)} if endings or figure else {}
    options = {**paths, "json_file": file_option("--json", json) if json else json_option}
    return gathered("outputs", Outputs, options)


class ResultFiles(Outputs, frozen=True):
    """The files that scores are written to."""

    table_file: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_targets(self.table_file)
        if self.table_file:
            table_format(self.table_file)

    @property
    def wanted(self) -> bool:
        """Whether any file is to be written."""
        return super().wanted or self.table_file is not None

    def write_table(
        self,
        table: ScoreTable,
        grids: Sequence[Grid],
        *,
        csv: Callable[[], str] | None = None,
        comparisons: Sequence[Comparison] | None = None,
        draw: Callable[[str], object] | None = None,
        json: Callable[[], object] | None = None,
    ) -> None:
        """Write the files that were asked for."""

        def content() -> object:
            if comparisons is None:
                return table.to_dict()
            pairs = [pair for each in comparisons for pair in each.pair_dicts()]
            untested = {each.metric: each.untested for each in comparisons if each.untested}
            return {**table.to_dict(), "comparisons": pairs, "untested": untested}

        if self.table_file:
            table.write(self.table_file)
        csv = csv or partial(leaderboard_csv, table)
        self.write(grids, draw=draw, json=json or content, csv=csv)
        if not self.shows:
            show_notes(table.notes, err=True)


def result_files(*without: str, figure: str = "") -> Decorator:
    """Return a decorator that adds the options of files with results, as `ResultFiles`."""
    options = {
        "paths": output_option(".csv", ".tex", ".md", figure=figure),
        "json_file": file_option(
            "--json", "Write all scores, signatures and items as JSON; - for standard output."
        ),
        "table_file": table_option,
    }
    kept = {name: add for name, add in options.items() if name not in without}
    return gathered("files", ResultFiles, kept)


class Pictures(msgspec.Struct, frozen=True):
    """Where a report and figures go, if they are wanted.

    ``plots`` is a folder, perhaps with the figures' format: ``figures|format:svg``.
    """

    html_file: str | None = None
    title: str | None = None
    videos: str | None = None
    plots: str | None = None

    def __post_init__(self) -> None:
        if self.html_file:
            check_targets(self.html_file)
        elif self.videos:
            raise click.UsageError("--videos adds to a report; name its file with --html.")
        if self.plots:
            from reelscore.data.atomic_files import make_folder
            from reelscore.report.plots.style import need_matplotlib

            folder, form = self.figures
            check_choice("format", form, FORMATS)
            need_matplotlib()
            make_folder(folder)

    @property
    def figures(self) -> tuple[str, str]:
        """The folder of the figures, and their format."""
        folder, chosen, form = (self.plots or "").partition("|format:")
        return folder, form if chosen else FORMATS[0]

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
            draw(*self.figures)
        if not (self.html_file or (self.plots and draw is None)):
            return None
        from reelscore.report.html.contents import report_of
        from reelscore.report.html.page import write_report

        few = len(table.systems) <= _NAMED
        own = ", ".join(table.systems) if few else f"{len(table.systems)} systems"
        title = self.title or own
        videos = self.videos or ""
        video = videos if "{item}" in videos or "://" in videos else ""
        made = report_of(table, people, title=title, video=video, command=command_line(), **report)
        if self.html_file and videos and not video:
            made = _with_previews(made, self.html_file, videos)
        if self.html_file:
            with progress_bar("Writing") as progress:
                write_report(self.html_file, made, progress=progress)
        if self.plots and draw is None:
            from reelscore.report.plots.figures import draw_table

            draw_table(made.table, *self.figures, made.tests, made.human)
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
table_option = file_option(
    "--table", "Write the score table (system, item, metric, score), .csv or .json."
)
videos_option = click.option(
    "--videos",
    metavar="DIR|LIST|PATTERN",
    help="Videos for the report. A folder with files named after the items, or a list: previews "
    "of them. 'clips/{item}.mp4' or a URL: where the page finds them.",
)
page_options: dict[str, Decorator] = {
    "html_file": html_option,
    "videos": videos_option,
    "plots": click.option(
        "--plots",
        metavar="DIR",
        help="Write figures into this folder: 'figures', 'figures|format:svg' or png; pdf if no "
        "format is given.",
    ),
}
picture_options = gathered("pictures", Pictures, page_options)

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
