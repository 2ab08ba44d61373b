"""Soft pairwise accuracy: do people and the metric agree on how sure one is of each order?

Plain accuracy counts a pair of systems as right or wrong, whether they differ much or hardly at
all. Thompson et al. (2024) compare p-values instead: for each pair, that of "the first is better"
by the human scores and by the metric's. This is 1 − PCE, the pairwise confidence error.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from reelscore.stats.correlations import in_pairs, known
from reelscore.stats.resampling import FloatArray, in_blocks


def soft_pairwise_accuracy(
    human: ArrayLike, metric: ArrayLike, *, trials: int = 1000, seed: int = 12345
) -> float:
    """Compare the p-values of all pairs of systems; 1 is full agreement.

    Args:
        human: Systems × items; NaN where there is no score.
        metric: Systems × items.
        trials: Random exchanges behind each p-value.
        seed: Random seed of the exchanges, which are the same for all pairs and both sides.

    >>> human, metric = [[1, 2, 3], [2, 3, 4]], [[2, 2, 4], [1, 3, 5]]
    >>> round(soft_pairwise_accuracy(human, metric, seed=4), 3)
    0.872
    """
    human, metric = in_pairs(human, metric)
    sure, metric_sure = (_p_values(scores, trials, seed) for scores in (human, metric))
    if not len(sure):
        return float("nan")
    return 1.0 - float(np.abs(sure - metric_sure).mean())


def _p_values(scores: FloatArray, trials: int, seed: int) -> FloatArray:
    """One-sided p of each pair of systems with items in common, by exchanging their scores."""
    first, second = np.triu_indices(len(scores), 1)
    apart = scores[first] - scores[second]
    apart = np.nan_to_num(apart[known(apart).any(axis=1)], nan=0.0)
    observed = apart.sum(axis=1)
    hair = 1e-9 * np.abs(apart).sum(axis=1)
    rng = np.random.default_rng(seed)
    count = np.zeros(len(apart))
    for size in in_blocks(trials, scores.shape[1]):
        # 32-bit draws, rounded: the stream of the original implementation
        draws = np.rint(rng.random((size, scores.shape[1]), dtype=np.float32))
        chance = (2.0 * draws.astype(np.float64) - 1.0) @ apart.T
        count += (chance >= observed - hair).sum(axis=0)
    return count / trials
