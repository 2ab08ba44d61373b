"""Reports: one HTML file for all results of an evaluation.

>>> import tempfile
>>> from pathlib import Path
>>> from reelscore import examples, score_systems
>>> from reelscore.report.html import report_of, write_report
>>> report = report_of(score_systems(*examples.clips()), title="Four systems")
>>> write_report(Path(tempfile.mkdtemp(), "report.html"), report)
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reelscore.data.tables.table_forms import TableLike
from reelscore.report.html.model import Report, Section, report_of, with_people
from reelscore.report.html.page import report_html, write_report
from reelscore.report.html.previews import Preview, Previews, read_previews

__all__ = [
    "Preview",
    "Previews",
    "Report",
    "Section",
    "read_previews",
    "report_html",
    "report_of",
    "with_people",
    "write_report",
    "write_table_report",
]


def write_table_report(
    table: TableLike, path: str | Path, people: TableLike | None = None, **fields: Any
) -> None:
    """Write the usual report of a table; what `reelscore.ScoreTable.report` does.

    Args:
        table: The score table.
        path: The HTML file to write.
        people: A score table made by people, for agreement with them.
        fields: Other fields of the `Report`, such as its title.

    >>> import tempfile
    >>> from reelscore import examples, score_systems
    >>> table = score_systems(*examples.clips(), "rouge_l")
    >>> write_table_report(table, Path(tempfile.mkdtemp(), "report.html"), title="Mine")
    """
    write_report(path, report_of(table, people, **fields))
