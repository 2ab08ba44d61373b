"""The Poisson bootstrap: every item is drawn by itself, so that any part can be drawn anywhere.

The classical bootstrap draws as many items as there are, which ties all of them together. Here an
item is drawn a Poisson number of times with mean 1, whatever happens to the others; for more than a
few dozen items the intervals agree (Hanley and MacGibbon, 2006). The draws of an item depend on
seed, draw and item id alone, and statistics are rounded to multiples of 2^-20 before they are
summed. All sums are then exact in doubles, and the same in any order and in any pieces.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from reelscore import _native
from reelscore.errors import DataError
from reelscore.stats.resampling import generator

FloatArray = NDArray[np.float64]

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
    """Sum the statistics of several systems in every draw, the same draws for all.

    Args:
        items: A hash of each item's id.
        statistics: Of each system items × k.
        places: Of each system the numbers of the items that it has, ascending; all by default.
        resamples: How many draws to make.
        seed: Random seed.

    Raises:
        DataError: If the seed has more than 64 bits or is negative, or there is nothing to draw.

    Returns:
        Of each system resamples × k. Sums over parts of the items add up to the sums over all.

    >>> items, rows = np.arange(6, dtype=np.uint64), np.arange(12.0).reshape(6, 2) / 7
    >>> [whole] = poisson_sums(items, [rows], resamples=50)
    >>> [odd], [even] = (poisson_sums(items[k::2], [rows[k::2]], resamples=50) for k in (1, 0))
    >>> bool((whole == odd + even).all())
    True
    """
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
