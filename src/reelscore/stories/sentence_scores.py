"""f(g, p): the score of one candidate sentence against one reference sentence, inside SODA.

Any metric that compares captions with references will do. Those that look at the two sentences
alone (METEOR, ROUGE-L, BLEU) need nothing else. CIDEr also needs document frequencies: here every
reference caption of the data set is a document, of all annotators and of all videos, so that f
depends neither on the system nor on the video.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from reelscore import _native
from reelscore.data.stories import Story
from reelscore.errors import DataError
from reelscore.metrics.base import FloatArray, Metric, pair_statistics
from reelscore.metrics.registry import parse_score, parse_signature
from reelscore.stories.overlaps import IntArray
from reelscore.stories.protocol import Protocol
from reelscore.text.tokens import tokenize_packed
from reelscore.text.words import CaptionBatch, Captions, Packed, Pairing, pack

PAIRS_AT_ONCE = 200_000  # pairs whose statistics are held in memory together
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")


def sentence_metric(name: str) -> Metric:
    """Find the metric that gives f; of several outputs the last counts, as in ``bleu_4``.

    >>> sentence_metric("meteor").name, sentence_metric("bleu_2").n
    ('meteor', 2)
    """
    metric, output = parse_score(name)
    if order := re.fullmatch(r"bleu_(\d)", output):
        metric = parse_signature(f"bleu|n:{order[1]}")
    elif output and output != metric.outputs[-1]:
        raise DataError(f"f is {name!r}, which is one of several scores of {metric.name}.")
    if not metric.needs_references or not metric.independent:
        raise DataError(f"f is {name!r}, which does not compare a sentence with a reference.")
    check_higher_is_better(metric)
    return metric


def check_higher_is_better(metric: Metric) -> None:
    """Refuse a metric that stories cannot use: what is not matched scores 0, as the worst."""
    if any(scale.better != "high" for scale in metric.output_scales):
        raise DataError(
            f"{metric.name} cannot score stories: captions without a match score 0, which must "
            "be the worst score, but with this metric higher is not better."
        )


def looks_at_pairs_alone(metric: Metric) -> bool:
    """Return whether two sentences are all the metric needs.

    It prepares nothing from the references.

    >>> looks_at_pairs_alone(sentence_metric("meteor")), looks_at_pairs_alone(
    ...     sentence_metric("cider"))
    (True, False)
    """
    return type(metric).prepare is Metric.prepare


class SentenceScore:
    """f, ready for a set of references."""

    def __init__(
        self, metric: Metric, references: Iterable[str], *, swapped: bool, threads: int
    ) -> None:
        self.metric = metric
        self._swapped = swapped
        self._threads = threads
        self._prepared: Any = None
        if not looks_at_pairs_alone(metric):
            texts = list(references)
            self._references = Captions(pack(texts))
            self._places = np.arange(len(texts) + 1)
            self._numbers = {text: k for k, text in enumerate(texts)}
            self._prepared = metric.prepare(self._references, self._places)

    def of_pairs(
        self, pool: TextPool, known: PairStatistics, candidates: IntArray, references: IntArray
    ) -> FloatArray:
        """Score pairs given by the numbers of their texts in the pool."""
        if self._prepared is None:
            pair = (references, candidates) if self._swapped else (candidates, references)
            rows = known.rows(*pair)
        else:
            rows = self._with_references(pool, candidates, references)
        scores: FloatArray = self.metric.scores(rows)[:, -1]
        return scores

    def _with_references(
        self, pool: TextPool, candidates: IntArray, references: IntArray
    ) -> FloatArray:
        texts = pool.packed
        used, places = np.unique(references, return_inverse=True)
        numbers = np.array([self._numbers[t] for t in texts.take(used).unpack()], dtype=np.int64)
        batch = CaptionBatch(
            Captions(texts.take(candidates), self._references.vocabulary),
            self._references,
            Pairing(numbers[places], self._places),
            self._threads,
        )
        return np.asarray(self.metric.statistics(batch, self._prepared))


def ascii_alone(sentences: Iterable[str]) -> list[str]:
    """Put a blank in place of every character that is not ASCII.

    >>> ascii_alone(["a café", "a bar"])
    ['a caf ', 'a bar']
    """
    return [s if s.isascii() else _BEYOND_ASCII.sub(" ", s) for s in sentences]


def soda_tokens(sentences: Sequence[str], protocol: Protocol, threads: int = 1) -> Packed:
    """Tokenize sentences as SODA does by a protocol; each comes back as tokens and blanks.

    >>> soda_tokens(["A café."], Protocol()).unpack()
    ['a café']
    >>> soda_tokens(["A café."], Protocol(characters="ascii")).unpack()
    ['a caf']
    """
    kept = ascii_alone(sentences) if protocol.characters == "ascii" else sentences
    return tokenize_packed(pack(kept), protocol.tokenizer, threads=threads)


class TextPool:
    """Tokenized sentences, numbered as they come; equal ones have one number.

    >>> pool = TextPool()
    >>> pool.add(pack(["a man", "a dog", "a man"])).tolist()
    [0, 1, 0]
    """

    def __init__(self) -> None:
        self._texts = _native.Vocabulary()
        self._captions: Captions | None = None

    def add(self, texts: Packed) -> IntArray:
        """Number some texts."""
        before = len(self._texts)
        numbers = self._texts.number(texts)
        if len(self._texts) > before:
            self._captions = None
        return numbers

    @property
    def captions(self) -> Captions:
        """All texts, by number."""
        if self._captions is None:
            self._captions = Captions(self._texts.words())
        return self._captions

    @property
    def packed(self) -> Packed:
        """All texts, by number, as they are packed."""
        return self.captions.text


class CocoLines:
    """Sentences that come again and again in files of ``ptb-coco``, each tokenized once.

    The tokens of few depend on the line that follows: these are tokenized where they stand.

    >>> pool = TextPool()
    >>> lines = CocoLines(["plan B.", "walks.", "A man walks."], pool, threads=1)
    >>> files = [lines.numbers(np.array(file)) for file in ([0, 1], [0, 2])]
    >>> [pool.packed.take(numbers).unpack() for numbers in files]
    [['plan b.', 'walks'], ['plan b', 'a man walks']]
    """

    def __init__(self, sentences: Sequence[str], pool: TextPool, threads: int) -> None:
        self._sentences = pack(sentences)
        self._pool = pool
        self._threads = threads
        tokens, self._closed = _native.ptb_tokenize_lines(self._sentences, threads)
        self._closed[np.diff(tokens.offsets) == 0] = 0  # lines before them look past blank ones
        self._numbers = pool.add(tokens)

    def numbers(self, file: IntArray) -> IntArray:
        """Number the tokens of a file, whose lines are given by the numbers of their sentences."""
        numbers, closed = self._numbers[file], self._closed[file]
        # The last line counts as open; of the others, open ones and what follows them are needed.
        needed = closed == 0
        needed[1:] |= closed[:-1] == 0
        needed[-1:] = True
        places = np.flatnonzero(needed)
        lines, tokens = _native.ptb_tokenize_open(
            self._sentences.take(file[places]), closed[places], self._threads
        )
        numbers[places[lines]] = self._pool.add(tokens)
        return numbers


class PairStatistics:
    """Statistics of one metric for pairs of texts; what was measured is remembered.

    It is for metrics whose statistics depend on the two sentences alone.
    """

    def __init__(self, metric: Metric, pool: TextPool, threads: int) -> None:
        self.metric = metric
        self._pool = pool
        self._threads = threads
        self._pairs = _native.PairIds()
        self._rows: FloatArray = np.empty((0, 0))

    def rows(self, candidates: IntArray, references: IntArray) -> FloatArray:
        """Statistics of each pair, given by the numbers of its texts."""
        numbers = self._numbers(candidates, references)
        return self._rows[numbers]

    def sums(
        self, candidates: IntArray, references: IntArray, group_offsets: IntArray
    ) -> FloatArray:
        """Sums of the statistics of groups of pairs; zeros without pairs."""
        numbers = self._numbers(candidates, references)
        return _native.group_sums(self._rows, numbers, group_offsets)

    def _numbers(self, candidates: IntArray, references: IntArray) -> IntArray:
        """Number pairs, and measure those that are new."""
        if len(self._pairs) > PAIRS_AT_ONCE:
            self._pairs, self._rows = _native.PairIds(), self._rows[:0]
        numbers = self._pairs.number(candidates, references)
        known = len(self._rows)
        if len(self._pairs) > known or not known:
            measured = pair_statistics(
                self.metric, self._pool.captions, *self._pairs.pairs(known), self._threads
            )
            self._rows = np.concatenate([self._rows, measured]) if known else measured
        return numbers


class VideoBatch:
    """Some videos that are scored together; what both frameworks measure is measured once.

    Attributes:
        candidates: The system's story of each video.
        references: The annotators' stories of each video.
        protocol: The choices.
        threads: How many threads to use.
        pool: The sentences of these videos.
    """

    def __init__(
        self,
        candidates: Sequence[Story],
        references: Sequence[Sequence[Story]],
        protocol: Protocol,
        threads: int = 1,
    ) -> None:
        self.candidates = candidates
        self.references = references
        self.protocol = protocol
        self.threads = threads
        self.pool = TextPool()
        self._statistics: dict[Metric, PairStatistics] = {}

    def statistics(self, metric: Metric) -> PairStatistics:
        """Where the statistics of sentence pairs by one metric are remembered."""
        if metric not in self._statistics:
            self._statistics[metric] = PairStatistics(metric, self.pool, self.threads)
        return self._statistics[metric]
