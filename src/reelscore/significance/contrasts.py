"""Items on which systems, or scores, differ most: where a table is worth looking at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from reelscore.data.tables.table import ScoreTable
from reelscore.errors import DataError, check_choice
from reelscore.stats.distributions import ranks
from reelscore.stats.resampling import FloatArray


class Contrast(NamedTuple):
    """An item, and how much systems or scores differ on it."""

    item: str
    size: float  # how much; always positive
    high: str  # the system that is better, or whose caption the first score likes more
    low: str  # the system that is worse; where scores differ, the same one


def between_systems(
    table: ScoreTable, metric: str, systems: Sequence[str] | None = None, *, top: int = 10
) -> list[Contrast]:
    """Find the items on which the best and the worst of some systems lie farthest apart."""
    chosen = _known(table, metric, systems or [n for n in table.systems if metric in table[n]])
    if len(chosen) < 2:
        raise DataError("There is only one system; a difference needs two.")
    items = _items(table, metric, chosen)
    scores = table.scale(metric).sign * table.matrix(metric, chosen, items)
    several = (~np.isnan(scores)).sum(axis=0) > 1
    high = np.where(np.isnan(scores), -np.inf, scores).argmax(axis=0)
    low = np.where(np.isnan(scores), np.inf, scores).argmin(axis=0)
    places = np.arange(len(items))
    sizes = np.where(several, scores[high, places] - scores[low, places], 0.0)
    order = np.argsort(-sizes, kind="stable")[:top]
    return [
        Contrast(items[k], float(sizes[k]), chosen[high[k]], chosen[low[k]])
        for k in order
        if sizes[k] > 0
    ]


def between_scores(
    table: ScoreTable,
    metric: str,
    other: str,
    systems: Sequence[str] | None = None,
    *,
    top: int = 10,
) -> list[Contrast]:
    """Find the captions that two scores rank most differently.

    Ranks are over all captions that have both scores, as shares from 0 (worst) to 1.
    """
    chosen = systems or [n for n in table.systems if metric in table[n] and other in table[n]]
    chosen = _known(table, metric, _known(table, other, chosen))
    items = _items(table, metric, chosen)
    first, second = (
        table.scale(name).sign * table.matrix(name, chosen, items).ravel()
        for name in (metric, other)
    )
    both = np.flatnonzero(~np.isnan(first) & ~np.isnan(second))
    if len(both) < 2:
        raise DataError(f"Fewer than two captions have both {metric} and {other}.")
    sizes = np.abs(_shares(first[both]) - _shares(second[both]))
    order = np.argsort(-sizes, kind="stable")[:top]
    contrasts = []
    for k in order:
        system, item = divmod(int(both[k]), len(items))
        contrasts.append(Contrast(items[item], float(sizes[k]), chosen[system], chosen[system]))
    return contrasts


def _known(table: ScoreTable, metric: str, systems: Sequence[str]) -> list[str]:
    check_choice("score", metric, table.metrics)
    for name in systems:
        if metric not in table[name]:
            raise DataError(f"{name} has no {metric}; it has {', '.join(table[name])}.")
    return list(systems)


def _items(table: ScoreTable, metric: str, systems: Sequence[str]) -> list[str]:
    items = list(dict.fromkeys(item for name in systems for item in table[name][metric].items))
    if not items:
        raise DataError(f"The table has no {metric} of single items, only of systems.")
    return items


def _shares(values: FloatArray) -> FloatArray:
    return (ranks(values) - 1) / max(1, len(values) - 1)
