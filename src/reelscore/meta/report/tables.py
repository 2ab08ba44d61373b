"""Tables of how well metrics agree with people."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from reelscore.meta.correlation import Correlation
from reelscore.report.tables.grid import Cell, Grid, p_value
from reelscore.significance.comparison import UNTESTED, Comparison


def correlation_grid(correlations: Sequence[Correlation]) -> Grid:
    """Return a row for each metric, best first, and a column for each coefficient.

    Args:
        correlations: The coefficients of all metrics, as `correlate_metrics` gives them.

    >>> correlations = [Correlation("bleu_4", "pearson", "system", 0.5, 9, 1),
    ...                 Correlation("meteor", "pearson", "system", 0.91, 9, 1)]
    >>> print(correlation_grid(correlations).to_text())
    metric  pearson  n
    meteor    0.910  9
    bleu_4    0.500  9
    """
    coefficients = list(dict.fromkeys(each.coefficient for each in correlations))
    rows: dict[str, dict[str, Correlation]] = {}
    for each in correlations:
        rows.setdefault(each.metric, {})[each.coefficient] = each
    best = {
        name: max(
            (_number(row[name].value) for row in rows.values() if not math.isnan(row[name].value)),
            key=float,
            default="",
        )
        for name in coefficients
    }

    def place(metric: str) -> float:
        value = rows[metric][coefficients[0]].value
        return math.inf if math.isnan(value) else -value

    cells = []
    for metric in sorted(rows, key=place):
        row = [Cell(metric)]
        for name in coefficients:
            each = rows[metric][name]
            text = _number(each.value)
            under = "" if each.interval is None else "{:.2f}…{:.2f}".format(*each.interval)
            row.append(Cell(text, under=under, best=len(rows) > 1 and text == best[name]))
        cells.append([*row, Cell(f"{rows[metric][coefficients[0]].n:,}")])
    return Grid(["metric", *coefficients, "n"], cells)


def significance_grid(tests: Comparison) -> Grid:
    """Table of p-values: does the row agree better with people than the column?

    >>> import numpy as np
    >>> p = np.array([[np.nan, 0.003], [0.998, np.nan]])
    >>> tests = Comparison.of("pearson", ["meteor", "bleu_4"], [0.9, 0.5], p, sides=1,
    ...                       signature="williams")
    >>> print(significance_grid(tests).to_text())
    williams  rank  meteor  bleu_4
    meteor       1           .003*
    bleu_4       2    .998
    """
    rows = []
    ranks = tests.ranks
    for k, metric in enumerate(tests.systems):
        row = tests.p_corrected[k]
        marks = ["*" if p < tests.level else "" for p in row]
        cells = [
            Cell("" if j == k else UNTESTED if math.isnan(p) else p_value(p), mark)
            for j, (p, mark) in enumerate(zip(row, marks, strict=True))
        ]
        rows.append([Cell(metric), Cell(str(ranks.get(metric, 1))), *cells])
    untested = np.isnan(tests.p[~np.eye(len(tests.systems), dtype=bool)]).any()
    notes = [f"{UNTESTED} not tested: too few scores in common, or one does not vary."]
    return Grid([tests.test, "rank", *tests.systems], rows, notes=notes if untested else ())


def footnotes(correlations: Sequence[Correlation]) -> list[str]:
    """Return what is not defined, and how many groups that concerns.

    >>> footnotes([Correlation("x", "pearson", "item", float("nan"), 9, 3, 3, "it is constant")])
    ['x, pearson: not defined (it is constant).']
    >>> footnotes([Correlation("x", "pearson", "item", 0.5, 9, 3, 1)])
    ['x, pearson: the mean of 2 of 3 groups; not defined in the others.']
    """
    notes = []
    for each in correlations:
        what = f"{each.metric}, {each.coefficient}"
        if math.isnan(each.value):
            notes.append(f"{what}: not defined ({each.reason}).")
        elif each.undefined:
            defined = each.groups - each.undefined
            notes.append(
                f"{what}: the mean of {defined:,} of {each.groups:,} groups; "
                "not defined in the others."
            )
    return notes


def _number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"
