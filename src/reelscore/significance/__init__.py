"""Who beats whom: tests of the differences between systems in any score table, and clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reelscore._lazy import lazy_names

if TYPE_CHECKING:
    from reelscore.significance.comparison import Comparison, compare
    from reelscore.significance.evidence import Evidence
    from reelscore.significance.pair_tests import with_evidence
    from reelscore.significance.rankings import Ranking, rank_systems

__all__ = [
    "Comparison",
    "Evidence",
    "Ranking",
    "compare",
    "rank_systems",
    "with_evidence",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "significance.comparison": "Comparison compare",
        "significance.evidence": "Evidence",
        "significance.pair_tests": "with_evidence",
        "significance.rankings": "Ranking rank_systems",
    },
)
