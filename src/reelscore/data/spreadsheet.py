"""CSV that people open in a spreadsheet: no cell of it begins a formula.

A spreadsheet takes a cell that begins with one of ``= + - @``, a tab or a line end for a formula,
whoever has written it there: a rater, a crowd service, a system's name. Such cells get a single
quote in front, which spreadsheets read as "this is text"; numbers stay numbers. What reelscore
reads back loses that quote again. Tables made for programs (scores, HITs for other pages) are left
as they are: ids of videos begin with a hyphen now and then.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable

_FORMULA = re.compile(r"'*[=+\-@\t\r\n]")
_QUOTED = re.compile(r"'+[=+\-@\t\r\n]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def harmless(cell: object) -> object:
    """Return a cell of a CSV table so that no spreadsheet takes it for a formula.

    >>> harmless("=HYPERLINK(A1)"), harmless("-0.5"), harmless(-0.5), harmless("a dog")
    ("'=HYPERLINK(A1)", '-0.5', -0.5, 'a dog')
    """
    if not isinstance(cell, str) or not _FORMULA.match(cell) or _NUMBER.fullmatch(cell):
        return cell
    return f"'{cell}"


def unquoted(cell: str) -> str:
    """Return the text that `harmless` was given.

    >>> unquoted("'=HYPERLINK(A1)"), unquoted("'tis a dog"), unquoted(harmless("'-x"))
    ('=HYPERLINK(A1)', "'tis a dog", "'-x")
    """
    return cell[1:] if _QUOTED.match(cell) else cell


def spreadsheet_csv(rows: Iterable[Iterable[object]]) -> str:
    r"""Write a table as CSV for people, every cell of it harmless.

    >>> spreadsheet_csv([["rater", "score"], ["@anna", -0.5]])
    "rater,score\n'@anna,-0.5\n"
    """
    out = io.StringIO()
    # csv leaves a lone CR unquoted, and then reads it as the end of a line
    writer = csv.writer(out, lineterminator="\n")
    careful = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL)
    for row in rows:
        cells = [harmless(cell) for cell in row]
        has_return = any(isinstance(cell, str) and "\r" in cell for cell in cells)
        (careful if has_return else writer).writerow(cells)
    return out.getvalue()
