"""The timeline of a video: text for the terminal, or a file with a picture or a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from reelscore.data.atomic_files import write_atomically
from reelscore.errors import DataError
from reelscore.report.plots.style import figure, save
from reelscore.report.safe_text import lines_of, rows_of, shortened
from reelscore.report.timeline.layout import SIZES, timeline_picture
from reelscore.report.timeline.page import LIGHT, timeline_html, timeline_svg
from reelscore.stories.timelines import MatchedStories, Pair, TimedCaption, Timeline

_SIDE = 6  # columns that name a row of bars
FORMATS = ("png", "svg", "pdf", "html")
_PIXELS = 96  # of the layout, in an inch
_POINTS = 72 / _PIXELS


def timeline_text(timeline: Timeline, width: int = 80) -> str:
    """Lay out a timeline in text.

    Bars of matched captions are drawn with whole lines, those of unmatched ones with broken lines.

    Args:
        timeline: What to show.
        width: Columns of the terminal, at least 40.

    >>> from reelscore import examples
    >>> from reelscore.stories import timeline
    >>> systems, annotators = examples.stories()
    >>> dogwash = timeline(systems["concise"], annotators["annotator_1"], "v_dogwash")
    >>> for line in timeline_text(dogwash, 60).splitlines()[3:9]:
    ...     print(line)
    refs  ├─1────────┤├─2────────────────────┤ ├─3─────────────┤
    cands ├─1─────────┤ ╎╌2╌╌╌╌╌╌╌╌╎            ├─4───────────┤
                                  ├─3─────────┤
          0 s                                             66.0 s
    <BLANKLINE>
    R1 ─ C1  IoU 0.92  f 0.24              0.0–14.8 | 0.0–16.1 s
    """
    parts = [shortened(timeline.title, width)]
    for each in timeline.comparisons:
        parts.append(_comparison(each, timeline, width))
    return "\n".join(parts)


def _comparison(comparison: MatchedStories, timeline: Timeline, width: int) -> str:
    begin, end = f"{timeline.begin:g} s", f"{timeline.end:.1f} s"
    lines = [
        *lines_of(comparison.summary, width),
        "",
        *_bars("refs", comparison.references, timeline, width),
        *_bars("cands", comparison.candidates, timeline, width),
        " " * _SIDE + begin + end.rjust(width - _SIDE - len(begin)),
        "",
    ]
    for pair in comparison.rows():
        lines += _row(pair, width)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _bars(side: str, captions: Sequence[TimedCaption], timeline: Timeline, width: int) -> list[str]:
    room = width - _SIDE
    scale = room / (timeline.end - timeline.begin)
    drawn = []
    for caption in captions:
        number = caption.name[1:]
        first, last = sorted((caption.start, caption.end))
        left = round((first - timeline.begin) * scale)
        right = max(round((last - timeline.begin) * scale), left + len(number) + 2)
        left, right = (left, right) if right <= room else (room - (right - left), room)
        begin, line, end = "├─┤" if caption.matched else "╎╌╎"
        bar = begin + (line + number if right - left > len(number) + 2 else number)
        drawn.append((left, right, bar.ljust(right - left - 1, line) + end))
    rows = rows_of([(left, right) for left, right, _ in drawn])
    lines = [[" "] * room for _ in range(max(rows, default=0) + 1)]
    for row, (left, right, bar) in zip(rows, drawn, strict=True):
        lines[row][left:right] = bar
    names = [side, *[""] * (len(lines) - 1)]
    return [f"{name:{_SIDE}}{''.join(line)}" for name, line in zip(names, lines, strict=True)]


def _row(pair: Pair, width: int) -> list[str]:
    times = " | ".join(f"{caption.start:.1f}–{caption.end:.1f}" for caption in pair.captions) + " s"
    names = " ─ ".join(caption.name for caption in pair.captions)
    matched = len(pair.captions) == 2
    head = f"{names}  IoU {pair.iou:.2f}  f {pair.f:.2f}" if matched else f"{names}  unmatched"
    beside = len(head) + 2 + len(times) <= width
    lines = [head + times.rjust(width - len(head))] if beside else [head, times.rjust(width)]
    for caption in pair.captions:
        first, *others = lines_of(caption.sentence, width - 4)
        lines += [f"  {caption.name[0]} {first}", *(f"    {line}" for line in others)]
    return lines


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
