"""Permutation tests of the difference between two metrics' correlations with people.

Which systems and which items were judged is chance. Deutsch, Dror and Roth (2021) therefore swap
the scores of two metrics for whole systems, whole items, or both, and look how often the
difference in correlation comes out as large. The same exchanges serve all pairs of metrics.

Swapping is a sum over cells with weights, and Pearson's r depends on sums alone; so for Pearson,
and for any coefficient between systems, a trial costs a matrix product instead of a pass over
all cells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reelscore._progress import Progress
from reelscore.stats.correlations import (
    Coefficient,
    Level,
    Units,
    correlate,
    known,
    mean_known,
    pearson,
    standardized,
    turned,
)
from reelscore.stats.orders import has_orders, swapped_orders
from reelscore.stats.resampling import FloatArray, in_blocks

_HAIR = 1e-11  # sums in another order must not turn "equal" into "smaller"


class Permutations(NamedTuple):
    """The result of a permutation test of all pairs of metrics."""

    observed: FloatArray  # the coefficient of each metric
    # one-sided p-values, metrics × metrics: does the row agree better with people than the column?
    greater: FloatArray
    two_sided: FloatArray  # two-sided p-values


def permutation_test(
    human: FloatArray,
    metrics: FloatArray,
    *,
    level: Level = "pooled",
    coefficient: Coefficient = pearson,
    swap: Units = "both",
    trials: int = 1000,
    seed: int = 12345,
    pairs: Sequence[tuple[int, int]] | None = None,
    progress: Progress | None = None,
) -> Permutations:
    """Test which metrics agree better with people than others.

    If two metrics were equally good, it would not matter which of them gave which score. The
    scores of each metric are standardized, then exchanged at random between the two.

    Args:
        human: Systems × items; NaN where there is no score.
        metrics: Metrics × systems × items.
        level: What is correlated; see `reelscore.stats.correlations`.
        coefficient: The coefficient.
        swap: Exchange all scores of a system (``systems``: would other systems give the same
            result?), of an item (``items``), or first of systems and then of items (``both``).
        trials: How many random exchanges to make.
        seed: Random seed.
        pairs: Which metrics to compare; all pairs if not given.
        progress: Called with how many trials are done, of how many.

    Returns:
        p-values, (count + 1) / (trials + 1); NaN for pairs that are not compared.

    >>> rng = np.random.default_rng(0)
    >>> human = rng.normal(size=(5, 40))
    >>> metrics = np.stack([human + rng.normal(size=(5, 40)), rng.normal(size=(5, 40))])
    >>> tested = permutation_test(human, metrics, trials=200)
    >>> bool(tested.greater[0, 1] < 0.01 < 0.99 < tested.greater[1, 0])
    True
    """
    human, metrics = standardized(human, metrics)
    human, metrics, level, swap = turned(human, metrics, level, swap)
    pairs = list(combinations(range(len(metrics)), 2)) if pairs is None else pairs
    observed = correlate(human, metrics, level, coefficient)
    correlated = _correlated(human, metrics, level, coefficient)
    above, below, apart = (np.zeros((len(metrics), len(metrics))) for _ in range(3))
    done = 0
    ordered = level == "item" and has_orders(human, coefficient)  # holds little for a trial
    held = human.shape[1] * (6 if ordered else 4 * human.shape[0])
    for exchange in _exchanges(human.shape, swap, trials, seed, held):
        compare = correlated(exchange)
        for a, b in pairs:
            difference = observed[a] - observed[b]
            first, second = compare(a, b)
            chance = first - second
            # not "smaller" rather than "as large": an undefined correlation counts as chance
            above[a, b] += np.count_nonzero(~(chance < difference - _HAIR))
            below[a, b] += np.count_nonzero(~(chance > difference + _HAIR))
            apart[a, b] += np.count_nonzero(~(np.abs(chance) < abs(difference) - _HAIR))
        done += len(exchange.systems)
        if progress is not None:
            progress(done, trials)
    greater, two_sided = (np.full_like(above, np.nan) for _ in range(2))
    for a, b in pairs:
        if not np.isnan(observed[a] - observed[b]):
            greater[a, b] = (above[a, b] + 1) / (trials + 1)
            greater[b, a] = (below[a, b] + 1) / (trials + 1)
            two_sided[a, b] = two_sided[b, a] = (apart[a, b] + 1) / (trials + 1)
    return Permutations(observed, greater, two_sided)


class _Exchange(NamedTuple):
    """Which systems and which items are exchanged: trials × systems, trials × items."""

    systems: NDArray[np.bool_]
    items: NDArray[np.bool_]


def _exchanges(
    shape: tuple[int, ...], swap: Units, trials: int, seed: int, held: int
) -> Iterator[_Exchange]:
    """Draw exchanges in blocks, given how many numbers a trial holds in memory."""
    rng = np.random.default_rng(seed)
    for size in in_blocks(trials, held):
        systems, items = (np.zeros((size, width), dtype=bool) for width in shape)
        if swap != "items":
            systems = rng.integers(2, size=systems.shape, dtype=np.int8).astype(bool)
        if swap != "systems":
            items = rng.integers(2, size=items.shape, dtype=np.int8).astype(bool)
        yield _Exchange(systems, items)


# The correlations of two metrics in each trial, after an exchange between them
_Compare = Callable[[int, int], tuple[FloatArray, FloatArray]]


def _correlated(
    human: FloatArray, metrics: FloatArray, level: Level, coefficient: Coefficient
) -> Callable[[_Exchange], _Compare]:
    """Choose the cheapest way to correlate after an exchange."""
    if level == "system":
        return lambda exchange: _between_systems(human, metrics, coefficient, exchange)
    if level == "item":
        return lambda exchange: _by_item(human, metrics, coefficient, exchange)
    if coefficient is pearson:
        return lambda exchange: _pooled_pearson(human, metrics, exchange)
    return lambda exchange: _pooled(human, metrics, coefficient, exchange)


def _between_systems(
    human: FloatArray, metrics: FloatArray, coefficient: Coefficient, exchange: _Exchange
) -> _Compare:
    """Only the systems' means matter, and those are sums."""
    truth, means = mean_known(human), mean_known(metrics)[:, None, :]
    filled = np.nan_to_num(metrics, nan=0.0)
    count = np.maximum(known(human).sum(axis=1), 1)
    moved = exchange.items.astype(float) @ filled.swapaxes(1, 2) / count

    def compare(a: int, b: int) -> tuple[FloatArray, FloatArray]:
        first = means[a] - moved[a] + moved[b]
        second = means[b] - moved[b] + moved[a]
        return (
            coefficient(truth, np.where(exchange.systems, second, first)),
            coefficient(truth, np.where(exchange.systems, first, second)),
        )

    return compare


