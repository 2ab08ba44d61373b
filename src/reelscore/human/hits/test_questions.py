"""Test questions: comparisons whose answer everybody knows who has watched the video."""

from __future__ import annotations

import os

from reelscore.data.checks import Problems
from reelscore.data.source import Source
from reelscore.errors import DataError
from reelscore.human.hits.tasks import Shown, Task
from reelscore.human.imports import rows

COLUMNS = ("item", "first", "second", "expected")


def read_questions(path: str | os.PathLike[str]) -> tuple[Task, ...]:
    r"""Read test questions from a CSV file with the columns item, first, second, expected.

    Args:
        path: The file; `first` and `second` are captions, `expected` is below 0 where the first
            is the right one and above 0 where the second is.

    Raises:
        DataError: If the file or a question in it cannot be used.

    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp(), "tests.csv")
    >>> _ = path.write_text("item,first,second,expected\nv1,a dog runs,a cat sleeps,-2\n")
    >>> read_questions(path)[0].expected
    -2.0
    """
    intake = rows.Intake(Problems(os.fspath(path)), (-2, 2))
    found = []
    with Source(path) as source:
        for line, header, cells in rows.rows(source, ",", intake):
            places = rows.places(header, COLUMNS, source.path)
            item, first, second, expected = (cells[places[name]].strip() for name in COLUMNS)
            try:
                if not item or not first or not second:
                    raise DataError("an item and two captions are needed.")
                score = rows.score(expected, intake.scale)
            except DataError as error:
                intake.problems.add(f"{source.path}:{line}: {error}")
                continue
            shown = (Shown("test 1", first, "test"), Shown("test 2", second, "test"))
            found.append(Task(f"question {line}", item, shown, score))
    intake.problems.raise_if_any()
    if not found:
        raise DataError(f"{os.fspath(path)}: no question in it.")
    return tuple(found)
