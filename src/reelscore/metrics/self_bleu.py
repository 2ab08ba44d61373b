"""Self-BLEU: how much a system's captions resemble one another (Zhu et al., 2018).

Scale 0–1; a *lower* score means more diverse captions. Each caption is scored by BLEU with all the
system's other captions as references; the score is the mean. Smoothing as in Texygen, whose
measure the SODA paper's Table 2 uses: NLTK's method 1 (an order without a match counts 0.1).
Equal to NLTK's ``sentence_bleu`` against all other captions within 1e-12, but in linear time: an
n-gram's highest count among the others is its highest or second highest count overall.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from reelscore import _native
from reelscore.data.tables.scales import Scale
from reelscore.metrics.base import FloatArray, Metric, check_range, with_count
from reelscore.metrics.sent_bleu import smoothed_bleu
from reelscore.text.words import CaptionBatch


@dataclass(frozen=True)
class SelfBleu(Metric):
    """Self-BLEU over all captions of a system; needs no references.

    Attributes:
        n: The highest n-gram order.

    >>> from reelscore import score
    >>> results = score({"v1": "a man runs in a park", "v2": "a man runs in a park",
    ...                  "v3": "two dogs are swimming"}, metrics=[SelfBleu()])
    >>> round(results["self_bleu"].score, 4)
    0.6667
    """

    n: int = 4
    name: ClassVar[str] = "self_bleu"
    output_scale: ClassVar[Scale] = Scale("low", 0, 1, mean=False, label="Self-BLEU", percent=True)
    needs_references: ClassVar[bool] = False
    independent: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_range(self, "n", 1, 9)

    def statistics(self, batch: CaptionBatch, prepared: Any) -> FloatArray:
        """The caption's BLEU against all others, and 1."""
        everything = np.array([0, batch.candidates.size], dtype=np.int64)
        counts = _native.self_bleu_statistics(
            batch.candidates.words, everything, self.n, batch.threads
        )
        return with_count(smoothed_bleu(counts, self.n, "epsilon", 0.1))
