"""Ranks that say no more than the tests do: who is certainly better than whom."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def cluster(wins: ArrayLike) -> list[int]:
    """Cut a ranking where everyone above beats everyone below (as WMT and Direct Assessment do).

    Args:
        wins: For all in order, best first: whether the row is significantly better than the
            column.

    Returns:
        The number of the cluster of each, from 1.

    >>> cluster([[0, 0, 1], [0, 0, 1], [0, 0, 0]])
    [1, 1, 2]
    """
    table = np.asarray(wins, dtype=bool)
    numbers, current = [], 1
    for k in range(len(table)):
        current += bool(k > 0 and table[:k, k:].all())
        numbers.append(current)
    return numbers


def rank(wins: ArrayLike) -> list[int]:
    """Rank as the WMT metrics task does: a new rank where one of the current rank wins.

    Finer than `cluster`: the members of a rank do not differ, but one of them need not lose
    against all of the rank above.

    Args:
        wins: As in `cluster`.

    >>> rank([[0, 1, 1], [0, 0, 0], [0, 0, 0]])
    [1, 2, 2]
    """
    table = np.asarray(wins, dtype=bool)
    ranks, current, start = [], 1, 0
    for k in range(len(table)):
        if table[start:k, k].any():
            current, start = current + 1, k
        ranks.append(current)
    return ranks


def rank_range(wins: ArrayLike) -> list[tuple[int, int]]:
    """The places each could have: after all that beat it, before all that it beats.

    Args:
        wins: Whether the row is significantly better than the column, in any order.

    >>> rank_range([[0, 0, 1], [0, 0, 1], [0, 0, 0]])
    [(1, 2), (1, 2), (3, 3)]
    """
    table = np.asarray(wins, dtype=bool)
    won, lost = table.sum(axis=1), table.sum(axis=0)
    return [(int(b) + 1, len(table) - int(a)) for a, b in zip(won, lost, strict=True)]
