"""The table people look at first: a row per system, a column per score."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from reelscore.data.captions.coverage import PARTIAL, partial_notes, partial_scores
from reelscore.data.tables.scales import NumberFormat, number_format
from reelscore.data.tables.table import MetricResult, ScoreTable
from reelscore.errors import DataError
from reelscore.report.tables.grid import Cell, Grid

if TYPE_CHECKING:
    from reelscore.significance.comparison import Marks

ABSENT = "–"  # stands where a system has no such score
BOUND = "‡"  # stands behind the name of what is a bound, and no system
SYSTEM = "system"  # the heading of the systems' names, by which rows can be sorted, too


class TableLayout(msgspec.Struct, frozen=True):
    """How to print a table of scores."""

    scale: float = 1  # what to multiply scores by that papers print as percentages: 1 or 100
    digits: int | None = None  # how many decimals to print; four below 10, unless said otherwise
    # sort the systems by this score, best first, or by name with ``system``
    sort: str | None = None
    columns: str | Sequence[str] | None = None  # which scores to print, and in what order; all

    def __post_init__(self) -> None:
        if not (math.isfinite(self.scale) and self.scale > 0):
            raise DataError(f"The scale is {self.scale}; expected a number above 0, such as 100.")
        if self.digits is not None and not 0 <= self.digits <= 17:
            raise DataError(f"{self.digits} digits; expected a number from 0 to 17.")

    def arranged(self, table: ScoreTable, people: Collection[str] = ()) -> ScoreTable:
        """Choose columns, and sort systems; those that are not comparable come last."""
        sort = self.sort
        order = sorted(table.systems) if sort == SYSTEM else table.systems
        if sort is not None and sort != SYSTEM:
            name = table.one_named(sort)
            partial = partial_scores(table, people)
            sign = table.scale(name).sign

            def place(system: str) -> tuple[bool, bool, float]:
                result = table[system].get(name)
                if result is None or math.isnan(result.score):
                    return True, True, 0.0
                unranked = system in table.bounds or (system, name) in partial
                return False, unranked, -sign * result.score

            order = sorted(table.systems, key=place)
        ordered = replace(table, results={system: table[system] for system in order})
        return ordered if self.columns is None else ordered.select(self.columns)

    def formats(self, table: ScoreTable) -> dict[str, NumberFormat]:
        """Return the format of each score of a table."""
        values = {
            name: [row[name].score for row in table.results.values() if name in row]
            for name in table.metrics
        }
        return {name: self._format(table, name, own) for name, own in values.items()}

    def item_formats(self, table: ScoreTable) -> dict[str, NumberFormat]:
        """Return the format of each score's items."""
        values: dict[str, list[float]] = {name: [] for name in table.metrics}
        for row in table.results.values():
            for name, result in row.items():
                values[name] += result.items.array.tolist()
        return {name: self._format(table, name, own) for name, own in values.items()}

    def _format(self, table: ScoreTable, name: str, values: Iterable[float]) -> NumberFormat:
        factor = self.scale if table.scale(name).percent else 1
        return number_format(values, factor, self.digits)

    def notes(self, table: ScoreTable) -> list[str]:
        """Return which scores were multiplied, and which were not."""
        if self.scale == 1:
            return []
        labels: Mapping[str, str] = table.labels
        plain = [label for name, label in labels.items() if not table.scale(name).percent]
        if len(plain) == len(labels):
            return [f"No score is printed × {self.scale:g}."]
        return [f"Scores × {self.scale:g}{', except ' if plain else ''}{', '.join(plain)}."]


PLAIN = TableLayout()


def leaderboard(
    table: ScoreTable,
    marks: Marks | None = None,
    notes: Sequence[str] = (),
    people: Collection[str] = (),
    layout: TableLayout = PLAIN,
    bounds: Collection[str] = (),
) -> Grid:
    """Lay out a score table as a grid.

    Systems scored on fewer items than others are marked, and are not among the best; nor are
    bounds.

    Args:
        table: The scores.
        marks: A mark for a system and metric, such as ``*`` for a significant difference.
        notes: Footnotes.
        people: Scores that people gave, of other items of each system.
        layout: Which scores to print, in what order, with how many decimals.
        bounds: Rows that are bounds and no systems, besides those that the table names.

    >>> from reelscore import score_systems
    >>> table = score_systems({"one": {"v1": "a man runs"}, "two": {"v1": "a dog"}},
    ...                       {"v1": ["a man is running"]}, metrics="rouge_l")
    >>> print(leaderboard(table, layout=TableLayout(scale=100, digits=1)).to_text())
    system  ROUGE-L
    one        55.7
    two        31.4
    <BLANKLINE>
    Scores × 100.

    An arrow stands behind the names of scores where lower is better.
    """
    table = layout.arranged(table, people)
    metrics = table.metrics
    partial = partial_scores(table, people)
    formats = layout.formats(table)
    bounds = [system for system in table.systems if system in {*table.bounds, *bounds}]
    unranked = {*partial, *((system, name) for system in bounds for name in metrics)}
    leaders = {name: _leaders(table, name, unranked, formats[name]) for name in metrics}
    rows = []
    for system in table.systems:
        sign = PARTIAL if any((system, name) in partial for name in metrics) else ""
        row = [Cell(system, sign + (BOUND if system in bounds else ""))]
        for name in metrics:
            result = table[system].get(name)
            mark = (marks or {}).get((system, name), "")
            first = ("", "") if (system, name) in unranked else leaders[name]
            row.append(score_cell(result, formats[name], mark, first))
        rows.append(row)
    footnotes = [*notes, *partial_notes(partial), *_bound_notes(bounds), *layout.notes(table)]
    return Grid([SYSTEM, *table.headings.values()], rows, notes=footnotes)


