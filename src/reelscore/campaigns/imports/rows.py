"""Rows of imported tables: what their kinds, scores and times say, whatever tool wrote them.

Where a closing quote is missing, a row runs on into the next ones. It ends before the first line
that has as many cells as the other rows, and the quote belongs where it gives the row that many
cells too: at the end, or before some delimiter. Where that is not one place alone, nothing is
proven.
"""

from __future__ import annotations

import csv
import re
from collections import Counter, deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import NamedTuple

from reelscore.campaigns.hits.tasks import Kind
from reelscore.data.checks import Problems
from reelscore.data.source import Source, decode_line
from reelscore.errors import DataError

LONGEST = 1 << 16  # characters; every delimiter of a torn row is tried


class TornRow(NamedTuple):
    """What a missing quote may have meant."""

    lines: int  # how many of the lines belong to the row; the rest are the next rows
    # the cells of the row, in every way that has the right number of them
    readings: list[list[str]]


def torn_row(
    lines: Sequence[str], delimiter: str, widths: Collection[int], columns: int
) -> TornRow:
    r"""Find where a row ends, and how it can be read with one quote more."""
    expected = widths or {columns, _width(lines[0], delimiter)}
    count = next(
        (k for k in range(1, len(lines)) if _width(lines[k], delimiter) in expected), len(lines)
    )
    if not widths:
        expected = {_width(lines[count], delimiter) if count < len(lines) else columns}
    text = "".join(lines[:count]).rstrip("\r\n")
    if len(text) > LONGEST:
        return TornRow(count, [])
    places = [place for place, character in enumerate(text) if character == delimiter]
    readings = []
    for place in (*places, len(text)):
        cells = _cells(f'{text[:place]}"{text[place:]}', delimiter)
        if cells is not None and len(cells) in expected:
            readings.append(cells)
    return TornRow(count, readings)


def _width(line: str, delimiter: str) -> int:
    """Count the cells of a line, which may end within quotes; 0 where it is no row."""
    line = line.rstrip("\r\n")
    cells = _cells(line, delimiter) or _cells(f'{line}"', delimiter)
    return 0 if cells is None else len(cells)


def _cells(text: str, delimiter: str) -> list[str] | None:
    try:
        read = list(csv.reader([text], delimiter=delimiter, strict=True))
    except csv.Error:
        return None
    return read[0]


LONGEST_LINE = 16 << 20  # bytes; an MTurk row of a HIT has ten thousand
Scale = tuple[float, float]

# What the tools of machine translation, Appraise and this project call the kinds of tasks.
KIND_NAMES: Mapping[str, Kind] = {
    "system": "caption",
    "tgt": "caption",
    "caption": "caption",
    "": "caption",
    "repeat": "repeat",
    "chk": "repeat",
    "bad_ref": "degraded",
    "bad": "degraded",
    "degraded": "degraded",
    "ref": "reference",
    "reference": "reference",
    "test": "test",
}


@dataclass
class Intake:
    """What is asked of a reading, and what it met with."""

    problems: Problems  # rows that cannot be used
    scale: Scale = (0, 100)  # the lowest and the highest score there may be
    # keep only this pair of languages, such as ``cs-en``; MT's files may hold several
    pair: str | None = None
    pairs: Counter[str] = field(default_factory=Counter)  # how many judgments each pair has
    incomplete: int = 0  # how many HITs were left out because answers are missing
    notes: list[str] = field(default_factory=list)  # what else there is to say

    def takes(self, source: str, target: str) -> bool:
        """Count a pair of languages, and tell whether it is wanted."""
        name = "-".join(part.strip("'") for part in (source, target) if part)
        self.pairs[name] += 1
        return self.pair in (None, name)


def rows(
    source: Source, delimiter: str, intake: Intake, *, torn: bool = False
) -> Iterator[tuple[int, Sequence[str], Sequence[str]]]:
    """Yield line number, header and cells of each row; a row of another length is a problem.

    A row may end early where only empty columns would follow, as MTurk's rows do. The header may
    be separated by blanks where the rows have tabs, as in the files of WMT.
    """
    csv.field_size_limit(LONGEST_LINE)
    lines = _Lines(source, intake)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    line = 1
    header: list[str] = []
    widths: set[int] = set()
    try:
        header = [cell.strip() for cell in next(reader)]
        if len(header) == 1 and delimiter == "\t":
            header = header[0].split()
        while True:
            line += len(lines.row)
            lines.row.clear()
            try:
                cells = next(reader)
            except csv.Error as error:
                if not torn:
                    raise
                where = f"{source.path}:{line}"
                cells = _recovered(lines, where, delimiter, widths, len(header), intake, error)
                reader = csv.reader(lines, delimiter=delimiter, strict=True)
            if len(cells) > len(header):
                intake.problems.add(
                    f"{source.path}:{line}: the row has {len(cells)} fields, the header "
                    f"{len(header)}; put fields that hold {delimiter!r} in quotes."
                )
            elif cells:
                widths.add(len(cells))
                yield line, header, cells + [""] * (len(header) - len(cells))
    except StopIteration:
        return
    except csv.Error as error:
        intake.problems.add(
            f"{source.path}:{line}: malformed table, in the row from here: {error}."
        )


