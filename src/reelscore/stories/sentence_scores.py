"""f(g, p): the score of one candidate sentence against one reference sentence, inside SODA.

Any metric that compares captions with references will do; scores below 0 count as 0, like captions
that overlap nothing. Those that look at the two sentences alone (METEOR, ROUGE-L, BLEU) need
nothing else. CIDEr also needs document frequencies: here every reference caption of the data set
is a document, of all annotators and of all videos, so that f depends neither on the system nor on
the video. Each pair of texts is scored once, and only where their segments overlap.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from reelscore import _native
from reelscore.data.stories import Story
from reelscore.errors import DataError
from reelscore.metrics.base import FloatArray, Metric, pair_statistics
from reelscore.metrics.registry import parse_score, parse_signature
from reelscore.metrics.sentences import BySentence
from reelscore.stories.overlaps import IntArray
from reelscore.stories.protocol import Protocol
from reelscore.text.tokens import tokenize_packed
from reelscore.text.words import CaptionBatch, Captions, Packed, Pairing, pack

PAIRS_AT_ONCE = 200_000  # pairs whose statistics are held in memory together
# From texts and the numbers of candidates and references to the statistics of these pairs.
Measure = Callable[[Captions, IntArray, IntArray, int], FloatArray]
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")


def sentence_metric(name: str) -> Metric:
    """Find the metric that gives f; of several outputs the one that papers quote counts.

    >>> sentence_metric("meteor").name, sentence_metric("bleu_2").n
    ('meteor', 2)
    """
    metric, output = parse_score(name)
    if order := re.fullmatch(r"bleu_(\d)", output):
        metric = parse_signature(f"bleu|n:{order[1]}")
    elif output and output != _main_output(metric):
        raise DataError(f"f is {name!r}, which is one of several scores of {metric.name}.")
    if not metric.compares:
        raise DataError(f"f is {name!r}, which does not compare a sentence with a reference.")
    check_higher_is_better(metric)
    return metric.from_zero()


def _main_output(metric: Metric) -> str:
    """Name the output that has the metric's name, or that papers quote first, or the last."""
    outputs = dict(zip(metric.outputs, metric.output_scales, strict=True))
    quoted = (name for name, scale in outputs.items() if scale.headline)
    return metric.name if metric.name in outputs else next(quoted, metric.outputs[-1])


def check_higher_is_better(metric: Metric) -> None:
    """Refuse a metric that stories cannot use: what is not matched scores 0, as the worst."""
    if any(scale.better != "high" for scale in metric.output_scales):
        raise DataError(
            f"{metric.name} cannot score stories: captions without a match score 0, which must "
            "be the worst score, but with this metric higher is not better."
        )


def looks_at_pairs_alone(metric: Metric) -> bool:
    """Return whether two sentences are all the metric needs: it prepares no references."""
    return type(metric).prepare is Metric.prepare


class SentenceScore:
    """f, ready for a set of references.

    Attributes:
        metric: The metric.
        protocol: The choices.
        as_written: Whether the metric reads sentences as they are, and not their tokens.
    """

    def __init__(self, protocol: Protocol, references: Iterable[str], threads: int = 1) -> None:
        self.metric = sentence_metric(protocol.f)
        self.protocol = protocol
        raw = "|tok:raw" in self.metric.signature(tok=protocol.tokenizer)
        self.as_written = raw or isinstance(self.metric, BySentence)
        self._threads = threads
        self._output = self.metric.outputs.index(_main_output(self.metric))
        self._prepared: Any = None
        if not looks_at_pairs_alone(self.metric):
            packed = self.texts(list(references))
            self._references = Captions(packed)
            self._places = np.arange(packed.size + 1)
            self._numbers = {text: k for k, text in enumerate(packed.unpack())}
            self._prepared = self.metric.prepare(self._references, self._places)

    def texts(self, sentences: Sequence[str]) -> Packed:
        """Return sentences as the metric reads them."""
        if not self.as_written:
            return soda_tokens(sentences, self.protocol, self._threads)
        return pack(ascii_alone(sentences) if self.protocol.characters == "ascii" else sentences)

    def statistics(self, pool: TextPool) -> PairStatistics:
        """Return where the statistics of pairs of these texts are remembered."""
        alone = self._prepared is None
        return PairStatistics(
            self.metric, pool, self._threads, None if alone else self._with_references
        )

    def of_pairs(
        self, known: PairStatistics, candidates: IntArray, references: IntArray
    ) -> FloatArray:
        """Score pairs given by the numbers of their texts in the pool; the lowest score is 0."""
        swapped = self.protocol.meteor_order == "swapped"
        pair = (references, candidates) if swapped else (candidates, references)
        scores: FloatArray = self.metric.scores(known.rows(*pair))[:, self._output]
        if missing := int(np.isnan(scores).sum()):
            raise DataError(
                f"{self.metric.name} has no score for {missing:,} pairs of sentences, and stories "
                "need all. Let it refuse captions that it cannot score, as it does by default."
            )
        return np.maximum(scores, 0.0)

    def signature(self) -> str:
        """Spell the metric as a part of another signature; with its weights, where it has some."""
        plain, tokenizer = self.metric.signature(), self.protocol.tokenizer
        whole = self.metric.signature(tok=tokenizer)
        return (plain if whole == f"{plain}|tok:{tokenizer}" else whole).replace("|", "/")

    def notes(self) -> list[str]:
        """Return what there is to say after pairs were scored, such as what that cost."""
        return self.metric.notes(self._prepared)

    def _with_references(
        self, texts: Captions, candidates: IntArray, references: IntArray, threads: int
    ) -> FloatArray:
        used, places = np.unique(references, return_inverse=True)
        of_used = texts.text.take(used).unpack()
        numbers = np.array([self._numbers[text] for text in of_used], dtype=np.int64)
        batch = CaptionBatch(
            Captions(texts.text.take(candidates), self._references.vocabulary),
            self._references,
            Pairing(numbers[places], self._places),
            threads,
        )
        return np.asarray(self.metric.statistics(batch, self._prepared))


def ascii_alone(sentences: Iterable[str]) -> list[str]:
    """Put a blank in place of every character that is not ASCII.

    >>> ascii_alone(["a café", "a bar"])
    ['a caf ', 'a bar']
    """
    return [s if s.isascii() else _BEYOND_ASCII.sub(" ", s) for s in sentences]


def soda_tokens(sentences: Sequence[str], protocol: Protocol, threads: int = 1) -> Packed:
    """Tokenize sentences as SODA does by a protocol; each comes back as tokens and blanks."""
    kept = ascii_alone(sentences) if protocol.characters == "ascii" else sentences
    return tokenize_packed(pack(kept), protocol.tokenizer, threads=threads)


class TextPool:
    """Tokenized sentences, numbered as they come; equal ones have one number."""

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


class CocoLines:
    """Sentences that come again and again in files of ``ptb-coco``, each tokenized once.

    The tokens of few depend on the line that follows: these are tokenized where they stand.
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

    By default they depend on the two sentences alone.
    """

    def __init__(
        self, metric: Metric, pool: TextPool, threads: int, measure: Measure | None = None
    ) -> None:
        self.metric = metric
        self._measure = measure or partial(pair_statistics, metric)
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
            new = self._pairs.pairs(known)
            measured = self._measure(self._pool.captions, *new, self._threads)
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
