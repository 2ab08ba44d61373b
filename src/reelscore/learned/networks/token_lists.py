"""Texts and pairs of texts as the numbers of tokens that encoders read, without padding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reelscore.text.wordpiece import PackagePieces, WordPieces

IntArray: TypeAlias = NDArray[np.int64]


class TokenBatch(NamedTuple):
    """Lists of tokens, one after the other."""

    ids: IntArray
    types: IntArray
    lengths: IntArray

    def padded(self, padding: int = 0) -> tuple[IntArray, IntArray, IntArray]:
        """Return a row for each list: its tokens, their types, and 1 where one is."""
        there = np.arange(self.lengths.max()) < self.lengths[:, None]
        ids = np.full(there.shape, padding, dtype=np.int64)
        types = np.zeros_like(ids)
        ids[there], types[there] = self.ids, self.types
        return ids, types, there.astype(np.int64)


@dataclass(frozen=True)
class TokenLists:
    """Lists of tokens whose parts are known; they are put together when they are taken."""

    source: IntArray  # tokens of all texts, and of marks
    starts: IntArray  # where the parts of each list begin there: a row for each
    counts: IntArray  # how many tokens the parts have
    types: tuple[int, ...]  # the type of the tokens of each part
    is_cut: NDArray[np.bool_]  # of each list, whether texts were cut for it

    @cached_property
    def lengths(self) -> IntArray:
        """How many tokens each list has."""
        lengths: IntArray = self.counts.sum(axis=1)
        return lengths

    def take(self, numbers: Sequence[int] | IntArray) -> TokenBatch:
        """Put lists together, given by number."""
        counts = self.counts[numbers].ravel()
        ids = self.source[ranges(self.starts[numbers].ravel(), counts)]
        types = np.repeat(np.tile(np.array(self.types, np.int64), len(numbers)), counts)
        return TokenBatch(ids, types, self.lengths[numbers])

    def all(self) -> TokenBatch:
        """Put all lists together."""
        return self.take(np.arange(len(self.counts)))


class TextTokens:
    """Tokens of texts and of pairs of texts; each text is cut into tokens once."""

    _ids: IntArray  # of marks, and of all texts
    _starts: IntArray
    _counts: IntArray

    def __init__(self, tokenizer: WordPieces | PackagePieces, max_length: int) -> None:
        self.tokenizer = tokenizer
        self.max_length = max_length  # of a list, marks among its tokens
        marks = [*tokenizer.single.marks, *tokenizer.pair.marks]
        self._marks = np.array([each for own in marks for each in own], np.int64)
        self._mark_counts = np.array([len(own) for own in marks], np.int64)
        self._mark_starts = np.cumsum(self._mark_counts) - self._mark_counts
        self._numbers: dict[str, int] = {}
        self.forget()

    def numbers(self, texts: Sequence[str], threads: int = 1) -> IntArray:
        """Return texts as numbers, equal ones as the same; those not seen before are cut."""
        self.learn(texts, threads)
        return np.fromiter(map(self._numbers.__getitem__, texts), np.int64, len(texts))

    def learn(self, texts: Sequence[str], threads: int = 1) -> None:
        """Cut texts into tokens ahead of use, many at a time."""
        new = [text for text in dict.fromkeys(texts) if text not in self._numbers]
        if not new:
            return
        ids, offsets = self.tokenizer.cut(new, threads)
        known = len(self._numbers)
        self._numbers.update(zip(new, range(known, known + len(new)), strict=True))
        self._starts = np.concatenate([self._starts, offsets[:-1] + len(self._ids)])
        self._counts = np.concatenate([self._counts, np.diff(offsets)])
        self._ids = np.concatenate([self._ids, ids.astype(np.int64)])

    def texts(self) -> list[str]:
        """Return the texts that were learned, by number."""
        return list(self._numbers)

    def lengths(self) -> dict[str, int]:
        """Return of each text that was learned how many tokens it has."""
        return dict(zip(self._numbers, self._counts.tolist(), strict=True))

    def forget(self) -> None:
        """Forget the texts' tokens."""
        self._numbers.clear()
        self._ids = self._marks
        self._starts = self._counts = np.zeros(0, np.int64)

    def pairs(
        self, candidates: Sequence[str], references: Sequence[str], threads: int = 1
    ) -> TokenLists:
        """Return the tokens of pairs, with marks and types; the longer text is cut first."""
        numbers = self.numbers([*candidates, *references], threads)
        return self.framed(numbers.reshape(2, -1))

    def singles(self, texts: Sequence[str], threads: int = 1) -> TokenLists:
        """Return the tokens of texts, each with its marks."""
        return self.framed(self.numbers(texts, threads)[None])

    def framed(self, numbers: IntArray) -> TokenLists:
        """Return the tokens of texts, or of pairs in two rows, given as `numbers` has them."""
        single, pair = self.tokenizer.single, self.tokenizer.pair
        alone = len(numbers) == 1
        frame = single if alone else pair
        own = slice(len(single.marks)) if alone else slice(len(single.marks), None)
        mark_starts, mark_counts = self._mark_starts[own], self._mark_counts[own]
        whole = self._counts[numbers]
        most = self.max_length - int(mark_counts.sum())
        # of two texts that are longer than a list may be, neither counts as the longer one
        kept = _cut_to(np.minimum(whole, self.max_length), max(0, most))
        starts = np.empty((numbers.shape[1], len(frame.types)), np.int64)
        counts = np.empty_like(starts)
        starts[:, ::2], counts[:, ::2] = mark_starts, mark_counts
        starts[:, 1::2], counts[:, 1::2] = self._starts[numbers].T, kept.T
        is_cut = np.any(kept < whole, axis=0, keepdims=True)[0]
        return TokenLists(self._ids, starts, counts, frame.types, is_cut)


def ranges(starts: IntArray, counts: IntArray) -> IntArray:
    """Count on from each start.

    >>> ranges(np.array([5, 0, 7]), np.array([2, 0, 3])).tolist()
    [5, 6, 7, 8, 9]
    """
    ends = np.cumsum(counts)
    steps: IntArray = np.arange(counts.sum()) + np.repeat(starts - ends + counts, counts)
    return steps


def first_of_each(pairs: IntArray) -> tuple[IntArray, IntArray]:
    """Return where each different pair is first, and the number of every pair's among these.

    >>> first, place = first_of_each(np.array([[5, 1, 5], [0, 2, 0]]))
    >>> first.tolist(), place.tolist()
    ([0, 1], [0, 1, 0])
    """
    keys = pairs[0] * (pairs[1].max(initial=0) + 1) + pairs[1]
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[place]


def _cut_to(counts: IntArray, most: int) -> IntArray:
    """Return how long texts may be together, the longer one of two cut first."""
    if len(counts) == 1:
        return np.minimum(counts, most)
    first, second = counts
    short = np.minimum(np.minimum(first, second), most // 2)
    long = np.minimum(np.maximum(first, second), most - short)
    longer = first > second
    return np.array([np.where(longer, long, short), np.where(longer, short, long)])
