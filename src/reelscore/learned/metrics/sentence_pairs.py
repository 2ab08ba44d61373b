"""Metrics that score one text against another, asked sentence by sentence.

Sentences multiply the pairs. So the texts' vectors choose, or their words: a sentence meets only
the few sentences of each reference that are nearest to it.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple
from zlib import crc32

import numpy as np

from reelscore.learned.metrics.over_references import Several, over_references
from reelscore.metrics.base import FloatArray
from reelscore.metrics.sentences import (
    CaptionMatches,
    IntArray,
    ReadsSentences,
    SentenceList,
    SentenceMatch,
    Sentences,
    means,
)
from reelscore.text.words import CaptionBatch, Captions

_PLACES = 512  # of words' vectors
# How many sentences of a reference each sentence meets. On FactVC's paragraphs of YouCook2,
# agreement with people is r = .577 with one, .580 with three, and .578 with all; chosen by words,
# as for the smaller model, .557, .605 and .585.
_NEAREST = 3


Embedding = Callable[[Sequence[str], int], FloatArray]


class References:
    """The references of all items, divided into sentences."""

    def __init__(self, texts: list[str], *, whole: bool = False) -> None:
        self.parts = SentenceList(texts, whole=whole)
        self.cut: set[tuple[str, str]] = set()  # pairs that the network did not see to their ends
        self._vectors: FloatArray | None = None

    def vectors(self, embedding: Embedding, threads: int) -> FloatArray:
        """Return the sentences' vectors; they are computed with the first captions."""
        if self._vectors is None:
            self._vectors = embedding(self.parts.texts, threads)
        return self._vectors


class _Group(NamedTuple):
    """A sentence of one side, and those of the other side that it meets; the best one counts."""

    sentence: int
    others: Sequence[int]


class _Side:
    """Sentences of one side, each with those of the other that it meets, and their scores."""

    def __init__(self, groups: Sequence[_Group]) -> None:
        self.groups = groups
        ones = chain.from_iterable([each.sentence] * len(each.others) for each in groups)
        others = chain.from_iterable(each.others for each in groups)
        self.ones: IntArray = np.fromiter(ones, dtype=np.int64)
        self.others: IntArray = np.fromiter(others, dtype=np.int64)

    def set_scores(self, scores: FloatArray) -> None:
        """Keep the best score of each sentence, and the number of the other that has it."""
        sizes = np.array([len(each.others) for each in self.groups], dtype=np.int64)
        begins = np.cumsum(sizes) - sizes
        self.best: FloatArray = np.maximum.reduceat(scores, begins) if len(begins) else scores
        first = np.flatnonzero(scores == np.repeat(self.best, sizes))
        self.winners: IntArray = self.others[first[np.searchsorted(first, begins)]]


class _Compared(NamedTuple):
    """Captions and their references, compared sentence by sentence."""

    ours: SentenceList  # the captions' sentences
    theirs: SentenceList  # the references' sentences
    own: list[range]  # the references of each caption, by number
    precision: _Side  # each sentence of each caption beside each reference
    recall: _Side  # each sentence of each reference of each caption

    @property
    def counts(self) -> IntArray:
        """How many references each caption has."""
        return np.array([len(each) for each in self.own], dtype=np.int64)

    def told(self, several: Several) -> FloatArray:
        """Return of each sentence of the captions how well references bear it out."""
        return over_references(
            self.precision.best, np.repeat(self.counts, self.ours.counts), several
        )

    def scores(self, sentences: Sentences, several: Several) -> FloatArray:
        """Return the captions' scores."""
        sides = []
        if sentences != "recall":
            sides.append(means(self.told(several), self.ours.counts))
        if sentences in ("recall", "both"):
            sizes = self.theirs.counts[[number for each in self.own for number in each]]
            sides.append(over_references(means(self.recall.best, sizes), self.counts, several))
        total: FloatArray = sum(sides[1:], sides[0])
        return total / len(sides)

    def matches(self, sentences: Sentences, several: Several) -> Iterator[CaptionMatches]:
        """Yield what each caption tells, and what it leaves out."""
        told, scores = self.told(several), self.scores(sentences, several)
        group = asked = 0
        for caption, references in enumerate(self.own):
            own = self.ours.of(caption)
            shape = (len(own), len(references))
            span = slice(group, group + len(own) * len(references))
            best = self.precision.best[span].reshape(shape)
            winners = self.precision.winners[span].reshape(shape)
            nearest = int(best.mean(axis=0).argmax())
            before = sum(int(self.theirs.counts[k]) for k in references[:nearest])
            yield CaptionMatches(
                float(scores[caption]),
                [
                    SentenceMatch(
                        self.ours.texts[sentence],
                        self.theirs.texts[int(winners[row, int(best[row].argmax())])],
                        float(told[sentence]),
                    )
                    for row, sentence in enumerate(own)
                ],
                nearest,
                [
                    SentenceMatch(
                        self.theirs.texts[sentence],
                        self.ours.texts[int(self.recall.winners[asked + before + row])],
                        float(self.recall.best[asked + before + row]),
                    )
                    for row, sentence in enumerate(self.theirs.of(references[nearest]))
                ],
            )
            group = span.stop
            asked += sum(int(self.theirs.counts[k]) for k in references)


