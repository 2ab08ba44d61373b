"""Captioners: baselines to put under a table, and captions of any model as a file.

Baselines are made from the user's own features and captions: the nearest neighbour, the retrieval
upper bound, the best constant sentence, visual labels with a small network. They are floors to
compare with, no competitors of today's models.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reelscore._lazy import lazy_names

if TYPE_CHECKING:
    from reelscore.captioners.features import Features, feature_items, read_features
    from reelscore.captioners.retrieval import ConstantSearch, ConstantSentence, constant
    from reelscore.captioners.run_record import Parameters, Run, write_candidates

__all__ = [
    "ConstantSearch",
    "ConstantSentence",
    "Features",
    "Parameters",
    "Run",
    "constant",
    "feature_items",
    "read_features",
    "write_candidates",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "captioners.retrieval": "ConstantSearch ConstantSentence constant",
        "captioners.features": "Features feature_items read_features",
        "captioners.run_record": "Parameters Run write_candidates",
    },
)
