"""Metrics: one file each, computed by `reelscore.score`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reelscore._lazy import lazy_names

if TYPE_CHECKING:
    from reelscore.metrics.base import Metric, mean_of_first, with_count
    from reelscore.metrics.bleu import Bleu
    from reelscore.metrics.cider import Cider
    from reelscore.metrics.diversity import Diversity
    from reelscore.metrics.document_frequencies import (
        FrequencyFile,
        read_frequencies,
        write_frequencies,
    )
    from reelscore.metrics.meteor import Alignment, Match, Meteor
    from reelscore.metrics.meteor_universal import MeteorUniversal
    from reelscore.metrics.registry import metric_class, metric_names, parse
    from reelscore.metrics.rouge_l import RougeL
    from reelscore.metrics.self_bleu import SelfBleu
    from reelscore.metrics.sent_bleu import SentBleu
    from reelscore.metrics.spice import Spice, TupleScore, score_tuples

__all__ = [
    "Alignment",
    "Bleu",
    "Cider",
    "Diversity",
    "FrequencyFile",
    "Match",
    "Meteor",
    "MeteorUniversal",
    "Metric",
    "RougeL",
    "SelfBleu",
    "SentBleu",
    "Spice",
    "TupleScore",
    "mean_of_first",
    "metric_class",
    "metric_names",
    "parse",
    "read_frequencies",
    "score_tuples",
    "with_count",
    "write_frequencies",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "metrics.base": "Metric mean_of_first with_count",
        "metrics.bleu": "Bleu",
        "metrics.cider": "Cider",
        "metrics.diversity": "Diversity",
        "metrics.document_frequencies": "FrequencyFile read_frequencies write_frequencies",
        "metrics.meteor": "Alignment Match Meteor",
        "metrics.meteor_universal": "MeteorUniversal",
        "metrics.registry": "metric_class metric_names parse",
        "metrics.rouge_l": "RougeL",
        "metrics.self_bleu": "SelfBleu",
        "metrics.sent_bleu": "SentBleu",
        "metrics.spice": "Spice TupleScore score_tuples",
    },
)
