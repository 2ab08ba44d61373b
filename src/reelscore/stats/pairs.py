"""Coefficients that count pairs: do people and the metric put the two in the same order?

Of two captions (or systems) of a group, people prefer one or call it a tie, and so does the
metric. What is done with the ties is where the coefficients differ. Shapes, missing values and
NaN as in `reelscore.stats.correlations`.

Two ways to be fair to ties: Deutsch, Foster and Freitag (2023) choose the difference up to which a
metric's scores count as tied so that pairwise accuracy becomes largest (`calibrate_ties`), since
people call many captions equally good and a metric with real numbers hardly ever does. Thompson et
al. (2024) compare how sure people and the metric are of each order: the p-values that the first is
better (`soft_pairwise_accuracy`; 1 − PCE, the pairwise confidence error).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reelscore import _native
from reelscore.stats.correlations import in_pairs, known, varies
from reelscore.stats.resampling import FloatArray, in_blocks

_SHORT = 64  # up to here, forming all pairs at once beats sorting
_BLOCK = 2_000_000  # pairs held in memory at a time


class PairCounts(NamedTuple):
    """How many pairs of each kind there are."""

    concordant: FloatArray  # in the same order
    discordant: FloatArray  # in opposite order
    human_ties: FloatArray  # tied by people only
    metric_ties: FloatArray  # tied by the metric only
    both_ties: FloatArray  # tied by both

    @property
    def all(self) -> FloatArray:
        """All pairs."""
        return sum(self[1:], self[0])


def count_pairs(
    human: ArrayLike, metric: ArrayLike, *, epsilon: float = 0.0, least: float = 0.0
) -> PairCounts:
    """Count the pairs along the last axis."""
    human, metric = np.broadcast_arrays(*in_pairs(human, metric))
    shape, size = human.shape[:-1], human.shape[-1]
    h, x = (scores.reshape(math.prod(shape), size) for scores in (human, metric))
    if size > _SHORT:
        rows = [_count_long(a, b, epsilon, least) for a, b in zip(h, x, strict=True)]
        counts = np.array(rows, dtype=np.float64).reshape(-1, 5)
    else:
        first, second = np.triu_indices(size, 1)
        step = max(1, _BLOCK // max(1, len(first)))
        counts = np.empty((len(h), 5))
        for k in range(0, len(h), step):
            a, b = h[k : k + step], x[k : k + step]
            counts[k : k + step] = _count(
                a[:, first] - a[:, second], b[:, first] - b[:, second], epsilon, least
            )
    return PairCounts(*(column.reshape(shape) for column in counts.T))


def kendall_b(human: ArrayLike, metric: ArrayLike) -> FloatArray:
    """Kendall's tau-b: (C − D), scaled down for ties so that ±1 can be reached.

    Args:
        human: Scores by people, of shape (..., n).
        metric: Scores by a metric, of a shape that broadcasts to the same; NaN where there is none.

    >>> round(float(kendall_b([1, 2, 2, 3, 4], [2, 1, 1.5, 5, 3])), 9)
    0.316227766
    """
    c, d, human_ties, metric_ties, _ = count_pairs(human, metric)
    scale = np.sqrt((c + d + human_ties) * (c + d + metric_ties))
    return ratio(c - d, scale)


def kendall_c(human: ArrayLike, metric: ArrayLike) -> FloatArray:
    """Kendall's (Stuart's) tau-c: for scales with different numbers of steps.

    ``human`` and ``metric`` are as in `kendall_b`.

    >>> float(kendall_c([1, 2, 2, 3, 4], [2, 1, 1.5, 5, 3]))
    0.32
    """
    human, metric = in_pairs(human, metric)
    counts = count_pairs(human, metric)
    size = known(human).sum(axis=-1)
    steps = np.minimum(_distinct(human), _distinct(metric))
    scale = size**2 * (steps - 1) / np.maximum(steps, 1)
    return ratio(2 * (counts.concordant - counts.discordant), scale)


def kendall_23(human: ArrayLike, metric: ArrayLike) -> FloatArray:
    """Kendall's tau as used in 2023 (Deutsch et al.): a tie on one side only is an error.

    ``human`` and ``metric`` are as in `kendall_b`.

    >>> float(kendall_23([1, 2, 2, 3, 4], [2, 1, 1.5, 5, 3]))
    0.2
    """
    counts = count_pairs(human, metric)
    return ratio(2 * (counts.concordant + counts.both_ties) - counts.all, counts.all)


def accuracy(human: ArrayLike, metric: ArrayLike, *, epsilon: float = 0.0) -> FloatArray:
    """Pairwise accuracy: the share of pairs that both order alike or both call a tie ("acc23").

    Args:
        human: Scores by people, of shape (..., n).
        metric: Scores by a metric, of a shape that broadcasts to the same; NaN where there is none.
        epsilon: Scores of the metric at most so far apart are a tie.

    >>> float(accuracy([1, 2, 2, 3, 4], [2, 1, 1.5, 5, 3]))
    0.6
    >>> float(accuracy([1, 2, 2, 3, 4], [2, 1, 1.5, 5, 3], epsilon=2))
    0.4
    """
    counts = count_pairs(human, metric, epsilon=epsilon)
    return ratio(counts.concordant + counts.both_ties, counts.all)


def decided_accuracy(human: ArrayLike, metric: ArrayLike) -> FloatArray:
    """Share of the pairs that people decide which the metric decides alike; its ties are wrong.

    Pairs that people tie are left out. ``human`` and ``metric`` are as in `kendall_b`.

    >>> round(float(decided_accuracy([1, 2, 2, 3, 4], [2, 1, 1.5, 5, 3])), 3)
    0.667
    """
    counts = count_pairs(human, metric)
    decided = counts.concordant + counts.discordant + counts.metric_ties
    return ratio(counts.concordant, decided)


def half_accuracy(human: ArrayLike, metric: ArrayLike) -> FloatArray:
    """Pairwise accuracy in which a tie counts half, whoever calls it.

    ``human`` and ``metric`` are as in `kendall_b`.

    >>> float(half_accuracy([1, 2, 2, 3, 4], [2, 1, 1.5, 5, 3]))
    0.65
    """
    counts = count_pairs(human, metric)
    ties = counts.human_ties + counts.metric_ties + counts.both_ties
    return ratio(counts.concordant + ties / 2, counts.all)


def kendall_like(human: ArrayLike, metric: ArrayLike, *, least: float = 25.0) -> float:
    """The Kendall-like coefficient of WMT, over all pairs of all groups together.

    Of the pairs that people set clearly apart, those in the same order less all others, ties of
    the metric among them, as a share.

    Args:
        human: Groups × members, on the scale of `least`.
        metric: Groups × members.
        least: What is clearly apart: 25 points of 100 at WMT.

    >>> kendall_like([10, 11, 100, 150], [2, 1, 4, 3])
    0.6
    """
    counts = count_pairs(human, metric, least=least)
    right, pairs = float(counts.concordant.sum()), float(counts.all.sum())
    return (2 * right - pairs) / pairs if pairs else float("nan")


def _count(apart: FloatArray, metric_apart: FloatArray, epsilon: float, least: float) -> FloatArray:
    """Count the differences of people and of the metric, rows × pairs, into five kinds."""
    counted = known(apart)
    if least > 0:
        counted &= np.abs(apart) >= least
    human_tie, metric_tie = apart == 0, np.abs(metric_apart) <= epsilon
    alike = (apart > 0) == (metric_apart > 0)
    ordered = counted & ~human_tie & ~metric_tie
    kinds: list[NDArray[np.bool_]] = [
        ordered & alike,
        ordered & ~alike,
        counted & human_tie & ~metric_tie,
        counted & metric_tie & ~human_tie,
        counted & human_tie & metric_tie,
    ]
    return np.stack([np.count_nonzero(kind, axis=-1) for kind in kinds], axis=-1).astype(float)


def _count_long(human: FloatArray, metric: FloatArray, epsilon: float, least: float) -> FloatArray:
    """Count the pairs of one long vector."""
    there = known(human)
    human, metric = human[there], metric[there]
    if epsilon == 0 and least == 0 and varies(human) and varies(metric):
        return _count_sorted(human, metric)
    counts = np.zeros(5)
    step = max(1, _BLOCK // max(1, len(human)))
    for k in range(0, len(human), step):  # every pair twice, and each member with itself
        apart = human[k : k + step, None] - human
        counts += _count(apart, metric[k : k + step, None] - metric, epsilon, least).sum(axis=0)
    if least == 0:
        counts[4] -= len(human)
    return counts / 2


def _count_sorted(human: FloatArray, metric: FloatArray) -> FloatArray:
    """Count in n log n steps: pairs in opposite order and the numbers of ties tell all five."""
    _, human_ranks = np.unique(human, return_inverse=True)
    _, metric_ranks = np.unique(metric, return_inverse=True)
    both = _tied_pairs(human_ranks * (int(metric_ranks.max()) + 1) + metric_ranks)
    human_ties, metric_ties = _tied_pairs(human_ranks) - both, _tied_pairs(metric_ranks) - both
    pairs = len(human) * (len(human) - 1) // 2
    ordered = pairs - human_ties - metric_ties - both
    by_human = np.lexsort((metric_ranks, human_ranks))
    discordant = _native.count_inversions(metric_ranks[by_human].astype(np.int64))
    return np.array([ordered - discordant, discordant, human_ties, metric_ties, both], dtype=float)


def _tied_pairs(ranks: NDArray[np.int64]) -> int:
    _, counts = np.unique(ranks, return_counts=True)
    return int((counts * (counts - 1) // 2).sum())


def _distinct(values: FloatArray) -> NDArray[np.int64]:
    """How many different numbers there are along the last axis."""
    steps: NDArray[np.int64] = (np.diff(np.sort(values, axis=-1), axis=-1) > 0).sum(axis=-1)
    return steps + 1


def ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Return the quotients; NaN where there is nothing to divide by."""
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), np.nan)


