"""Results of rankings: mean ranks by criterion (LSMDC 15), whether they differ, how people agree.

A ranking is what one rater said in one task: the place of every system's caption, 1 for the best,
equal places allowed. Mean ranks are as in Table 17 of Rohrbach et al. (2017); lower is better.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from reelscore.campaigns.judgments import FloatArray, IntArray, Judgments
from reelscore.data.tables.scales import Scale
from reelscore.data.tables.table import ItemIndex, ItemScores, MetricResult, ScoreTable
from reelscore.errors import DataError
from reelscore.significance.comparison import Comparison
from reelscore.stats.corrections import Correction
from reelscore.stats.distributions import chi_squared_p, ranks
from reelscore.stats.rank_tests import signed_rank


class Friedman(NamedTuple):
    """Friedman's test, by the chi-squared distribution, corrected for ties."""

    statistic: float  # the chi-squared
    p: float  # the p-value
    # Kendall's W: 1 where all rows order the columns alike, 0 where no column stands out
    concordance: float


def friedman(table: ArrayLike) -> Friedman:
    """Test whether some columns stand higher than others within the rows.

    >>> round(friedman([[1, 2, 3], [1, 3, 2], [1, 2, 3]]).concordance, 4)
    0.7778
    """
    values = np.asarray(table, dtype=float)
    rows, columns = values.shape
    row_ranks = ranks(values)
    apart = ((row_ranks.sum(axis=0) - rows * (columns + 1) / 2) ** 2).sum()
    spread = (row_ranks**2).sum() - rows * columns * (columns + 1) ** 2 / 4
    if spread <= 0:
        return Friedman(math.nan, math.nan, math.nan)
    statistic = float((columns - 1) * apart / spread)
    p = chi_squared_p(statistic, columns - 1)
    return Friedman(statistic, p, statistic / (rows * (columns - 1)))


@dataclass(frozen=True)
class CriterionRanks:
    """What people said by one criterion."""

    criterion: str
    # mean rank of each system, best first: the unweighted mean of its videos
    ranks: Mapping[str, float]
    # how often each system was ranked first, or first with others, as a share
    first: Mapping[str, float]
    items: int  # how many videos were ranked
    rankings: int  # how many rankings there are
    tied: float  # the share of rankings with equal places
    friedman: Friedman  # Friedman's test on the mean ranks of the videos
    comparison: Comparison  # Wilcoxon's signed-rank tests on the videos, of all pairs of systems
    # Kendall's W of the raters who ranked the same video, the mean of the videos that two or more
    # ranked; NaN where there are none
    agreement: float

    def to_dict(self) -> dict[str, object]:
        """Return everything as plain data, ready for JSON."""
        plain = {**vars(self), "differences": self.comparison.pair_dicts()}
        return {name: value for name, value in plain.items() if name != "comparison"}


@dataclass(frozen=True)
class RankingResults:
    """Mean ranks by criterion.

    Attributes:
        criteria: The results by each criterion.
        table: Mean ranks of systems and videos, one metric for each criterion.
    """

    criteria: Mapping[str, CriterionRanks]
    table: ScoreTable


