"""`json`: one object that maps each item id to its caption or captions.

A caption is a text, or an object that holds one, as in the ``gts`` and ``res`` of the COCO tools:
``{"v1": [{"caption": "a man"}]}``. The object may be a section of another: ``{"results": {…}}``.
"""

from __future__ import annotations

from collections.abc import Iterator

from reelscore.data.checks import in_words
from reelscore.data.formats import Numbered
from reelscore.data.json_documents import (
    DOUBTFUL,
    RepeatedKeys,
    captions_section,
    decode_slowly,
    glimpse,
    joined,
    record_fields,
    sections_in,
    sections_of,
    whole_document,
)
from reelscore.data.reading import FieldNames, Reading, Record, Request, Role
from reelscore.data.source import Source
from reelscore.errors import DataError


class Mapping(Numbered):
    """``json``: an object of item ids."""

    unit = "entry"

    def fields(self, source: Source, reading: Reading) -> list[str]:
        """Name the sections, or the fields of the first caption; texts have no fields."""
        beginning = glimpse(source.head)
        whole = beginning[0] if beginning else None
        if not isinstance(whole, dict):
            return []
        if _is_in_section(whole):
            names = sections_in(sections_of(whole_document(source), source.path))
            return [*names, *_names_of_captions(whole[sections_in(whole)[0]])]
        return _names_of_captions(whole)

    def read(self, source: Source, request: Request) -> Iterator[Record]:
        """Yield number, item id and caption or captions of each entry; report repeated ids."""
        import msgspec

        document: bytes | memoryview = whole_document(source)
        beginning = glimpse(source.head)
        if beginning and isinstance(beginning[0], dict) and _is_in_section(beginning[0]):
            document = captions_section(bytes(document), source.path, request)
        try:
            mapping = msgspec.json.decode(document, type=dict[str, str | list[str]])
        except DOUBTFUL:
            mapping = {}
        strings = sum(1 + (1 if type(value) is str else len(value)) for value in mapping.values())
        if mapping and strings == count_strings(bytes(document)):
            del document
            for number, (item, captions) in enumerate(mapping.items(), start=1):
                yield number, item, captions
        else:
            yield from self._read_slowly(bytes(document), source.path, request)

    def _read_slowly(self, document: bytes, path: str, request: Request) -> Iterator[Record]:
        whole = decode_slowly(document.decode(), path)
        if not isinstance(whole, dict):
            raise DataError(f"{path}: expected an object of item ids; it is {in_words(whole)}.")
        pairs = whole.pairs if isinstance(whole, RepeatedKeys) else whole.items()
        fields, role = request.reading.fields, request.role
        seen = set()
        for number, (item, value) in enumerate(pairs, start=1):
            if item in seen:
                request.problems.add(
                    f"{self.place(path, number)}: item {item!r} is repeated; "
                    "give all its captions in one list."
                )
                continue
            seen.add(item)
            try:
                captions = _texts(value, fields, role)
            except _NoCaption as fault:
                request.problems.add(f"{self.place(path, number)}: item {item!r}: {fault}.")
            else:
                yield number, item, captions


class _NoCaption(ValueError):
    """Why an object holds no caption, or not one."""


def _texts(value: object, fields: FieldNames, role: Role) -> object:
    """Take the captions out of the objects that hold them."""
    if isinstance(value, dict):
        if fault := fields.caption_fault(value, role):
            raise _NoCaption(fault)
        names = fields.caption_fields(value, role)
        return value[names[0]] if len(names) == 1 else joined(value[name] for name in names)
    if isinstance(value, list) and any(isinstance(each, dict) for each in value):
        return joined(_texts(each, fields, role) for each in value)
    return value


def _is_in_section(whole: dict[str, object]) -> bool:
    return any(isinstance(whole[name], dict) for name in sections_in(whole))


def _names_of_captions(value: object) -> list[str]:
    """The fields of the objects that hold captions; none where captions are texts."""
    first = next(iter(value.values()), None) if isinstance(value, dict) else None
    return record_fields([first] if isinstance(first, dict) else first)


def count_strings(document: bytes) -> int:
    r"""Count the strings of a valid JSON document: half its quotes, but for the escaped ones.

    A mapping that has fewer after decoding has lost an entry to a repeated key.

    >>> count_strings(rb'{"a": "say \"hello\"", "b": "\\"}')
    4
    """
    quotes = document.count(b'"')
    if b"\\" in document:
        quotes -= document.replace(rb"\\", b"").count(rb"\"")
    return quotes // 2
