"""Metric scores of the captions that people judged, one row for each judgment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reelscore.metrics.base import FloatArray
from reelscore.stats.correlation_bootstrap import bootstrap_correlations
from reelscore.stats.correlation_tests import williams
from reelscore.stats.correlations import pearson


@dataclass(frozen=True)
class Judged:
    """Judged captions: who wrote them, what people and what metrics say.

    Attributes:
        systems: The system of each caption.
        human: People's score of each caption.
        metrics: Scores of each caption, by metric.
        items: The video of each caption, where it is known; a system has one caption of each.
    """

    systems: NDArray[Any]
    human: FloatArray
    metrics: Mapping[str, FloatArray]
    items: NDArray[Any] | None = None

    def caption_level(self, metric: str) -> float:
        """Correlation over all captions, whoever wrote them."""
        return float(pearson(self.human, self.metrics[metric]))

    def system_level(self, metric: str) -> float:
        """Correlation of the systems' means."""
        return float(pearson(self.by_system(self.human), self.by_system(self.metrics[metric])))

    def redrawn(self, resamples: int = 1000) -> FloatArray:
        """Correlations over all captions with the videos drawn anew: metrics × resamples.

        >>> few = Judged(np.repeat(["a", "b"], 3), np.arange(6.0), {"m": np.arange(6.0) ** 2},
        ...              np.array(["1", "2", "3"] * 2))
        >>> few.redrawn(10).shape
        (1, 10)
        """
        _, rows = np.unique(self.systems, return_inverse=True)
        _, columns = np.unique(np.asarray(self.items), return_inverse=True)

        def table(scores: FloatArray) -> FloatArray:
            cells = np.full((rows.max() + 1, columns.max() + 1), np.nan)
            cells[rows, columns] = scores
            return cells

        return bootstrap_correlations(
            table(self.human),
            np.stack([table(scores) for scores in self.metrics.values()]),
            draw="items",
            resamples=resamples,
        )

    def by_system(self, scores: FloatArray) -> FloatArray:
        """Mean of the scores of each system's captions, by name of the system."""
        _, numbers = np.unique(self.systems, return_inverse=True)
        means: FloatArray = np.bincount(numbers, scores) / np.bincount(numbers)
        return means


def williams_matrix(
    human: FloatArray, scores: Sequence[FloatArray], *, absolute: bool = False
) -> list[list[float]]:
    """Test every metric against every other, by Williams' test.

    >>> human = np.array([1.0, 2, 3, 4, 5, 6])
    >>> p = williams_matrix(human, [human ** 2, np.array([3.0, 1, 2, 6, 4, 5])])
    >>> p[0][1] < 0.05, round(p[0][1] + p[1][0], 6)
    (True, 1.0)
    """
    r = [float(pearson(human, values)) for values in scores]

    def p_value(one: int, two: int) -> float:
        if one == two:
            return float("nan")
        between = float(pearson(scores[one], scores[two]))
        return williams(r[one], r[two], between, len(human), absolute=absolute).p

    return [[p_value(one, two) for two in range(len(scores))] for one in range(len(scores))]
