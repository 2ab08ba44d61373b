"""Judgments made elsewhere, on their way in: each checked by itself."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import Row

from reelscore.data.problems import Problems
from reelscore.errors import DataError
from reelscore.human.judgments import Judgment
from reelscore.human.protocol import Protocol
from reelscore.human.store.texts import check_name, check_text
from reelscore.human.store.times import microseconds
from reelscore.human.tasks import KINDS

COLUMNS: tuple[tuple[str, type], ...] = (
    ("rater", str),
    ("hit", str),
    ("task", str),
    ("position", int),
    ("system", str),
    ("item", str),
    ("kind", str),
    ("score", float),
    ("criterion", str),
    ("against", str),
    ("started", int),
    ("submitted", int),
    ("seconds", float),
    ("client", str),
    ("status", str),
    ("z", float),
    ("opened", int),
    ("received", int),
    ("watched", float),
)
_TIMES = ("started", "submitted", "opened", "received")


def checked_rows(
    judgments: Iterable[Judgment], protocol: Protocol, problems: Problems
) -> Iterator[Sequence[object]]:
    """Check each row by itself, and give it as the staging table has it."""
    for line, row in enumerate(judgments, start=1):
        try:
            yield _checked(line, row, protocol)
        except DataError as error:
            problems.add(f"{where(line, row)}: {str(error)[:1].lower()}{str(error)[1:]}")


def _checked(line: int, row: Judgment, protocol: Protocol) -> Sequence[object]:
    protocol.check_score(row.criterion, row.score)
    for name in ("rater", "hit", "task", "system", "item"):
        check_name(getattr(row, name), f"the {name}")
    for name in ("against", "client", "status"):
        check_text(getattr(row, name), f"the {name}")
    if row.kind not in KINDS:
        raise DataError(f"the kind is {row.kind!r}; expected {', '.join(KINDS)}.")
    if bool(row.against) != (protocol.form == "comparison"):
        wanted = "a second system" if protocol.form == "comparison" else "one system"
        raise DataError(f"compared with {row.against!r}; {protocol.name} judges {wanted}.")
    if not 0 <= row.position < 2**31:
        raise DataError(f"the position is {row.position}; expected a number from 0.")
    for number in (row.seconds, row.z, row.watched):
        if number is not None and not math.isfinite(number):
            raise DataError(f"a number is {number}; expected one, or none.")
    moments = [getattr(row, name) for name in _TIMES]
    times = [None if when is None else microseconds(when) for when in moments]
    return (
        line,
        row.rater,
        row.hit,
        row.task,
        row.position,
        row.system,
        row.item,
        row.kind,
        float(row.score),
        row.criterion,
        row.against,
        *times[:2],
        row.seconds,
        row.client,
        row.status,
        row.z,
        *times[2:],
        row.watched,
    )


def where(line: int, row: Judgment | Row[Any]) -> str:
    """Say which judgment it is, for messages."""
    return f"Judgment {line:,} (rater {row.rater!r}, HIT {row.hit!r}, task {row.task!r})"
