"""The best matching of two stories that keeps their order (Eq. 4–6 of the SODA paper).

Candidates and references are matched one to one, without crossing, so that the summed cost is
the highest. Pairs whose cost is zero never match. Of matchings with equal cost, the one with the
larger sum of ``bonus`` is taken: SODA passes the sentence scores there, so that ties in time go to
the better sentence; of those equal in both, the later captions, as in the papers' tables. Sums
that differ by less than 1e-12 count as equal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from reelscore import _native
from reelscore.errors import DataError


@dataclass(frozen=True)
class Matching:
    """Which candidate goes with which reference.

    Attributes:
        pairs: Row (candidate) and column (reference) of each match, in order.
        cost: The sum of their costs.
        bonus: The sum of their bonuses.
    """

    pairs: tuple[tuple[int, int], ...]
    cost: float
    bonus: float


def match(costs: ArrayLike, bonus: ArrayLike | None = None) -> Matching:
    """Match rows and columns one to one and in order, for the highest summed cost.

    Args:
        costs: Candidates × references, in time order; at least 0.
        bonus: What decides between matchings of equal cost; the same shape.

    Returns:
        The matching, with its pairs; it takes a byte of memory for each entry.

    >>> match([[0.7, 0.2], [0.9, 0.8]]).pairs
    ((0, 0), (1, 1))
    >>> match([[0.5], [0.5]], bonus=[[0.1], [0.3]]).pairs
    ((1, 0),)
    """
    values = np.ascontiguousarray(costs, dtype=np.float64)
    extra = np.zeros_like(values) if bonus is None else np.ascontiguousarray(bonus, np.float64)
    if values.ndim != 2 or extra.shape != values.shape:
        raise DataError(
            f"Costs have the shape {values.shape} and bonuses {extra.shape}; "
            "expected one matrix each, candidates × references."
        )
    if not (np.isfinite(values).all() and (values >= 0).all()):
        raise DataError("Costs hold negative or infinite numbers; expected at least 0.")
    rows = _native.match_rows(values.ravel(), extra.ravel(), *values.shape)
    columns = np.flatnonzero(rows >= 0)
    pairs = tuple((int(rows[column]), int(column)) for column in columns)
    return Matching(
        pairs,
        float(sum(values[pair] for pair in pairs)),
        float(sum(extra[pair] for pair in pairs)),
    )
