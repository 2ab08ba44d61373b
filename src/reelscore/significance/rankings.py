"""Which systems people prefer for sure: rank-sum tests, clusters and ranges of ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reelscore.data.table import ScoreTable
from reelscore.errors import DataError
from reelscore.stats.clusters import cluster, rank_range
from reelscore.stats.rank_tests import rank_sum
from reelscore.stats.resampling import FloatArray


@dataclass(frozen=True)
class Ranking:
    """Systems best first, and which of them are better than which.

    Attributes:
        metric: The scores that were compared.
        systems: Best first.
        scores: One for each system.
        p: One-sided: how likely so much better scores of the row than of the column are, if
            neither is better.
        level: A p below it is a win.
        clusters: Systems with the same number cannot all be told apart.
        ranges: The places each system could have.
    """

    metric: str
    systems: tuple[str, ...]
    scores: tuple[float, ...]
    p: FloatArray
    level: float
    clusters: tuple[int, ...]
    ranges: tuple[tuple[int, int], ...]

    @property
    def wins(self) -> Any:
        """Whether the row's system is significantly better than the column's."""
        return self.p < self.level

    def to_dict(self) -> dict[str, Any]:
        """Give everything as JSON has it."""
        return {
            "metric": self.metric,
            "level": self.level,
            "systems": [
                {
                    "system": system,
                    "score": score,
                    "wins": int(wins),
                    "cluster": number,
                    "ranks": list(places),
                }
                for system, score, wins, number, places in zip(
                    self.systems,
                    self.scores,
                    self.wins.sum(axis=1),
                    self.clusters,
                    self.ranges,
                    strict=True,
                )
            ],
            "p": [[None if np.isnan(p) else float(p) for p in row] for row in self.p],
        }


def rank_systems(
    table: ScoreTable,
    metric: str = "z",
    *,
    level: float = 0.05,
    matched: bool = False,
    systems: Sequence[str] | None = None,
) -> Ranking:
    """Rank systems by one-sided Wilcoxon rank-sum tests of their captions' scores.

    Args:
        table: People's scores, or any others.
        metric: Which of them; z is fairer than raw.
        level: A p below it is a win.
        matched: Compare two systems on the items both have, as Appraise does, instead of on all
            their own; a win then also needs the better mean on these items.
        systems: Which to rank; all.

    Raises:
        DataError: If two systems have no item in common though `matched` asks for it.

    >>> from reelscore.data.table import ItemScores, MetricResult
    >>> scores = {"a": [1.0, 1.2, 1.1, 0.9, 1.3], "b": [0.1, -0.2, 0.0, 0.3, 0.2]}
    >>> table = ScoreTable({name: {"z": MetricResult("z", sum(values) / 5,
    ...     ItemScores.of({f"v{k}": v for k, v in enumerate(values)}), "z")}
    ...     for name, values in scores.items()})
    >>> ranking = rank_systems(table)
    >>> ranking.systems, ranking.clusters, round(float(ranking.p[0, 1]), 4)
    (('a', 'b'), (1, 2), 0.0061)
    """
    chosen = [name for name in systems or table.systems if metric in table[name]]
    if not chosen:
        raise DataError(f"No system has {metric!r}; the table has {', '.join(table.metrics)}.")
    sign = table.scale(metric).sign
    order = sorted(chosen, key=lambda name: -sign * table[name][metric].score)
    p = np.full((len(order), len(order)), np.nan)
    for i, one in enumerate(order):
        for j, other in enumerate(order):
            if i != j:
                p[i, j] = _p(table, metric, one, other, matched)
    wins = p < level
    return Ranking(
        metric,
        tuple(order),
        tuple(table[name][metric].score for name in order),
        p,
        level,
        tuple(cluster(wins)),
        tuple(rank_range(wins)),
    )


def _p(table: ScoreTable, metric: str, one: str, other: str, matched: bool) -> float:
    first, second = table[one][metric].items, table[other][metric].items
    sign = table.scale(metric).sign
    if not matched:
        return rank_sum(sign * first.array, sign * second.array, alternative="greater").p
    shared = [item for item in first if item in second.index.position]
    if not shared:
        raise DataError(f"{one!r} and {other!r} have no item in common; compare them unmatched.")
    pair = sign * table.matrix(metric, [one, other], shared)
    if pair[0].mean() <= pair[1].mean():
        return 1.0
    return rank_sum(pair[0], pair[1], alternative="greater").p
