"""Correlation along the last axis of arrays, missing values left out in pairs.

All coefficients take scores by people and by a metric, of shapes that broadcast to (..., n), NaN
where there is none, and give an array of shape (...). Where a coefficient is not defined (fewer
than two pairs, one side constant) it is NaN, without a warning; `why_undefined` says why.

What is correlated with what is the *level*: systems, the captions of an item, of a system, or all
captions. It turns scores of systems × items into groups × members; a coefficient is computed in
each group and averaged over those where it is defined.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reelscore.errors import DataError, UnknownNameError, check_choice
from reelscore.stats.distributions import ranks
from reelscore.stats.resampling import FloatArray

Coefficient = Callable[[ArrayLike, ArrayLike], FloatArray]


def pearson(human: ArrayLike, metric: ArrayLike) -> FloatArray:
    """Pearson's r: how well a straight line maps one score to the other.

    Args:
        human: Scores by people, of shape (..., n).
        metric: Scores by a metric, of a shape that broadcasts to the same; NaN where there is none.

    >>> round(float(pearson([1, 2, 3, 4, 5, 6], [2, 1, 4, 3, 3, 7])), 3)
    0.776
    >>> float(pearson([1, 2, 3], [5, 5, 5]))
    nan
    """
    human, metric = in_pairs(human, metric)
    h, x = _spread(human), _spread(metric)
    defined = varies(human) & varies(metric)
    scale = np.sqrt((h * h).sum(axis=-1) * (x * x).sum(axis=-1))
    r = (h * x).sum(axis=-1) / np.where(defined, scale, 1.0)
    return np.where(defined, np.clip(r, -1.0, 1.0), np.nan)


def spearman(human: ArrayLike, metric: ArrayLike) -> FloatArray:
    """Spearman's rho: Pearson's r of the ranks; ties share their mean rank.

    Args:
        human: Scores by people, of shape (..., n).
        metric: Scores by a metric, of a shape that broadcasts to the same; NaN where there is none.

    >>> float(spearman([1, 2, 3, 4], [1, 10, 100, 1000]))
    1.0
    """
    human, metric = in_pairs(human, metric)
    return pearson(_ranks(human), _ranks(metric))


def difference_pearson(human: ArrayLike, metric: ArrayLike) -> float:
    """Pearson's r of the differences between members of the same group ("pdp").

    Level and spread of a group fall out as in a correlation within groups, but all groups
    together give one number, in which those with large differences weigh more.

    >>> round(difference_pearson([[1, 2, 3], [4, 5, 6]], [[2, 1, 4], [3, 3, 7]]), 3)
    0.766
    """
    human, metric = in_pairs(human, metric)
    # Over all ordered pairs of a group of n, the products of the differences sum up to 2n times
    # the products of the deviations from the mean: no pair need be formed.
    size = known(human).sum(axis=-1)
    h, x = _deviations(human), _deviations(metric)
    sums = [float((size * (a * b).sum(axis=-1)).sum()) for a, b in ((h, x), (h, h), (x, x))]
    if not (varies(human).any() and varies(metric).any() and sums[1] * sums[2] > 0):
        return float("nan")
    return float(np.clip(sums[0] / np.sqrt(sums[1] * sums[2]), -1.0, 1.0))


def why_undefined(human: ArrayLike, metric: ArrayLike) -> str:
    """Return why two vectors have no correlation; empty where they have one."""
    human, metric = in_pairs(human, metric)
    if known(human).sum() < 2:
        return "fewer than 2 pairs"
    if not varies(human.ravel()):
        return "the human scores are constant"
    if not varies(metric.ravel()):
        return "the metric is constant"
    return ""


def in_pairs(human: ArrayLike, metric: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Make missing in both what is missing in one; broadcast only where that needs it.

    >>> in_pairs([1.0, float("nan")], [2.0, 3.0])[1].tolist()
    [2.0, nan]
    """
    h, x = np.asarray(human, dtype=np.float64), np.asarray(metric, dtype=np.float64)
    if (np.isnan(h) == np.isnan(x)).all():
        return h, x
    missing = np.isnan(h) | np.isnan(x)
    return np.where(missing, np.nan, h), np.where(missing, np.nan, x)


def known(values: FloatArray) -> NDArray[np.bool_]:
    """Where there is a number.

    >>> known(np.array([1.0, np.nan])).tolist()
    [True, False]
    """
    return ~np.isnan(values)


