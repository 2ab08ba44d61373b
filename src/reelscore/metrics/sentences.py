"""Captions of several sentences: metrics that read them sentence by sentence.

*Precision* asks of each sentence of the candidate how well some sentence of the references bears
it out; *recall*, of each sentence of the references, how well the candidate tells it. A caption's
score is the mean over its sentences, or over the references' sentences, or the mean of the two.

Learned metrics have a parameter ``sentences`` of their own. `BySentence` gives it to any other:
``meteor|sentences:precision``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from reelscore.data.tables.scales import Scale
from reelscore.errors import DataError, check_choice
from reelscore.metrics.base import (
    FloatArray,
    Metric,
    pair_statistics,
    with_count,
)
from reelscore.text.paragraphs import compared_sentences
from reelscore.text.tokens import tokenize_packed
from reelscore.text.words import CaptionBatch, Captions, Pairing, pack

Sentences = Literal["whole", "precision", "recall", "both"]
IntArray = NDArray[np.int64]


class SentenceMatch(NamedTuple):
    """A sentence, and what is nearest to it on the other side."""

    text: str  # the sentence
    match: str  # the other side's sentence that bears it out, or tells it, best
    score: float  # what it adds to the mean


class CaptionMatches(NamedTuple):
    """What a caption tells, and what it leaves out."""

    score: float  # the caption's score
    # the candidate's sentences, each with the references' sentence that is nearest
    told: list[SentenceMatch]
    reference: int  # the number of the reference that the candidate is nearest to
    # the sentences of that reference, each with the candidate's that is nearest
    asked: list[SentenceMatch]


class ReadsSentences(Metric):
    """A metric that can read captions sentence by sentence, or in other parts."""

    part: ClassVar[str] = "sentence"  # what captions are divided into
    beside: ClassVar[str] = "nearest"  # what stands beside each part

    def divides(self, caption: str, references: Sequence[str]) -> bool:
        """Return whether a caption or one of its references has several sentences."""
        return any(len(compared_sentences(text)) > 1 for text in (caption, *references))

    @property
    def borne_out(self) -> float | None:
        """The score from which a sentence counts as borne out, where that is known."""
        return None

    @abstractmethod
    def sentence_matches(self, batch: CaptionBatch) -> list[CaptionMatches]:
        """Return of each caption which sentences bear out which."""


def check_sentences(metric: str, sentences: str) -> None:
    """Refuse an unknown way to read sentences."""
    check_choice(f"value of {metric}|sentences", sentences, get_args(Sentences))


class SentenceList:
    """Texts divided into sentences, which are numbered through.

    Attributes:
        texts: The sentences.
        offsets: Text i has the sentences from entry i up to entry i + 1.
    """

    def __init__(self, texts: Sequence[str], *, whole: bool = False) -> None:
        own = [[text] if whole else compared_sentences(text) for text in texts]
        self.texts = [sentence for each in own for sentence in each]
        self.counts: IntArray = np.array([len(each) for each in own], dtype=np.int64)
        self.offsets: IntArray = np.concatenate([[0], np.cumsum(self.counts)])

    def of(self, text: int) -> range:
        """Return the numbers of a text's sentences."""
        return range(int(self.offsets[text]), int(self.offsets[text + 1]))


def means(scores: FloatArray, counts: IntArray) -> FloatArray:
    """Return the mean of each run of so many rows.

    >>> means(np.array([1.0, 0.0, 0.5]), np.array([2, 1])).tolist()
    [0.5, 0.5]
    """
    if not len(counts):
        return scores[:0]
    begins = np.cumsum(counts) - counts
    sums = np.add.reduceat(scores, begins, axis=0)
    return sums / counts.reshape(-1, *[1] * (scores.ndim - 1))


class _Divided(NamedTuple):
    """The sentences of all references, and what the metric prepared of them."""

    texts: list[str]
    offsets: IntArray  # by item
    captions: Captions
    prepared: Any


