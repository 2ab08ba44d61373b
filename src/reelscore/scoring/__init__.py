"""From captions and references to score tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reelscore._lazy import lazy_names

if TYPE_CHECKING:
    from reelscore.scoring.captions import score, score_systems
    from reelscore.scoring.intervals import with_intervals
    from reelscore.scoring.prepared import PreparedReferences
    from reelscore.scoring.rewards import Reward
    from reelscore.scoring.scorer import Scorer, ScorerState
    from reelscore.scoring.scores import Measurement, Scores

__all__ = [
    "Measurement",
    "PreparedReferences",
    "Reward",
    "Scorer",
    "ScorerState",
    "Scores",
    "score",
    "score_systems",
    "with_intervals",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "scoring.captions": "score score_systems",
        "scoring.intervals": "with_intervals",
        "scoring.prepared": "PreparedReferences",
        "scoring.rewards": "Reward",
        "scoring.scorer": "Scorer ScorerState",
        "scoring.scores": "Measurement Scores",
    },
)
