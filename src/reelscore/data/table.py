"""The score table: what every judge of captions yields, and every use of scores consumes.

A table holds, for each system and metric, one number for the system, one for each item, and the
signature of how they were made. It is written as JSON, with everything, or as CSV with the columns
system, item, metric, score, where the row with an empty item is the system's own score.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from reelscore.data.writing import write_atomically
from reelscore.errors import DataError, UnknownNameError


@dataclass(frozen=True)
class ItemIndex:
    """The items of a table, in order; shared by all its columns."""

    items: Sequence[str]

    @cached_property
    def position(self) -> dict[str, int]:
        """Where each item stands."""
        return {item: k for k, item in enumerate(self.items)}


@dataclass(frozen=True)
class ItemScores(Mapping[str, float]):
    """Scores by item id, over an array: a million cost eight megabytes.

    >>> scores = ItemScores.of({"v1": 0.5, "v2": 0.25})
    >>> scores["v2"], len(scores), scores.array.tolist()
    (0.25, 2, [0.5, 0.25])
    """

    index: ItemIndex
    array: NDArray[np.float64]

    @classmethod
    def of(cls, scores: Mapping[str, float]) -> ItemScores:
        """Take over any mapping."""
        return cls(ItemIndex(list(scores)), np.fromiter(scores.values(), float, len(scores)))

    def __getitem__(self, item: str) -> float:
        return float(self.array[self.index.position[item]])

    def __iter__(self) -> Iterator[str]:
        return iter(self.index.items)

    def __len__(self) -> int:
        return len(self.index.items)

    def __repr__(self) -> str:
        return f"<{len(self)} item scores>"

    def to_dict(self) -> dict[str, float]:
        """Give a plain dictionary."""
        return dict(zip(self.index.items, self.array.tolist(), strict=True))


@dataclass(frozen=True)
class MetricResult:
    """One metric's scores of one system.

    Attributes:
        metric: The score's name, such as ``meteor`` or ``bleu_4``.
        score: The number for the system.
        items: The number for each item, in input order.
        signature: How the numbers were made, enough to make them again.
        interval: A confidence interval of the score, where one was asked for.

    >>> result = MetricResult("meteor", 0.25, ItemScores.of({"v1": 0.25}), "meteor|tok:ptb")
    >>> print(result)
    meteor 0.2500 (1 item) meteor|tok:ptb
    """

    metric: str
    score: float
    items: ItemScores
    signature: str
    interval: tuple[float, float] | None = None

    def __str__(self) -> str:
        between = "" if self.interval is None else " [{:.4f}, {:.4f}]".format(*self.interval)
        items = f"{len(self.items)} item{'s' if len(self.items) != 1 else ''}"
        return f"{self.metric} {self.score:.4f}{between} ({items}) {self.signature}"

    def to_dict(self) -> dict[str, Any]:
        """Give the result as the JSON form of a table has it."""
        return {
            "score": self.score,
            "interval": None if self.interval is None else list(self.interval),
            "signature": self.signature,
            "items": self.items.to_dict(),
        }


@dataclass(frozen=True)
class ScoreTable:
    """Results by system and metric.

    >>> result = MetricResult("meteor", 0.25, ItemScores.of({"v1": 0.25}), "meteor|tok:ptb")
    >>> table = ScoreTable({"mine": {"meteor": result}})
    >>> table.systems, table.metrics
    (['mine'], ['meteor'])
    >>> table["mine"]["meteor"].score
    0.25
    """

    results: Mapping[str, Mapping[str, MetricResult]]
    notes: Sequence[str] = field(default=())

    def __getitem__(self, system: str) -> Mapping[str, MetricResult]:
        try:
            return self.results[system]
        except KeyError:
            raise UnknownNameError.of("system", system, self.results) from None

    @property
    def systems(self) -> list[str]:
        """The systems, in order."""
        return list(self.results)

    @property
    def metrics(self) -> list[str]:
        """The metrics any system has, in order of appearance."""
        return list(dict.fromkeys(name for row in self.results.values() for name in row))

    def to_dict(self) -> dict[str, Any]:
        """Give the table as its JSON form has it."""
        return {
            "systems": {
                system: {name: result.to_dict() for name, result in row.items()}
                for system, row in self.results.items()
            }
        }

    def to_json(self) -> str:
        """Give the table as JSON text."""
        return msgspec.json.encode(self.to_dict()).decode() + "\n"

    def to_csv(self) -> str:
        """Give the table as CSV text; numbers in full, so that they read back the same."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["system", "item", "metric", "score"])
        for system, row in self.results.items():
            for name, result in row.items():
                writer.writerow([system, "", name, repr(float(result.score))])
                values = result.items.array.tolist()
                writer.writerows(
                    [system, item, name, repr(value)]
                    for item, value in zip(result.items, values, strict=True)
                )
        return out.getvalue()

    def write(self, path: str | Path) -> None:
        """Write the table, as JSON or CSV by the file's ending.

        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "table.csv"
        >>> result = MetricResult("meteor", 0.25, ItemScores.of({"v1": 0.25}), "meteor")
        >>> ScoreTable({"mine": {"meteor": result}}).write(path)
        >>> ScoreTable.read(path)["mine"]["meteor"].items["v1"]
        0.25
        """
        write_atomically(path, self.to_json() if _is_json(path) else self.to_csv())

    @classmethod
    def read(cls, path: str | Path) -> ScoreTable:
        """Read a table back from JSON or CSV."""
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            raise DataError(f"{path}: cannot be read ({error.strerror}).") from error
        try:
            return _from_json(data) if _is_json(path) else _from_csv(data.decode("utf-8-sig"))
        except (msgspec.DecodeError, UnicodeDecodeError, _BadRow) as error:
            raise DataError(
                f"{path}: not a score table: {error}. Expected what --table writes: CSV with the "
                "columns system, item, metric, score, or JSON with 'systems'."
            ) from error


class _Entry(msgspec.Struct):
    score: float
    signature: str = ""
    interval: tuple[float, float] | None = None
    items: dict[str, float] = {}  # msgspec copies the default


class _Stored(msgspec.Struct):
    systems: dict[str, dict[str, _Entry]]


class _BadRow(ValueError):
    """A line of a CSV table that cannot be used."""


def _is_json(path: str | Path) -> bool:
    suffix = Path(path).suffix.lower()
    if suffix not in {".json", ".csv"}:
        raise DataError(f"{path}: a score table is a .json or a .csv file; name it so.")
    return suffix == ".json"


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
    columns = ["system", "item", "metric", "score"]
    header = next(lines, [])
    if header != columns:
        raise _BadRow(f"line 1 is {','.join(header)!r}")
    found: dict[str, dict[str, dict[str, float]]] = {}
    for row in lines:
        if len(row) != len(columns):
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
