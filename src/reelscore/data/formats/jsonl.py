"""`jsonl`: one JSON object a line, with an item id and a caption or a list of captions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from reelscore.data.fields import Role
from reelscore.data.json_kinds import first_fields, json_kind
from reelscore.data.problems import Problems
from reelscore.data.source import Source
from reelscore.errors import DataError


def sniff(head: bytes) -> bool:
    """Tell whether a file begins with an object that is one record, or one of several objects."""
    return json_kind(head) == "jsonl"


def fields(head: bytes) -> list[str]:
    """Name the fields of the first record."""
    return first_fields(head)


def place(path: str, number: int) -> str:
    """Name a record by its line."""
    return f"{path}:{number}"


def read(source: Source, problems: Problems, role: Role) -> Iterator[tuple[int, object, object]]:
    """Yield line number, item id and caption or captions of each record; pass over blank lines."""
    from reelscore.data.json_decoding import records_of

    return records_of(_objects(source, problems), partial(place, source.path), problems, role)


def _objects(source: Source, problems: Problems) -> Iterator[tuple[int, Any]]:
    from reelscore.data.json_decoding import decode_json_line

    for number, line in source.lines():
        if line.isspace():
            continue
        try:
            yield number, decode_json_line(line, source.path, number)
        except DataError as error:
            problems.add(str(error))
