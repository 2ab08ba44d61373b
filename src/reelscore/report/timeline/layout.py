"""Where everything of a timeline picture stands; the writers of SVG and of figures draw it.

Bars of references lie above those of candidates, matched ones joined by a line that carries their
overlap and sentence score. Captions stand below in full. Widths of text are estimated, generously,
since no font is at hand; distances are in pixels of 1/96 inch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from reelscore.report.safe_text import cells, lines_of, rows_of, shortened
from reelscore.stories.timelines import MatchedStories, Pair, TimedCaption, Timeline

Style = Literal["title", "plain", "dim", "label"]

SIZES: dict[Style, int] = {"title": 15, "plain": 12, "dim": 11, "label": 10}
_COLUMN = 0.6  # width of a column of text, in multiples of its size
_MARGIN, _BAR, _STEP, _LINE = 12.0, 17.0, 20.0, 16.0


@dataclass(frozen=True)
class CaptionBar:
    """A caption's stretch of time: filled where it is matched, hollow and dashed where not."""

    x: float
    y: float
    width: float
    height: float
    caption: TimedCaption


@dataclass(frozen=True)
class Stroke:
    """A line from one place to another."""

    x1: float
    y1: float
    x2: float
    y2: float


@dataclass(frozen=True)
class Words:
    """A line of text, from its left end or about its middle; ``boxed`` hides what is behind."""

    x: float
    y: float
    text: str
    style: Style = "plain"
    middle: bool = False
    boxed: bool = False

    @property
    def width(self) -> float:
        """How much room the text takes, estimated."""
        return width_of(self.text, self.style)


@dataclass
class Picture:
    """Things to draw, from the back: lines of the axis, bars, joins, words."""

    width: float
    height: float = 0.0
    rules: list[Stroke] = field(default_factory=list)
    bars: list[CaptionBar] = field(default_factory=list)
    joins: list[Stroke] = field(default_factory=list)
    words: list[Words] = field(default_factory=list)


def width_of(text: str, style: Style = "plain") -> float:
    """Estimate the width of a text."""
    return cells(text) * SIZES[style] * _COLUMN


def timeline_picture(timeline: Timeline, width: float = 900.0) -> Picture:
    """Lay out a whole timeline: title, and bars and captions of each annotator."""
    picture = Picture(width, 2 * _MARGIN)
    _text(picture, timeline.title, "title")
    for comparison in timeline.comparisons:
        _text(picture, comparison.summary, "plain")
        add_bars(picture, comparison, timeline)
        picture.height += _MARGIN
        for pair in comparison.rows():
            _caption(picture, pair)
        picture.height += _MARGIN
    return picture


def add_bars(picture: Picture, comparison: MatchedStories, timeline: Timeline) -> None:
    """Draw the bars of one comparison below what the picture has."""
    axis = _Axis(timeline.begin, timeline.end, _MARGIN, picture.width - _MARGIN)
    picture.height += 4
    picture.words.append(Words(_MARGIN, picture.height + 8, "references", "dim"))
    top = picture.height + _LINE
    references = _Lane(axis, comparison.references)
    candidates = _Lane(axis, comparison.candidates)
    # Row 0 of either side is the one beside the joins.
    references.place(top + (references.count - 1) * _STEP, -_STEP)
    labels = [_label(pair, references, candidates, axis) for pair in comparison.matches]
    rows = rows_of([(label.x - label.width / 2, label.x + label.width / 2 + 6) for label in labels])
    gap_top = top + references.count * _STEP
    gap = 14 + max(rows, default=0) * 15 + 22
    candidates.place(gap_top + gap, _STEP)
    for pair, label, row in zip(comparison.matches, labels, rows, strict=True):
        _join(picture, pair, label, gap_top + 18 + row * 15, references, candidates)
    bottom = gap_top + gap + candidates.count * _STEP
    picture.words.append(Words(_MARGIN, bottom + 9, "candidates", "dim"))
    axis.draw(picture, top - 2, bottom)
    for lane in (references, candidates):
        picture.bars += lane.bars.values()
        for bar in lane.bars.values():
            picture.words.append(Words(bar.x + 4, bar.y + 12, bar.caption.name, "label"))
    picture.height = bottom + 2 * _LINE + 14


