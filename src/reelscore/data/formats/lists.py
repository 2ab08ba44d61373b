"""`lists`: captions in order, as programs write their lists to JSON.

- a list of captions, or of lists of captions: ``["a man", …]``;
- a list of pairs of id and caption: ``[["v1", "a man runs"], …]``, if all first texts are single
  words and no second one is;
- several lists by name: ``{"predictions": ["a man", …], "references": [["…"], …]}``; with ids
  such as ``"video_id": […]`` if there are any. Columns as data frames write them, objects of row
  numbers, are read likewise.

Without ids, the id of an item is its number in the list, from 1 on.
"""

from __future__ import annotations

from collections.abc import Iterator

from reelscore.data.checks import in_words
from reelscore.data.formats import Numbered
from reelscore.data.json_documents import (
    decode_slowly,
    glimpse,
    joined,
    sections_of,
    whole_document,
)
from reelscore.data.reading import IN_ORDER, Reading, Record, Request
from reelscore.data.source import Source
from reelscore.errors import DataError


class Lists(Numbered):
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
