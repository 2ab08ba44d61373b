"""Intervals of a correlation, and tests of the difference between two that share a variable.

Throughout, 1 are the human scores and 2 and 3 two metrics: ``r12`` and ``r13`` are how well the
metrics agree with people, ``r23`` how well with each other, all on the same n. A result is NaN
where n is too small or a correlation is ±1, and zero for a metric and its own copy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import NamedTuple

from reelscore.errors import DataError, check_choice
from reelscore.stats.distributions import Alternative, normal_p, student_p


class Tested(NamedTuple):
    """A test statistic and its p-value."""

    statistic: float  # t for Williams, z for Steiger and Meng, as the test defines it elsewhere
    p: float  # the p-value


def williams(
    r12: float,
    r13: float,
    r23: float,
    n: int,
    *,
    alternative: Alternative = "greater",
    absolute: bool = False,
) -> Tested:
    """Williams' test (1959; Steiger, 1980, eq. 7): the usual one for metrics.

    Args:
        r12: Correlation of the first metric with people.
        r13: Correlation of the second metric with people.
        r23: Correlation between the metrics.
        n: On how many pairs of scores.
        alternative: ``greater``: the first metric agrees better. The statistic keeps its sign, so
            that exchanging the metrics turns p into 1 − p.
        absolute: Compare the sizes of the correlations, without their signs.

    >>> williams(0.4, 0.5, 0.1, 103, alternative="two-sided")
    Tested(statistic=-0.8912..., p=0.3749...)
    """
    r12, r13, r23 = _checked(r12, r13, r23, absolute=absolute)
    if n <= 3 or math.isnan(r12 + r13 + r23):
        return Tested(math.nan, math.nan)
    # Rounding may take the determinant of three nearly dependent variables below zero.
    determinant = max(0.0, 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23)
    mean = (r12 + r13) / 2
    variance = 2 * determinant * (n - 1) / (n - 3) + mean**2 * (1 - r23) ** 3
    t = _quotient((r12 - r13) * math.sqrt((n - 1) * (1 + r23)), math.sqrt(variance))
    return Tested(t, student_p(t, n - 3, alternative))


def steiger(
    r12: float, r13: float, r23: float, n: int, *, alternative: Alternative = "greater"
) -> Tested:
    """Steiger's Z (1980, eq. 14), with the mean of both correlations in their covariance.

    The arguments ``r12``, ``r13``, ``r23``, ``n`` and ``alternative`` are those of `williams`.

    >>> round(steiger(0.4, 0.5, 0.1, 103).statistic, 5)
    -0.88872
    """

    def variance(r12: float, r13: float, r23: float) -> float:
        square = ((r12 + r13) / 2) ** 2
        psi = r23 * (1 - 2 * square) - square * (1 - 2 * square - r23**2) / 2
        return max(0.0, 2 - 2 * psi / (1 - square) ** 2)

    return _z_test(r12, r13, r23, n, alternative, variance)


def meng(
    r12: float, r13: float, r23: float, n: int, *, alternative: Alternative = "greater"
) -> Tested:
    """The Z of Meng, Rosenthal and Rubin (1992).

    ``r12``, ``r13``, ``r23``, ``n`` and ``alternative`` are as in `williams`.

    >>> round(meng(0.4, 0.5, 0.1, 103).statistic, 5)
    -0.88821
    """

    def variance(r12: float, r13: float, r23: float) -> float:
        square = (r12**2 + r13**2) / 2
        f = min(1.0, (1 - r23) / (2 * (1 - square)))
        h = (1 - f * square) / (1 - square)
        return 2 * (1 - r23) * h

    return _z_test(r12, r13, r23, n, alternative, variance)


def _z_test(
    r12: float,
    r13: float,
    r23: float,
    n: int,
    alternative: Alternative,
    variance: Callable[[float, float, float], float],
) -> Tested:
    """Test the difference of two correlations by Fisher's z and a variance of that difference."""
    r12, r13, r23 = _checked(r12, r13, r23)
    if n <= 3 or not max(abs(r12), abs(r13)) < 1:
        return Tested(math.nan, math.nan)
    apart = (math.atanh(r12) - math.atanh(r13)) * math.sqrt(n - 3)
    z = _quotient(apart, math.sqrt(variance(r12, r13, r23)))
    return Tested(z, normal_p(z, alternative))


def zou_interval(
    r12: float, r13: float, r23: float, n: int, *, level: float = 0.95
) -> tuple[float, float]:
    """Zou's interval (2007) of the difference r12 − r13; it need not be symmetric.

    Args:
        r12, r13, r23, n: As in `williams`.
        level: Confidence level.

    >>> [round(limit, 5) for limit in zou_interval(0.396, 0.179, 0.088, 66)]
    [-0.0929, 0.51676]
    """
    r12, r13, r23 = _checked(r12, r13, r23)
    if n <= 3 or not max(abs(r12), abs(r13)) < 1:
        return math.nan, math.nan
    low2, high2 = fisher_interval(r12, n, level=level)
    low3, high3 = fisher_interval(r13, n, level=level)
    c = (r23 - r12 * r13 / 2) * (1 - r12**2 - r13**2 - r23**2) + r23**3
    c /= (1 - r12**2) * (1 - r13**2)

    def reach(one: float, other: float) -> float:
        return math.sqrt(max(0.0, one**2 + other**2 - 2 * c * one * other))

    apart = r12 - r13
    return apart - reach(r12 - low2, high3 - r13), apart + reach(high2 - r12, r13 - low3)


def fisher_interval(
    r: float, n: int, coefficient: str = "pearson", *, level: float = 0.95
) -> tuple[float, float]:
    """The interval of a correlation by Fisher's transformation (Bonett and Wright, 2000).

    Args:
        r: The correlation.
        n: On how many pairs of scores, each independent of the others.
        coefficient: ``pearson``, ``spearman`` or ``kendall_b``.
        level: Confidence level.

    >>> [round(limit, 3) for limit in fisher_interval(0.5, 30)]
    [0.17, 0.729]
    """
    (r,) = _checked(r)
    known = {"pearson": (3, 1.0), "spearman": (3, 1 + r**2 / 2), "kendall_b": (4, 0.437)}
    check_choice("coefficient", coefficient, known)
    less, variance = known[coefficient]
    if n <= less or math.isnan(r):
        return math.nan, math.nan
    if abs(r) == 1:
        return r, r
    half = NormalDist().inv_cdf((1 + level) / 2) * math.sqrt(variance / (n - less))
    return math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)


def _checked(*correlations: float, absolute: bool = False) -> list[float]:
    for r in correlations:
        if abs(r) > 1:
            raise DataError(f"A correlation lies between -1 and 1; this one is {r!r}.")
    return [abs(r) if absolute else r for r in correlations]


def _quotient(difference: float, spread: float) -> float:
    if abs(difference) < 1e-12:
        return 0.0
    return difference / spread if spread > 0 else math.nan
