"""Score tables in files: JSON with everything, CSV with system, item, metric, score."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import msgspec
import numpy as np

from reelscore.data.table import ItemScores, MetricResult, ScoreTable, file_format
from reelscore.data.writing import write_atomically
from reelscore.errors import DataError


def json_text(table: ScoreTable) -> str:
    """Give a table as JSON text."""
    return msgspec.json.encode(table.to_dict()).decode() + "\n"


def csv_text(table: ScoreTable) -> str:
    """Give a table as CSV text; the row with an empty item is the system's own score."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for system, row in table.results.items():
        for name, result in row.items():
            writer.writerow([system, "", name, repr(float(result.score))])
            values = result.items.array.tolist()
            writer.writerows(
                [system, item, name, repr(value)]
                for item, value in zip(result.items, values, strict=True)
            )
    return out.getvalue()


def write_table(table: ScoreTable, path: str | Path) -> None:
    """Write a table, as JSON or CSV by the file's ending."""
    write_atomically(path, json_text(table) if file_format(path) == "json" else csv_text(table))


def read_table(path: str | Path) -> ScoreTable:
    """Read a table that `write_table` wrote, or one of the same form.

    Raises:
        DataError: If the file cannot be read or is no score table.
    """
    is_json = file_format(path) == "json"
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}).") from error
    try:
        return _from_json(data) if is_json else _from_csv(data.decode("utf-8-sig"))
    except (msgspec.DecodeError, UnicodeDecodeError, csv.Error, _BadRow) as error:
        raise DataError(
            f"{path}: not a score table: {error}. Expected what --table writes: CSV with the "
            "columns system, item, metric, score, or JSON with 'systems'."
        ) from error


_COLUMNS = ["system", "item", "metric", "score"]


class _Entry(msgspec.Struct):
    score: float
    signature: str = ""
    interval: tuple[float, float] | None = None
    items: dict[str, float] = {}  # msgspec copies the default


class _Stored(msgspec.Struct):
    systems: dict[str, dict[str, _Entry]]


class _BadRow(ValueError):
    """A line of a CSV table that cannot be used."""


def _from_json(data: bytes) -> ScoreTable:
    stored = msgspec.json.decode(data, type=_Stored)
    return ScoreTable(
        {
            system: {
                name: MetricResult(
                    name, entry.score, ItemScores.of(entry.items), entry.signature, entry.interval
                )
                for name, entry in row.items()
            }
            for system, row in stored.systems.items()
        }
    )


def _from_csv(text: str) -> ScoreTable:
    lines = csv.reader(io.StringIO(text))
    header = next(lines, [])
    if header != _COLUMNS:
        raise _BadRow(f"line 1 is {','.join(header)!r}")
    found: dict[str, dict[str, dict[str, float]]] = {}
    for row in lines:
        if len(row) != len(_COLUMNS):
            raise _BadRow(f"line {lines.line_num} has {len(row)} fields")
        system, item, metric, score = row
        try:
            number = float(score)
        except ValueError:
            raise _BadRow(f"line {lines.line_num} has the score {score!r}") from None
        scores = found.setdefault(system, {}).setdefault(metric, {})
        if item in scores:
            raise _BadRow(f"line {lines.line_num} repeats {system}, {item or '(system)'}, {metric}")
        scores[item] = number
    return ScoreTable(
        {
            system: {
                name: MetricResult(name, _system_score(scores), ItemScores.of(scores), "")
                for name, scores in row.items()
            }
            for system, row in found.items()
        }
    )


def _system_score(scores: dict[str, float]) -> float:
    """Take the system's own row out of its items; a table without one gets the mean."""
    if "" in scores:
        return scores.pop("")
    return float(np.mean(list(scores.values())))
