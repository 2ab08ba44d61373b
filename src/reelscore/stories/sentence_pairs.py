"""Pairs of sentences, each distinct pair measured once in a batch of videos."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from reelscore.metrics.base import FloatArray, Metric, pair_statistics
from reelscore.stories.iou import IntArray
from reelscore.stories.protocol import Protocol
from reelscore.text.packed import Packed, pack
from reelscore.text.tokens import tokenize

PAIRS_AT_ONCE = 200_000  # pairs whose statistics are held in memory together
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")


def ascii_alone(sentences: Iterable[str]) -> list[str]:
    """Put a blank in place of every character that is not ASCII.

    >>> ascii_alone(["a café", "a bar"])
    ['a caf ', 'a bar']
    """
    return [s if s.isascii() else _BEYOND_ASCII.sub(" ", s) for s in sentences]


def soda_tokens(sentences: Sequence[str], protocol: Protocol, threads: int = 1) -> list[str]:
    """Tokenize sentences as SODA does by a protocol; each comes back as tokens and blanks.

    >>> soda_tokens(["A café."], Protocol()), soda_tokens(["A café."], Protocol(characters="ascii"))
    (['a café'], ['a caf'])
    """
    kept = ascii_alone(sentences) if protocol.characters == "ascii" else sentences
    return tokenize(kept, protocol.tokenizer, threads=threads)


class TextPool:
    """Tokenized sentences, numbered as they come; equal ones have one number.

    >>> pool = TextPool()
    >>> pool.add(["a man", "a dog", "a man"]).tolist()
    [0, 1, 0]
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._packed: Packed | None = None

    def add(self, texts: Iterable[str]) -> IntArray:
        """Number some texts."""
        numbers = self._numbers
        before = len(numbers)
        found = np.fromiter((numbers.setdefault(text, len(numbers)) for text in texts), np.int64)
        if len(numbers) > before:
            self._packed = None
        return found

    @property
    def packed(self) -> Packed:
        """All texts, by number."""
        if self._packed is None:
            self._packed = pack(list(self._numbers))
        return self._packed


class PairStatistics:
    """Statistics of one metric for pairs of texts; what was measured is remembered.

    It is for metrics whose statistics depend on the two sentences alone.
    """

    def __init__(self, metric: Metric, pool: TextPool, threads: int) -> None:
        self.metric = metric
        self._pool = pool
        self._threads = threads
        self._keys = np.empty(0, dtype=np.int64)
        self._rows: FloatArray | None = None

    def rows(self, candidates: IntArray, references: IntArray) -> FloatArray:
        """Statistics of each pair, given by the numbers of its texts."""
        keys = candidates << 32 | references
        distinct = np.unique(keys)
        if self._rows is not None and len(self._keys) + len(distinct) > PAIRS_AT_ONCE:
            self._rows, self._keys = None, self._keys[:0]
        new = distinct[~np.isin(distinct, self._keys, assume_unique=True)]
        if len(new) or self._rows is None:
            self._remember(new)
        assert self._rows is not None
        return self._rows[np.searchsorted(self._keys, keys)]

    def _remember(self, keys: IntArray) -> None:
        measured = pair_statistics(
            self.metric, self._pool.packed, keys >> 32, keys & 0xFFFFFFFF, self._threads
        )
        if self._rows is None:
            self._keys, self._rows = keys, measured
            return
        joined = np.concatenate([self._keys, keys])
        order = np.argsort(joined)
        self._keys, self._rows = joined[order], np.concatenate([self._rows, measured])[order]
