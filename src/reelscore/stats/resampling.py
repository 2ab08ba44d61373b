"""Bootstrap intervals and paired tests on statistics that are summed before they are scored.

All work on sums: resampling items, or swapping them between two systems, is the product of a
matrix of draws with the table of statistics, for any metric. Draws depend on the seed and
the number of items alone, so that systems scored on the same items get the same draws.

Sets larger than memory take the Poisson bootstrap. The classical one draws as many items as there
are, which ties all of them together; here an item is drawn a Poisson number of times with mean 1,
whatever happens to the others, so that any part can be drawn anywhere. For more than a few dozen
items the intervals agree (Hanley and MacGibbon, 2006). The draws of an item depend on seed, draw
and item id alone, and statistics are rounded to multiples of 2^-20 before they are summed: all
sums are exact in doubles, and the same in any order and in any pieces.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from reelscore import _native
from reelscore.errors import DataError

FloatArray = NDArray[np.float64]
Scores = Callable[[FloatArray], FloatArray]

_BLOCK_NUMBERS = 4_000_000  # draws held in memory at a time, in numbers
_FEW_HITS = 10  # resamples as extreme as the data; a share of fewer is not worth counting


def generator(seed: int, draws: int) -> np.random.Generator:
    """Return the source of randomness for a number of draws, both checked."""
    if seed < 0:
        raise DataError(f"The seed is {seed}; expected 0 or more.")
    if draws < 1:
        raise DataError(f"There are {draws} draws to make; expected at least 1.")
    return np.random.default_rng(seed)


def bootstrap_scores(
    statistics: FloatArray, scores: Scores, *, resamples: int = 1000, seed: int = 12345
) -> FloatArray:
    """Score resamples of the items, drawn with replacement."""
    rng = generator(seed, resamples)
    sums = ExactSums(statistics)
    blocks = []
    for size in in_blocks(resamples, len(statistics)):
        draws = rng.integers(len(statistics), size=(size, len(statistics)), dtype=np.int32)
        counts = np.stack([np.bincount(draw, minlength=len(statistics)) for draw in draws])
        blocks.append(scores(sums(counts.astype(np.float64))))
    return np.concatenate(blocks)


class ExactSums:
    """Sums of statistics over resamples that are the same however they are added up.

    A sum of fractions depends on the order of adding, which linear algebra chooses anew by
    machine, number of threads, and whatever else is computed. Multiples of a power of two that
    stay below 2^53 of it add up the same in any order; so each number is split into two such
    parts, the second of which has the digits that the first has no room for.
    """

    def __init__(self, statistics: FloatArray) -> None:
        large = _in_steps(statistics)
        small = _in_steps(statistics - large)
        self._parts = [large, small] if np.any(small) else [large]

    def __call__(self, counts: FloatArray) -> FloatArray:
        """Sum up each resample: resamples × k."""
        return sum((counts @ part for part in self._parts[1:]), counts @ self._parts[0])


def _in_steps(statistics: FloatArray) -> FloatArray:
    """Round each column to multiples of about 2e-16 of what its resamples can add up to."""
    most = len(statistics) * np.fmax.reduce(np.abs(statistics), axis=0, initial=0.0)
    step = np.ldexp(1.0, np.maximum(np.frexp(most)[1] - 52, -1074))  # the smallest there is
    rounded: FloatArray = np.rint(statistics / step) * step
    return rounded


def percentile_interval(samples: FloatArray, level: float = 0.95) -> FloatArray:
    """The interval that holds the middle share of the samples: 2 × outputs.

    >>> percentile_interval(np.arange(101.0)[:, None], 0.5)[:, 0].tolist()
    [25.0, 75.0]
    """
    tail = (1 - level) / 2
    return np.quantile(samples, [tail, 1 - tail], axis=0)


def paired_bootstrap(
    first: FloatArray,
    second: FloatArray,
    scores: Scores,
    *,
    resamples: int = 1000,
    seed: int = 12345,
) -> FloatArray:
    """Two-sided p-values of the difference between two systems (Koehn, 2004; Riezler, 2005).

    The resampled differences, centred on their mean, stand for chance: p is the share of them
    as far from zero as the observed difference, (count + 1) / (resamples + 1).

    Args:
        first: Statistics of one system, items × k.
        second: Statistics of the other on the same items.
        scores: As in `bootstrap_scores`.
        resamples: How many resamples to draw.
        seed: Random seed.

    Returns:
        One p-value per output; NaN where some resample has no score.

    >>> mean = lambda totals: totals[..., :1] / totals[..., 1:]
    >>> same = np.column_stack([np.linspace(0, 1, 40), np.ones(40)])
    >>> paired_bootstrap(same, same, mean).tolist()
    [1.0]
    """
    width = first.shape[1]

    def difference(totals: FloatArray) -> FloatArray:
        return scores(totals[..., :width]) - scores(totals[..., width:])

    both = np.hstack([first, second])
    observed = difference(both.sum(axis=0))
    drawn = bootstrap_scores(both, difference, resamples=resamples, seed=seed)
    return bootstrap_p_values(drawn, observed)


def bootstrap_p_values(drawn: FloatArray, observed: FloatArray) -> FloatArray:
    """Two-sided p-values of differences, from the same differences in resamples.

    >>> bootstrap_p_values(np.array([[0.0], [1.0], [2.0]]), np.array([1.0])).tolist()
    [0.75]
    """
    return _p_values(drawn - drawn.mean(axis=0), observed)


def all_pairs_p_values(drawn: FloatArray, observed: FloatArray) -> FloatArray:
    """Two-sided p-values of the differences between all systems, from one set of resamples.

    As `bootstrap_p_values` of each pair, but where fewer than ten resamples are as far from zero
    as the observed difference, counting them is too coarse for a correction over many pairs: with
    1,000 resamples no p is below 0.001, and among eleven systems Holm's correction would find
    nothing at all. There p is the tail of the normal distribution with the standard deviation of
    the resampled differences.
    """
    count = len(observed)
    centred = np.ascontiguousarray((drawn - drawn.mean(axis=0)).T)  # systems × resamples
    p_values: FloatArray = np.full((count, count), np.nan)
    for k in range(count - 1):
        chance = centred[k + 1 :] - centred[k]
        apart = observed[k + 1 :] - observed[k]
        deviation = np.sqrt(np.einsum("ij,ij->i", chance, chance) / chance.shape[1])
        np.abs(chance, out=chance)
        hits = np.count_nonzero(chance >= (np.abs(apart) * (1 - 1e-9) - 1e-15)[:, None], axis=1)
        counted = (hits + 1.0) / (chance.shape[1] + 1.0)
        smooth = np.minimum(counted, _normal_tails(apart, deviation))
        p = np.where(hits < _FEW_HITS, smooth, counted)
        p_values[k, k + 1 :] = p_values[k + 1 :, k] = np.where(np.isnan(deviation), np.nan, p)
    return p_values


def _normal_tails(apart: FloatArray, deviation: FloatArray) -> FloatArray:
    """The share of a normal distribution that is farther from zero on either side."""
    with np.errstate(divide="ignore", invalid="ignore"):
        far = np.abs(apart) / deviation / math.sqrt(2)
    return np.array([math.erfc(each) if each == each else 1.0 for each in far.tolist()])


def approximate_randomization(
    first: FloatArray,
    second: FloatArray,
    scores: Scores,
    *,
    trials: int = 10_000,
    seed: int = 12345,
) -> FloatArray:
    """Two-sided p-values of the difference, by swapping items at random (Noreen, 1989).

    If the systems were alike, it would not matter which of them wrote which caption: p is the
    share of random exchanges that give a difference as large, (count + 1) / (trials + 1).

    Args:
        first: Statistics of one system, items × k.
        second: Statistics of the other on the same items.
        scores: As in `bootstrap_scores`.
        trials: How many random exchanges to make.
        seed: Random seed.

    Returns:
        One p-value per output.

    >>> mean = lambda totals: totals[..., :1] / totals[..., 1:]
    >>> high = np.column_stack([np.linspace(0.5, 1, 40), np.ones(40)])
    >>> low = np.column_stack([np.linspace(0, 0.5, 40), np.ones(40)])
    >>> bool(approximate_randomization(high, low, mean, trials=999)[0] < 0.01)
    True
    """
    rng = generator(seed, trials)
    total_first, total_second = first.sum(axis=0), second.sum(axis=0)
    observed = scores(total_first) - scores(total_second)
    change = ExactSums(second - first)
    differences = []
    for size in in_blocks(trials, len(first)):
        swapped = rng.integers(2, size=(size, len(first)), dtype=np.int8).astype(np.float64)
        moved = change(swapped)
        differences.append(scores(total_first + moved) - scores(total_second - moved))
    return _p_values(np.concatenate(differences), observed)


def _p_values(chance: FloatArray, observed: FloatArray) -> FloatArray:
    # A hair of tolerance: sums in another order must not turn "equal" into "smaller".
    as_far = np.abs(chance) >= np.abs(observed) * (1 - 1e-9) - 1e-15
    p_values: FloatArray = (as_far.sum(axis=0) + 1.0) / (len(chance) + 1.0)
    return np.where(np.isnan(chance).any(axis=0) | np.isnan(observed), np.nan, p_values)


def in_blocks(total: int, items: int) -> Iterator[int]:
    """Cut a number of draws into blocks that fit in memory.

    >>> list(in_blocks(5, 2_000_000))
    [2, 2, 1]
    """
    size = max(1, _BLOCK_NUMBERS // max(1, items))
    for begin in range(0, total, size):
        yield min(size, total - begin)


RESAMPLING = "poisson"
_STEP = 2.0**20
_ITEMS = 2048  # drawn at a time: with a thousand draws, sixteen megabytes of numbers


def poisson_sums(
    items: NDArray[np.uint64],
    statistics: Sequence[FloatArray],
    places: Sequence[NDArray[np.int64]] | None = None,
    *,
    resamples: int = 1000,
    seed: int = 12345,
) -> list[FloatArray]:
    """Sum the statistics of several systems in every draw, the same draws for all."""
    generator(seed, resamples)  # checks both
    if seed >= 2**64:
        raise DataError(f"The seed is {seed}; expected a number below 2^64.")
    own_places = [np.arange(len(items))] * len(statistics) if places is None else places
    sums = [np.zeros((resamples, rows.shape[1])) for rows in statistics]
    for begin in range(0, len(items), _ITEMS):
        own = items[begin : begin + _ITEMS]
        draws = _native.poisson_draws(own, seed, 0, resamples).reshape(len(own), resamples)
        numbers = draws.astype(np.float64)
        for total, rows, there in zip(sums, statistics, own_places, strict=True):
            first, last = np.searchsorted(there, [begin, begin + len(own)])
            rounded = np.rint(rows[first:last] * _STEP) / _STEP
            drawn = numbers[there[first:last] - begin] if last - first < len(own) else numbers
            total += drawn.T @ rounded
    return sums
