"""Read the plain files of a campaign, line by line; nothing is trusted, nothing is held."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from reelscore.data.encoding import decode_line
from reelscore.data.problems import Problems
from reelscore.data.source import Source
from reelscore.data.spreadsheet import unquoted
from reelscore.errors import DataError
from reelscore.human.store.lines import (
    ADDED,
    LINES,
    NUMBERS,
    OLD_FORMAT,
    TIMES,
    AnyLine,
    CampaignLine,
    Line,
    columns,
    file_name,
)

LONGEST = 16 << 20  # bytes of a line
CAMPAIGN_FILE = "campaign.json"
# Cells that hold nothing where they are empty, rather than an empty text.
_OPTIONAL = (TIMES | NUMBERS) - {"score", "received", "time"}
_MISREAD = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_any_line = msgspec.json.Decoder(AnyLine)


def read_lines(path: Path, problems: Problems) -> Iterator[tuple[int, Line]]:
    """Yield the lines of a campaign with their numbers, the campaign itself first.

    Args:
        path: The .jsonl file or the folder.
        problems: Where lines that cannot be read are noted.

    Raises:
        DataError: If a file is missing, has other columns, or a line has no end.
    """
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
    """Say where a line is.

    >>> place(Path("dogs.jsonl"), "hit", 3)
    'dogs.jsonl:3'
    """
    return f"{path / file_name(kind) if path.is_dir() else path}:{number}"


def _jsonl(path: Path, problems: Problems) -> Iterator[tuple[int, Line]]:
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
        yield 1, msgspec.json.decode(document, type=CampaignLine)
    except _MISREAD as error:
        problems.add(f"{path}: {error}.")


def _csv(path: Path, kind: str, names: list[str], problems: Problems) -> Iterator[tuple[int, Line]]:
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


def _line(kind: str, names: list[str], cells: list[str]) -> Line:
    if len(cells) != len(names):
        raise DataError(f"the row has {len(cells)} cells, the header {len(names)}")
    values: dict[str, Any] = dict(zip(names, map(unquoted, cells), strict=True))
    for name in _OPTIONAL & values.keys():
        values[name] = values[name] or None
    return msgspec.convert(values, LINES[kind], strict=False)


def _source(path: Path) -> Source:
    if path.is_file() and path.stat().st_size == 0:
        raise DataError(f"{path}: the file is empty; expected what a campaign's export wrote.")
    return Source(path)
