"""How far the order of systems by a score can be trusted: the tests of all pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reelscore.stats.clusters import cluster
from reelscore.stats.resampling import FloatArray


@dataclass(frozen=True)
class Evidence:
    """How far the order of the systems by one score can be trusted.

    Attributes:
        metric: The score's name.
        systems: The systems that were tested.
        p: For each pair of them the p-value; NaN where a pair was not tested.
        wins: Whether the row's system is significantly better than the column's.
        about: The test, in words.
        level: A p below it is significant.
    """

    metric: str
    systems: Sequence[str]
    p: FloatArray
    wins: NDArray[np.bool_]
    about: str
    level: float = 0.05

    def clusters(self, scores: Mapping[str, float], *, lower: bool = False) -> dict[str, int]:
        """Number the groups of systems that tests tell apart, best first.

        Args:
            scores: The systems' scores.
            lower: The lowest score is the best.

        >>> wins = np.array([[False, True], [False, False]])
        >>> found = Evidence("meteor", ["a", "b"], np.full((2, 2), 0.01), wins, "bootstrap")
        >>> found.clusters({"a": 0.3, "b": 0.2})
        {'a': 1, 'b': 2}
        """
        order = np.argsort([(1 if lower else -1) * scores[name] for name in self.systems])
        numbers = cluster(self.wins[np.ix_(order, order)])
        return {self.systems[k]: number for k, number in zip(order, numbers, strict=True)}