def score_rankings(judgments: Judgments, *, correction: Correction = "holm") -> RankingResults:
    """Compute mean ranks and test their differences.

    Args:
        judgments: Rankings: a row for each caption, all systems in every task.
        correction: For the number of pairs of systems, by each criterion.

    Returns:
        Results by criterion, and a table of mean ranks.

    Raises:
        DataError: If there are none, or a ranking lacks a system or has one twice.

    >>> from reelscore.campaigns.judgments import Judgment
    >>> ranks = {"v1": (1, 2), "v2": (1, 2), "v3": (2, 1)}
    >>> rows = [Judgment("r1", "h1", item, 0, system, item, "caption", rank, "grammar")
    ...         for item, both in ranks.items() for system, rank in zip("ab", both)]
    >>> result = score_rankings(Judgments.of(rows))
    >>> {system: round(rank, 3) for system, rank in result.criteria["grammar"].ranks.items()}
    {'a': 1.333, 'b': 1.667}
    """
    judgments = judgments.select(judgments.is_kind("caption"))
    systems = sorted(judgments.system.names)
    if len(systems) < 2:
        raise DataError(f"Rankings of {len(systems)} systems; expected two or more.")
    criteria: dict[str, CriterionRanks] = {}
    results: dict[str, dict[str, MetricResult]] = {system: {} for system in systems}
    for name in judgments.criterion.names:
        ranks, item, items = lay_out_rankings(judgments.only(name), systems)
        number = np.bincount(item)
        means = np.stack([np.bincount(item, column) / number for column in ranks.T], axis=1)
        criteria[name] = _by_criterion(name, systems, ranks, item, means, correction)
        signature = f"mean rank|criterion:{name}|rankings:{len(ranks)}|best:1"
        for system, column in zip(systems, means.T, strict=True):
            scores = ItemScores(items, column)
            results[system][f"rank_{name}"] = MetricResult(
                f"rank_{name}",
                float(column.mean()),
                scores,
                signature,
                scale=Scale("low", 1, len(systems), mean=True),
            )
    return RankingResults(criteria, ScoreTable(results, ("Mean ranks: 1 is best, lower better.",)))


def lay_out_rankings(
    judgments: Judgments, systems: list[str]
) -> tuple[FloatArray, IntArray, ItemIndex]:
    """Lay out rankings × systems, and tell which video each is of."""
    place = {system: k for k, system in enumerate(systems)}
    rankings: dict[tuple[str, str, str, str], dict[int, float]] = {}
    for row in judgments:
        ranking = rankings.setdefault((row.rater, row.hit, row.task, row.item), {})
        if place[row.system] in ranking:
            raise DataError(
                f"Rater {row.rater!r}, task {row.task!r}: system {row.system!r} is ranked twice by "
                f"{row.criterion}."
            )
        ranking[place[row.system]] = row.score
    for (rater, _, task, _), ranking in rankings.items():
        if len(ranking) < len(systems):
            lacking = next(system for system in systems if place[system] not in ranking)
            raise DataError(
                f"Rater {rater!r}, task {task!r}: system {lacking!r} is not ranked; expected the "
                "ranks of all systems in every task."
            )
    items, of = np.unique([key[3] for key in rankings], return_inverse=True)
    ranks = [[ranking[k] for k in range(len(systems))] for ranking in rankings.values()]
    return np.array(ranks, dtype=float), of, ItemIndex(items.tolist())


def _by_criterion(
    name: str,
    systems: list[str],
    ranks: FloatArray,
    item: IntArray,
    means: FloatArray,
    correction: Correction,
) -> CriterionRanks:
    overall = dict(zip(systems, means.mean(axis=0).tolist(), strict=True))
    order = sorted(systems, key=overall.__getitem__)
    column = {system: means[:, k] for k, system in enumerate(systems)}
    p = np.full((len(order), len(order)), np.nan)
    for (i, one), (j, other) in combinations(enumerate(order), 2):
        p[i, j] = p[j, i] = signed_rank(column[one], column[other]).p
    comparison = Comparison.of(
        f"rank_{name}",
        order,
        [overall[system] for system in order],
        p,
        correction,
        better="low",
        method="Wilcoxon's signed-rank test",
        signature=f"signed-rank|{correction}",
    )
    best = (ranks == ranks.min(axis=1, keepdims=True)).mean(axis=0)
    ordered = np.sort(ranks, axis=1)
    videos = np.split(ranks[np.argsort(item, kind="stable")], np.cumsum(np.bincount(item))[:-1])
    concordances = [friedman(video).concordance for video in videos if len(video) > 1]
    agreed = [value for value in concordances if not math.isnan(value)]
    return CriterionRanks(
        name,
        {system: overall[system] for system in order},
        {system: float(best[systems.index(system)]) for system in order},
        len(means),
        len(ranks),
        float((np.diff(ordered, axis=1) == 0).any(axis=1).mean()),
        friedman(means),
        comparison,
        float(np.mean(agreed)) if agreed else math.nan,
    )
