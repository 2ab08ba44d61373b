"""A module for Hugging Face's evaluate: ``evaluate.load(reelscore.frameworks.evaluate_module())``.

evaluate copies this file to its cache and imports the copy, and reads the names of the packages
it needs from the import lines: one a line, as below.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import datasets
import evaluate

from reelscore import score
from reelscore.metrics.registry import DEFAULT_METRICS

_DESCRIPTION = "BLEU, METEOR 1.5, ROUGE-L, CIDEr and other scores of captions, without Java."
_INPUTS = """
Args:
    predictions: One caption for each item.
    references: The human captions of each item: a list of texts, or one text.
    metrics: Names or signatures, such as "meteor,cider|variant:plain".
    settings: Arguments of reelscore.score: tokenizer, empty, threads.

Returns:
    Each score by name, such as bleu_4, meteor, cider.
"""


class Captions(evaluate.Metric):
    """Scores of captions, for one system."""

    def _info(self) -> Any:
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation="",
            inputs_description=_INPUTS,
            features=[
                datasets.Features({"predictions": text, "references": references})
                for references in (datasets.Sequence(text), text)
            ],
        )

    def _compute(
        self,
        predictions: Sequence[str],
        references: Sequence[Sequence[str] | str],
        metrics: Any = DEFAULT_METRICS,
        **settings: Any,
    ) -> dict[str, float]:
        results = score(list(predictions), list(references), metrics, **settings)
        return {name: result.score for name, result in results.items()}
