"""f(g, p): the score of one candidate sentence against one reference sentence, inside SODA.

Any metric that compares captions with references will do. Those that look at the two sentences
alone (METEOR, ROUGE-L, BLEU) need nothing else. CIDEr also needs document frequencies: here every
reference caption of the data set is a document, of all annotators and of all videos, so that f
depends neither on the system nor on the video.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from reelscore.errors import DataError
from reelscore.metrics.base import FloatArray, Metric
from reelscore.metrics.registry import parse
from reelscore.stories.iou import IntArray
from reelscore.stories.sentence_pairs import PairStatistics, TextPool
from reelscore.text.packed import pack
from reelscore.text.words import CaptionBatch, Captions


def sentence_metric(name: str) -> Metric:
    """Find the metric that gives f; of several outputs the last counts, as in ``bleu_4``.

    >>> sentence_metric("meteor").name, sentence_metric("bleu_2").n
    ('meteor', 2)
    """
    order = re.fullmatch(r"bleu_(\d)", name)
    metric = parse(f"bleu|n:{order[1]}" if order else name)
    if not metric.needs_references or not metric.independent:
        raise DataError(f"f is {name!r}, which does not compare a sentence with a reference.")
    check_higher_is_better(metric)
    return metric


def check_higher_is_better(metric: Metric) -> None:
    """Refuse a metric that stories cannot use: what is not matched scores 0, as the worst.

    Raises:
        DataError: If lower scores are better, or neither.
    """
    if any(scale.better != "high" for scale in metric.output_scales):
        raise DataError(
            f"{metric.name} cannot score stories: captions without a match score 0, which must "
            "be the worst score, but with this metric higher is not better."
        )


def looks_at_pairs_alone(metric: Metric) -> bool:
    """Whether two sentences are all the metric needs: it prepares nothing from the references.

    >>> looks_at_pairs_alone(sentence_metric("meteor")), looks_at_pairs_alone(
    ...     sentence_metric("cider"))
    (True, False)
    """
    return type(metric).prepare is Metric.prepare


class SentenceScore:
    """f, ready for a set of references.

    Args:
        metric: See `sentence_metric`.
        references: All reference captions, tokenized; used where the metric needs them.
        swapped: Exchange candidate and reference.
        threads: How many threads to use.
    """

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
        return self.metric.scores(rows)[:, -1]

    def _with_references(
        self, pool: TextPool, candidates: IntArray, references: IntArray
    ) -> FloatArray:
        texts = pool.packed
        used, places = np.unique(references, return_inverse=True)
        numbers = np.array([self._numbers[t] for t in texts.take(used).unpack()], dtype=np.int64)
        batch = CaptionBatch(
            Captions(texts.take(candidates), self._references.vocabulary),
            self._references,
            numbers[places],
            self._places,
            self._threads,
        )
        return self.metric.statistics(batch, self._prepared)
