"""BLEU: clipped n-gram precision with a brevity penalty (Papineni et al., 2002).

Scale 0–1, higher is better. Gives ``bleu_1`` to ``bleu_4``; bit for bit BLEU of the COCO tools
(pycocoevalcap 1.2), for the corpus and for each item. The reference length is that of the
reference nearest in length. The corpus score is made from the summed counts, not from the
items' scores. With the same tokenizer it is sacrebleu's without smoothing, but for the COCO
tools' tiny constants (1e-15, 1e-9), which show where a caption has no matching n-gram.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from msgspec.structs import replace

from reelscore import _native
from reelscore._native import Rows
from reelscore.data.tables.scales import Scale
from reelscore.metrics.base import Metric, check_range, core_scores
from reelscore.text.words import CaptionBatch


@dataclass(frozen=True)
class Bleu(Metric):
    """BLEU of orders 1 to n; the defaults reproduce the COCO tools.

    Attributes:
        n: The highest n-gram order.

    >>> from reelscore import score
    >>> results = score({"v1": "a man rides a horse"}, {"v1": ["a man rides a brown horse"]},
    ...                 metrics=[Bleu()])
    >>> round(results["bleu_4"].score, 4)
    0.5789
    """

    n: int = 4
    name: ClassVar[str] = "bleu"
    core: ClassVar[bool] = True
    counts: ClassVar[bool] = True
    output_scale: ClassVar[Scale] = Scale("high", 0, 1, mean=False, percent=True)

    def __post_init__(self) -> None:
        check_range(self, "n", 1, 9)

    @property
    def outputs(self) -> tuple[str, ...]:
        """One score for each order."""
        return tuple(f"bleu_{k}" for k in range(1, self.n + 1))

    @property
    def output_scales(self) -> tuple[Scale, ...]:
        """All alike, but for the labels."""
        orders = range(1, self.n + 1)
        return tuple(replace(self.output_scale, label=f"BLEU-{k}") for k in orders)

    def statistics(self, batch: CaptionBatch, prepared: Any) -> Rows:
        """Matched n-grams, candidate n-grams, candidate length, reference length."""
        return ngram_counts(batch, self.n)

    def scores(self, totals: Any) -> Any:
        """Geometric mean of the precisions up to each order, times the brevity penalty."""
        return core_scores(_native.bleu_scores, totals, self.n)


def ngram_counts(batch: CaptionBatch, order: int) -> Rows:
    """BLEU's statistics of each candidate: see `Bleu.statistics`."""
    return _native.bleu_statistics(
        batch.candidates.words, batch.references.words, batch.pairing, order, batch.threads
    )
