"""Tables with a header row, the same for every delimiter."""

from __future__ import annotations

import re
from collections.abc import Iterator

from reelscore.data.encoding import decode_line
from reelscore.data.fields import (
    CAPTION_FIELDS,
    item_field,
    missing_caption_field,
    missing_item_field,
    several_caption_fields,
)
from reelscore.data.problems import Problems
from reelscore.data.source import Source
from reelscore.errors import DataError

_NUMBERED = re.compile(r"[ _-]?\d+$")


def header_cells(head: bytes, delimiter: str) -> list[str]:
    r"""Split the first line of a file as a header; names are compared in lower case.

    >>> header_cells(b"Video_ID, Caption\nv1,a man", ",")
    ['video_id', 'caption']
    """
    line = head.partition(b"\n")[0].decode("utf-8", "replace")
    return [_name(cell) for cell in line.split(delimiter)]


def has_header(head: bytes, delimiter: str) -> bool:
    """Tell whether a file begins with a header that has an item id and captions."""
    cells = header_cells(head, delimiter)
    return item_field(cells) is not None and bool(_caption_columns(cells))


def read_table(
    source: Source, delimiter: str, problems: Problems
) -> Iterator[tuple[int, object, object]]:
    """Yield line number, item id and captions of each row.

    One caption column yields texts. Several, numbered ones yield lists without the empty cells,
    since a table has no other way to give one item fewer references than another.
    """
    import csv

    rows = csv.reader(_text_lines(source, problems), delimiter=delimiter, strict=True)
    line = 1
    try:
        header = [_name(cell) for cell in next(rows)]
        item, captions = _columns(header, source.path)
        line = rows.line_num + 1
        for row in rows:
            if len(row) == len(header):
                if len(captions) == 1:
                    yield line, row[item], row[captions[0]]
                else:
                    yield line, row[item], [row[column] for column in captions if row[column]]
            elif row:
                problems.add(
                    f"{source.path}:{line}: the row has {len(row)} fields, the header "
                    f"{len(header)}; put fields that hold {delimiter!r} in quotes."
                )
            line = rows.line_num + 1
    except csv.Error as error:
        what = (
            "a carriage return outside quotes"
            if "new-line" in str(error)
            else f"unbalanced or misplaced quotes, or a runaway field ({error})"
        )
        problems.add(f"{source.path}:{line}: malformed table, in the row from here: {what}.")


def _text_lines(source: Source, problems: Problems) -> Iterator[str]:
    for number, line in source.lines():
        try:
            yield decode_line(line, source.path, number)
        except DataError as error:
            problems.add(str(error))
            yield line.decode("utf-8", "replace")  # keeps the rows in step; never returned


def _columns(header: list[str], path: str) -> tuple[int, list[int]]:
    item = item_field(header)
    if item is None:
        raise DataError(f"{path}:1: {missing_item_field()}, as a column.")
    captions = _caption_columns(header)
    if not captions:
        raise DataError(f"{path}:1: {missing_caption_field()}, as a column.")
    names = [header[column] for column in captions]
    if len({_NUMBERED.sub("", name) for name in names}) > 1 or len(set(names)) < len(names):
        raise DataError(f"{path}:1: {several_caption_fields(names)}.")
    return header.index(item), captions


def _caption_columns(header: list[str]) -> list[int]:
    return [
        column for column, name in enumerate(header) if _NUMBERED.sub("", name) in CAPTION_FIELDS
    ]


def _name(cell: str) -> str:
    return cell.strip().strip('"').strip().lower()