class _Axis:
    """Seconds to pixels."""

    def __init__(self, begin: float, end: float, left: float, right: float) -> None:
        self.begin, self.end, self.left, self.right = begin, end, left, right

    def at(self, time: float) -> float:
        share = (time - self.begin) / (self.end - self.begin)
        return self.left + share * (self.right - self.left)

    def draw(self, picture: Picture, top: float, bottom: float) -> None:
        """Draw thin lines at round times, and the times below the candidates' heading."""
        for time in self._ticks():
            x = self.at(time)
            picture.rules.append(Stroke(x, top, x, bottom + _LINE))
            half = width_of(f"{time:g} s", "dim") / 2
            x = min(max(x, self.left + half), self.right - half)
            picture.words.append(Words(x, bottom + _LINE + 14, f"{time:g} s", "dim", middle=True))

    def _ticks(self) -> list[float]:
        most = max(2.0, (self.right - self.left) / 110)
        step = 10.0 ** math.floor(math.log10((self.end - self.begin) / most))
        step *= next(m for m in (1, 2, 5, 10, 20) if (self.end - self.begin) / (step * m) <= most)
        first = math.ceil(self.begin / step)
        return [k * step for k in range(first, math.floor(self.end / step) + 1)]


class _Lane:
    """The bars of one side, overlapping ones in rows of their own."""

    def __init__(self, axis: _Axis, captions: Sequence[TimedCaption]) -> None:
        self._spans = {}
        # Matched ones first, so that they are beside the joins.
        for caption in sorted(captions, key=lambda caption: not caption.matched):
            left, right = sorted((axis.at(caption.start), axis.at(caption.end)))
            least = width_of(caption.name, "label") + 8
            left = min(left, axis.right - least)
            self._spans[caption] = (left, max(right - 1, left + least))
        self._rows = rows_of([(left, right + 1) for left, right in self._spans.values()])
        self.count = max(self._rows, default=0) + 1
        self.bars: dict[str, CaptionBar] = {}

    def middle(self, caption: TimedCaption) -> float:
        return sum(self._spans[caption]) / 2

    def place(self, first: float, step: float) -> None:
        """Make the bars; row 0 is at the first height."""
        for row, (caption, (left, right)) in zip(self._rows, self._spans.items(), strict=True):
            y = first + row * step
            self.bars[caption.name] = CaptionBar(left, y, right - left, _BAR, caption)


def _label(pair: Pair, references: _Lane, candidates: _Lane, axis: _Axis) -> Words:
    assert pair.reference is not None
    assert pair.candidate is not None
    text = f"IoU {pair.iou:.2f} f {pair.f:.2f}"
    half = width_of(text, "label") / 2
    x = (references.middle(pair.reference) + candidates.middle(pair.candidate)) / 2
    return Words(min(max(x, axis.left + half), axis.right - half), 0.0, text)


def _join(
    picture: Picture, pair: Pair, label: Words, y: float, references: _Lane, candidates: _Lane
) -> None:
    assert pair.reference is not None
    assert pair.candidate is not None
    above, below = references.bars[pair.reference.name], candidates.bars[pair.candidate.name]
    ends = (
        (above.x + above.width / 2, above.y + above.height),
        (below.x + below.width / 2, below.y),
    )
    picture.joins.append(Stroke(*ends[0], label.x, y - 4))
    picture.joins.append(Stroke(label.x, y - 4, *ends[1]))
    picture.words.append(Words(label.x, y, label.text, "label", middle=True, boxed=True))


def _caption(picture: Picture, pair: Pair) -> None:
    """Write a pair's captions in full, the candidate below the reference."""
    matched = len(pair.captions) == 2
    for caption in pair.captions:
        times = f"{caption.start:.1f}–{caption.end:.1f} s"
        name = caption.name if matched else f"{caption.name} unmatched"
        indent = _MARGIN + width_of("R00 unmatched 000.0–000.0 s  ", "dim")
        if indent > picture.width / 2:  # a narrow picture: times above the caption
            _text(picture, f"{name}  {times}", "dim")
            indent = 2 * _MARGIN
        else:
            picture.words.append(Words(_MARGIN, picture.height, f"{name}  {times}", "dim"))
        columns = int((picture.width - indent - _MARGIN) / width_of("x"))
        for line in lines_of(caption.sentence, max(8, columns)):
            picture.words.append(Words(indent, picture.height, line))
            picture.height += _LINE
    picture.height += 5


def _text(picture: Picture, text: str, style: Style) -> None:
    columns = int((picture.width - 2 * _MARGIN) / width_of("x", style))
    picture.words.append(Words(_MARGIN, picture.height, shortened(text, columns), style))
    picture.height += SIZES[style] + 7
