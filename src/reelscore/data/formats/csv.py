"""`csv`: comma-separated values with a header row; quoted fields may hold line breaks."""

from __future__ import annotations

from collections.abc import Iterator

from reelscore.data.delimited import column_kinds, has_header, read_table
from reelscore.data.fields import Role
from reelscore.data.problems import Problems
from reelscore.data.source import Source


def sniff(head: bytes) -> bool:
    """Tell whether a file begins with a header that names an item id and captions."""
    return has_header(head, ",")


def fields(head: bytes) -> list[str]:
    """Name the columns, numbered ones without their number."""
    return column_kinds(head, ",")


def place(path: str, number: int) -> str:
    """Name a row by its first line."""
    return f"{path}:{number}"


def read(source: Source, problems: Problems, role: Role) -> Iterator[tuple[int, object, object]]:
    """Yield line number, item id and caption or captions of each row."""
    return read_table(source, ",", problems, role)
