"""The timeline of a video in a file: a picture, or a page."""

from __future__ import annotations

from pathlib import Path

from reelscore.data.atomic_files import write_atomically
from reelscore.errors import DataError
from reelscore.report.plots.style import figure, save
from reelscore.report.timeline.layout import SIZES, timeline_picture
from reelscore.report.timeline.page import LIGHT, timeline_html, timeline_svg
from reelscore.stories.timelines import Timeline

FORMATS = ("png", "svg", "pdf", "html")
_PIXELS = 96  # of the layout, in an inch
_POINTS = 72 / _PIXELS


def check_format(path: str | Path) -> str:
    """Find the format that a file's ending names.

    Raises:
        DataError: It names none of `FORMATS`.

    >>> check_format("story.SVG")
    'svg'
    """
    ending = Path(path).suffix.lower().removeprefix(".")
    if ending not in FORMATS:
        raise DataError(
            f"{path}: a timeline is written as .{', .'.join(FORMATS)}; give the file one of these "
            "endings."
        )
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
    >>> dogwash = timeline(systems["concise"], annotators["annotator_1"], "v_dogwash")
    >>> write_timeline(dogwash, Path(tempfile.mkdtemp(), "dogwash.html"))
    """
    ending = check_format(path)
    if ending == "svg":
        write_atomically(path, timeline_svg(timeline))
    elif ending == "html":
        write_atomically(path, timeline_html(timeline))
    else:
        from reelscore.report.timeline.files import draw_timeline

        draw_timeline(timeline, path)


def draw_timeline(timeline: Timeline, path: str | Path, width: float = 900.0) -> None:
    """Draw a timeline with its captions.

    Args:
        timeline: What to draw.
        path: A .png or .pdf file.
        width: The width in pixels of 1/96 inch.

    Raises:
        MissingExtraError: matplotlib is not installed.

    >>> import tempfile
    >>> from reelscore import examples
    >>> from reelscore.stories import timeline
    >>> systems, annotators = examples.stories()
    >>> dogwash = timeline(systems["concise"], annotators["annotator_1"], "v_dogwash")
    >>> draw_timeline(dogwash, Path(tempfile.mkdtemp(), "dogwash.png"))
    """
    picture = timeline_picture(timeline, width)
    inches = picture.width / _PIXELS, picture.height / _PIXELS
    with figure(width=inches[0], height=inches[1]) as (drawing, (panel,)):
        from matplotlib.patches import Rectangle

        drawing.set_layout_engine("none")
        panel.set_position((0, 0, 1, 1))
        panel.set_axis_off()
        panel.set_xlim(0, picture.width)
        panel.set_ylim(picture.height, 0)
        for kind, lines, above in (("rule", picture.rules, 1.0), ("join", picture.joins, 2.5)):
            for line in lines:
                panel.plot(
                    [line.x1, line.x2],
                    [line.y1, line.y2],
                    color=LIGHT[kind],
                    linewidth=0.6 if kind == "rule" else 1.1,
                    zorder=above,
                )
        for bar in picture.bars:
            side = "reference" if bar.caption.name.startswith("R") else "candidate"
            panel.add_patch(
                Rectangle(
                    (bar.x, bar.y),
                    bar.width,
                    bar.height,
                    facecolor=LIGHT[side if bar.caption.matched else "paper"],
                    edgecolor=LIGHT["ink"],
                    linewidth=0.7,
                    linestyle="-" if bar.caption.matched else (0, (4, 2.5)),
                    zorder=2,
                )
            )
        for words in picture.words:
            box = {"facecolor": LIGHT["paper"], "edgecolor": "none", "pad": 1.0}
            panel.text(
                words.x,
                words.y,
                words.text,
                fontsize=SIZES[words.style] * _POINTS,
                color=LIGHT["dim" if words.style == "dim" else "ink"],
                fontweight="bold" if words.style == "title" else "normal",
                ha="center" if words.middle else "left",
                va="baseline",
                bbox=box if words.boxed else None,
                parse_math=False,
                zorder=4,
            )
        save(drawing, path)
