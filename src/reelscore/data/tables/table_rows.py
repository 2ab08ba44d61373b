"""Rows of scores, from a CSV file or from a program, as a score table.

Columns are found by their names. A table has one score in each row, or it is wide: a column for
each score, as when people judge by several criteria.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from msgspec.structs import replace

from reelscore.data.checks import counted, id_fault, id_text, is_missing
from reelscore.data.reading import USUAL
from reelscore.data.tables.scales import Better, Scale
from reelscore.data.tables.table import ItemScores, MetricResult, ScoreTable, view

Repeats = Literal["error", "mean", "z"]
Row = tuple[str, Sequence[object]]  # where it is, for messages, and its cells

# What others call the columns of scores and judgments; the first is ours.
SYSTEM_NAMES = ("system", "model", "sys", "sys_id", "method")
SCORE_NAMES = ("score", "rating", "value", "judgment", "judgement")
METRIC_NAMES = ("metric", "criterion")
RATER_NAMES = ("rater", "worker", "annotator", "judge", "workerid", "user")
BETTER, RATINGS = "better", "ratings"
# Numbers that are no scores.
_OTHER_NUMBERS = {
    *RATER_NAMES,
    *("", "index", "row", "order", "position", "hit", "batch", "assignment", "session", "trial"),
    *("time", "timestamp", "date", "year", "seconds", "duration", "split", "seed", "version"),
}
_FAR = 3  # times: raters whose scores differ so much in size and spread have other scales
_NO_SCORE = {"", "-", "na", "n/a", "nan", "none", "null"}


class UnusableRow(ValueError):
    """A row of a table, or a header, that cannot be used."""


class Roles(NamedTuple):
    """Where a table has what.

    Attributes:
        system: The column of the systems.
        item: The column of the items, if there is one.
        metric: The column that names the score of each row, if there is one.
        scores: The columns of scores with their names; "" for one that has the table's name.
        better: The column that says which way a score is better, if there is one.
        rater: The column of the raters, if there is one.
        ratings: The column that says of how many judgments a score is the mean, if there is one.
    """

    system: int
    item: int | None
    metric: int | None
    scores: Mapping[int, str]
    better: int | None = None
    rater: int | None = None
    ratings: int | None = None

    @property
    def used(self) -> set[int]:
        """The columns that are read."""
        own = {self.system, *self.scores}
        others = (self.item, self.metric, self.better, self.ratings)
        return own | {k for k in others if k is not None}


def table_of_rows(
    header: Sequence[str],
    rows: Iterable[Row],
    name: str,
    *,
    repeats: Repeats = "error",
    column: str | None = None,
) -> ScoreTable:
    """Make a score table of rows; notes say what was left out, or not used."""
    header = [str(cell).strip().lower() for cell in header]
    rows = rows if narrow_column(header) is not None or column else list(rows)
    roles = roles_of(header, rows, column)
    raters = {}
    if repeats != "error" and roles.rater is not None:
        rows = list(rows)
        raters = _raters(rows, roles)
    elif repeats == "z":
        raise UnusableRow("it has no column of raters, such as 'rater', to standardise")
    by_system: dict[str, dict[str, dict[str, float]]] = {}
    better: dict[str, Better | None] = {}
    again: dict[tuple[str, str, str], int] = {}
    ratings: dict[tuple[str, str, str], int] = {}
    gaps = 0
    for place, row in rows:
        if len(row) != len(header):
            raise UnusableRow(f"{place} has {len(row)} fields, not {len(header)}")
        system = _name(row[roles.system], place, "system")
        if not system:
            raise UnusableRow(f"{place} has no system")
        item = "" if roles.item is None else _name(row[roles.item], place, "item")
        said = "" if roles.metric is None else _name(row[roles.metric], place, "metric")
        for score_column, own_name in roles.scores.items():
            metric = own_name or said or name
            number = _number(row[score_column], place)
            if number is None:
                gaps += 1
                continue
            if repeats == "z":
                number = raters[own_name or said, _rater(row, roles)].standardised(number)
            if roles.better is not None:
                _set_better(better, metric, row[roles.better], place)
            scores = by_system.setdefault(system, {}).setdefault(metric, {})
            if item not in scores:
                scores[item] = number
                if item and roles.ratings is not None:
                    ratings[system, item, metric] = int(_number(row[roles.ratings], place) or 1)
            elif repeats == "error":
                raise UnusableRow(f"{place} repeats {system}, {item or '(system)'}, {metric}")
            else:  # the running mean
                count = again[system, item, metric] = again.get((system, item, metric), 1) + 1
                scores[item] += (number - scores[item]) / count
    if not by_system:
        raise UnusableRow("it has no score")
    notes = gap_notes(gaps)
    if repeats == "mean":
        notes += _scale_warnings(raters)
    if again:
        means = counted(len(again), "score is the mean", "scores are means")
        notes.append(f"{means} of several rows ({sum(again.values()):,} rows in all).")
    used = roles.used | ({roles.rater} if repeats == "z" else set())
    if unused := [cell or "(no name)" for k, cell in enumerate(header) if k not in used]:
        notes.append(f"Columns not used: {', '.join(unused)}.")
    return ScoreTable(_results(by_system, better, ratings | again), notes)


def table_of_columns(
    columns: Mapping[str, Sequence[object]],
    name: str,
    unit: str = "row",
    *,
    repeats: Repeats = "error",
    column: str | None = None,
) -> ScoreTable:
    """Make a score table of columns, as `table_of_rows` does.

    >>> table_of_columns({"system": ["a"], "item": [7], "rating": [2]}, "people").metrics
    ['people']
    """
    rows = enumerate(zip(*columns.values(), strict=True), start=1)
    numbered = ((f"{unit} {k}", row) for k, row in rows)
    own = column if column is not None and column.lower() in columns else None
    return table_of_rows(list(columns), numbered, name, repeats=repeats, column=own)


def _results(
    by_system: Mapping[str, Mapping[str, dict[str, float]]],
    better: Mapping[str, Better | None],
    counts: Mapping[tuple[str, str, str], int],
) -> dict[str, dict[str, MetricResult]]:
    scales: dict[str, Scale] = {}
    for name in dict.fromkeys(metric for row in by_system.values() for metric in row):
        scale: Scale = view("declared scale")(name)
        scales[name] = replace(scale, better=better.get(name) or scale.better)
    ratings: defaultdict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for (system, item, name), count in counts.items():
        ratings[system, name][item] = count
    return {
        system: {
            name: MetricResult(
                name,
                _system_score(scores),
                ItemScores.of(scores),
                "",
                scale=scales[name],
                ratings=ratings[system, name],
            )
            for name, scores in row.items()
        }
        for system, row in by_system.items()
    }


def narrow_column(header: Sequence[str]) -> str | None:
    """Name the column of the scores in a table that has one in each row; ``None`` in others.

    >>> narrow_column(["system", "video_id", "rating"]), narrow_column(["system", "adequacy"])
    ('rating', None)
    """
    return next((name for name in SCORE_NAMES if name in header), None)


def roles_of(header: Sequence[str], rows: Iterable[Row] = (), column: str | None = None) -> Roles:
    """Find the columns by their names, in lower case."""
    place = {name: k for k, name in reversed(list(enumerate(header)))}
    item = USUAL.item_field(header)
    system = next((name for name in SYSTEM_NAMES if name in place), None)
    metric = next((name for name in METRIC_NAMES if name in place), None)
    score = narrow_column(header)
    for name in (system, item, metric, score):
        if name is not None and header.count(name) > 1:
            raise UnusableRow(f"line 1 names the column {name} twice")
    listing = f"line 1 is {','.join(header)!r}"
    if system is None:
        raise UnusableRow(f"{listing} and has no column system")
    if column is not None:
        if column.strip().lower() not in place:
            raise UnusableRow(f"{listing} and has no column {column}")
        column = column.strip().lower()
        scores = {place[column]: "" if metric or column == SCORE_NAMES[0] else column}
    elif score is not None:
        scores = {place[score]: ""}
    else:
        named = {system, item, metric, BETTER}
        free = [k for k, name in enumerate(header) if name not in named and _may_score(name)]
        scores = {k: header[k] for k in free if _holds_numbers(rows, k)}
        if not scores:
            raise UnusableRow(f"{listing} and has no column score, nor others that hold numbers")
    return Roles(
        place[system],
        None if item is None else place[item],
        None if metric is None else place[metric],
        scores,
        place.get(BETTER),
        next((place[name] for name in RATER_NAMES if name in place), None),
        place.get(RATINGS) if score is not None else None,
    )


class _Rater(NamedTuple):
    """How a rater uses the scale of one score."""

    lowest: float
    highest: float
    mean: float
    spread: float

    def standardised(self, number: float) -> float:
        """Return how far above the rater's mean, in the rater's standard deviations."""
        return (number - self.mean) / self.spread if self.spread else 0.0


def _rater(row: Sequence[object], roles: Roles) -> str:
    return _name(row[roles.rater or 0], "a row", "rater")


def _raters(rows: Iterable[Row], roles: Roles) -> dict[tuple[str, str], _Rater]:
    """Describe the scores of each rater, by score and rater."""
    numbers: dict[tuple[str, str], list[float]] = {}
    for place, row in rows:
        said = "" if roles.metric is None else _name(row[roles.metric], place, "metric")
        for column, own_name in roles.scores.items():
            number = _number(row[column], place)
            if number is not None:
                numbers.setdefault((own_name or said, _rater(row, roles)), []).append(number)
    return {
        key: _Rater(
            min(own), max(own), math.fsum(own) / len(own), float(np.std(own, ddof=len(own) > 1))
        )
        for key, own in numbers.items()
    }


def _scale_warnings(raters: Mapping[tuple[str, str], _Rater]) -> list[str]:
    """Warn of raters whose scores can hardly have one scale, where they would be averaged."""
    warnings = []
    for score in dict.fromkeys(score for score, _ in raters):
        varied = {name: each for (own, name), each in raters.items() if own == score}
        varied = {name: each for name, each in varied.items() if each.spread}
        size = {name: max(abs(each.lowest), abs(each.highest)) for name, each in varied.items()}
        if not size:
            continue
        narrow, wide = min(size, key=lambda name: size[name]), max(size, key=lambda n: size[n])
        one, other = varied[narrow], varied[wide]
        if size[wide] >= _FAR * size[narrow] and other.spread >= _FAR * one.spread:
            of = f" of {score}" if score else ""
            warnings.append(
                f"Warning: raters seem to have different scales{of}: {narrow} gives "
                f"{one.lowest:g} to {one.highest:g}, {wide} {other.lowest:g} to "
                f"{other.highest:g}. Their mean is that of whoever has the larger numbers; "
                'standardise each rater\'s scores: repeats="z".'
            )
    return warnings


def gap_notes(gaps: int) -> list[str]:
    """Count rows without a score, in a note.

    >>> gap_notes(2)
    ['2 rows without a score were left out.']
    """
    rows = counted(gaps, "row without a score was", "rows without a score were")
    return [f"{rows} left out."] if gaps else []


def _may_score(name: str) -> bool:
    *_, last = ["", *name.replace("_", " ").split()]
    return not {name, name.removesuffix("id"), last} & {*_OTHER_NUMBERS, "id"}


def _holds_numbers(rows: Iterable[Row], column: int) -> bool:
    """Return whether a column holds numbers and gaps alone."""
    cells = [row[column] for _, row in rows if column < len(row)]
    try:
        numbers = [_number(cell, "") for cell in cells]
    except UnusableRow:
        return False
    return any(number is not None for number in numbers)


def _name(cell: object, place: str, what: str) -> str:
    """A cell as a name: the number 7 as '7', an empty cell as ''."""
    if isinstance(cell, str):
        return cell
    if is_missing(cell):
        return ""
    if isinstance(cell, float) and cell.is_integer():  # as pandas has integers beside empty cells
        cell = int(cell)
    if id_fault(cell):
        raise UnusableRow(f"{place} has the {what} {cell!r}")
    return id_text(cell)


def _number(cell: Any, place: str) -> float | None:
    if is_missing(cell) or (isinstance(cell, str) and cell.strip().lower() in _NO_SCORE):
        return None
    try:
        number = float(cell)
    except (TypeError, ValueError):
        number = math.inf
    if math.isinf(number) or isinstance(cell, bool):
        raise UnusableRow(f"{place} has the score {cell!r}")
    return None if math.isnan(number) else number


def _set_better(better: dict[str, Better | None], metric: str, cell: object, place: str) -> None:
    """Note what a row says of its metric's direction; rows must not contradict each other."""
    text = "" if is_missing(cell) else str(cell).strip().lower()
    said = next((each for each in get_args(Better) if each == text), None)
    if text and said is None:
        raise UnusableRow(f"{place} has {cell!r} in the column better, not high, low or neither")
    if better.setdefault(metric, said) != said:
        raise UnusableRow(f"{place} has {cell!r} in the column better, unlike an earlier row")


def _system_score(scores: dict[str, float]) -> float:
    """Take the system's own row out of its items; a table without one gets the mean."""
    if "" in scores:
        return scores.pop("")
    return float(np.mean(list(scores.values())))