def _by_item(
    human: FloatArray, metrics: FloatArray, coefficient: Coefficient, exchange: _Exchange
) -> _Compare:
    """Exchange the systems and correlate; then exchange the correlations of whole items."""
    truth, scores = human.T, metrics.swapaxes(1, 2)  # items × systems
    rows = exchange.systems
    by_item: _Compare
    if not rows.any():
        values = np.broadcast_to(
            coefficient(truth, scores)[:, None], (len(metrics), *exchange.items.shape)
        )

        def by_item(a: int, b: int) -> tuple[FloatArray, FloatArray]:
            return values[a], values[b]

    elif coefficient is pearson:
        moments, size = _moments(human, metrics, axis=0)
        whole = moments.sum(axis=2, keepdims=True)
        moved = rows.astype(float) @ moments  # metrics × 3 × trials × items

        def by_item(a: int, b: int) -> tuple[FloatArray, FloatArray]:
            change = moved[b] - moved[a]
            return _from_sums(whole[a] + change, size), _from_sums(whole[b] - change, size)

    elif has_orders(human, coefficient):
        by_item = swapped_orders(human, metrics, rows, coefficient)

    else:

        def by_item(a: int, b: int) -> tuple[FloatArray, FloatArray]:
            mask = rows[:, None, :]
            first = coefficient(truth, np.where(mask, scores[b], scores[a]))
            return first, coefficient(truth, np.where(mask, scores[a], scores[b]))

    def compare(a: int, b: int) -> tuple[FloatArray, FloatArray]:
        first, second = by_item(a, b)
        if not exchange.items.any():
            return mean_known(first), mean_known(second)
        return (
            mean_known(np.where(exchange.items, second, first)),
            mean_known(np.where(exchange.items, first, second)),
        )

    return compare


def _pooled_pearson(human: FloatArray, metrics: FloatArray, exchange: _Exchange) -> _Compare:
    """From sums over all cells."""
    moments, size = _moments(human, metrics, axis=None)
    rows, columns = exchange.systems.astype(float), exchange.items.astype(float)
    # exchanged are the cells whose system or item is, but not both
    moved = moments.sum(axis=-1) @ rows.T + moments.sum(axis=-2) @ columns.T
    for of_metric, amounts in zip(moments, moved, strict=True):
        amounts -= 2 * np.einsum("mti,ti->mt", rows @ of_metric, columns)
    whole = moments.sum(axis=(2, 3))[:, :, None]

    def compare(a: int, b: int) -> tuple[FloatArray, FloatArray]:
        change = moved[b] - moved[a]
        return _from_sums(whole[a] + change, size), _from_sums(whole[b] - change, size)

    return compare


def _pooled(
    human: FloatArray, metrics: FloatArray, coefficient: Coefficient, exchange: _Exchange
) -> _Compare:
    """Exchange the scores themselves."""
    mask = (exchange.systems[:, :, None] ^ exchange.items[:, None, :]).reshape(
        len(exchange.systems), -1
    )
    truth, scores = human.ravel(), metrics.reshape(len(metrics), -1)

    def compare(a: int, b: int) -> tuple[FloatArray, FloatArray]:
        return (
            coefficient(truth, np.where(mask, scores[b], scores[a])),
            coefficient(truth, np.where(mask, scores[a], scores[b])),
        )

    return compare


def _moments(
    human: FloatArray, metrics: FloatArray, axis: int | None
) -> tuple[FloatArray, FloatArray]:
    """What Pearson's r needs of every cell x: x, x², ux; and the number of cells in a group.

    u are the human scores of a group with mean 0 and length 1, so that r is the sum of ux over
    the length of x about its mean; where the human scores are constant, u is NaN. The group is
    all cells along the axis.
    """
    there = known(human)
    size = there.sum(axis=axis)
    h = np.nan_to_num(human, nan=0.0)
    u = np.where(there, h - h.sum(axis=axis) / np.maximum(size, 1), 0.0)
    length = np.sqrt((u * u).sum(axis=axis))
    u = u / np.where(length > 1e-7 * np.sqrt((h * h).sum(axis=axis)), length, np.nan)
    x = np.nan_to_num(metrics, nan=0.0)
    return np.stack([x, x * x, u * x], axis=1), np.maximum(size, 1)


def _from_sums(sums: FloatArray, size: FloatArray) -> FloatArray:
    """Pearson's r from the sums of `_moments`; NaN where one side is constant."""
    x, xx, ux = sums
    variance = xx - x * x / size
    # The scores are standardized, so that what is left of a constant is rounding.
    variance[variance <= 1e-13 * xx] = np.nan
    result: FloatArray = ux / np.sqrt(variance)
    return result
