"""Who beats whom: tests of the differences between systems in any score table, and clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reelscore._lazy import lazy_names

if TYPE_CHECKING:
    from reelscore.significance.comparison import Comparison, Pair, strictest
    from reelscore.significance.pair_tests import compare, rank_systems, with_tests

__all__ = [
    "Comparison",
    "Pair",
    "compare",
    "rank_systems",
    "strictest",
    "with_tests",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "significance.comparison": "Comparison Pair strictest",
        "significance.pair_tests": "compare rank_systems with_tests",
    },
)
