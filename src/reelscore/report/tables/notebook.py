"""Tables as notebooks show them."""

from __future__ import annotations

from html import escape

from reelscore.data.table import ScoreTable
from reelscore.report.legible import legible
from reelscore.report.tables.grid import Cell, Grid
from reelscore.report.tables.leaderboard import leaderboard


def table_html(table: ScoreTable) -> str:
    """Give the leaderboard as HTML, with its notes, and the signatures folded away below it.

    >>> from reelscore import score_systems
    >>> page = table_html(score_systems({"<mine>": {"v1": "a man"}}, {"v1": ["a man"]}, "rouge_l"))
    >>> "&lt;mine&gt;" in page and "<mine>" not in page
    True
    """
    signatures = dict.fromkeys(
        result.signature for row in table.results.values() for result in row.values()
    )
    lines = "<br>".join(escape(legible(each)) for each in signatures if each)
    details = f"<details><summary>signatures</summary><small>{lines}</small></details>"
    grid = leaderboard(table)
    notes = "".join(f"<p>{escape(legible(note))}</p>" for note in (*grid.notes, *table.notes))
    return grid_html(grid) + notes + (details if lines else "")


def grid_html(grid: Grid) -> str:
    """Give a grid as an HTML table that needs no style sheet.

    >>> print(grid_html(Grid(["system", "meteor"], [[Cell("mine"), Cell("0.35", "*")]])))
    <table><thead><tr><th style="text-align:left">system</th><th>meteor</th></tr></thead>
    <tbody><tr><th style="text-align:left">mine</th><td>0.35<sup>*</sup></td></tr></tbody></table>
    """

    def head(text: str, place: int) -> str:
        left = ' style="text-align:left"' if place < grid.names else ""
        return f"<th{left}>{escape(legible(text))}</th>"

    def entry(cell: Cell, place: int) -> str:
        if place < grid.names:
            return head(cell.text + cell.mark, place)
        text = escape(legible(cell.text))
        text = f"<b>{text}</b>" if cell.best else text
        mark = f"<sup>{escape(cell.mark)}</sup>" if cell.mark else ""
        under = f"<br><small>{escape(cell.under)}</small>" if cell.under else ""
        return f"<td>{text}{mark}{under}</td>"

    heads = "".join(head(name, k) for k, name in enumerate(grid.columns))
    rows = "\n".join(
        f"<tr>{''.join(entry(cell, k) for k, cell in enumerate(row))}</tr>" for row in grid.rows
    )
    return f"<table><thead><tr>{heads}</tr></thead>\n<tbody>{rows}</tbody></table>"
