"""Judgments: what raters said, one row each, whatever the protocol and wherever they come from.

Importers, campaigns and simulations yield them; quality control, scoring and agreement consume
them. A rating is a row with the score of one caption, a ranking a row for each caption with its
rank, a comparison one row with the second system in `against` and a score above 0 where that one
is better.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import islice
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from reelscore.campaigns.hits.tasks import GENUINE, KINDS, Kind

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Mask = NDArray[np.bool_]
_BLOCK = 10_000  # rows held as objects at a time


class Judgment(msgspec.Struct, frozen=True):
    """One score by one rater.

    Attributes:
        rater: Who judged.
        hit: The HIT it was part of; a rater does a HIT once.
        task: The task in the HIT.
        position: The place in the order the rater saw, from 0.
        system: Whose caption.
        item: Of which video.
        kind: What the caption was there for.
        score: The score.
        criterion: What was judged.
        against: For comparisons, whose caption stood beside it.
        started: When the task was shown, in seconds since 1970, as the rater's page says.
        submitted: When the answer was given, as the page says.
        seconds: Time spent on the whole HIT, where only that is known.
        client: What the rater used, as far as it was recorded.
        status: What became of the HIT at the crowd service, such as ``rejected``.
        z: The score standardized, where others have done that.
        opened: When our server sent the task; none for judgments made elsewhere.
        received: When our server took the answer, where it sent the task.
        watched: The share of the video that was watched, from 0 to 1, as the page says.
    """

    rater: str
    hit: str
    task: str
    position: int
    system: str
    item: str
    kind: Kind
    score: float
    criterion: str = "adequacy"
    against: str = ""
    started: float | None = None
    submitted: float | None = None
    seconds: float | None = None
    client: str = ""
    status: str = ""
    z: float | None = None
    opened: float | None = None
    received: float | None = None
    watched: float | None = None


@dataclass(frozen=True)
class NameColumn:
    """Names that repeat, as numbers: row k has `names[codes[k]]`."""

    names: tuple[str, ...]
    codes: IntArray

    @classmethod
    def of(cls, values: Iterable[str]) -> NameColumn:
        """Number the names in order of appearance."""
        number: dict[str, int] = {}
        codes = [number.setdefault(value, len(number)) for value in values]
        return cls(tuple(number), np.array(codes, dtype=np.int64))

    def __getitem__(self, name: str) -> Mask:
        return self.among((name,))

    def __iter__(self) -> Iterator[str]:
        return (self.names[code] for code in self.codes)

    def among(self, names: Collection[str]) -> Mask:
        """Return which rows have one of these names."""
        return np.array([name in names for name in self.names], dtype=bool)[self.codes]

    def select(self, rows: Mask) -> NameColumn:
        """Keep some rows; names that no longer occur go."""
        kept, codes = np.unique(self.codes[rows], return_inverse=True)
        return NameColumn(tuple(self.names[code] for code in kept), codes.astype(np.int64))


@dataclass(frozen=True)
class Judgments:
    """Many judgments, by column.

    >>> rows = [Judgment("r1", "h1", "t1", 0, "mine", "clip1", "caption", 71.0),
    ...         Judgment("r1", "h1", "t2", 1, "mine", "clip1", "degraded", 12.0)]
    >>> judgments = Judgments.of(rows)
    >>> len(judgments), judgments.rater.names, judgments.score.tolist()
    (2, ('r1',), [71.0, 12.0])
    >>> list(judgments) == rows
    True
    >>> len(judgments.select(judgments.genuine))
    1
    """

    rater: NameColumn
    hit: NameColumn
    task: NameColumn
    position: IntArray
    system: NameColumn
    item: NameColumn
    kind: NameColumn
    score: FloatArray
    criterion: NameColumn
    against: NameColumn
    started: FloatArray
    submitted: FloatArray
    seconds: FloatArray
    client: NameColumn
    status: NameColumn
    z: FloatArray
    opened: FloatArray
    received: FloatArray
    watched: FloatArray

    @classmethod
    def of(cls, rows: Iterable[Judgment]) -> Judgments:
        """Take over rows, in order; rows leave numbers behind, no objects."""
        numbers: dict[str, dict[str, int]] = {
            field.name: {} for field in fields(cls) if field.type == "NameColumn"
        }
        numbers["kind"] = {kind: k for k, kind in enumerate(KINDS)}
        whole = {*numbers, "position"}
        blocks: dict[str, list[NDArray[Any]]] = {
            field.name: [np.empty(0, np.int64 if field.name in whole else np.float64)]
            for field in fields(cls)
        }
        rest = iter(rows)
        while block := list(islice(rest, _BLOCK)):
            columns = zip(*map(msgspec.structs.astuple, block), strict=True)
            for name, values in zip(Judgment.__struct_fields__, columns, strict=True):
                if name in numbers:
                    known = numbers[name]
                    values = tuple(known.setdefault(value, len(known)) for value in values)
                blocks[name].append(np.array(values, np.int64 if name in whole else np.float64))
        joined: dict[str, Any] = {name: np.concatenate(parts) for name, parts in blocks.items()}
        for name, known in numbers.items():
            joined[name] = NameColumn(tuple(known), joined[name])
        return cls(**joined)

    def __len__(self) -> int:
        return len(self.score)

    def __iter__(self) -> Iterator[Judgment]:
        columns = [_values(getattr(self, field.name)) for field in fields(self)]
        return (Judgment(*row) for row in zip(*columns, strict=True))

    @cached_property
    def genuine(self) -> Mask:
        """Which rows judge a system: its captions and their repeats, no controls."""
        return self.is_kind(*GENUINE)

    def is_kind(self, *kinds: Kind) -> Mask:
        """Return which rows are of these kinds."""
        return self.kind.among(kinds)

    def select(self, rows: Mask) -> Judgments:
        """Keep some rows, in order."""
        columns = {field.name: getattr(self, field.name) for field in fields(self)}
        kept: dict[str, Any] = {
            name: values.select(rows) if isinstance(values, NameColumn) else values[rows]
            for name, values in columns.items()
        }
        return Judgments(**kept)

    def only(self, criterion: str) -> Judgments:
        """Keep what was judged by one criterion."""
        return self.select(self.criterion[criterion])

    def by(self, raters: Iterable[str]) -> Judgments:
        """Keep what these raters said."""
        return self.select(self.rater.among(set(raters)))

    @classmethod
    def join(cls, parts: Sequence[Judgments]) -> Judgments:
        """Put several sets of judgments one after the other."""
        return cls.of(row for part in parts for row in part)


def _values(column: NameColumn | FloatArray | IntArray) -> Iterable[Any]:
    if isinstance(column, NameColumn):
        return column
    values: list[Any] = column.tolist()
    if column.dtype == np.int64:
        return values
    return (None if math.isnan(value) else value for value in values)
