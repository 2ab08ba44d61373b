"""Judgments in any table with a header: rater, system, item, score, and more where known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reelscore.data.fields import ITEM_FIELDS
from reelscore.data.formats.delimited import header_cells
from reelscore.data.source import Source
from reelscore.data.spreadsheet import unquoted
from reelscore.errors import DataError
from reelscore.human.imports import rows
from reelscore.human.imports.times import seconds
from reelscore.human.judgments import Judgment

# What others call the columns; the first is ours.
NAMES = {
    "rater": ("rater", "worker", "annotator", "judge", "workerid", "user"),
    "system": ("system", "model", "sys", "sys_id"),
    "item": ITEM_FIELDS,
    "score": ("score", "rating", "value"),
    "kind": ("kind", "type"),
    "hit": ("hit", "hitid", "batch"),
}
NEEDED = ("rater", "system", "item", "score")
OTHERS = (
    "task",
    "position",
    "criterion",
    "against",
    "started",
    "submitted",
    "seconds",
    "client",
    "status",
    "z",
    "opened",
    "received",
    "watched",
)


def read(source: Source, intake: rows.Intake) -> Iterator[Judgment]:
    """Yield the judgments of a table; a rater without HITs has done one."""
    names = header_cells(source.head, delimiter(source.head))
    column = columns(names)
    missing = [name for name in NEEDED if name not in column]
    if missing:
        raise DataError(
            f"{source.path}:1: no column {', '.join(missing)}; expected rater, system, item and "
            f"score, and perhaps hit, kind, {', '.join(OTHERS)}. The header is "
            f"{', '.join(names[:12])}."
        )
    for line, _, cells in rows.rows(source, delimiter(source.head), intake):
        row = {name: unquoted(cells[place]).strip() for name, place in column.items()}
        try:
            yield _judgment(row, intake.scale)
        except DataError as error:
            intake.problems.add(f"{source.path}:{line}: {error}")


def columns(header: Sequence[str]) -> dict[str, int]:
    """Find the columns under any of their names.

    >>> columns(["worker", "video_id", "model", "rating"])
    {'rater': 0, 'system': 2, 'item': 1, 'score': 3}
    """
    found = {}
    for name, others in NAMES.items():
        known = next((other for other in others if other in header), None)
        if known is not None:
            found[name] = list(header).index(known)
    return found | {name: list(header).index(name) for name in OTHERS if name in header}


def delimiter(head: bytes) -> str:
    r"""Tell commas, tabs and semicolons apart by the header.

    >>> delimiter(b"rater;item;system;score\nr1;v1;mine;3")
    ';'
    """
    first = head.partition(b"\n")[0]
    return max(",\t;", key=lambda each: first.count(each.encode()))


def _judgment(row: dict[str, str], scale: rows.Scale) -> Judgment:
    for name in NEEDED[:3]:
        if not row[name]:
            raise DataError(f"the {name} is empty.")
    position = row.get("position", "")
    if position and not position.isdigit():
        raise DataError(f"the position is {position!r}; expected a whole number from 0.")
    return Judgment(
        rater=row["rater"],
        hit=row.get("hit", "") or f"all of {row['rater']}",
        task=row.get("task", ""),
        position=int(position) if position else -1,
        system=row["system"],
        item=row["item"],
        kind=rows.kind(row.get("kind", "")),
        score=rows.score(row["score"], scale),
        criterion=row.get("criterion", "") or "adequacy",
        against=row.get("against", ""),
        started=seconds(row.get("started", "")),
        submitted=seconds(row.get("submitted", "")),
        seconds=_number(row.get("seconds", ""), "number of seconds"),
        client=row.get("client", ""),
        status=row.get("status", "").lower(),
        z=_number(row.get("z", ""), "z"),
        opened=seconds(row.get("opened", "")),
        received=seconds(row.get("received", "")),
        watched=_number(row.get("watched", ""), "share watched"),
    )


def _number(text: str, what: str) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        raise DataError(f"the {what} is {text[:40]!r}; expected a number.") from None
