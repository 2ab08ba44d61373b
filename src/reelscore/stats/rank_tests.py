"""Wilcoxon's two tests: of scores in pairs, and of two independent sets of scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from reelscore.errors import DataError
from reelscore.stats.correlation_tests import Alternative, Tested
from reelscore.stats.correlations import in_pairs, known
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
    first, second = in_pairs(first, second)
    apart = (first - second).ravel()
    apart = apart[known(apart) & (apart != 0)]
    if len(apart) == 0:
        return Tested(0.0, 1.0)
    from scipy.stats import wilcoxon

    exact = len(apart) <= _EXACT and len(np.unique(np.abs(apart))) == len(apart)
    method = "exact" if exact else "approx"
    result = wilcoxon(apart, alternative=alternative, method=method, correction=not exact)
    return Tested(float(result.statistic), float(result.pvalue))


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
    one, other = _numbers(first), _numbers(second)
    if len(one) == 0 or len(other) == 0:
        raise DataError("A rank-sum test needs scores on both sides; one has none.")
    if one.min() == one.max() == other.min() == other.max():
        return Tested(len(one) * len(other) / 2, 1.0)
    from scipy.stats import mannwhitneyu

    result = mannwhitneyu(one, other, alternative=alternative, method="asymptotic")
    return Tested(float(result.statistic), float(result.pvalue))


def _numbers(scores: ArrayLike) -> FloatArray:
    values = np.asarray(scores, dtype=np.float64).ravel()
    return values[known(values)]
