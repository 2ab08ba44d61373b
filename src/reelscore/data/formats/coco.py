"""`coco`: a list of records with an item id and a caption, alone or as a section of an object.

COCO annotations are ``{"annotations": [{"image_id", "caption"}, …]}``, its results the list
alone. The section may also be called ``predictions``, ``results`` or the like, and the fields as
`reelscore.data.reading` says; every other section is ignored.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from reelscore.data.json_documents import (
    glimpse,
    record_fields,
    sections_in,
)
from reelscore.data.reading import Reading, Request
from reelscore.data.source import Source

Record = tuple[int, object, object]


class Coco:
    """``coco``: a list of records, alone or in a section."""

    def fields(self, source: Source, reading: Reading) -> list[str]:
        """Name the fields of the first record, and the sections of captions."""
        beginning = glimpse(source.head)
        value = beginning[0] if beginning else None
        if not isinstance(value, dict):
            return record_fields(value)
        sections = sections_in(value)
        if sections:
            return [*sections, *record_fields(value[sections[0]])]
        _, _, behind = source.head.partition(b'"annotations"')
        later = glimpse(behind.lstrip(b": \t\r\n"))
        return record_fields(later[0]) if later else []

    def place(self, path: str, number: int) -> str:
        """Name a record by its number in the list, from 1 on."""
        return f"{path}: record {number}"

    def read(self, source: Source, request: Request) -> Iterator[Record]:
        """Yield number, item id and caption of each record."""
        from reelscore.data.json_documents import (
            captions_section,
            objects_in,
            records_of,
            whole_document,
        )

        document = whole_document(source)
        is_list = source.head.lstrip().startswith(b"[")
        records = document if is_list else captions_section(document, source.path, request)
        place = partial(self.place, source.path)
        return records_of(objects_in(records, source.path, place), place, request)
