"""Score tables in files: JSON with everything, CSV with system, item, metric, score."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Mapping
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from reelscore._records import resolved
from reelscore.data.atomic_files import write_atomically
from reelscore.data.captions.python_captions import columns_of
from reelscore.data.formats.delimited import column_name
from reelscore.data.reading import USUAL
from reelscore.data.tables.scales import Better, Scale, output_name
from reelscore.data.tables.table import (
    Coverage,
    ItemScores,
    MetricResult,
    ScoreTable,
    Statistics,
    file_format,
    view,
)
from reelscore.data.tables.table_rows import (
    BETTER,
    RATINGS,
    SCORE_NAMES,
    SYSTEM_NAMES,
    Repeats,
    UnusableRow,
    gap_notes,
    roles_of,
    table_of_columns,
    table_of_rows,
)
from reelscore.errors import DataError, check_choice

FORMAT = 2  # of JSON files; 2 may have statistics, and files of format 1 do not say their format


def json_text(table: ScoreTable, *, statistics: bool = True) -> str:
    """Return a table as JSON text; see `reelscore.ScoreTable.to_dict`."""
    return msgspec.json.encode(table.to_dict(statistics=statistics)).decode() + "\n"


def stored_statistics(table: ScoreTable) -> dict[str, list[dict[str, Any]]]:
    """Return the statistics of a table as in its JSON form: by system and metric, in columns."""
    stored = {}
    for system, row in table.results.items():
        shared = {id(r.statistics): r.statistics for r in row.values() if r.statistics is not None}
        if shared:
            stored[system] = [_group(each, row) for each in shared.values()]
    return stored


def _group(shared: Statistics, row: Mapping[str, MetricResult]) -> dict[str, Any]:
    """Return the statistics of one metric as plain data."""
    first = next(row[name] for name in shared.outputs if name in row)
    same = list(first.items.index.items) == list(shared.items)
    return {
        "outputs": list(shared.outputs),
        **({} if same else {"items": list(shared.items)}),
        "columns": [_plain(column) for column in shared.rows.T],
    }


def _plain(column: NDArray[np.float64]) -> list[float] | list[int]:
    """Return a column as plain numbers; counts without a fraction, which takes less space."""
    whole = bool((column == np.rint(column)).all() and (np.abs(column) < 2**53).all())
    numbers: list[float] = (column.astype(np.int64) if whole else column).tolist()
    return numbers


def csv_text(table: ScoreTable) -> str:
    """Return a table as CSV text; the row with an empty item is the system's own score.

    Where higher is not better by all scores, a column ``better`` says so; where scores are means of
    judgments, a column ``ratings`` says of how many.
    """
    out = io.StringIO()
    # csv leaves a lone CR unquoted, and then reads it as the end of a line.
    results = [result for row in table.results.values() for result in row.values()]
    names = chain(table.systems, table.metrics, *(result.items for result in results))
    has_cr = any("\r" in name for name in names)
    quoting: Literal[0, 1] = csv.QUOTE_ALL if has_cr else csv.QUOTE_MINIMAL
    writer = csv.writer(out, lineterminator="\n", quoting=quoting)
    directed = any(result.scale.better != "high" for result in results)
    judged = any(result.ratings for result in results)
    writer.writerow([*_COLUMNS, *[BETTER] * directed, *[RATINGS] * judged])
    for system, row in table.results.items():
        for name, result in row.items():
            better = [result.scale.better] if directed else []
            writer.writerow([system, "", name, repr(float(result.score)), *better, *[""] * judged])
            values = result.items.array.tolist()
            writer.writerows(
                [system, item, name, repr(value), *better, *[result.ratings.get(item, 1)] * judged]
                for item, value in zip(result.items, values, strict=True)
            )
    return out.getvalue()


def write_table(table: ScoreTable, path: str | Path, *, statistics: bool = True) -> None:
    """Write a table, as JSON or CSV by the file's ending.

    Args:
        table: The score table.
        path: A .csv or .json file.
        statistics: As in `reelscore.ScoreTable.write`.

    >>> import tempfile
    >>> from reelscore import score_systems
    >>> path = Path(tempfile.mkdtemp(), "scores.json")
    >>> write_table(score_systems({"mine": {"v1": "a man"}}, {"v1": ["a man"]}, "rouge_l"), path)
    >>> read_table(path)["mine"]["rouge_l"].score
    1.0
    """
    is_json = file_format(path) == "json"
    write_atomically(path, json_text(table, statistics=statistics) if is_json else csv_text(table))


def read_table(
    path: str | Path, *, repeats: Repeats = "error", column: str | None = None
) -> ScoreTable:
    r"""Read a table that `write_table` wrote, or one that somebody else made.

    A CSV file needs the columns system and score, in any order, and has as a rule a column item;
    commas, semicolons or tabs separate them. The columns may have other names, such as model,
    video_id and rating. Without a column metric, the file's name is the metric's. Where there is
    no score, every other column of numbers is one, under its own name. A JSON file may be a list
    of records with such fields. A column better says
    whether a ``high`` or a ``low`` score is better, or ``neither``; without it, a known metric's
    own declaration counts, and higher is better otherwise. What was read but not used, or left
    out, is in the table's notes.

    Args:
        path: A .csv or .json file.
        repeats: Several scores of one system, item and metric are an ``error``, or their
            ``mean`` is taken, as with several judgments of a caption; ``z``: the mean of
            each rater's scores, standardised by the rater's mean and standard deviation.
        column: Take one score alone: a column of the file, or a name in its column metric.

    Raises:
        DataError: If the file cannot be read or is not a score table.
        UnknownNameError: If there is no such score.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "adequacy.csv")
    >>> _ = path.write_text("item,system,score,rater\nv1,mine,70,r1\nv1,mine,80,r2\n")
    >>> table = read_table(path, repeats="mean")
    >>> table["mine"]["adequacy"].items["v1"]
    75.0
    >>> table.notes
    ['1 score is the mean of several rows (2 rows in all).', 'Columns not used: rater.']
    """
    is_json = file_format(path) == "json"
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}).") from error
    try:
        if is_json and data.lstrip()[:1] != b"[":
            table = _from_json(data)
        elif is_json:
            records = msgspec.json.decode(data, type=list[dict[str, Any]])
            if not records:
                raise UnusableRow("the list has no records")
            columns = columns_of(records, "scores")
            name = Path(path).stem
            table = table_of_columns(columns, name, "record", repeats=repeats, column=column)
        else:
            text = data.decode("utf-8-sig")
            table = _from_csv(text, Path(path).stem, repeats, column)
    except (msgspec.DecodeError, UnicodeDecodeError, csv.Error, UnusableRow) as error:
        raise DataError(
            f"{path}: not a score table: {error}. Expected CSV with the columns system, item, "
            "score and optionally metric, a JSON list of such records, or JSON with 'systems', as "
            "ScoreTable.write and --table write them."
        ) from error
    return table if column is None else one_score(table, column)


def one_score(table: ScoreTable, column: str) -> ScoreTable:
    """Keep one score of a table."""
    if column.lower() in SCORE_NAMES and len(table.metrics) == 1:  # under the file's name
        return table
    name = column if column in table.metrics else column.lower()
    check_choice("human score", name, table.metrics)
    rows = {system: {name: row[name]} for system, row in table.results.items() if name in row}
    return structs.replace(table, results=rows)


def is_score_table(path: str | Path) -> bool:
    """Distinguish a score table from a file of captions by how it begins."""
    try:
        with Path(path).open("rb") as file:
            start = file.read(4096)
    except OSError:
        return False
    if Path(path).suffix.lower() != ".csv":
        return _JSON_TABLE.match(start) is not None
    header = start.removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0].lower()
    cells = re.split(rb"[,;\t]", header)
    columns = {cell.strip(b' "\r').decode(errors="replace") for cell in cells}
    if not columns.intersection(SYSTEM_NAMES) or "caption" in columns:
        return False
    is_wide = USUAL.item_field(columns) is not None and not USUAL.has_captions(columns)
    return is_wide or bool(columns.intersection(SCORE_NAMES))


_JSON_TABLE = re.compile(rb'\s*{\s*"systems"\s*:\s*{')


def csv_rows(path: str | Path) -> list[tuple[str, str]]:
    r"""System and item of each row of a CSV table, in the order of the file; of JSON, none."""
    if file_format(path) == "json":
        return []
    text = Path(path).read_bytes().decode("utf-8-sig")
    header, *lines = csv.reader(io.StringIO(text), delimiter=_delimiter(text))
    rows = [("", line) for line in lines if line]
    roles = roles_of([column_name(cell) for cell in header], rows)
    if roles.item is None:
        return []
    pairs = ((row[roles.system], row[roles.item]) for _, row in rows)
    return list(dict.fromkeys((system, item) for system, item in pairs if item))


_COLUMNS = ["system", "item", "metric", "score"]


class _Scale(msgspec.Struct):
    better: Better = "high"
    range: tuple[float | None, float | None] = (None, None)
    mean: bool | None = None
    together: bool = False
    headline: bool = False
    label: str = ""
    percent: bool = False

    def read(self) -> Scale:
        own = (self.better, *self.range, self.mean, self.together, self.headline)
        return Scale(*own, self.label, self.percent)


class _Entry(msgspec.Struct):
    score: float
    signature: str = ""
    interval: tuple[float, float] | None = None
    items: dict[str, float | None] = {}  # msgspec copies the default
    scale: _Scale | None = None
    by_tiou: dict[str, float] = {}
    coverage: Coverage | None = None
    ratings: dict[str, int] = {}


class _Statistics(msgspec.Struct):
    outputs: list[str]
    columns: list[list[float]]
    items: list[str] | None = None  # those of the first score, if not said


class _Stored(msgspec.Struct):
    systems: dict[str, dict[str, _Entry]]
    notes: list[str] = []  # tables of older versions have none; msgspec copies the default
    bounds: list[str] = []
    statistics: dict[str, list[_Statistics]] = {}
    format: int = 1


def _from_json(data: bytes) -> ScoreTable:
    stored = msgspec.json.decode(data, type=resolved(_Stored))
    if stored.format > FORMAT:
        raise UnusableRow(
            f"it has format {stored.format} of a newer reelscore, and this one reads up to {FORMAT}"
        )
    declared = cache(view("declared scale"))
    gaps = 0

    def scale(name: str, entry: _Entry) -> Scale:
        own = entry.scale
        if own is not None and own.label:
            return own.read()
        said: Scale = declared(name, entry.signature)
        return (
            said
            if own is None
            else structs.replace(own.read(), label=said.label, percent=said.percent)
        )

    def items(entry: _Entry) -> ItemScores:
        nonlocal gaps
        there = {item: score for item, score in entry.items.items() if score is not None}
        gaps += len(entry.items) - len(there)
        return ItemScores.of(there)

    results = {
        system: {
            name: MetricResult(
                name,
                entry.score,
                items(entry),
                entry.signature,
                entry.interval,
                scale(name, entry),
                by_tiou=entry.by_tiou,
                coverage=entry.coverage,
                ratings=entry.ratings,
            )
            for name, entry in row.items()
        }
        for system, row in stored.systems.items()
    }
    unusable: dict[tuple[str, str], None] = {}
    for system, groups in stored.statistics.items():
        row = results.get(system, {})
        for group in groups:
            own = {name: row[name] for name in group.outputs if name in row}
            try:
                shared = _statistics(group, own)
            except _UnusableStatistics as error:
                unusable[", ".join(group.outputs), str(error)] = None
            else:
                row |= {
                    name: structs.replace(each, statistics=shared) for name, each in own.items()
                }
    notes = [f"{names}: the stored statistics are not used: {why}." for names, why in unusable]
    bounds = [system for system in stored.bounds if system in results]
    return ScoreTable(results, [*stored.notes, *gap_notes(gaps), *notes], bounds=bounds)


class _UnusableStatistics(ValueError):
    """Statistics of a file that cannot be trusted."""


def _statistics(group: _Statistics, results: dict[str, MetricResult]) -> Statistics:
    """Read the statistics of one metric, and check that they give the scores of the table."""
    if not results or not group.columns:
        raise _UnusableStatistics("they belong to no score")
    first = next(iter(results.values()))
    items = first.items.index.items if group.items is None else group.items
    if {len(column) for column in group.columns} != {len(items)}:
        raise _UnusableStatistics("they are of other items than the scores")
    metric = view("metric")(first.metric, first.signature)
    if metric is None or list(metric.outputs) != list(map(output_name, group.outputs)):
        raise _UnusableStatistics("the metric cannot be loaded here")
    rows = np.array(group.columns, dtype=np.float64).T.copy()
    try:
        scores = dict(zip(group.outputs, metric.aggregate(rows).tolist(), strict=True))
    except IndexError:
        scores = {}
    if any(
        not math.isclose(scores.get(name, math.nan), each.score, rel_tol=1e-9, abs_tol=1e-12)
        for name, each in results.items()
    ):
        raise _UnusableStatistics("another version of the metric made them")
    return Statistics(tuple(group.outputs), items, rows, metric.scores)


def _from_csv(text: str, name: str, repeats: Repeats, column: str | None) -> ScoreTable:
    lines = csv.reader(io.StringIO(text), delimiter=_delimiter(text))
    header = next(lines, [])
    rows = ((f"line {lines.line_num}", row) for row in lines if row)
    own = column if column and column.lower() in map(column_name, header) else None
    return table_of_rows(header, rows, name, repeats=repeats, column=own)


def _delimiter(text: str) -> str:
    """Find the separator by the header: the one that divides it most."""
    header = text.partition("\n")[0]
    return max(",\t;", key=lambda delimiter: len(header.split(delimiter)))
