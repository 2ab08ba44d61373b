"""`python`: what a program printed: a dictionary or a list as Python writes it, with its quotes.

It is read as the JSON that it would be.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Iterator

import msgspec

from reelscore.data.formats import Format, detect_format, get_format
from reelscore.data.json_documents import json_kind, whole_document
from reelscore.data.reading import Reading, Record, Request
from reelscore.data.source import Source
from reelscore.errors import DataError

_BEGIN = re.compile(rb"""[\[{(]\s*([\[{(]\s*)*([uUbB]?'|[uUbB]?"|\d+\s*[:,])""")
_UNREADABLE = (ValueError, SyntaxError, MemoryError, RecursionError)


class PythonLiteral(Format):
    """``python``: one literal, of any layout that there is in JSON."""

    unit = "entry"

    def sniff(self, source: Source, reading: Reading) -> bool:
        """Return whether a file begins like a literal that does not end with its first line."""
        head = source.head.strip()
        if not _BEGIN.match(head) or json_kind(head):
            return False
        first, _, rest = head.partition(b"\n")
        try:
            literal_eval(first.decode("utf-8", "replace"))
        except _UNREADABLE:
            return True
        return not rest

    def fields(self, source: Source, reading: Reading) -> list[str]:
        """Name the fields, as the format that it would be in JSON names them."""
        inner = _as_json(source)
        return list(get_format(_layout(inner, reading)).fields(inner, reading))

    def read(self, source: Source, request: Request) -> Iterator[Record]:
        """Yield the records of that format."""
        inner = _as_json(source)
        name = _layout(inner, request.reading)
        yield from get_format(name).read(inner, request)
        as_what = f" as {request.read_as}" if request.read_as else ""
        request.read_as = f"a Python literal{as_what}"


def _layout(inner: Source, reading: Reading) -> str:
    """Return the layout that it has as JSON; a beginning that shows none is not read as lines."""
    head = inner.head.strip()
    if not json_kind(head):
        beginning = head[:40].decode("utf-8", "replace")
        raise DataError(
            f"{inner.path}: begins with {beginning}…, which is no item and its captions. Name the "
            "format with format=, or write the data with json.dump."
        )
    return detect_format(inner, reading)


def _as_json(source: Source) -> Source:
    """Write a literal as JSON: tuples and sets are lists, and keys are texts."""
    text = whole_document(source).decode()
    try:
        content = msgspec.json.encode(literal_eval(text.strip()))
    except (*_UNREADABLE, TypeError) as error:
        raise DataError(
            f"{source.path}: begins like a Python literal, and is none ({error}). Write the data "
            "with json.dump."
        ) from None
    return Source(source.path, content=content)
