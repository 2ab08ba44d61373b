"""`vatex`: VATEX, ``[{"videoID", "enCap": [ten captions], "chCap": [ten captions]}, …]``.

The English captions are read, unless the user names the field of the Chinese ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from msgspec.structs import replace

from reelscore.data.json_documents import glimpse, record_fields
from reelscore.data.reading import Reading, Request
from reelscore.data.source import Source

Record = tuple[int, object, object]
_LANGUAGES = {"enCap": "English", "chCap": "Chinese"}


class Vatex:
    """``vatex``: a list of videos with captions in two languages."""

    def fields(self, source: Source, reading: Reading) -> list[str]:
        """Name the fields of the first video; its captions are references."""
        return [*self._names(source), "references"]

    def place(self, path: str, number: int) -> str:
        """Name a video by its number in the list, from 1 on."""
        return f"{path}: record {number}"

    def read(self, source: Source, request: Request) -> Iterator[Record]:
        """Yield number, video id and captions of each video."""
        from reelscore.data.json_documents import objects_in, records_of, whole_document

        there = [name for name in _LANGUAGES if name in self._names(source)]
        if not request.reading.reference_field and there:
            request.reading = replace(request.reading, reference_field=there[0])
        language = _LANGUAGES.get(request.reading.reference_field or "", "chosen")
        others = [
            f'reference_field="{name}" for the {_LANGUAGES[name]} ones'
            for name in there
            if name != request.reading.reference_field
        ]
        hint = f" ({others[0]})" if others else ""
        request.read_as = f"VATEX, the {language} captions{hint}"
        place = partial(self.place, source.path)
        document = whole_document(source)
        return records_of(objects_in(document, source.path, place), place, request)

    def _names(self, source: Source) -> list[str]:
        values = glimpse(source.head)
        return record_fields(values[0]) if values else []
