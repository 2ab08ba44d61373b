"""Agreement with people on judged sets as tables: metrics' rows, and those that papers print."""

from __future__ import annotations

import math
from collections.abc import Sequence

from reelscore.data.checks import counted
from reelscore.report.tables.grid import Cell, Grid
from reelscore_studies.judged.set_tables import SetTable


def set_title(table: SetTable) -> str:
    """Return what a set's numbers are.

    >>> from reelscore_studies.judged.set_tables import SETS
    >>> set_title(SetTable("pascal-50s", SETS["pascal-50s"], 4000, True, []))
    'pascal-50s, 4,000 pairs: accuracy in %'
    """
    if table.pairs:
        return f"{table.name}, {counted(table.judgments, 'pair')}: accuracy in %"
    return f"{table.name}, {counted(table.judgments, 'rating')}: coefficients times 100"


def set_grid(table: SetTable) -> Grid:
    """Return a row for each metric, best first; printed rows name their paper.

    >>> from reelscore_studies.judged.set_tables import SETS, SetAgreement
    >>> rows = [SetAgreement("METEOR", {"all": 80.0}, ""),
    ...         SetAgreement("CIDEr", {"all": 81.04}, "", printed="Somebody")]
    >>> print(set_grid(SetTable("pascal-50s", SETS["pascal-50s"], 4000, True, rows)).to_text())
    metric   all  printed in
    CIDEr   81.0    Somebody
    METEOR  80.0
    """
    names = list(dict.fromkeys(name for row in table.rows for name in row.values))
    if table.pairs:  # all pairs behind the kinds
        names.sort(key=lambda name: (name == "all", name))
    rows = sorted(table.rows, key=lambda row: _order(row.values.get(table.main)))
    printed = any(row.printed for row in rows)
    cells = [
        [
            Cell(row.metric),
            *(Cell(_number(row.values.get(name))) for name in names),
            *([Cell(row.printed)] if printed else []),
        ]
        for row in rows
    ]
    return Grid(["metric", *names, *(["printed in"] if printed else [])], cells)


def overview_grid(tables: Sequence[SetTable]) -> Grid:
    """Return each metric's main number on each set, with what papers print, and print at best.

    >>> from reelscore_studies.judged.set_tables import SETS, SetAgreement
    >>> rows = [SetAgreement("METEOR", {"all": 80.0}, ""),
    ...         SetAgreement("METEOR", {"all": 80.1}, "", "PAC-S"),
    ...         SetAgreement("Polos", {"all": 86.5}, "", "Polos")]
    >>> one = SetTable("pascal-50s", SETS["pascal-50s"], 4000, True, rows)
    >>> print(overview_grid([one, one]).to_text())
    metric           pascal-50s  pascal-50s
    METEOR                 80.0        80.0
    METEOR, printed        80.1        80.1
    best printed           86.5        86.5
    """
    own = dict.fromkeys(row.metric for table in tables for row in table.rows if not row.printed)
    names = [name for metric in own for name in (metric, f"{metric}, printed")]
    columns = []
    for table in tables:
        numbers: dict[str, float] = {}
        best = -math.inf
        for row in table.rows:
            if (number := row.values.get(table.main)) is not None:
                numbers[f"{row.metric}, printed" if row.printed else row.metric] = number
                best = max(best, number) if row.printed else best
        columns.append({**numbers, "best printed": None if best == -math.inf else best})
    rows = {name: [column.get(name) for column in columns] for name in [*names, "best printed"]}
    cells = [
        [Cell(name), *(Cell(_number(number)) for number in numbers)]
        for name, numbers in rows.items()
        if any(number is not None for number in numbers)
    ]
    return Grid(["metric", *(table.name for table in tables)], cells)


def _order(value: float | None) -> float:
    return math.inf if value is None or math.isnan(value) else -value


def _number(value: float | None) -> str:
    return "" if value is None else "–" if math.isnan(value) else f"{value:.1f}"
