"""A campaign in plain files: one line or row for each thing there is.

As JSONL it is one file, each line an object whose `type` says what it is. As CSV it is a folder
with a file for each type, and the campaign itself in `campaign.json`. The order is that of `LINES`;
times are ISO 8601 in UTC, missing numbers and times null or an empty cell.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, get_args

import msgspec

from reelscore._records import resolved
from reelscore.campaigns.hits.tasks import Kind
from reelscore.campaigns.store.records import AssignmentState, State
from reelscore.data.checks import Problems
from reelscore.data.source import Source, decode_line
from reelscore.data.spreadsheet import unquoted
from reelscore.errors import DataError
from reelscore.store.values import check_name, check_text, from_iso, to_iso

FORMAT = "reelscore campaign 2"
OLD_FORMAT = "reelscore campaign 1"  # still read: without the types and fields of `ADDED`
TIMES = frozenset(
    ["time", "claimed", "active", "finished", "opened", "started", "submitted", "received"]
)
INTEGERS = frozenset(["position", "slot", "turn"])
NUMBERS = frozenset(["expected", "score", "z", "seconds", "watched"])
NAMES = frozenset(["id", "hit", "task", "item", "system", "criterion", "actor", "what"])
Time = str | None


class FileLine(msgspec.Struct, frozen=True, tag_field="type", forbid_unknown_fields=True):
    """What all lines have in common: their type."""


class CampaignLine(FileLine, frozen=True, tag="campaign"):
    """The campaign: what was settled at the start, its state and settings."""

    format: str
    id: str
    name: str
    systems: list[str]
    protocol: str
    layout: str
    seed: int
    state: State
    raters_per_hit: int
    hold: float
    created: str
    settings: dict[str, Any]
    humans: list[str] = []


class CaptionLine(FileLine, frozen=True, tag="caption"):
    """A caption that HITs are made of."""

    system: str
    item: str
    text: str


class HitLine(FileLine, frozen=True, tag="hit"):
    """A HIT."""

    id: str


class TaskLine(FileLine, frozen=True, tag="task"):
    """A task of a HIT."""

    hit: str
    id: str
    position: int
    item: str
    expected: float | None


class ShownLine(FileLine, frozen=True, tag="shown"):
    """A caption of a task."""

    hit: str
    task: str
    slot: int
    system: str
    text: str
    kind: Kind


class AssignmentLine(FileLine, frozen=True, tag="assignment"):
    """A place for a rater: the slot of a HIT, and whose turn it is."""

    hit: str
    slot: int
    turn: int
    state: AssignmentState
    rater: str
    claimed: Time
    active: Time
    finished: Time
    client: str
    seconds: float | None
    status: str
    task: str = ""
    opened: Time = None
    replaces: str = ""
    flags: str = ""


class JudgmentLine(FileLine, frozen=True, tag="judgment"):
    """A score of a caption by the rater of an assignment."""

    hit: str
    rater: str
    task: str
    slot: int
    criterion: str
    score: float
    z: float | None
    position: int
    started: Time
    submitted: Time
    received: str
    client: str
    opened: Time = None
    watched: float | None = None


class SkipLine(FileLine, frozen=True, tag="skip"):
    """A task that the rater of an assignment reported and skipped."""

    hit: str
    rater: str
    task: str
    time: str
    reason: str


class EventLine(FileLine, frozen=True, tag="event"):
    """A decision."""

    time: str
    actor: str
    what: str
    about: str
    reason: str


CampaignPart = (
    CaptionLine
    | HitLine
    | TaskLine
    | ShownLine
    | AssignmentLine
    | JudgmentLine
    | SkipLine
    | EventLine
)
LINES: dict[str, type[FileLine]] = {
    str(line.__struct_config__.tag): line for line in get_args(CampaignPart)
}
# What files of the old format do not have.
ADDED: dict[str, tuple[str, ...]] = {
    "caption": CaptionLine.__struct_fields__,
    "assignment": ("task", "opened", "replaces", "flags"),
    "judgment": ("opened", "watched"),
    "skip": SkipLine.__struct_fields__,
}


def file_name(kind: str) -> str:
    """Name the CSV file of a type of lines.

    >>> file_name("hit"), file_name("shown")
    ('hits.csv', 'shown.csv')
    """
    return "shown.csv" if kind == "shown" else f"{kind}s.csv"


def columns(kind: str) -> list[tuple[str, type]]:
    """Name the columns of a type of lines, with what the database has in them.

    >>> columns("hit")
    [('id', <class 'str'>)]
    """
    return typed(LINES[kind].__struct_fields__)


def typed(names: Iterable[str]) -> list[tuple[str, type]]:
    """Name columns with what the database has in them.

    >>> typed(["task", "opened"])
    [('task', <class 'str'>), ('opened', <class 'int'>)]
    """
    return [
        (name, int if name in TIMES | INTEGERS else float if name in NUMBERS else str)
        for name in names
    ]


@cache
def _time_places(kind: str) -> list[int]:
    return [place for place, (name, _) in enumerate(columns(kind)) if name in TIMES]


def to_line(kind: str, row: Iterable[Any]) -> FileLine:
    """Make a line of a row of the database."""
    values = list(row)
    for place in _time_places(kind):
        values[place] = to_iso(values[place])
    return LINES[kind](*values)


def to_row(line: FileLine) -> list[object]:
    """Make a row for the database of a line."""
    row: list[object] = []
    for name in line.__struct_fields__:
        value = getattr(line, name)
        if name in TIMES:
            value = from_iso(value)
        elif _is_name(name, line):
            check_name(value, f"the {name}")
        elif isinstance(value, str):
            check_text(value, f"the {name}")
        elif isinstance(value, float) and not math.isfinite(value):
            raise DataError(f"the {name} is {value}; expected a number.")
        elif isinstance(value, int) and not 0 <= value < 2**31:
            raise DataError(f"the {name} is {value}; expected a number from 0.")
        row.append(value)
    return row


def _is_name(name: str, line: FileLine) -> bool:
    """Return whether a field must have at least one character."""
    if isinstance(line, AssignmentLine):
        return name == "hit"
    return name in NAMES or (name == "rater" and isinstance(line, JudgmentLine | SkipLine))


LONGEST = 16 << 20  # bytes of a line
CAMPAIGN_FILE = "campaign.json"
# Cells that hold nothing where they are empty, rather than an empty text.
_OPTIONAL = (TIMES | NUMBERS) - {"score", "received", "time"}
_MISREAD = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_any_line = msgspec.json.Decoder(CampaignLine | CampaignPart)


def read_lines(path: Path, problems: Problems) -> Iterator[tuple[int, FileLine]]:
    """Yield the lines of a campaign with their numbers, the campaign itself first."""
    if not path.is_dir():
        yield from _jsonl(path, problems)
        return
    is_old = False
    for number, campaign in _campaign(path / CAMPAIGN_FILE, problems):
        is_old = campaign.format == OLD_FORMAT
        yield number, campaign
    for kind in LINES:
        absent = ADDED.get(kind, ()) if is_old else ()
        names = [name for name, _ in columns(kind) if name not in absent]
        if names:
            yield from _csv(path / file_name(kind), kind, names, problems)


def place(path: Path, kind: str, number: int) -> str:
    """Return where a line is.

    >>> place(Path("dogs.jsonl"), "hit", 3)
    'dogs.jsonl:3'
    """
    return f"{path / file_name(kind) if path.is_dir() else path}:{number}"


def _jsonl(path: Path, problems: Problems) -> Iterator[tuple[int, FileLine]]:
    with _source(path) as source:
        for number, raw in source.lines(longest=LONGEST):
            try:
                yield number, _any_line.decode(raw)
            except _MISREAD as error:
                problems.add(f"{path}:{number}: {error}.")


def _campaign(path: Path, problems: Problems) -> Iterator[tuple[int, CampaignLine]]:
    document = b""
    with _source(path) as source:
        for _, raw in source.lines(longest=LONGEST):
            document += raw
            if len(document) > LONGEST:
                raise DataError(f"{path}: more than {LONGEST:,} bytes; is this the right file?")
    try:
        yield 1, msgspec.json.decode(document, type=resolved(CampaignLine))
    except _MISREAD as error:
        problems.add(f"{path}: {error}.")


def _csv(
    path: Path, kind: str, names: list[str], problems: Problems
) -> Iterator[tuple[int, FileLine]]:
    with _source(path) as source:
        lines = (
            decode_line(raw, source.path, number) for number, raw in source.lines(longest=LONGEST)
        )
        rows = csv.reader(lines, strict=True)
        try:
            header = next(rows)
            if header != names:
                raise DataError(
                    f"{path}:1: the columns are {', '.join(header)[:200]}; expected "
                    f"{', '.join(names)}."
                )
            number = rows.line_num + 1
            for cells in rows:
                try:
                    yield number, _line(kind, names, cells)
                except (msgspec.ValidationError, DataError) as error:
                    problems.add(f"{path}:{number}: {error}.")
                number = rows.line_num + 1
        except csv.Error as error:
            raise DataError(f"{path}:{rows.line_num}: malformed CSV: {error}.") from None


def _line(kind: str, names: list[str], cells: list[str]) -> FileLine:
    if len(cells) != len(names):
        raise DataError(f"the row has {len(cells)} cells, the header {len(names)}")
    values: dict[str, object] = dict(zip(names, map(unquoted, cells), strict=True))
    for name in _OPTIONAL & values.keys():
        values[name] = values[name] or None
    return msgspec.convert(values, resolved(LINES[kind]), strict=False)


def _source(path: Path) -> Source:
    if path.is_file() and path.stat().st_size == 0:
        raise DataError(f"{path}: the file is empty; expected what a campaign's export wrote.")
    return Source(path)
