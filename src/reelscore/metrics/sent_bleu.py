"""Sentence BLEU with smoothing, as sacrebleu computes it (Post, 2018; Chen and Cherry, 2014).

Scale 0–100 as sacrebleu prints it (``bleu`` is 0–1 as the COCO tools print it); higher is better.
Equal to ``sacrebleu.sentence_bleu`` on the same tokens within 1e-9: effective order, that is, only
orders the candidate is long enough for; orders without a match are smoothed. The corpus score is
the mean over items; for BLEU of the whole corpus take ``bleu``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from reelscore.data.tables.scales import Scale
from reelscore.errors import check_choice
from reelscore.metrics.base import FloatArray, Metric, check_range, with_count
from reelscore.metrics.bleu import ngram_counts
from reelscore.text.words import CaptionBatch

Smoothing = Literal["exp", "floor", "add-k", "epsilon"]


@dataclass(frozen=True)
class SentBleu(Metric):
    """Smoothed sentence BLEU; the defaults are sacrebleu's.

    Attributes:
        n: The highest n-gram order.
        smoothing: What an order without a match counts: ``exp`` halves for each such order,
            ``floor`` takes ``value`` matches, ``add-k`` adds ``value`` to matches and n-grams of
            every order above 1.
        value: The number that ``floor`` (0.1 if not given) and ``add-k`` (1) use.

    >>> from reelscore import score
    >>> results = score({"v1": "a man rides a horse"}, {"v1": ["the man rides the horse"]},
    ...                 metrics=[SentBleu()])
    >>> round(results["sent_bleu"].score, 2)
    23.64
    """

    n: int = 4
    smoothing: Literal["exp", "floor", "add-k"] = "exp"
    value: float | None = None
    name: ClassVar[str] = "sent_bleu"
    output_scale: ClassVar[Scale] = Scale("high", 0, 100, mean=True, label="sentBLEU")

    def __post_init__(self) -> None:
        check_range(self, "n", 1, 9)
        if self.value is not None:
            check_range(self, "value", 0, 1e6)
        check_choice("smoothing", self.smoothing, ("exp", "floor", "add-k"))

    def statistics(self, batch: CaptionBatch, prepared: Any) -> FloatArray:
        """The item's score, and 1: the score of several is the mean, as `Metric` has it."""
        counts = np.asarray(ngram_counts(batch, self.n))
        value = {"floor": 0.1, "add-k": 1.0}.get(self.smoothing, 0.0)
        if self.value is not None:
            value = self.value
        return with_count(100 * smoothed_bleu(counts, self.n, self.smoothing, value))


def smoothed_bleu(counts: FloatArray, n: int, smoothing: Smoothing, value: float) -> FloatArray:
    """Smoothed BLEU, 0–1, of each row of BLEU statistics.

    >>> smoothed_bleu(np.array([[2.0, 1.0, 2.0, 1.0, 2.0, 2.0]]), 2, "exp", 0.0).tolist()
    [1.0]
    """
    check_choice("smoothing", smoothing, get_args(Smoothing))
    matched, guessed = counts[:, :n].copy(), counts[:, n : 2 * n].copy()
    length, reference_length = counts[:, 2 * n], counts[:, 2 * n + 1]
    any_match = matched[:, 0] > 0
    if smoothing == "add-k":
        matched[:, 1:] += value
        guessed[:, 1:] += value
    elif smoothing == "epsilon":
        guessed = np.maximum(guessed, 1.0)
    used = guessed > 0  # orders the candidate is too short for are left out
    unmatched = used & (matched == 0)
    if smoothing == "exp":
        matched = np.where(unmatched, 0.5 ** np.cumsum(unmatched, axis=1), matched)
    else:
        matched = np.where(unmatched, value, matched)
    log_precision = np.log(np.where(used, matched, 1.0)) - np.log(np.where(used, guessed, 1.0))
    orders = np.maximum(used.sum(axis=1), 1)
    shorter = (length < reference_length) & (length > 0)
    penalty = np.where(shorter, 1 - reference_length / np.maximum(length, 1.0), 0.0)
    bleu = np.exp(log_precision.sum(axis=1) / orders + penalty)
    return np.where(any_match, bleu, 0.0)
