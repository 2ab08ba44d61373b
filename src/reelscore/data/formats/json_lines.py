"""`jsonl`: one JSON object a line, with an item id and a caption or a list of captions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from reelscore.data.formats import Numbered
from reelscore.data.json_documents import decode_json_line, glimpse, records_of
from reelscore.data.reading import Reading, Record, Request
from reelscore.data.source import Source
from reelscore.errors import DataError


class JsonLines(Numbered):
    """``jsonl``: a record in each line."""

    unit = ""

    def fields(self, source: Source, reading: Reading) -> list[str]:
        """Name the fields of the first record."""
        values = glimpse(source.head)
        return list(values[0]) if values and isinstance(values[0], dict) else []

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
