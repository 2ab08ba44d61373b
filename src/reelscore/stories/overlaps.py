"""Overlap of segments in time: intersection over union (Eq. 1 of the SODA paper), and chapters.

Chapters are scored by where they lie, whatever their titles: F1 of those that overlap enough, as
Chapter-Llama has it, the mean overlap of those that are matched, and precision and recall of their
starts, as VidChapters has them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reelscore import _native
from reelscore.data.stories import FloatArray, Story
from reelscore.stories.protocol import Protocol

IntArray = NDArray[np.int64]


def iou(candidates: ArrayLike, references: ArrayLike, *, epsilon: float = 0.0) -> FloatArray:
    """Intersection over union of every candidate segment with every reference segment.

    >>> iou([[0, 10], [5, 20]], [[0, 10], [10, 20]]).tolist()
    [[1.0, 0.0], [0.25, 0.6666666666666666]]
    """
    one = np.ascontiguousarray(candidates, dtype=np.float64).reshape(-1, 2)
    other = np.ascontiguousarray(references, dtype=np.float64).reshape(-1, 2)
    flat = _native.segment_iou(
        one.ravel(), _offsets([len(one)]), other.ravel(), _offsets([len(other)]), epsilon, 1
    )
    return flat.reshape(len(one), len(other))


class Overlaps:
    """The overlaps of many pairs of stories at once, one matrix after the other.

    Attributes:
        iou: All matrices, flat: candidates × references of the first pair, of the second…
        rows: For each entry the number of its candidate, among the candidates of all pairs.
        columns: For each entry the number of its reference, among the references of all pairs.
        row_offsets: Where the candidates of each pair begin, and the end of the last.
        column_offsets: Where the references of each pair begin, and the end of the last.
    """

    def __init__(
        self,
        candidates: Sequence[Story],
        references: Sequence[Story],
        *,
        epsilon: float = 0.0,
        threads: int = 1,
    ) -> None:
        self.row_offsets = _offsets(caption_counts(candidates))
        self.column_offsets = _offsets(caption_counts(references))
        self.iou = _native.segment_iou(
            _segments(candidates),
            self.row_offsets,
            _segments(references),
            self.column_offsets,
            epsilon,
            threads,
        )
        # Each candidate has a run of entries, as long as its pair has references.
        widths = np.repeat(np.diff(self.column_offsets), np.diff(self.row_offsets))
        firsts = np.repeat(self.column_offsets[:-1], np.diff(self.row_offsets))
        begins = np.cumsum(widths) - widths
        self.rows = np.repeat(np.arange(len(widths)), widths)
        self.columns = np.arange(len(self.iou)) + np.repeat(firsts - begins, widths)


def distinct(numbers: IntArray) -> IntArray:
    """Sort numbers, and keep each once; `np.unique` would load numpy's masked arrays as well.

    >>> distinct(np.array([7, 2, 7])).tolist()
    [2, 7]
    """
    ordered: IntArray = np.sort(numbers)
    is_new = np.ones(len(ordered), dtype=bool)
    is_new[1:] = ordered[1:] != ordered[:-1]
    return ordered[is_new]


def caption_counts(stories: Sequence[Story]) -> list[int]:
    """How many captions each story has.

    >>> caption_counts([Story(np.array([[0.0, 4.0]]), ("a man",))])
    [1]
    """
    return [len(story.sentences) for story in stories]


def _offsets(counts: Sequence[int]) -> IntArray:
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])


def _segments(stories: Sequence[Story]) -> FloatArray:
    return np.concatenate([np.empty((0, 2)), *(story.segments for story in stories)]).ravel()


def chapter_scores(
    candidates: Sequence[Story], references: Sequence[Sequence[Story]], protocol: Protocol
) -> FloatArray:
    """Score where chapters lie: F1, tIoU, precision and recall of starts, for each video.

    Of several annotators the best counts, for each number alone, as in the ActivityNet scorer.
    """
    rows = [
        [list(_chapter_scores(story, each, protocol)) for each in truth]
        for story, truth in zip(candidates, references, strict=True)
    ]
    return np.array([np.max(row, axis=0) for row in rows])


def _chapter_scores(ours: Story, theirs: Story, protocol: Protocol) -> Iterator[float]:
    one, other = (_with_opening(story.segments, protocol.opening) for story in (ours, theirs))
    overlap = iou(one, other, epsilon=protocol.epsilon)
    yield float(np.mean([_f1(*_found(overlap >= least)) for least in protocol.chapter_tious]))
    yield _matched_overlap(overlap)
    apart = np.abs(ours.segments[:, None, 0] - theirs.segments[:, 0])
    for seconds in protocol.within:
        yield from _found(apart < seconds)


def _with_opening(segments: FloatArray, opening: str) -> FloatArray:
    """Put a segment before the first, where it does not begin at 0."""
    first = segments[:, 0].min(initial=np.inf)
    if opening == "keep" or first == 0 or not len(segments):
        return segments
    return np.concatenate([[[0.0, first]], segments])


def _found(near: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the share of candidates that are near any reference, and of references found so."""
    if not near.size:
        return 0.0, 0.0
    return float(near.any(axis=1).mean()), float(near.any(axis=0).mean())


def _f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _matched_overlap(overlap: FloatArray) -> float:
    """Match by the largest overlap first, and return the mean of the matched."""
    left, matched = overlap.copy(), []
    while left.size and left.max() > 0:
        row, column = np.unravel_index(np.argmax(left), left.shape)
        matched.append(left[row, column])
        left[row], left[:, column] = 0.0, 0.0
    return float(np.mean(matched)) if matched else 0.0
