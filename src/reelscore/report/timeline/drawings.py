"""The timeline of a video: text for the terminal, or a file with a picture or a page."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

from reelscore.data.atomic_files import write_atomically
from reelscore.errors import DataError
from reelscore.report.pages import render, style_sheet
from reelscore.report.plots.style import checked_ending, figure, save
from reelscore.report.safe_text import cells, legible, lines_of, rows_of, shortened
from reelscore.report.timeline.layout import SIZES, Picture, add_bars, timeline_picture
from reelscore.stories.timelines import MatchedStories, Pair, TimedCaption, Timeline

_SIDE, _LONGEST_SIDE = 6, 14  # columns that name a row of bars, at least and at most
_NARROWEST = 24  # columns that a system's captions need, side by side with others
FORMATS = ("png", "svg", "pdf", "html")
_PIXELS = 96  # of the layout, in an inch
_POINTS = 72 / _PIXELS
LIGHT = {
    "paper": "#ffffff",
    "ink": "#1c1c1c",
    "dim": "#595959",
    "rule": "#dddddd",
    "join": "#767676",
    "reference": "#a8d3ee",
    "candidate": "#f7cf86",
}
_DARK = {
    "paper": "#16181b",
    "ink": "#ececec",
    "dim": "#a8adb3",
    "rule": "#34383d",
    "join": "#8d939a",
    "reference": "#1f5f8a",
    "candidate": "#8a5a00",
}
_WIDE, _BESIDE, _NARROW = 960.0, 580.0, 358.0  # of one system, and of several side by side


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
    for group in timeline.by_annotator:
        parts.append(_comparison(group, timeline, width))
    return "\n".join(parts)


def _comparison(group: Sequence[MatchedStories], timeline: Timeline, width: int) -> str:
    """Lay out what is compared with one annotator: one system, or several side by side."""
    begin, end = f"{timeline.begin:g} s", f"{timeline.end:.1f} s"
    names = [shortened(each.system, _LONGEST_SIDE) or "cands" for each in group]
    side = max(_SIDE, *(cells(name) + 1 for name in names))
    lines = [line for each in group for line in lines_of(each.summary, width)]
    lines += ["", *_bars("refs", group[0].references, timeline, side, width)]
    for name, each in zip(names, group, strict=True):
        lines += _bars(name, each.candidates, timeline, side, width)
    lines += [" " * side + begin + end.rjust(width - side - len(begin)), ""]
    if len(group) == 1:
        lines += [line for pair in group[0].rows() for line in _row(pair, width)]
    else:
        lines += _columns(group, names, width)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _columns(group: Sequence[MatchedStories], names: Sequence[str], width: int) -> list[str]:
    """Return below each reference what each system has for it, and captions without a match."""
    room = (width - 3 * (len(group) - 1)) // len(group)
    if room < _NARROWEST:
        raise DataError(
            f"{len(group)} systems do not fit side by side in {width} columns; show fewer, or "
            "write a page (.html)."
        )
    rows: list[tuple[float, list[str]]] = []
    for reference in group[0].references:
        pairs = [
            next((pair for pair in each.matches if pair.reference == reference), None)
            for each in group
        ]
        times = f"{reference.start:.1f}–{reference.end:.1f} s"
        lines = [reference.name + times.rjust(width - len(reference.name))]
        lines += [f"  {line}" for line in lines_of(reference.sentence, width - 2)]
        lines += _beside([_cell(pair, room) for pair in pairs], room)
        rows.append((reference.start, lines))
    for number, each in enumerate(group):
        for caption in each.candidates:
            if not caption.matched:
                cell = _cell(Pair(None, caption), room)
                blank = [[""] for _ in group]
                blank[number] = cell
                rows.append((caption.start, _beside(blank, room)))
    heading = _beside([[name] for name in names], room)
    return heading + [line for _, lines in sorted(rows, key=lambda row: row[0]) for line in lines]


def _cell(pair: Pair | None, room: int) -> list[str]:
    """Return what one system has for a reference, or a candidate that is not matched."""
    if pair is None or pair.candidate is None:
        return ["no match"]
    caption = pair.candidate
    times = f"{caption.start:.1f}–{caption.end:.1f} s"
    head = f"{caption.name}  IoU {pair.iou:.2f}  f {pair.f:.2f}"
    head = head if pair.reference else f"{caption.name}  unmatched"
    lines = _with_times(head, times, room)
    return lines + [f"  {line}" for line in lines_of(caption.sentence, room - 2)]


def _with_times(head: str, times: str, room: int) -> list[str]:
    """Put times at the right of a line, or below it where there is no room."""
    if len(head) + 2 + len(times) <= room:
        return [head + times.rjust(room - len(head))]
    return [head, times.rjust(room)]


def _beside(columns: Sequence[list[str]], room: int) -> list[str]:
    """Put columns of lines side by side, each padded to the room it has."""
    lines = []
    for row in zip_longest(*columns, fillvalue=""):
        lines.append(" │ ".join(text + " " * (room - cells(text)) for text in row))
    return lines


def _bars(
    name: str, captions: Sequence[TimedCaption], timeline: Timeline, side: int, width: int
) -> list[str]:
    room = width - side
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
    names = [name + " " * (side - cells(name)), *[" " * side] * (len(lines) - 1)]
    return [beginning + "".join(line) for beginning, line in zip(names, lines, strict=True)]


def _row(pair: Pair, width: int) -> list[str]:
    times = " | ".join(f"{caption.start:.1f}–{caption.end:.1f}" for caption in pair.captions) + " s"
    names = " ─ ".join(caption.name for caption in pair.captions)
    matched = len(pair.captions) == 2
    head = f"{names}  IoU {pair.iou:.2f}  f {pair.f:.2f}" if matched else f"{names}  unmatched"
    lines = _with_times(head, times, width)
    for caption in pair.captions:
        first, *others = lines_of(caption.sentence, width - 4)
        lines += [f"  {caption.name[0]} {first}", *(f"    {line}" for line in others)]
    return lines


def check_format(path: str | Path) -> str:
    """Find the format that a file's ending names.

    >>> check_format("story.SVG")
    'svg'
    """
    return checked_ending(path, FORMATS, "a timeline")


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
        draw_timeline(timeline, path)


def draw_timeline(timeline: Timeline, path: str | Path, width: float = 900.0) -> None:
    """Draw a timeline with its captions."""
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


def timeline_svg(timeline: Timeline, width: float = 900.0) -> str:
    """Draw a timeline as a file of its own, with its captions."""
    return render(
        "timeline.svg",
        picture=timeline_picture(timeline, width),
        title=legible(timeline.title),
        colours=LIGHT,
        sizes=SIZES,
    )


def timeline_html(timeline: Timeline) -> str:
    """Write a timeline as one HTML page, for light and dark screens of any width."""
    sections = []
    for group in timeline.by_annotator:
        wide = _WIDE if len(group) == 1 else _BESIDE
        drawn = []
        for comparison in group:
            pictures = {"wide": Picture(wide), "narrow": Picture(_NARROW)}
            for picture in pictures.values():
                add_bars(picture, comparison, timeline)
            drawn.append((comparison, pictures))
        sections.append(drawn)
    return render(
        "timeline.html",
        timeline=timeline,
        sections=sections,
        light=LIGHT,
        dark=_DARK,
        sizes=SIZES,
        style=style_sheet("timeline.css"),
    )
