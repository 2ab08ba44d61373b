"""Many tests at once: corrected p-values, and ranks that say no more than the tests do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from reelscore.errors import check_choice

Correction = Literal["holm", "bonferroni", "bh", "none"]


def correct(p_values: Sequence[float], method: Correction = "holm") -> list[float]:
    """Adjust p-values so that each can be compared with the level as it is.

    Args:
        p_values: The p-values of one family of tests.
        method: ``holm`` and ``bonferroni`` bound the chance of any false finding, Holm with more
            power; ``bh`` (Benjamini and Hochberg) bounds the share of false ones among the
            findings; ``none`` leaves them.

    Returns:
        The adjusted p-values, in the order given.

    >>> correct([0.01, 0.04, 0.03], "holm")
    [0.03, 0.06, 0.06]
    >>> correct([0.01, 0.04, 0.03], "bh")
    [0.03, 0.04, 0.04]
    """
    check_choice("correction", method, get_args(Correction))
    raw = np.asarray(p_values, dtype=np.float64)
    count = len(raw)
    if method == "none" or count == 0:
        return [float(p) for p in raw]
    order = np.argsort(raw, kind="stable")
    ranks = np.arange(1, count + 1)
    if method == "bonferroni":
        adjusted = raw[order] * count
    elif method == "holm":
        adjusted = np.maximum.accumulate(raw[order] * (count - ranks + 1))
    else:
        adjusted = np.minimum.accumulate((raw[order] * count / ranks)[::-1])[::-1]
    result = np.empty(count)
    result[order] = np.minimum(adjusted, 1.0)
    return [float(p) for p in result]


def cluster(wins: ArrayLike) -> list[int]:
    """Cut a ranking where everyone above beats everyone below (as WMT and Direct Assessment do).

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
