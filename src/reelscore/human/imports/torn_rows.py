"""Rows of a table in which a closing quote is missing, read where the number of cells proves how.

A missing quote makes a row run on into the next ones. The row ends before the first line that has
as many cells as the other rows. The quote belongs where it gives the row that many cells too: at
the end, or before some delimiter. Where that is not one place alone, nothing is proven.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Sequence
from typing import NamedTuple

LONGEST = 1 << 16  # characters; every delimiter of a torn row is tried


class TornRow(NamedTuple):
    """What a missing quote may have meant.

    Attributes:
        lines: How many of the lines belong to the row; the rest are the next rows.
        readings: The cells of the row, in every way that has the right number of them.
    """

    lines: int
    readings: list[list[str]]


def torn_row(
    lines: Sequence[str], delimiter: str, widths: Collection[int], columns: int
) -> TornRow:
    r"""Find where a row ends, and how it can be read with one quote more.

    Args:
        lines: The lines from the beginning of the row to where it cannot be read on.
        delimiter: What separates the cells.
        widths: How many cells the rows before have; none where it is the first.
        columns: How many cells the header has.

    >>> torn_row(['1,"good\n', '2,"bad"\n'], ",", {2}, 2)
    TornRow(lines=1, readings=[['1', 'good']])
    >>> torn_row(['1,"good, really,5\n'], ",", {3}, 3).readings
    [['1', 'good, really', '5']]
    >>> torn_row(['1,"good,fine,5,6\n'], ",", {3, 4}, 4).readings
    [['1', 'good,fine', '5', '6'], ['1', 'good,fine,5', '6']]
    """
    expected = widths or {columns, _width(lines[0], delimiter)}
    count = next(
        (k for k in range(1, len(lines)) if _width(lines[k], delimiter) in expected), len(lines)
    )
    if not widths:
        expected = {_width(lines[count], delimiter) if count < len(lines) else columns}
    text = "".join(lines[:count]).rstrip("\r\n")
    if len(text) > LONGEST:
        return TornRow(count, [])
    places = [place for place, character in enumerate(text) if character == delimiter]
    readings = []
    for place in (*places, len(text)):
        cells = _cells(f'{text[:place]}"{text[place:]}', delimiter)
        if cells is not None and len(cells) in expected:
            readings.append(cells)
    return TornRow(count, readings)


def _width(line: str, delimiter: str) -> int:
    """Count the cells of a line, which may end within quotes; 0 where it is no row."""
    line = line.rstrip("\r\n")
    cells = _cells(line, delimiter) or _cells(f'{line}"', delimiter)
    return 0 if cells is None else len(cells)


def _cells(text: str, delimiter: str) -> list[str] | None:
    try:
        read = list(csv.reader([text], delimiter=delimiter, strict=True))
    except csv.Error:
        return None
    return read[0]
