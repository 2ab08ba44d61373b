"""Coefficients that count pairs, for each item, when systems are swapped or resampled.

After a swap between two metrics, either score of a pair of systems may come from either metric:
four cases, each with a known order. So the pairs in the right order are a product of two matrices,
one that says which case a trial makes of each pair of systems, and one that says whether that is
right for each item. When systems are resampled, a pair counts as often as it is drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reelscore.stats.correlations import Coefficient, known
from reelscore.stats.pairs import accuracy, kendall_23, kendall_b, ratio
from reelscore.stats.resampling import FloatArray

ORDERED: tuple[Coefficient, ...] = (kendall_b, kendall_23, accuracy)
_FEW = 64  # systems up to which all pairs of them are worth a column


def has_orders(human: FloatArray, coefficient: Coefficient) -> bool:
    """Return whether a coefficient of this number of systems can be computed here.

    >>> has_orders(np.ones((13, 5)), kendall_b), has_orders(np.ones((1000, 5)), kendall_b)
    (True, False)
    """
    return coefficient in ORDERED and len(human) <= _FEW


def swapped_orders(
    human: FloatArray, metrics: FloatArray, swapped: NDArray[np.bool_], coefficient: Coefficient
) -> Callable[[int, int], tuple[FloatArray, FloatArray]]:
    """Make a function that gives the coefficients of two metrics after the swaps."""
    one, other = np.triu_indices(len(human), 1)
    apart = human[one] - human[other]  # pairs of systems × items
    counted = known(apart)
    order = np.sign(apart)
    left, right = swapped[:, one], swapped[:, other]
    cases = np.concatenate(
        [~left & ~right, ~left & right, left & ~right, left & right], axis=1
    ).astype(np.float32)

    def sums(a: int, b: int) -> list[FloatArray]:
        """Add up, over the pairs of systems, what the coefficient needs."""
        metric = np.concatenate(
            [np.sign(metrics[u][one] - metrics[v][other]) for u in (a, b) for v in (a, b)]
        )
        humans, there = np.tile(order, (4, 1)), np.tile(counted, (4, 1))
        if coefficient is kendall_b:
            needed = [np.where(there, humans * metric, 0), there & (metric == 0)]
        else:
            needed = [there & (humans == metric)]
        # whole numbers below 2^24: exact in single precision
        return [(cases @ each.astype(np.float32)).astype(float) for each in needed]

    pairs = counted.sum(axis=0)
    ordered = (counted & (order != 0)).sum(axis=0)

    def values(a: int, b: int) -> FloatArray:
        totals = sums(a, b)
        if coefficient is kendall_b:
            return ratio(totals[0], np.sqrt(ordered * (pairs - totals[1])))
        share = ratio(totals[0], pairs)
        return share if coefficient is accuracy else 2 * share - 1

    return lambda a, b: (values(a, b), values(b, a))


def redrawn_orders(
    human: FloatArray, metric: FloatArray, times: FloatArray, coefficient: Coefficient
) -> FloatArray:
    """Compute a coefficient of every item for resamples of the systems.

    A system that is drawn twice is not compared with itself.
    """
    one, other = np.triu_indices(len(human), 1)
    weights = (times[:, one] * times[:, other]).astype(np.float32)
    apart = human[one] - human[other]
    counted, order = known(apart), np.sign(apart)
    metric_order = np.sign(metric[one] - metric[other])

    def total(of_pairs: NDArray[Any]) -> FloatArray:
        # whole numbers below 2^24: exact in single precision
        return (weights @ of_pairs.astype(np.float32)).astype(np.float64)

    if coefficient is kendall_b:
        right = total(np.where(counted, order * metric_order, 0))
        human_orders, metric_orders = (total(counted & (o != 0)) for o in (order, metric_order))
        return ratio(right, np.sqrt(human_orders * metric_orders))
    share = ratio(total(counted & (order == metric_order)), total(counted))
    return share if coefficient is accuracy else 2 * share - 1
