"""Tie calibration: how close must two scores of a metric be to count as equal?

People call many captions equally good; a metric with real numbers hardly ever does. Deutsch,
Foster and Freitag (2023) choose the difference up to which the metric's scores count as tied so
that pairwise accuracy becomes largest, and so compare metrics with and without ties fairly.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from reelscore.stats.correlations import in_pairs, known


class TieCalibration(NamedTuple):
    """The best threshold and what it gives.

    Attributes:
        epsilon: Differences up to this count as ties.
        accuracy: The pairwise accuracy then, the mean over the groups.
    """

    epsilon: float
    accuracy: float


def calibrate_ties(
    human: ArrayLike, metric: ArrayLike, *, max_pairs: int = 4_000_000, seed: int = 12345
) -> TieCalibration:
    """Choose the threshold, one for all groups, that makes pairwise accuracy largest.

    Args:
        human: Groups × members; NaN where there is no score.
        metric: Groups × members.
        max_pairs: Where there are more pairs than this, as many are drawn at random.
        seed: Random seed of that draw.

    Returns:
        The smallest of the best thresholds, which is zero or an observed difference.

    >>> calibrate_ties([1, 2, 2, 3, 4], [2, 1, 1.5, 5, 3])
    TieCalibration(epsilon=0.5, accuracy=0.7)
    """
    human, metric = (np.atleast_2d(scores) for scores in in_pairs(human, metric))
    groups, size = human.shape
    each = size * (size - 1) // 2
    if groups * each <= max_pairs:
        first, second = np.triu_indices(size, 1)
    else:
        rng = np.random.default_rng(seed)
        first = rng.integers(size, size=max(1, max_pairs // groups))
        second = (first + rng.integers(1, size, size=len(first))) % size
    apart = human[:, first] - human[:, second]
    metric_apart = metric[:, first] - metric[:, second]
    counted = known(apart)
    pairs = counted.sum(axis=1)
    if not pairs.any():
        return TieCalibration(0.0, float("nan"))
    weight = 1.0 / np.repeat(pairs[pairs > 0], pairs[pairs > 0]) / np.count_nonzero(pairs)
    apart, metric_apart = apart[counted], metric_apart[counted]  # row by row, as the weights are
    right = np.sign(apart) == np.sign(metric_apart)
    # Ties made by the threshold are right where people tie, wrong elsewhere.
    gain = weight * ((apart == 0).astype(float) - right)
    width = np.abs(metric_apart)
    order = np.argsort(width, kind="stable")
    width = width[order]
    last = np.append(width[1:] > width[:-1], True)  # all pairs of a width change together
    thresholds = np.append(0.0, width[last])
    reached = float(weight @ right) + np.append(0.0, np.cumsum(gain[order])[last])
    best = int(np.argmax(reached >= reached.max() - 1e-12))
    return TieCalibration(float(thresholds[best]), min(1.0, round(float(reached[best]), 12)))
