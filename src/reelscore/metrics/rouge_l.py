"""ROUGE-L: F-score of the longest common subsequence (Lin, 2004).

Scale 0–1, higher is better. Equal to ROUGE-L of the COCO tools (pycocoevalcap 1.2) within 1e-12:
the highest precision and the highest recall over the references, perhaps of two different ones,
weighted by beta = 1.2. The corpus score is the mean over items. Differs from the rouge-score
package, which stems, splits words otherwise and takes the F-score of one reference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from reelscore import _native
from reelscore._native import Rows
from reelscore.data.tables.scales import Scale
from reelscore.metrics.base import Metric, check_range, core_scores
from reelscore.text.words import CaptionBatch


@dataclass(frozen=True)
class RougeL(Metric):
    """ROUGE-L; the defaults reproduce the COCO tools.

    Attributes:
        beta: Weight of recall against precision.

    >>> from reelscore import score
    >>> results = score({"v1": "a man rides a horse"}, {"v1": ["the man rides the horse"]},
    ...                 metrics=[RougeL()])
    >>> round(results["rouge_l"].score, 4)
    0.6
    """

    beta: float = 1.2
    name: ClassVar[str] = "rouge_l"
    core: ClassVar[bool] = True
    output_scale: ClassVar[Scale] = Scale("high", 0, 1, mean=True, label="ROUGE-L", percent=True)

    def __post_init__(self) -> None:
        check_range(self, "beta", 0, 1e6)

    def statistics(self, batch: CaptionBatch, prepared: Any) -> Rows:
        """The item's score, and 1."""
        return _native.rouge_l_statistics(
            batch.candidates.blank_words,
            batch.references.blank_words,
            batch.pairing,
            self.beta**2,
            batch.threads,
        )

    def scores(self, totals: Any) -> Any:
        """Mean over items."""
        return core_scores(_native.mean_scores, totals)
