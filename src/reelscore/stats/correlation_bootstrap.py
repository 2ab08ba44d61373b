"""Bootstrap intervals of correlations: other systems, other items, how far would r move?

Systems, items or both are drawn with replacement (BOOT-SYSTEMS, BOOT-INPUTS and BOOT-BOTH of
Deutsch, Dror and Roth, 2021). As in `reelscore.stats.permutation`, Pearson's r is computed from
sums, a resample at the cost of a matrix product.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reelscore._progress import Progress
from reelscore.stats.correlations import (
    Coefficient,
    Level,
    Units,
    in_groups,
    known,
    mean_known,
    pearson,
    standardized,
    turned,
)
from reelscore.stats.orders import has_orders, redrawn_orders
from reelscore.stats.pairs import accuracy, half_accuracy, kendall_23
from reelscore.stats.resampling import FloatArray, in_blocks


def bootstrap_correlations(
    human: FloatArray,
    metrics: FloatArray,
    *,
    level: Level = "pooled",
    coefficient: Coefficient = pearson,
    draw: Units = "both",
    resamples: int = 1000,
    seed: int = 12345,
    progress: Progress | None = None,
) -> FloatArray:
    """Correlate resamples of the systems and items.

    Args:
        human: Systems × items; NaN where there is no score.
        metrics: Metrics × systems × items.
        level: What is correlated; see `reelscore.stats.correlations`.
        coefficient: The coefficient.
        draw: Draw ``systems``, ``items`` or ``both``.
        resamples: How many resamples to draw.
        seed: Random seed of the draws, which are the same for all metrics: the differences of two
            rows show how sure the difference of two metrics is.
        progress: Called with how many resamples are done, of how many.

    Returns:
        Metrics × resamples; NaN where a resample has no correlation.

    >>> rng = np.random.default_rng(0)
    >>> human = rng.normal(size=(5, 40))
    >>> drawn = bootstrap_correlations(human, (human + rng.normal(size=(5, 40)))[None])
    >>> low, high = np.quantile(drawn[0], [0.025, 0.975])
    >>> bool(0.5 < low < 0.7 < high < 0.9)
    True
    """
    human, metrics = standardized(human, metrics)
    human, metrics, level, draw = turned(human, metrics, level, draw)
    rng = np.random.default_rng(seed)
    count, width = human.shape
    drawn, done = [], 0
    for size in in_blocks(resamples, 4 * count * width):
        systems = np.broadcast_to(np.arange(count), (size, count))
        items = np.broadcast_to(np.arange(width), (size, width))
        if draw != "items":
            systems = rng.integers(count, size=(size, count))
        if draw != "systems":
            items = rng.integers(width, size=(size, width))
        block = _Draws(systems, items)
        drawn.append(_correlations(human, metrics, level, coefficient, block))
        done += size
        if progress is not None:
            progress(done, resamples)
    return np.concatenate(drawn, axis=1)


class _Draws(NamedTuple):
    """The systems and the items of some resamples, by their numbers: resamples × how many."""

    systems: NDArray[np.int64]
    items: NDArray[np.int64]

    def times(self) -> tuple[FloatArray, FloatArray]:
        """How often each system and each item was drawn."""
        return _times(self.systems), _times(self.items)


def _times(draws: NDArray[np.int64]) -> FloatArray:
    size = draws.shape[1]
    return np.stack([np.bincount(draw, minlength=size) for draw in draws]).astype(float)


def _correlations(
    human: FloatArray, metrics: FloatArray, level: Level, coefficient: Coefficient, drawn: _Draws
) -> FloatArray:
    """Correlate resamples: metrics × resamples."""
    systems, items = drawn
    if coefficient is pearson and level != "system":
        return _pearson(human, metrics, level, drawn)
    if level == "item" and has_orders(human, coefficient):
        times = _times(systems)
        by_item = (redrawn_orders(human, each, times, coefficient) for each in metrics)
        return np.stack(
            [mean_known(np.take_along_axis(values, items, axis=1)) for values in by_item]
        )
    if level == "system":
        values = _between_systems(human, metrics, coefficient, drawn)[..., None]
    else:
        cells = systems[:, :, None], items[:, None, :]
        truth = in_groups(human[cells], level)
        values = np.stack([coefficient(truth, in_groups(each[cells], level)) for each in metrics])
    if coefficient in (accuracy, half_accuracy, kendall_23):
        pairs, twins = _twins(human, level, drawn)
        share = (values + 1) / 2 if coefficient is kendall_23 else values
        counted = twins / 2 if coefficient is half_accuracy else twins
        share = (share * pairs - counted) / np.where(pairs > twins, pairs - twins, np.nan)
        values = 2 * share - 1 if coefficient is kendall_23 else share
    return mean_known(values)


def _twins(human: FloatArray, level: Level, drawn: _Draws) -> tuple[FloatArray, FloatArray]:
    """Count all pairs, and those of a caption or system drawn twice, which tie with themselves.

    To count such ties as right would make resamples agree better than the data: resamples ×
    groups, as the coefficients are.
    """
    rows, columns = drawn.times()
    there = known(human).astype(float)
    if level == "system":
        there = there.max(axis=1, keepdims=True)
    size, squares = rows @ there, rows**2 @ there
    if level == "pooled":
        size = (size * columns).sum(axis=1, keepdims=True)
        squares = (squares * columns**2).sum(axis=1, keepdims=True)
    elif level == "item":
        size, squares = (np.take_along_axis(n, drawn.items, axis=1) for n in (size, squares))
    return size * (size - 1) / 2, (squares - size) / 2


def _between_systems(
    human: FloatArray, metrics: FloatArray, coefficient: Coefficient, drawn: _Draws
) -> FloatArray:
    weights = _times(drawn.items)
    counts = weights @ known(human).T.astype(float)

    def means(scores: FloatArray) -> FloatArray:
        sums = weights @ np.nan_to_num(scores, nan=0.0).T
        by_system = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
        return np.take_along_axis(by_system, drawn.systems, axis=1)

    truth = means(human)
    return np.stack([coefficient(truth, means(scores)) for scores in metrics])


def _pearson(human: FloatArray, metrics: FloatArray, level: Level, drawn: _Draws) -> FloatArray:
    """Pearson's r from weighted sums of 1, h, h², x, x², hx."""
    rows, columns = drawn.times()

    def sums(moments: list[FloatArray]) -> FloatArray:
        by_item = rows @ np.stack(moments)  # moments × resamples × items
        return np.einsum("mri,ri->mr", by_item, columns) if level == "pooled" else by_item

    h = np.nan_to_num(human, nan=0.0)
    n, of_h, of_hh = sums([known(human).astype(float), h, h * h])
    n = np.maximum(n, 1)
    human_variance = of_hh - of_h * of_h / n
    parts = []
    for x in np.nan_to_num(metrics, nan=0.0):
        of_x, of_xx, of_hx = sums([x, x * x, h * x])
        variance = of_xx - of_x * of_x / n
        # The scores are standardized, so that what is left of a constant is rounding.
        defined = (variance > 1e-13 * of_xx) & (human_variance > 1e-13 * of_hh)
        scale = np.sqrt(np.where(defined, variance * human_variance, np.nan))
        r = np.clip((of_hx - of_h * of_x / n) / scale, -1, 1)
        if level != "pooled":
            r = mean_known(np.take_along_axis(r, drawn.items, axis=1))
        parts.append(r)
    return np.stack(parts)
