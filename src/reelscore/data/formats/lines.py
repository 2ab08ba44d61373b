r"""`lines`: one caption a line; the id of an item is the number of its line, from 1 on.

Only text without any structure is taken for plain lines; see `reelscore.data.structure`.

Only \n and \r\n end a line. All other characters that may break lines (CR, VT, FF, U+0085, U+2028)
are part of the caption, since counting them would shift every caption after them.
"""

from __future__ import annotations

from collections.abc import Iterator

from reelscore.data.encoding import decode_line
from reelscore.data.fields import Role
from reelscore.data.problems import Problems
from reelscore.data.source import Source
from reelscore.data.structure import structure_of
from reelscore.errors import DataError


def sniff(head: bytes) -> bool:
    """Tell whether a file is text without any structure, so that its lines are captions."""
    return structure_of(head) is None


def fields(head: bytes) -> list[str]:
    """Lines have no names."""
    return []


def place(path: str, number: int) -> str:
    """Name a caption by its line."""
    return f"{path}:{number}"


def read(source: Source, problems: Problems, role: Role) -> Iterator[tuple[int, object, object]]:
    """Yield number, number and caption of each line."""
    for number, line in source.lines():
        try:
            text = decode_line(line, source.path, number)
        except DataError as error:
            problems.add(str(error))
        else:
            is_windows = text.endswith("\r\n")
            yield number, number, text[:-2] if is_windows else text.removesuffix("\n")
