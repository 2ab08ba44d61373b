"""Tables of parsed captions: their clauses, and how good the parser is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from reelscore.report.safe_text import cells, legible, shortened
from reelscore.report.tables.grid import Cell, Grid
from reelscore.text.parser.roles import Sentence
from reelscore_studies.parser.parser_check import ROLES, ComponentCheck, Share


def clause_text(parsed: Mapping[str, Sequence[Sentence]], width: int = 80) -> str:
    """One line for each clause: item, its number, subject, verb, object, location."""
    several = any(len(sentences) > 1 for sentences in parsed.values())
    rows = [["item", "clause", *ROLES]]
    for item, sentences in parsed.items():
        for caption, sentence in enumerate(sentences, start=1):
            for number, clause in enumerate(sentence.clauses, start=1):
                place = f"{caption}.{number}" if several else str(number)
                rows.append([legible(item), place, *(lemma or "–" for lemma in clause.lemmas)])
    widths = [max(cells(row[column]) for row in rows) for column in range(len(rows[0]))]
    while sum(widths) + 2 * (len(widths) - 1) > width:
        widest = max(range(len(widths)), key=widths.__getitem__)
        widths[widest] -= 1
    lines = []
    for row in rows:
        texts = [shortened(text, size) for text, size in zip(row, widths, strict=True)]
        padded = [t + " " * (size - cells(t)) for t, size in zip(texts, widths, strict=True)]
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)


def gold_grid(shares: Mapping[str, Share]) -> Grid:
    """Shares of right answers with their intervals, in percent."""
    return Grid(["right", "%", "95 % interval", "n"], [_row(k, v) for k, v in shares.items()])


def component_grid(checks: Sequence[ComponentCheck]) -> Grid:
    """What judges say of each component: right clauses in percent, and Fleiss' kappa."""
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
