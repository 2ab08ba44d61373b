"""The timeline of a video in a file: a picture, or a page."""

from __future__ import annotations

from pathlib import Path

from reelscore.data.writing import write_atomically
from reelscore.errors import DataError
from reelscore.report.timeline.page import timeline_html
from reelscore.report.timeline.svg import timeline_svg
from reelscore.report.timeline.text import timeline_text
from reelscore.stories.timelines import Timeline

__all__ = ["FORMATS", "check_format", "timeline_text", "write_timeline"]

FORMATS = ("png", "svg", "pdf", "html")


def check_format(path: str | Path) -> str:
    """Find the format that a file's ending names.

    Raises:
        DataError: It names none of `FORMATS`.

    >>> check_format("story.SVG")
    'svg'
    """
    ending = Path(path).suffix.lower().removeprefix(".")
    if ending not in FORMATS:
        raise DataError(f"{path}: a timeline is written as .{', .'.join(FORMATS)}; name it so.")
    return ending


def write_timeline(timeline: Timeline, path: str | Path) -> None:
    """Write a timeline in the format the file's ending names, all or nothing.

    Args:
        timeline: What to write; see `reelscore.stories.timeline`.
        path: A .png, .svg, .pdf or .html file.

    Raises:
        DataError: The ending names no format, or the file cannot be written.
        MissingExtraError: matplotlib is not installed, which PNG and PDF need.

    >>> import tempfile
    >>> from reelscore import examples
    >>> from reelscore.stories import timeline
    >>> systems, annotators = examples.stories()
    >>> found = timeline(systems["concise"], annotators["annotator_1"], "v_dogwash")
    >>> write_timeline(found, Path(tempfile.mkdtemp(), "dogwash.html"))
    """
    ending = check_format(path)
    if ending == "svg":
        write_atomically(path, timeline_svg(timeline))
    elif ending == "html":
        write_atomically(path, timeline_html(timeline))
    else:
        from reelscore.report.timeline.plot import draw_timeline

        draw_timeline(timeline, path)