@dataclass(frozen=True)
class BySentence(ReadsSentences):
    """Any metric of single captions, asked sentence by sentence.

    A sentence of the candidate meets all sentences of its item's references as its references.
    """

    metric: Metric
    sentences: Sentences = "precision"  # ``precision``, ``recall`` or ``both``
    name: ClassVar[str] = ""

    def __post_init__(self) -> None:
        own = self.metric
        check_sentences(own.name, self.sentences)
        alone = own.independent and own.needs_references and not own.weighs_all_references
        if own.one_process or not alone:
            raise DataError(
                f"{own.name} cannot be asked sentence by sentence: its scores depend on more than "
                "a caption and its references. Leave 'sentences' out, or take meteor or bertha."
            )
        # what a class says of itself, this one says of each metric it is made of
        for fact in ("name", "slow", "reads", "tokenizers"):
            self.__dict__[fact] = getattr(own, fact)

    def parameters(self, *, changed: bool = False) -> dict[str, object]:
        """Return those of the metric, and how sentences are read."""
        return {**self.metric.parameters(changed=changed), "sentences": self.sentences}

    @property
    def outputs(self) -> tuple[str, ...]:
        """Those of the metric."""
        return self.metric.outputs

    @property
    def output_scales(self) -> tuple[Scale, ...]:
        """Those of the metric, as means over items."""
        return tuple(structs.replace(each, mean=True) for each in self.metric.output_scales)

    def files(self) -> dict[str, str]:
        """Return the metric's files."""
        return self.metric.files()

    def prepare(self, references: Captions, reference_offsets: NDArray[np.int64]) -> _Divided:
        """Divide the references into sentences, and prepare these."""
        parts = SentenceList(references.original.unpack())
        captions = _captions(parts.texts, references, 1)
        offsets = parts.offsets[np.asarray(reference_offsets)]
        return _Divided(parts.texts, offsets, captions, self.metric.prepare(captions, offsets))

    def statistics(self, batch: CaptionBatch, prepared: _Divided) -> FloatArray:
        """Return the mean over sentences of each of the metric's scores, and 1."""
        ours = SentenceList(batch.candidates.original.unpack())
        captions = _captions(ours.texts, batch.references, batch.threads)
        sides = []
        if self.sentences != "recall":
            pairing = Pairing(np.repeat(batch.items, ours.counts), prepared.offsets)
            precise = CaptionBatch(captions, prepared.captions, pairing, batch.threads)
            sides.append(means(self._scores(precise, prepared.prepared), ours.counts))
        if self.sentences != "precision":
            begins, ends = prepared.offsets[batch.items], prepared.offsets[batch.items + 1]
            asked = np.concatenate([np.arange(*each) for each in zip(begins, ends, strict=True)])
            pairing = Pairing(np.repeat(np.arange(len(ours.counts)), ends - begins), ours.offsets)
            told = CaptionBatch(prepared.captions.take(asked), captions, pairing, batch.threads)
            own = self.metric.prepare(captions, ours.offsets)
            sides.append(means(self._scores(told, own), ends - begins))
        return with_count(*(sum(sides[1:], sides[0]) / len(sides)).T)

    def _scores(self, batch: CaptionBatch, prepared: Any) -> FloatArray:
        statistics = np.asarray(self.metric.statistics(batch, prepared))
        return np.asarray(self.metric.scores(statistics))

    def scores(self, totals: FloatArray) -> FloatArray:
        """Return the means over items."""
        return totals[..., :-1] / totals[..., -1:]

    def sentence_matches(self, batch: CaptionBatch) -> list[CaptionMatches]:
        """Return of each caption which sentences bear out which, by the metric's last score."""
        captions = batch.candidates.original.unpack()
        references = batch.references.original.unpack()
        found = []
        for text, item in zip(captions, batch.items.tolist(), strict=True):
            begin, end = batch.reference_offsets[item : item + 2].tolist()
            ours, theirs = SentenceList([text]), SentenceList(references[begin:end])
            first = np.repeat(np.arange(len(ours.texts)), len(theirs.texts))
            second = np.tile(np.arange(len(theirs.texts)), len(ours.texts))
            together = _captions([*ours.texts, *theirs.texts], batch.references, batch.threads)
            rows = pair_statistics(
                self.metric, together, first, second + len(ours.texts), batch.threads
            )
            scores = np.asarray(self.metric.scores(rows))[:, -1].reshape(len(ours.texts), -1)
            found.append(self._matches(ours, theirs, scores))
        return found

    def _matches(
        self, ours: SentenceList, theirs: SentenceList, scores: FloatArray
    ) -> CaptionMatches:
        """Return the matches of a caption whose sentences are scored against all references'."""
        told = [
            SentenceMatch(text, theirs.texts[int(row.argmax())], float(row.max()))
            for text, row in zip(ours.texts, scores, strict=True)
        ]
        nearest = [scores[:, theirs.of(k)].max(axis=1).mean() for k in range(len(theirs.counts))]
        reference = int(np.argmax(nearest))
        asked = [
            SentenceMatch(text, ours.texts[int(row.argmax())], float(row.max()))
            for text, row in zip(theirs.texts, scores.T, strict=True)
        ]
        sides = {
            "precision": [each.score for each in told],
            "recall": [each.score for each in asked],
        }
        means = [np.mean(own) for name, own in sides.items() if self.sentences in (name, "both")]
        of_reference = [asked[k] for k in theirs.of(reference)]
        return CaptionMatches(float(np.mean(means)), told, reference, of_reference)


def _captions(texts: list[str], alike: Captions, threads: int) -> Captions:
    """Return sentences as captions, tokenized as others are, and with the same vocabulary."""
    raw = pack(texts)
    tokens = tokenize_packed(raw, alike.tokenizer, threads=threads)
    return Captions(tokens, alike.vocabulary, raw, tokenizer=alike.tokenizer)
