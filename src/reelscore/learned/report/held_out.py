"""How metrics agree with people on years they have not seen: tables, and a report of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from reelscore.data.datasets.trecvid_ha import YEARS
from reelscore.data.tables.table import ItemScores, MetricResult, ScoreTable
from reelscore.learned.agreement import Agreement
from reelscore.report.html.contents import Report, Section
from reelscore.report.tables.grid import Cell, Grid, p_value
from reelscore.significance.comparison import Comparison

_LEVEL = 0.05
_TEST = "Williams' test, captions of all years, each year standardised"


def held_out_grids(agreement: Agreement, kind: str) -> list[Grid]:
    """Lay out correlations by year, of captions with intervals and of systems, and the p-values.

    Args:
        agreement: What was measured.
        kind: ``MA`` or ``SA``.

    >>> agreement = Agreement({"meteor": [0.1, 0.2, 0.3, 0.4, 0.5]},
    ...                       {"meteor": [0.9, 0.9, 0.9, 0.9, 0.9]}, [[math.nan]])
    >>> print(held_out_grids(agreement, "MA")[0].to_text())
    MA, captions   2016   2017   2018   2019   2020   mean  2017–20
    meteor        0.100  0.200  0.300  0.400  0.500  0.300    0.350
    """
    grids = []
    for level, rows in (("captions", agreement.captions), ("systems", agreement.systems)):
        cells = [
            [Cell(name), *(Cell(f"{r:.3f}") for r in [*rs, np.mean(rs), np.mean(rs[1:])])]
            for name, rs in rows.items()
        ]
        columns = [f"{kind}, {level}", *map(str, YEARS), "mean", "2017–20"]
        grids.append(Grid(columns, cells))
        if level == "captions" and agreement.intervals:
            grids.append(_interval_grid(agreement.intervals, kind))
    names = list(agreement.captions)
    rows_p = [
        [
            Cell(name),
            *(Cell("" if math.isnan(p) else p_value(p), "*" if p < _LEVEL else "") for p in row),
        ]
        for name, row in zip(names, agreement.p, strict=True)
    ]
    return [*grids, Grid(["Williams, captions", *names], rows_p)]


def _interval_grid(intervals: Mapping[str, Sequence[tuple[float, float]]], kind: str) -> Grid:
    cells = [
        # without zeros, so that six of them fit on a line
        [Cell(name), *(Cell(f"{low:.2f}–{high:.2f}".replace("0.", ".")) for low, high in of_years)]
        for name, of_years in intervals.items()
    ]
    return Grid([f"{kind}, 95 %", *map(str, YEARS), "mean"], cells)


def held_out_report(agreement: Agreement, kind: str, *, command: str = "") -> Report:
    """Make the report: a row for each metric, its correlations as scores, the years as items.

    Args:
        agreement: What was measured.
        kind: ``MA`` or ``SA``.
        command: The command that made the report.

    >>> rs = {"meteor": [0.1, 0.2, 0.3, 0.4, 0.5], "cider": [0.2, 0.2, 0.2, 0.2, 0.2]}
    >>> report = held_out_report(Agreement(rs, rs, [[math.nan, 0.01], [0.99, math.nan]]), "MA")
    >>> report.table.systems, report.items
    (['meteor', 'cider'], ['2016', '2017', '2018', '2019', '2020'])
    """
    p = np.array(agreement.p, dtype=float)
    means = [float(np.mean(agreement.captions[name])) for name in agreement.captions]
    tests = Comparison.of(
        "r of captions",
        list(agreement.captions),
        means,
        p,
        sides=1,
        level=_LEVEL,
        method=_TEST,
        signature="williams|side:one",
    )
    *by_year, williams = held_out_grids(agreement, kind)
    rows = {
        name: {
            **_result("r of captions", agreement.captions, name, kind),
            **_result("r of systems", agreement.systems, name, kind),
        }
        for name in agreement.captions
    }
    about = (
        "Pearson's r with people; no year was seen by what was learned or fitted. Intervals of "
        "95 % are those of videos drawn anew."
    )
    better = f"p that the row agrees better with people than the column; * p < {_LEVEL:g}; {_TEST}."
    return Report(
        ScoreTable(rows),
        title=f"Agreement with people on TRECVid, {kind}",
        tests=[tests],
        sections=[
            Section("Year by year", [about], by_year, lead=True),
            Section("Which metric agrees better", [better], [williams], lead=True),
        ],
        command=command,
        notes=["The systems of this page are metrics, its items years, its scores correlations."],
    )


def _result(
    score: str, rows: Mapping[str, Sequence[float]], metric: str, kind: str
) -> dict[str, MetricResult]:
    by_year = ItemScores.of(dict(zip(map(str, YEARS), rows[metric], strict=True)))
    mean = float(np.mean(rows[metric]))
    return {score: MetricResult(score, mean, by_year, f"{score}|trecvid:{kind}|years:held-out")}