def letters_of(systems: Sequence[str]) -> dict[str, str]:
    """Name systems by letters, for marks: none where there are more of them than letters.

    >>> letters_of(["ours", "base"])
    {'ours': 'a', 'base': 'b'}
    """
    from string import ascii_letters

    if len(systems) > len(ascii_letters):
        return {}
    return dict(zip(systems, ascii_letters, strict=False))


def lettered(grid: Grid, letters: Mapping[str, str]) -> Grid:
    """Put letters before the systems' names, to which marks refer; without letters, nothing."""
    if not letters:
        return grid
    rows = []
    for name, *cells in grid.rows:
        letter = letters.get(name.text, "?")
        rows.append([replace(name, text=f"{letter} {name.text}"), *cells])
    return replace(grid, rows=rows)


def item_rows(table: ScoreTable, layout: TableLayout = PLAIN) -> Grid:
    """Lay out the score of every item, a row for each system and item."""
    table = layout.arranged(table)
    metrics = table.metrics
    formats = layout.item_formats(table)
    rows = []
    for system in table.systems:
        columns = [table[system][name].items if name in table[system] else {} for name in metrics]
        for item in dict.fromkeys(item for scores in columns for item in scores):
            numbers = [
                Cell(formats[name].text(scores[item]) if item in scores else ABSENT)
                for name, scores in zip(metrics, columns, strict=True)
            ]
            rows.append([Cell(system), Cell(item), *numbers])
    return Grid([SYSTEM, "item", *table.headings.values()], rows, names=2)


def leaderboard_csv(
    table: ScoreTable,
    marks: Marks | None = None,
    *,
    items: bool = False,
    people: Collection[str] = (),
) -> str:
    """Return the scores as CSV, in full precision, for a spreadsheet or a plot.

    Where systems were scored on different items, a column says on how many.
    """
    import csv
    import io

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    metrics = table.metrics
    partial = partial_scores(table, people)
    intervals = any(r.interval for row in table.results.values() for r in row.values())
    beside = [*(["low", "high"] if intervals else []), *(["mark"] if marks else [])]
    columns = [c for name in metrics for c in (name, *(f"{name}_{each}" for each in beside))]
    beside_name = ["scored"] if partial else []
    writer.writerow(["system", *(["item"] if items else []), *beside_name, *columns])
    for system, row in table.results.items():
        cells: list[str] = []
        if partial:
            said = dict.fromkeys(
                coverage for (name, _), coverage in partial.items() if name == system
            )
            cells.append(
                "; ".join(f"{coverage.scored} of {coverage.total}" for coverage in said) or "all"
            )
        for name in metrics:
            result = row.get(name)
            cells.append("" if result is None else repr(result.score))
            if intervals:
                between = None if result is None else result.interval
                cells += ["", ""] if between is None else map(repr, between)
            if marks:
                cells.append(marks.get((system, name), ""))
        writer.writerow([system, *([""] if items else []), *cells])
        if items:
            scores = [row[name].items.to_dict() if name in row else {} for name in metrics]
            blank = [""] * len(beside)
            writer.writerows(
                [
                    system,
                    item,
                    *("" for _ in beside_name),
                    *(c for s in scores for c in (repr(s[item]) if item in s else "", *blank)),
                ]
                for item in dict.fromkeys(item for each in scores for item in each)
            )
    return out.getvalue()


def _bound_notes(bounds: Collection[str]) -> list[str]:
    said = f"{BOUND} a bound and no system, such as an oracle that sees the answers, so not ranked"
    return [f"{said}: {', '.join(bounds)}."] if bounds else []


def _leaders(
    table: ScoreTable, name: str, unranked: Collection[tuple[str, str]], form: NumberFormat
) -> tuple[str, str]:
    """Return the best and the second best of the scores that can be compared, as they are printed.

    Of two scores there is no second best, nor after several that are best alike.
    """
    scale = table.scale(name)
    scores = [
        row[name].score
        for system, row in table.results.items()
        if name in row and (system, name) not in unranked
    ]
    if len(scores) < 2 or not scale.ranks:
        return "", ""
    order = sorted(scores, key=lambda score: -scale.sign * score)
    best, second, *others = map(form.text, order)
    return best, second if others and second not in (best, others[-1]) else ""


def score_cell(
    result: MetricResult | None,
    form: NumberFormat,
    mark: str = "",
    leaders: tuple[str, str] = ("", ""),
) -> Cell:
    """Write a score with half of its interval; leaders are the best and the second best."""
    if result is None:
        return Cell(ABSENT)
    text = form.text(result.score)
    under = ""
    if result.interval is not None:
        low, high = result.interval
        under = f"±{form.text((high - low) / 2)}"
    best, second = leaders
    return Cell(text, mark, under, best=text == best, second=text == second)


def table_text(table: ScoreTable) -> str:
    """Return a table's leaderboard as plain text."""
    return leaderboard(table).to_text()


def table_html(table: ScoreTable) -> str:
    """Return a table's leaderboard for a notebook, with notes and signatures below it."""
    from reelscore.report.pages import render

    grid = leaderboard(table)
    return render(
        "notebook.html",
        grid=grid,
        notes=[*grid.notes, *table.notes],
        signatures=table_signatures(table),
    )


def table_signatures(table: ScoreTable) -> list[str]:
    """Return the signatures of a table's scores, each once."""
    results = (result for row in table.results.values() for result in row.values())
    return list(dict.fromkeys(result.signature for result in results if result.signature))