class TieCalibration(NamedTuple):
    """The best threshold and what it gives."""

    epsilon: float  # differences up to this count as ties
    accuracy: float  # the pairwise accuracy then, the mean over the groups


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


def soft_pairwise_accuracy(
    human: ArrayLike, metric: ArrayLike, *, trials: int = 1000, seed: int = 12345
) -> float:
    """Compare the p-values of all pairs of systems; 1 is full agreement.

    Args:
        human: Systems × items; NaN where there is no score.
        metric: Systems × items.
        trials: Random exchanges behind each p-value.
        seed: Random seed of the exchanges, which are the same for all pairs and both sides.

    >>> human, metric = [[1, 2, 3], [2, 3, 4]], [[2, 2, 4], [1, 3, 5]]
    >>> round(soft_pairwise_accuracy(human, metric, seed=4), 3)
    0.872
    """
    human, metric = in_pairs(human, metric)
    sure, metric_sure = (_p_values(scores, trials, seed) for scores in (human, metric))
    if not len(sure):
        return float("nan")
    return 1.0 - float(np.abs(sure - metric_sure).mean())


def _p_values(scores: FloatArray, trials: int, seed: int) -> FloatArray:
    """One-sided p of each pair of systems with items in common, by exchanging their scores."""
    first, second = np.triu_indices(len(scores), 1)
    apart = scores[first] - scores[second]
    apart = np.nan_to_num(apart[known(apart).any(axis=1)], nan=0.0)
    observed = apart.sum(axis=1)
    hair = 1e-9 * np.abs(apart).sum(axis=1)
    rng = np.random.default_rng(seed)
    count = np.zeros(len(apart))
    for size in in_blocks(trials, scores.shape[1]):
        # 32-bit draws, rounded: the stream of the original implementation
        draws = np.rint(rng.random((size, scores.shape[1]), dtype=np.float32))
        chance = (2.0 * draws.astype(np.float64) - 1.0) @ apart.T
        count += (chance >= observed - hair).sum(axis=0)
    return count / trials
