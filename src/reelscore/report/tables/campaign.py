"""Tables of a campaign: its raters, its results, and who beats whom."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields

from reelscore.data.spreadsheet import spreadsheet_csv
from reelscore.human.evaluate.quality import Quality, RaterQuality
from reelscore.human.evaluate.scores import HumanScores
from reelscore.report.tables.agreement import p_value
from reelscore.report.tables.grid import Cell, Grid
from reelscore.significance.rankings import Ranking

_ORDER = ("failed", "constant", "too few pairs", "rejected", "excluded", "passed")


def quality_grid(quality: Quality) -> Grid:
    """Set out a row for each rater, doubtful ones first, the least certain of those first.

    >>> from reelscore.human.judgments import Judgment, Judgments
    >>> from reelscore.human.evaluate.quality import check_quality
    >>> rows = [Judgment("r1", "h1", f"{kind}{k}", k, "human", f"clip{k}", kind, score + k % 3)
    ...         for k in range(10) for kind, score in (("caption", 80.0), ("degraded", 9.0 * k))]
    >>> print(quality_grid(check_quality(Judgments.of(rows))).to_text())
    rater  verdict  pairs  diff      p  again  s/task  flags
    r1     passed      10  39.5  <.001      –       –
    """
    rows = []
    for each in sorted(quality.raters, key=lambda r: (_ORDER.index(r.verdict), -_high(r.p))):
        rows.append(
            [
                Cell(each.rater),
                Cell(each.verdict),
                Cell(f"{each.pairs:,}"),
                Cell(_number(each.difference, 1)),
                Cell("–" if math.isnan(each.p) else p_value(each.p)),
                Cell(_number(each.repeat_difference, 1)),
                Cell(_number(each.seconds, 1)),
                Cell(" ".join(each.flags)),
            ]
        )
    return Grid(["rater", "verdict", "pairs", "diff", "p", "again", "s/task", "flags"], rows, 2)


def quality_csv(quality: Quality) -> str:
    """Give everything known of each rater as CSV, numbers in full."""
    rows = quality.to_dict()["raters"]
    table = [[field.name for field in fields(RaterQuality)]]
    for row in rows:
        cells = ("" if value is None else value for value in row.values())
        table.append([" ".join(v) if isinstance(v, tuple) else v for v in cells])
    return spreadsheet_csv(table)


def results_csv(scores: HumanScores, ranking: Ranking) -> str:
    """Give the results as CSV, numbers in full."""
    metrics = scores.table.metrics
    columns = ["captions", "judgments", "wins", "cluster", "best_rank", "worst_rank"]
    table: list[list[object]] = [["system", *metrics, *columns]]
    for k, system in enumerate(ranking.systems):
        table.append(
            [
                system,
                *(scores.table[system][name].score for name in metrics),
                len(scores.counts[system]),
                scores.judgments(system),
                int(ranking.wins[k].sum()),
                ranking.clusters[k],
                *ranking.ranges[k],
            ]
        )
    return spreadsheet_csv(table)


def results_grid(scores: HumanScores, ranking: Ranking) -> Grid:
    """Set out a row for each system, best first, with its cluster and possible ranks.

    Numbers of judgments and captions are those of the paper's n.

    Args:
        scores: The scores of the systems by people.
        ranking: Which systems people prefer, with its tests.
    """
    metrics = scores.table.metrics
    rows = []
    for system, number, (low, high) in zip(
        ranking.systems, ranking.clusters, ranking.ranges, strict=True
    ):
        values = [Cell(_score(name, scores.table[system][name].score)) for name in metrics]
        places = f"{low}" if low == high else f"{low}–{high}"
        counts = [Cell(f"{len(scores.counts[system]):,}"), Cell(f"{scores.judgments(system):,}")]
        rows.append([Cell(system), *values, *counts, Cell(places), Cell(f"{number}")])
    return Grid(["system", *metrics, "captions", "judgments", "ranks", "cluster"], rows)


def wins_grid(ranking: Ranking) -> Grid:
    """Set out p-values: is the row's system better than the column's? Wins are marked.

    Args:
        ranking: Which systems people prefer, with its tests.
    """
    letters = _letters(len(ranking.systems))
    rows = []
    for k, (system, letter) in enumerate(zip(ranking.systems, letters, strict=True)):
        cells = [
            Cell("·")
            if k == other
            else Cell(p_value(float(p)), mark="*" if p < ranking.level else "")
            for other, p in enumerate(ranking.p[k])
        ]
        rows.append([Cell(f"{letter} {system}"), *cells])
    return Grid(["better than", *letters], rows)


def _letters(count: int) -> Sequence[str]:
    """Name columns a, b, …, z, aa, ab: names of systems would not fit side by side."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    return [letters[k] if k < 26 else letters[k // 26 - 1] + letters[k % 26] for k in range(count)]


def _score(name: str, value: float) -> str:
    return f"{value:.3f}" if name.endswith("z") else f"{value:.1f}"


def _number(value: float, digits: int) -> str:
    return "–" if math.isnan(value) else f"{value:.{digits}f}"


def _high(p: float) -> float:
    return 2.0 if math.isnan(p) else p
