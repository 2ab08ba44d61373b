r"""`lines`: one caption a line; the id of an item is the number of its line, from 1 on.

Only \n and \r\n end a line. All other characters that may break lines (CR, VT, FF, U+0085, U+2028)
are part of the caption, since counting them would shift every caption after them.
"""

from __future__ import annotations

from collections.abc import Iterator

from reelscore.data.delimited import header_cells
from reelscore.data.encoding import decode_line
from reelscore.data.fields import item_field
from reelscore.data.json_kinds import json_kind
from reelscore.data.problems import Problems
from reelscore.data.source import Source
from reelscore.errors import DataError


def sniff(head: bytes) -> bool:
    """Tell whether a file is text, and neither JSON nor a table, so that lines are captions."""
    return not (_is_binary(head) or json_kind(head) or _is_table(head))


def place(path: str, number: int) -> str:
    """Name a caption by its line."""
    return f"{path}:{number}"


def read(source: Source, problems: Problems) -> Iterator[tuple[int, object, object]]:
    """Yield number, number and caption of each line."""
    for number, line in source.lines():
        try:
            text = decode_line(line, source.path, number)
        except DataError as error:
            problems.add(str(error))
        else:
            is_windows = text.endswith("\r\n")
            yield number, number, text[:-2] if is_windows else text.removesuffix("\n")


def _is_binary(head: bytes) -> bool:
    # One of the two is a slip in a text, to be reported with its line; both are no text at all.
    if b"\0" not in head:
        return False
    try:
        head[:-3].decode()  # the last character may be cut
    except UnicodeDecodeError:
        return True
    return False


def _is_table(head: bytes) -> bool:
    rows = (header_cells(head, delimiter) for delimiter in ",;\t")
    return any(len(cells) > 1 and item_field(cells) for cells in rows)
