"""Layouts of captions in JSON that programs write: `json`, `jsonl` and `lists`.

- ``json``: one object that maps each item id to its caption or captions. A caption is a text, or an
  object that holds one, as in the ``gts`` and ``res`` of the COCO tools:
  ``{"v1": [{"caption": "a man"}]}``. The object may be a section of another: ``{"results": {…}}``.
- ``jsonl``: one JSON object a line, with an item id and a caption or a list of captions.
- ``lists``: captions in order, a list of captions, or of lists of captions: ``["a man", …]``; or a
  list of pairs of id and caption: ``[["v1", "a man runs"], …]``, if all first texts are single
  words and no second one is; or several lists by name:
  ``{"predictions": ["a man", …], "references": [["…"], …]}``; with ids such as ``"video_id": […]``
  if there are any. Columns as data frames write them, objects of row numbers, are read likewise.
  Without ids, the id of an item is its number in the list, from 1 on.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from reelscore.data.checks import in_words
from reelscore.data.formats import Format
from reelscore.data.json_documents import (
    DOUBTFUL,
    NoCaption,
    RepeatedKeys,
    captions_section,
    decode_json_line,
    decode_slowly,
    glimpse,
    joined,
    plain_record,
    record_fields,
    records_of,
    sections_in,
    sections_of,
    texts_of,
    whole_document,
)
from reelscore.data.reading import IN_ORDER, Reading, Record, Request
from reelscore.data.source import Source
from reelscore.errors import DataError


class Mapping(Format):
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
                captions = texts_of(value, fields, role)
            except NoCaption as fault:
                request.problems.add(f"{self.place(path, number)}: item {item!r}: {fault}.")
            else:
                yield number, item, captions


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


class JsonLines(Format):
    """``jsonl``: a record in each line."""

    unit = ""

    def fields(self, source: Source, reading: Reading) -> list[str]:
        """Name the fields of the first record."""
        values = glimpse(source.head)
        return list(plain_record(values[0])) if values and isinstance(values[0], dict) else []

    def read(self, source: Source, request: Request) -> Iterator[Record]:
        """Yield line number, item id and caption or captions of each record; skip blank lines."""
        place = partial(self.place, source.path)
        return records_of(self._objects(source, request), place, request)

    def _objects(self, source: Source, request: Request) -> Iterator[tuple[int, object]]:
        for number, line in source.lines():
            if line.isspace():
                continue
            try:
                yield number, decode_json_line(line, source.path, number)
            except DataError as error:
                request.problems.add(str(error))


class Lists(Format):
    """``lists``: lists of captions."""

    unit = "entry"

    def fields(self, source: Source, reading: Reading) -> list[str]:
        """Name the lists."""
        values = glimpse(source.head)
        if not (values and isinstance(values[0], dict)):
            return []
        return list(sections_of(whole_document(source), source.path))

    def read(self, source: Source, request: Request) -> Iterator[Record]:
        """Yield number, item id or number, and caption or captions of each entry."""
        path = source.path
        whole = decode_slowly(whole_document(source).decode(), path)
        if isinstance(whole, list) and _are_pairs(whole):
            request.read_as = "pairs of id and caption"
            items, texts = zip(*whole, strict=True)
            yield from _rows(list(items), [list(texts)])
            return
        if isinstance(whole, list):
            request.read_as = f"a list of captions {IN_ORDER}"
            columns, ids = [whole], None
        elif isinstance(whole, dict):
            fields = request.reading.fields
            if fault := fields.caption_fault(whole, request.role):
                raise DataError(f"{path}: {fault}.")
            columns = [_entries(whole, n, path) for n in fields.caption_fields(whole, request.role)]
            item = fields.item_field(whole)
            ids = _entries(whole, item, path) if item else None
            request.read_as = "lists of captions" + ("" if item else f" {IN_ORDER}")
        else:
            raise DataError(f"{path}: expected lists of captions; it is {in_words(whole)}.")
        lengths = {len(column) for column in (*columns, *([ids] if ids is not None else []))}
        if len(lengths) > 1:
            raise DataError(
                f"{path}: the lists differ in length ({', '.join(map(str, sorted(lengths)))}); "
                "each must have an entry for every item."
            )
        yield from _rows(ids, columns)


def _are_pairs(entries: list[object]) -> bool:
    """Distinguish pairs of id and caption from lists of two captions."""
    return bool(entries) and all(
        isinstance(entry, list)
        and len(entry) == 2
        and isinstance(entry[1], str)
        and (isinstance(entry[0], int) or (isinstance(entry[0], str) and not _is_text(entry[0])))
        and _is_text(entry[1])
        for entry in entries
    )


def _is_text(text: str) -> bool:
    return " " in text.strip()


def _rows(items: list[object] | None, columns: list[list[object]]) -> Iterator[Record]:
    for k, values in enumerate(zip(*columns, strict=True)):
        item = k + 1 if items is None else items[k]
        yield k + 1, item, values[0] if len(values) == 1 else joined(values)


def _entries(whole: dict[str, object], name: str, path: str) -> list[object]:
    value = whole[name]
    if isinstance(value, dict):  # a column of a data frame: values by row
        return list(value.values())
    if not isinstance(value, list):
        raise DataError(f"{path}: expected a list under {name!r}; it is {in_words(value)}.")
    return value
