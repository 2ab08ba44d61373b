"""Overlap of segments in time: intersection over union (Eq. 1 of the SODA paper)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reelscore import _native
from reelscore.data.stories import FloatArray, Story

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
