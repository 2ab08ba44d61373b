r"""`lines`: one caption a line; the id of an item is the number of its line, from 1 on.

Only \n and \r\n end a line. All other characters that may break lines (CR, VT, FF, U+0085, U+2028)
are part of the caption, since counting them would shift every caption after them.
"""

from __future__ import annotations

from collections.abc import Iterator

from reelscore.data.reading import Reading, Request
from reelscore.data.source import Source, decode_line
from reelscore.errors import DataError


class Lines:
    """``lines``: the lines of a text without any structure."""

    def sniff(self, source: Source, reading: Reading) -> bool:
        """Tell whether a file is text without any structure, so that its lines are captions."""
        from reelscore.data.formats.structure import structure_of

        return structure_of(source.head) is None

    def fields(self, source: Source, reading: Reading) -> list[str]:
        """Lines have no names."""
        return []

    def place(self, path: str, number: int) -> str:
        """Name a caption by its line."""
        return f"{path}:{number}"

    def read(self, source: Source, request: Request) -> Iterator[tuple[int, object, object]]:
        """Yield number, number and caption of each line."""
        request.read_as = "plain lines"
        for number, line in source.lines():
            try:
                text = decode_line(line, source.path, number)
            except DataError as error:
                request.problems.add(str(error))
            else:
                is_windows = text.endswith("\r\n")
                yield number, number, text[:-2] if is_windows else text.removesuffix("\n")

    def captions(self, source: Source, request: Request) -> list[str] | None:
        """Give all captions at once; ``None`` where one cannot be used, for `read` to say which."""
        request.read_as = "plain lines"
        document = source.document()
        if b"\0" in document:
            return None
        try:
            *lines, last = map(bytes.decode, document.split(b"\n"))
        except UnicodeDecodeError:
            return None
        if b"\r" in document:
            lines = [line.removesuffix("\r") for line in lines]
        return [*lines, last] if last else lines
