"""Who beats whom in print: marks beside the scores, and the differences behind them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from reelscore.data.tables.scales import NumberFormat
from reelscore.data.tables.table import ScoreTable
from reelscore.report.tables.grid import Cell, Grid
from reelscore.report.tables.leaderboard import (
    PLAIN,
    SYSTEM,
    TableLayout,
    leaderboard,
    lettered,
    letters_of,
)
from reelscore.significance.comparison import (
    BETTER,
    DIFFERENT,
    UNTESTED,
    WORSE,
    Comparison,
    Pair,
    marks_of_tests,
    strictest,
    untested_notes,
)


def marks_note(marks: Collection[str], baseline: str | None, level: float, method: str) -> str:
    """Explain the marks of significance that stand in a table."""
    if baseline is None:
        what = "Letters: better than the systems with these letters"
    else:
        kinds = {BETTER: "better", WORSE: "worse"}
        directed = [f"{mark} {word}" for mark, word in kinds.items() if mark in marks]
        parts = [f"{', '.join(directed)} than {baseline}"] if directed else []
        if DIFFERENT in marks:
            parts.append(f"{DIFFERENT} different from {baseline}")
        what = "; ".join(parts) or f"No score differs from {baseline}"
    return f"{what}, p < {level:g} ({method})."


def marked_leaderboard(
    table: ScoreTable,
    tests: Sequence[Comparison],
    people: Collection[str] = (),
    layout: TableLayout = PLAIN,
) -> Grid:
    """Lay out a score table as a grid, with marks of significance and their explanation."""
    shown = set(layout.arranged(table, people).metrics)
    judged = [each for each in strictest(tests) if each.metric in shown]
    baseline = next((each.baseline for each in judged), None)
    letters = {} if baseline is not None or not judged else letters_of(table.systems)
    marks = marks_of_tests(judged, letters, baseline, table.bounds)
    notes = [
        marks_note(set(marks.values()), baseline, level, about)
        for level, about in dict.fromkeys((each.level, each.about) for each in judged if each.about)
        if baseline is not None or letters
    ]
    notes += untested_notes(judged, table.labels)
    return lettered(leaderboard(table, marks, notes, people, layout), letters)


def difference_grid(
    table: ScoreTable,
    comparisons: Sequence[Comparison],
    layout: TableLayout = PLAIN,
) -> Grid:
    r"""Lay out the differences of the tested pairs, with their intervals and p-values."""
    letters = letters_of(table.systems)
    table = layout.arranged(table)
    tested = {each.metric for each in comparisons if each.method}
    metrics = [name for name in table.metrics if name in tested]
    formats = layout.formats(table)
    rows: dict[str, dict[str, dict[str, str]]] = {}
    for comparison in comparisons:
        if comparison.metric not in metrics:
            continue
        for pair in comparison.pairs:
            lines = rows.setdefault(_name(pair, comparison, letters), {})
            for line, text in _lines(pair, comparison.test, formats[comparison.metric]).items():
                lines.setdefault(line, {})[comparison.metric] = text
    headings = table.headings
    return Grid(
        [SYSTEM, *(headings[name] for name in metrics)],
        [
            [Cell(line or name), *(Cell(texts.get(metric, UNTESTED)) for metric in metrics)]
            for name, lines in rows.items()
            for line, texts in sorted(lines.items(), key=lambda line: line[0].startswith("  p "))
        ],
    )


def table_latex(table: ScoreTable, tests: Sequence[Comparison] = (), **layout: Any) -> str:
    """Return a table's leaderboard as LaTeX; see `reelscore.ScoreTable.to_latex`."""
    return marked_leaderboard(table, tests, layout=TableLayout(**layout)).to_latex()


def table_markdown(table: ScoreTable, tests: Sequence[Comparison] = (), **layout: Any) -> str:
    """Return a table's leaderboard as Markdown; see `reelscore.ScoreTable.to_markdown`."""
    return marked_leaderboard(table, tests, layout=TableLayout(**layout)).to_markdown()


def _name(pair: Pair, comparison: Comparison, letters: Mapping[str, str]) -> str:
    if comparison.baseline is not None:
        return pair.system
    one, other = (letters.get(system, system) for system in (pair.system, pair.other))
    return f"{one} – {other}"


def _lines(pair: Pair, test: str, form: NumberFormat) -> dict[str, str]:
    """Return the lines of a pair and score, by what they begin with; the first has no name."""
    lines = {"": form.text(pair.difference, "+")}
    if pair.interval is not None:
        low, high = pair.interval
        lines |= {"  from": form.text(low, "+"), "  to": form.text(high, "+")}
    return {**lines, f"  p {test}": p_text(pair.p_corrected)}


def p_text(value: float) -> str:
    """Write a p-value.

    >>> p_text(0.03), p_text(0.00001)
    ('0.0300', '<.0001')
    """
    return f"{value:.4f}" if value >= 0.0001 else "<.0001"
