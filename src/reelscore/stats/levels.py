"""What is correlated with what: systems, the captions of an item, of a system, or all captions.

Scores are arrays of systems × items, NaN where there is none; a level turns them into groups ×
members. A coefficient is computed in each group and averaged over those where it is defined.
"""

from __future__ import annotations

from typing import Literal, get_args

from reelscore.errors import UnknownNameError
from reelscore.stats.correlations import Coefficient, mean_known
from reelscore.stats.resampling import FloatArray

Level = Literal["system", "item", "pooled", "per-system"]
LEVELS: tuple[Level, ...] = get_args(Level)


def in_groups(scores: FloatArray, level: Level) -> FloatArray:
    """Arrange scores, (..., systems, items), as (..., groups, members).

    Args:
        scores: The scores.
        level: ``system``: one group, the systems' means. ``item``: the systems, for each item.
            ``per-system``: the items, for each system. ``pooled``: one group of all captions.

    >>> import numpy as np
    >>> scores = np.array([[1.0, 2.0, 3.0], [3.0, 4.0, 5.0]])
    >>> in_groups(scores, "system").tolist()
    [[2.0, 4.0]]
    >>> in_groups(scores, "item").tolist()
    [[1.0, 3.0], [2.0, 4.0], [3.0, 5.0]]
    """
    if level == "system":
        means: FloatArray = mean_known(scores)[..., None, :]
        return means
    if level == "item":
        turned: FloatArray = scores.swapaxes(-1, -2)
        return turned
    if level == "pooled":
        return scores.reshape(*scores.shape[:-2], 1, -1)
    if level == "per-system":
        return scores
    raise UnknownNameError.of("level", level, LEVELS)


def correlate(
    human: FloatArray, metric: FloatArray, level: Level, coefficient: Coefficient
) -> FloatArray:
    """Compute a coefficient in each group and average it over those where it is defined.

    Args:
        human: Systems × items, missing where the metric is.
        metric: (..., systems, items).
        level: As in `in_groups`.
        coefficient: One of those of `reelscore.stats.correlations` and `reelscore.stats.pairs`.

    >>> import numpy as np
    >>> from reelscore.stats.correlations import pearson
    >>> human = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    >>> metric = np.array([[2.0, 1.0, 4.0], [3.0, 3.0, 7.0]])
    >>> [round(float(correlate(human, metric, level, pearson)), 3) for level in LEVELS]
    [1.0, 1.0, 0.776, 0.76]
    """
    return mean_known(coefficient(in_groups(human, level), in_groups(metric, level)))
