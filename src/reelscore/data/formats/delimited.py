"""`csv` and `tsv`: values separated by commas or tabs, with a header row.

Quoted fields may hold line breaks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from reelscore.data.checks import Problems
from reelscore.data.fields import (
    Role,
    caption_fields,
    has_captions,
    item_field,
    missing_caption_field,
    missing_item_field,
    several_caption_fields,
)
from reelscore.data.source import Source, decode_line
from reelscore.errors import DataError

_NUMBERED = re.compile(r"[ _-]?\d+$")
_LIST = re.compile(r"""\[\s*(['"]).*\1\s*\]""", re.DOTALL)  # as data frames write one


def header_cells(head: bytes, delimiter: str) -> list[str]:
    r"""Split the first line of a file as a header; names are compared in lower case.

    >>> header_cells(b"Video_ID, Caption\nv1,a man", ",")
    ['video_id', 'caption']
    """
    line = head.partition(b"\n")[0].decode("utf-8", "replace")
    return [_name(cell) for cell in line.split(delimiter)]


def column_kinds(head: bytes, delimiter: str) -> list[str]:
    r"""Split a header as `header_cells` does; numbered columns lose their number.

    >>> column_kinds(b"id,Caption 1,Caption_2\nv1,a man,a person", ",")
    ['id', 'caption', 'caption']
    """
    return [unnumbered(cell) for cell in header_cells(head, delimiter)]


@dataclass(frozen=True)
class Delimited:
    """A format of tables, by its delimiter."""

    delimiter: str

    def sniff(self, head: bytes) -> bool:
        """Tell whether a file begins with a header that names an item id and captions."""
        kinds = column_kinds(head, self.delimiter)
        return item_field(kinds) is not None and has_captions(kinds)

    def fields(self, head: bytes) -> list[str]:
        """Name the columns, numbered ones without their number."""
        return column_kinds(head, self.delimiter)

    def place(self, path: str, number: int) -> str:
        """Name a row by its first line."""
        return f"{path}:{number}"

    def read(
        self, source: Source, problems: Problems, role: Role
    ) -> Iterator[tuple[int, object, object]]:
        """Yield line number, item id and captions of each row.

        One caption column yields texts. Several, numbered ones yield lists without the empty cells,
        since a table has no other way to give one item fewer references than another.
        """
        import csv

        rows = csv.reader(_text_lines(source, problems), delimiter=self.delimiter, strict=True)
        line = 1
        try:
            header = [_name(cell) for cell in next(rows)]
            item, captions = _columns(header, source.path, role)
            line = rows.line_num + 1
            for row in rows:
                if len(row) == len(header):
                    if len(captions) == 1 and _LIST.fullmatch(row[captions[0]]):
                        problems.add(
                            f"{source.path}:{line}: the cell holds a list of captions; give each "
                            "a row or a numbered column of its own, or write JSON Lines."
                        )
                    elif len(captions) == 1:
                        yield line, row[item], row[captions[0]]
                    else:
                        yield line, row[item], [row[column] for column in captions if row[column]]
                elif row:
                    problems.add(
                        f"{source.path}:{line}: the row has {len(row)} fields, the header "
                        f"{len(header)}; put fields that hold {self.delimiter!r} in quotes."
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


def _columns(header: list[str], path: str, role: Role) -> tuple[int, list[int]]:
    item = item_field(header)
    if item is None:
        raise DataError(f"{path}:1: {missing_item_field()}, as a column.")
    kinds = [unnumbered(name) for name in header]
    wanted = caption_fields(kinds, role)
    captions = [column for name in wanted for column, kind in enumerate(kinds) if kind == name]
    names = [header[column] for column in captions]
    if not captions:
        raise DataError(f"{path}:1: {missing_caption_field(kinds, role)}, as a column.")
    if len(wanted) > 1 or len(set(names)) < len(names):
        raise DataError(f"{path}:1: {several_caption_fields(names, role)}.")
    return header.index(item), captions


def unnumbered(name: str) -> str:
    """Give the kind of a numbered column.

    >>> unnumbered("caption_2")
    'caption'
    """
    return _NUMBERED.sub("", name)


def _name(cell: str) -> str:
    return cell.strip().strip('"').strip().lower()
