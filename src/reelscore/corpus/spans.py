"""Spans of time: where they overlap, and which segments of a narration lie in dialogue."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from reelscore.corpus.records import Segment

Span = tuple[float, float]


def joined_spans(spans: Iterable[Span]) -> list[Span]:
    """Join spans that overlap.

    >>> joined_spans([(5.0, 6.0), (1.0, 3.0), (2.0, 4.0)])
    [(1.0, 4.0), (5.0, 6.0)]
    """
    joined: list[Span] = []
    for start, end in sorted(span for span in spans if span[1] > span[0]):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def shared_seconds(span: Span, others: Iterable[Span]) -> float:
    """Sum the time that a span shares with others, which do not overlap.

    >>> shared_seconds((1.0, 4.0), [(0.0, 2.0), (3.5, 9.0)])
    1.5
    """
    return sum(max(0.0, min(span[1], end) - max(span[0], start)) for start, end in others)


def gaps_between(spans: Iterable[Span]) -> list[Span]:
    """Return the time before, between and after spans; the first and the last have no end.

    >>> gaps_between([(1.0, 3.0), (5.0, 6.0)])
    [(-inf, 1.0), (3.0, 5.0), (6.0, inf)]
    """
    joined = joined_spans(spans)
    edges = [float("-inf"), *(time for span in joined for time in span), float("inf")]
    return list(zip(edges[::2], edges[1::2], strict=True))


def doubt_overlaps(segments: Sequence[Segment], dialogue: Iterable[Span]) -> list[Segment]:
    """Halve the confidence of segments that do not lie for more than half in one pause.

    Narrators speak between lines, so what sounds during a line is more often the actors.

    Args:
        segments: The segments.
        dialogue: When actors speak, such as the times of subtitles.

    >>> segment = Segment("n1", 4.0, 6.0, 4.0, 6.0, -8.0, 0.8)
    >>> [doubt_overlaps([segment], [(3.0, end)])[0].confidence for end in (4.5, 5.5)]
    [0.8, 0.4]
    """
    pauses = gaps_between(dialogue)
    return [
        segment
        if any(
            shared_seconds((segment.start, segment.end), [pause])
            > (segment.end - segment.start) / 2
            for pause in pauses
        )
        else replace(segment, confidence=round(segment.confidence / 2, 3))
        for segment in segments
    ]
