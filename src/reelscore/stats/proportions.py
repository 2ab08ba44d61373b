"""Shares and how far they can be trusted; agreement of judges on categories."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np


def wilson_interval(
    successes: float, total: float, z: float = 1.959963984540054
) -> tuple[float, float]:
    """Wilson's interval of a share.

    Args:
        successes: How many of the trials succeeded.
        total: How many trials there were; the interval of none is 0 to 1.
        z: The quantile of the normal distribution; by default that of 95 %.

    >>> low, high = wilson_interval(8, 10)
    >>> round(low, 4), round(high, 4)
    (0.4902, 0.9433)
    """
    if total == 0:
        return 0.0, 1.0
    share = successes / total
    centre = share + z * z / (2 * total)
    half = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    scale = 1 + z * z / total
    return max(0.0, (centre - half) / scale), min(1.0, (centre + half) / scale)


def fleiss_kappa(counts: Sequence[Sequence[int]]) -> float:
    """Fleiss' kappa: agreement of judges beyond chance, 1 if they always agree.

    Args:
        counts: For each thing judged, how many judges chose each category; the sums are equal.

    Returns:
        Kappa; NaN where nothing was judged twice, or where all answers are the same.

    >>> table = [[0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0],
    ...          [2, 2, 8, 1, 1], [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2],
    ...          [6, 5, 2, 1, 0], [0, 2, 2, 3, 7]]
    >>> round(fleiss_kappa(table), 3)
    0.21
    """
    table = np.asarray(counts, dtype=float)
    if table.size == 0 or table[0].sum() < 2:
        return math.nan
    judges = table[0].sum()
    observed = float(((table**2).sum(1) - judges).mean() / (judges * (judges - 1)))
    expected = float(((table.sum(0) / table.sum()) ** 2).sum())
    return math.nan if expected == 1 else (observed - expected) / (1 - expected)