class SentencePairs(ReadsSentences):
    """A metric of pairs of texts: its class says how a pair is scored."""

    references: Several  # how several references count
    # ``whole`` captions, or ``precision``, ``recall`` or ``both`` of their sentences
    sentences: Sentences

    @abstractmethod
    def pair_scores(
        self, ours: SentenceList, theirs: References, pairs: IntArray, threads: int
    ) -> FloatArray:
        """Score sentences of candidates against sentences of references, by number in two rows."""

    @abstractmethod
    def vectors(self, texts: Sequence[str], threads: int) -> FloatArray | None:
        """Return vectors of unit length; ``None`` where there are none, and all pairs count."""

    def prepare(self, references: Captions, reference_offsets: IntArray) -> References:
        """Divide the references into sentences, once."""
        return References(references.original.unpack(), whole=self.sentences == "whole")

    def caption_scores(self, batch: CaptionBatch, prepared: References) -> FloatArray:
        """Return the score of each caption."""
        asked = (self.sentences != "recall", self.sentences in ("recall", "both"))
        return self._compared(batch, prepared, *asked).scores(self.sentences, self.references)

    def sentence_matches(self, batch: CaptionBatch) -> list[CaptionMatches]:
        """Return of each caption which sentences bear out which."""
        references = References(batch.references.original.unpack())
        compared = self._compared(batch, references, True, True)
        return [
            CaptionMatches(
                self.as_shown(each.score),
                [match._replace(score=self.as_shown(match.score)) for match in each.told],
                each.reference,
                [match._replace(score=self.as_shown(match.score)) for match in each.asked],
            )
            for each in compared.matches(self.sentences, self.references)
        ]

    def as_shown(self, score: float) -> float:
        """Return a score of pairs on the scale that users see."""
        return score

    def _compared(
        self, batch: CaptionBatch, references: References, precision: bool, recall: bool
    ) -> _Compared:
        texts = batch.candidates.original.unpack()
        ours, theirs = SentenceList(texts, whole=self.sentences == "whole"), references.parts
        nearest = _Nearest(self, ours, theirs, batch)
        own = _own_references(batch)
        told = [
            _Group(sentence, nearest.of(caption, reference, sentence))
            for caption, numbers in enumerate(own if precision else [])
            for sentence in ours.of(caption)
            for reference in numbers
        ]
        asked = [
            _Group(sentence, nearest.of(caption, reference, sentence, theirs=True))
            for caption, numbers in enumerate(own if recall else [])
            for reference in numbers
            for sentence in theirs.of(reference)
        ]
        one, other = _Side(told), _Side(asked)
        pairs = np.hstack([[one.ones, one.others], [other.others, other.ones]])
        scores = self.pair_scores(ours, references, pairs, batch.threads)
        one.set_scores(scores[: len(one.ones)])
        other.set_scores(scores[len(one.ones) :])
        return _Compared(ours, theirs, own, one, other)


def _own_references(batch: CaptionBatch) -> list[range]:
    """Return the numbers of each candidate's references."""
    offsets = batch.reference_offsets
    begins, ends = offsets[batch.items].tolist(), offsets[batch.items + 1].tolist()
    return list(map(range, begins, ends))


class _Nearest:
    """Which sentences meet which: all, where there are few."""

    def __init__(
        self, metric: SentencePairs, ours: SentenceList, theirs: SentenceList, batch: CaptionBatch
    ) -> None:
        self._ours, self._theirs = ours, theirs
        self._chosen: dict[tuple[int, int], FloatArray] = {}
        long = [
            (caption, reference)
            for caption, references in enumerate(_own_references(batch))
            for reference in references
            if max(ours.counts[caption], theirs.counts[reference]) > _NEAREST
        ]
        if not long:
            return
        sides = [
            [ours.texts[k] for caption, _ in long for k in ours.of(caption)],
            [theirs.texts[k] for _, reference in long for k in theirs.of(reference)],
        ]
        texts = list(dict.fromkeys([*sides[0], *sides[1]]))
        vectors = metric.vectors(texts, batch.threads)
        if vectors is None:
            return
        place = {text: k for k, text in enumerate(texts)}
        for caption, reference in long:
            one = vectors[[place[ours.texts[k]] for k in ours.of(caption)]]
            other = vectors[[place[theirs.texts[k]] for k in theirs.of(reference)]]
            self._chosen[caption, reference] = one @ other.T

    def of(
        self, caption: int, reference: int, sentence: int, *, theirs: bool = False
    ) -> Sequence[int]:
        """Return the sentences that one of a caption meets, or one of its reference (`theirs`)."""
        own, there = self._ours.of(caption), self._theirs.of(reference)
        cosines = self._chosen.get((caption, reference))
        if theirs:
            own, there, cosines = there, own, None if cosines is None else cosines.T
        if cosines is None:
            return there
        order = np.argsort(-cosines[sentence - own.start], kind="stable")
        return [there[k] for k in order[:_NEAREST].tolist()]


def word_vectors(texts: Sequence[str]) -> FloatArray:
    """Return vectors of unit length of the texts' words, for models that have no others.

    Each word counts the more the fewer texts have it, in the one place of many that it hashes to.

    >>> one, two, three = word_vectors(["a dog barks", "a dog", "a cat"])
    >>> bool(one @ two > one @ three)
    True
    """
    words = [{crc32(word.encode()) for word in re.findall(r"\w+", text.lower())} for text in texts]
    counts = Counter(chain.from_iterable(words))
    vectors = np.zeros((len(texts), _PLACES))
    for row, own in zip(vectors, words, strict=True):
        for word in own:
            row[word % _PLACES] += np.log(1 + len(texts) / counts[word])
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    result: FloatArray = vectors / np.maximum(lengths, 1e-9)
    return result
