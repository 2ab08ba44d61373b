"""What permutation tests and bootstrap of correlations share: units, checks, one scale."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from reelscore.errors import DataError, check_choice
from reelscore.stats.levels import Level
from reelscore.stats.resampling import FloatArray

Units = Literal["systems", "items", "both"]


def standardized(human: FloatArray, metrics: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Check, make missing everywhere what is missing somewhere, and bring to one scale.

    Args:
        human: Systems × items.
        metrics: Metrics × systems × items.

    Returns:
        The same, each with mean 0 and standard deviation 1, or all 0 where it is constant.

    >>> human, metrics = standardized([[1.0, 3.0, 5.0]], [[[2.0, 4.0, float("nan")]]])
    >>> human.tolist(), metrics.tolist()
    ([[-1.0, 1.0, nan]], [[[-1.0, 1.0, nan]]])
    """
    human, metrics = np.asarray(human, dtype=float), np.asarray(metrics, dtype=float)
    if human.ndim != 2 or metrics.shape[1:] != human.shape:
        raise DataError(
            f"Expected systems × items and metrics × systems × items, not {human.shape} and "
            f"{metrics.shape}."
        )
    missing = np.isnan(human) | np.isnan(metrics).any(axis=0)
    if missing.all():
        raise DataError("No cell has a score by people and by all metrics.")

    def scaled(scores: FloatArray) -> FloatArray:
        there = scores[~missing]
        if there.max() == there.min():
            return np.where(missing, np.nan, 0.0)
        return np.where(missing, np.nan, (scores - there.mean()) / there.std())

    return scaled(human), np.stack([scaled(each) for each in metrics])


def turned(
    human: FloatArray, metrics: FloatArray, level: Level, units: Units
) -> tuple[FloatArray, FloatArray, Level, Units]:
    """Reduce ``per-system`` to ``item``: the same with systems and items exchanged.

    >>> turned(np.ones((2, 3)), np.ones((1, 2, 3)), "per-system", "items")[2:]
    ('item', 'systems')
    """
    check_choice("unit of resampling", units, get_args(Units))
    if level != "per-system":
        return human, metrics, level, units
    other: dict[Units, Units] = {"systems": "items", "items": "systems", "both": "both"}
    return human.T, metrics.swapaxes(1, 2), "item", other[units]