def _recovered(
    lines: _Lines,
    where: str,
    delimiter: str,
    widths: Collection[int],
    columns: int,
    intake: Intake,
    error: csv.Error,
) -> list[str]:
    """Read a row in which a closing quote is missing, and put back the lines after it."""
    count, readings = torn_row(lines.row, delimiter, widths, columns)
    if count == len(lines.row) and "end of data" in str(error):
        intake.notes.append(
            f"{where}: the file ends within quotes; the incomplete last row was used."
        )
        return next(csv.reader(lines.row, delimiter=delimiter))
    if len(readings) > 1:
        raise csv.Error(
            "a closing quote is missing, and the number of cells does not tell where it belongs; "
            "put it in"
        )
    if not readings:
        raise error
    lines.put_back(count)
    intake.notes.append(
        f"{where}: a closing quote is missing in the row from here; the row was read by its "
        "number of cells."
    )
    return readings[0]


def places(header: Sequence[str], needed: Collection[str], path: str) -> dict[str, int]:
    """Find where columns stand; names that are not there, or twice, are an error."""
    missing = [name for name in needed if name not in header]
    if missing:
        raise DataError(
            f"{path}:1: no column {', '.join(missing)}; the header is "
            f"{', '.join(header[:12])}{'…' if len(header) > 12 else ''}."
        )
    twice = [name for name in needed if header.count(name) > 1]
    if twice:
        raise DataError(f"{path}:1: the column {twice[0]} occurs twice.")
    return {name: header.index(name) for name in header if name}


def kind(text: str) -> Kind:
    """Return what a task was there for.

    >>> kind("BAD_REF")
    'degraded'
    """
    try:
        return KIND_NAMES[text.strip().lower()]
    except KeyError:
        known = ", ".join(name for name in KIND_NAMES if name)
        raise DataError(f"the type is {text!r}; expected one of {known}.") from None


def score(text: str, scale: Scale) -> float:
    """Read a score and check it against the scale.

    >>> score("71", (0, 100))
    71.0
    """
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not scale[0] <= number <= scale[1]:
        raise DataError(
            f"the score is {text[:40]!r}; expected a number from {scale[0]:g} to {scale[1]:g}."
        )
    return number


class _Lines:
    """The lines of a file as text; those of a row can be put back."""

    def __init__(self, source: Source, intake: Intake) -> None:
        self._text = _text(source, intake)
        self._again: deque[str] = deque()
        self.row: list[str] = []  # what was read since it was last cleared

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._again.popleft() if self._again else next(self._text)
        self.row.append(line)
        return line

    def put_back(self, keep: int) -> None:
        """Put the lines of the row back, but for the first ones."""
        self._again.extendleft(reversed(self.row[keep:]))
        del self.row[keep:]


def _text(source: Source, intake: Intake) -> Iterator[str]:
    for number, line in source.lines(longest=LONGEST_LINE):
        try:
            yield decode_line(line, source.path, number)
        except DataError as error:
            intake.problems.add(str(error))
            yield line.decode("utf-8", "replace")  # keeps the rows in step; never returned


# MTurk writes the Pacific zone by its name, which datetime cannot read.
_ZONES = {"PST": -8, "PDT": -7, "UTC": 0, "GMT": 0}
_MTURK = re.compile(r"\w{3} (\w{3} \d{1,2} \d{2}:\d{2}:\d{2}) ([A-Z]{3}) (\d{4})")


def seconds(text: str) -> float | None:
    """Read a time: ISO 8601, seconds since 1970, or as MTurk writes it; nothing for no text.

    A time without a zone is taken as UTC.

    >>> seconds("Fri Nov 25 04:32:21 PST 2016") == seconds("2016-11-25T12:32:21Z")
    True
    """
    text = text.strip()
    if not text:
        return None
    if match := _MTURK.fullmatch(text):
        day, zone, year = match.groups()
        if zone in _ZONES:
            moment = datetime.strptime(f"{day} {year}", "%b %d %H:%M:%S %Y")
            return moment.replace(tzinfo=timezone(timedelta(hours=_ZONES[zone]))).timestamp()
    try:
        return float(text)
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        raise DataError(
            f"the time is {text[:40]!r}; expected one such as 2026-03-01T12:00:00Z."
        ) from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp()
