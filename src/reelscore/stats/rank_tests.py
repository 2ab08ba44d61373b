"""Wilcoxon's two tests: of scores in pairs, and of two independent sets of scores."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from reelscore.errors import DataError, check_choice
from reelscore.stats.correlation_tests import Tested
from reelscore.stats.correlations import in_pairs, known
from reelscore.stats.distributions import Alternative, normal_p, ranks
from reelscore.stats.resampling import FloatArray

_EXACT = 49  # up to as many differences without ties, p is exact


def signed_rank(
    first: ArrayLike, second: ArrayLike, *, alternative: Alternative = "two-sided"
) -> Tested:
    """Wilcoxon's signed-rank test: are scores of the same items larger in the first?

    Exact for up to 49 differences without ties, otherwise by the normal distribution with a
    correction for continuity, as R does it. Equal pairs are left out, missing ones too.

    Args:
        first: Scores.
        second: Scores of the same items, in the same order.
        alternative: ``greater``: the first are larger.

    >>> signed_rank([5, 6, 7, 8, 9.5], [1, 2.5, 4, 6, 8], alternative="greater").p
    0.03125
    """
    check_choice("alternative", alternative, ("greater", "less", "two-sided"))
    first, second = in_pairs(first, second)
    apart = (first - second).ravel()
    apart = apart[known(apart) & (apart != 0)]
    count = len(apart)
    if count == 0:
        return Tested(0.0, 1.0)
    rank = ranks(np.abs(apart))
    plus = float(rank[apart > 0].sum())
    minus = count * (count + 1) / 2 - plus
    statistic = min(plus, minus) if alternative == "two-sided" else plus
    if count <= _EXACT and len(np.unique(rank)) == count:
        return Tested(statistic, _exact_p(plus, count, alternative))
    ties = _tie_sum(rank)
    spread = math.sqrt((count * (count + 1) * (2 * count + 1) - ties / 2) / 24)
    away = plus - count * (count + 1) / 4
    return Tested(statistic, _corrected_p(away, spread, alternative))


def rank_sum(
    first: ArrayLike, second: ArrayLike, *, alternative: Alternative = "two-sided"
) -> Tested:
    """Wilcoxon's rank-sum test (Mann–Whitney U): is a score of the first likely the larger?

    By the normal distribution with corrections for continuity and ties. This is the test that
    Direct Assessment ranks systems with, one-sided, on standardized item scores.

    Args:
        first: Scores.
        second: Scores of any items; there may be more or fewer.
        alternative: ``greater``: the first are larger.

    >>> round(rank_sum([3, 4, 5, 6], [1, 2, 3], alternative="greater").p, 4)
    0.0372
    """
    check_choice("alternative", alternative, ("greater", "less", "two-sided"))
    one, other = _numbers(first), _numbers(second)
    if len(one) == 0 or len(other) == 0:
        raise DataError("A rank-sum test needs scores on both sides; one has none.")
    pairs = len(one) * len(other)
    if one.min() == one.max() == other.min() == other.max():
        return Tested(pairs / 2, 1.0)
    rank = ranks(np.concatenate([one, other]))
    count = len(rank)
    statistic = float(rank[: len(one)].sum()) - len(one) * (len(one) + 1) / 2
    spread = math.sqrt(pairs / 12 * (count + 1 - _tie_sum(rank) / (count * (count - 1))))
    return Tested(statistic, _corrected_p(statistic - pairs / 2, spread, alternative))


def _corrected_p(away: float, spread: float, alternative: Alternative) -> float:
    """The p-value of a sum of ranks so far from its mean, half a rank nearer."""
    if alternative == "two-sided":
        return min(1.0, normal_p((abs(away) - 0.5) / spread, "greater") * 2)
    nearer = -0.5 if alternative == "greater" else 0.5
    return normal_p((away + nearer) / spread, alternative)


def _exact_p(plus: float, count: int, alternative: Alternative) -> float:
    """The p-value of a sum of the ranks 1 to count, each of which counts or not by chance."""
    ways = np.ones(1)
    for rank in range(1, count + 1):
        ways = np.pad(ways, (0, rank)) + np.pad(ways, (rank, 0))
    shares = ways / 2.0**count
    place = round(plus)
    above, below = float(shares[place:].sum()), float(shares[: place + 1].sum())
    if alternative == "two-sided":
        return min(1.0, 2 * min(above, below))
    return above if alternative == "greater" else below


def _tie_sum(rank: FloatArray) -> float:
    _, sizes = np.unique(rank, return_counts=True)
    return float((sizes.astype(np.float64) ** 3 - sizes).sum())


def _numbers(scores: ArrayLike) -> FloatArray:
    values = np.asarray(scores, dtype=np.float64).ravel()
    return values[known(values)]
