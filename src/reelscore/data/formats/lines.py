r"""`lines`: one caption a line; the id of an item is the number of its line, from 1 on.

Only \n and \r\n end a line. All other characters that may break lines (CR, VT, FF, U+0085, U+2028)
are part of the caption, since counting them would shift every caption after them.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from itertools import chain

from reelscore.data.formats import Numbered
from reelscore.data.reading import Reading, Record, Request
from reelscore.data.source import Source, decode_line
from reelscore.errors import DataError


class Lines(Numbered):
    """``lines``: the lines of a text without any structure."""

    unit = ""

    def sniff(self, source: Source, reading: Reading) -> bool:
        """Return whether a file is text without any structure, so that its lines are captions."""
        from reelscore.data.formats.structure import structure_of

        return structure_of(source.head) is None

    def read(self, source: Source, request: Request) -> Iterator[Record]:
        """Yield number, number and caption of each line."""
        request.read_as = "plain lines"
        return _records(source.blocks(), 1, source.path, request)

    def captions(self, source: Source, request: Request) -> tuple[list[str], Iterator[Record]]:
        """Return the first captions, which all can be used, and the records from there on.

        As a rule there are none: a few thousand captions are looked at together.
        """
        request.read_as = "plain lines"
        texts: list[str] = []
        blocks = source.blocks()
        for block in blocks:
            lines = _usable_lines(block)
            if lines is None:
                rest = chain([block], blocks)
                return texts, _records(rest, len(texts) + 1, source.path, request)
            texts += lines
        return texts, iter(())


def _usable_lines(block: bytes) -> list[str] | None:
    """Decode the lines of a block; ``None`` if one of them cannot be used."""
    if b"\0" in block:
        return None
    try:
        *lines, last = map(bytes.decode, block.split(b"\n"))
    except UnicodeDecodeError:
        return None
    if b"\r" in block:
        lines = [line.removesuffix("\r") for line in lines]
    return [*lines, last] if last else lines


def _records(blocks: Iterable[bytes], first: int, path: str, request: Request) -> Iterator[Record]:
    """Decode line by line, and say which cannot be."""
    lines = (line for block in blocks for line in io.BytesIO(block))
    for number, line in enumerate(lines, start=first):
        try:
            text = decode_line(line, path, number)
        except DataError as error:
            request.problems.add(str(error))
        else:
            is_windows = text.endswith("\r\n")
            yield number, number, text[:-2] if is_windows else text.removesuffix("\n")
