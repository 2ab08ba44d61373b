"""The timeline of a video for the terminal: two rows of bars, then every pair with its captions."""

from __future__ import annotations

from collections.abc import Sequence

from reelscore.report.legible import lines_of, rows_of, shortened
from reelscore.stories.timelines import Beside, Pair, TimedCaption, Timeline

_SIDE = 6  # columns that name a row of bars


def timeline_text(timeline: Timeline, width: int = 80) -> str:
    """Set out a timeline in text.

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


def _comparison(comparison: Beside, timeline: Timeline, width: int) -> str:
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
