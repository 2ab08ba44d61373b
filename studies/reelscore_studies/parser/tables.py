"""Tables of how good the parser is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from reelscore.report.tables.grid import Cell, Grid
from reelscore_studies.parser.parser_check import ComponentCheck, Share


def gold_grid(shares: Mapping[str, Share]) -> Grid:
    """Shares of right answers with their intervals, in percent."""
    return Grid(["right", "%", "95 % interval", "n"], [_row(k, v) for k, v in shares.items()])


def component_grid(checks: Sequence[ComponentCheck]) -> Grid:
    """Return what judges say of each component: right clauses in percent, and Fleiss' kappa."""
    rows = [
        [*_row(check.component, check.clauses), Cell(_number(check.kappa, "{:.2f}"))]
        for check in checks
    ]
    return Grid(["component", "%", "95 % interval", "clauses", "kappa"], rows)


def _row(name: str, share: Share) -> list[Cell]:
    low, high = share.interval
    interval = f"{100 * low:.1f}–{100 * high:.1f}" if share.total else "–"
    return [Cell(name), Cell(_number(100 * share.value)), Cell(interval), Cell(str(share.total))]


def _number(value: float, form: str = "{:.1f}") -> str:
    return "–" if math.isnan(value) else form.format(value)