def varies(values: FloatArray) -> NDArray[np.bool_]:
    """Return whether there are at least two different numbers along the last axis.

    >>> varies(np.array([[1.0, 1.0], [1.0, 2.0]])).tolist()
    [False, True]
    """
    there = known(values)
    high = np.where(there, values, -np.inf).max(axis=-1, initial=-np.inf)
    low = np.where(there, values, np.inf).min(axis=-1, initial=np.inf)
    result: NDArray[np.bool_] = high > low
    return result


def mean_known(values: FloatArray, axis: int = -1) -> FloatArray:
    """Average over what is known; NaN where nothing is.

    >>> mean_known(np.array([[1.0, np.nan], [np.nan, np.nan]])).tolist()
    [1.0, nan]
    """
    there = known(values)
    count = there.sum(axis=axis)
    total = np.where(there, values, 0.0).sum(axis=axis)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _deviations(values: FloatArray) -> FloatArray:
    """Deviations from the mean; zero where there is no number."""
    return np.nan_to_num(values - mean_known(values)[..., None], nan=0.0)


def _spread(values: FloatArray) -> FloatArray:
    """Deviations from the mean, scaled so that their squares neither vanish nor overflow."""
    apart = _deviations(values)
    largest = np.abs(apart).max(axis=-1, initial=0.0, keepdims=True)
    return apart / np.where(largest > 0, largest, 1.0)


def _ranks(values: FloatArray) -> FloatArray:
    there = known(values)
    return np.where(there, ranks(np.where(there, values, np.inf)), np.nan)


Level = Literal["system", "item", "pooled", "per-system"]
LEVELS: tuple[Level, ...] = get_args(Level)


def in_groups(scores: FloatArray, level: Level) -> FloatArray:
    """Arrange scores, (..., systems, items), as (..., groups, members)."""
    if level == "system":
        return mean_known(scores)[..., None, :]
    if level == "item":
        turned: FloatArray = scores.swapaxes(-1, -2)
        return turned
    if level == "pooled":
        return scores.reshape(*scores.shape[:-2], 1, -1)
    if level == "per-system":
        return scores
    raise UnknownNameError.of("level", level, LEVELS)


def correlate(
    human: FloatArray, metric: FloatArray, level: Level, coefficient: Coefficient
) -> FloatArray:
    """Compute a coefficient in each group and average it over those where it is defined.

    Args:
        human: Systems × items, missing where the metric is.
        metric: (..., systems, items).
        level: As in `in_groups`.
        coefficient: One of those of `reelscore.stats.correlations` and `reelscore.stats.pairs`.

    >>> import numpy as np
    >>> from reelscore.stats.correlations import pearson
    >>> human = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    >>> metric = np.array([[2.0, 1.0, 4.0], [3.0, 3.0, 7.0]])
    >>> [round(float(correlate(human, metric, level, pearson)), 3) for level in LEVELS]
    [1.0, 1.0, 0.776, 0.76]
    """
    return mean_known(coefficient(in_groups(human, level), in_groups(metric, level)))


Units = Literal["systems", "items", "both"]


def standardized(human: FloatArray, metrics: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Check, make missing everywhere what is missing somewhere, and bring to one scale."""
    human, metrics = np.asarray(human, dtype=float), np.asarray(metrics, dtype=float)
    if human.ndim != 2 or metrics.shape[1:] != human.shape:
        raise DataError(
            f"Expected systems × items and metrics × systems × items, not {human.shape} and "
            f"{metrics.shape}."
        )
    missing = np.isnan(human) | np.isnan(metrics).any(axis=0)
    if missing.all():
        raise DataError("No cell has a score by people and by all metrics.")

    def scaled(scores: FloatArray) -> FloatArray:
        there = scores[~missing]
        if there.max() == there.min():
            return np.where(missing, np.nan, 0.0)
        return np.where(missing, np.nan, (scores - there.mean()) / there.std())

    return scaled(human), np.stack([scaled(each) for each in metrics])


def turned(
    human: FloatArray, metrics: FloatArray, level: Level, units: Units
) -> tuple[FloatArray, FloatArray, Level, Units]:
    """Reduce ``per-system`` to ``item``: the same with systems and items exchanged.

    >>> turned(np.ones((2, 3)), np.ones((1, 2, 3)), "per-system", "items")[2:]
    ('item', 'systems')
    """
    check_choice("unit of resampling", units, get_args(Units))
    if level != "per-system":
        return human, metrics, level, units
    other: dict[Units, Units] = {"systems": "items", "items": "systems", "both": "both"}
    return human.T, metrics.swapaxes(1, 2), "item", other[units]
