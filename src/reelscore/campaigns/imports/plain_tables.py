"""Plain tables with a header: judgments, the groups that items belong to, and test questions."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from reelscore.campaigns.hits.tasks import Shown, Task
from reelscore.campaigns.imports import rows
from reelscore.campaigns.imports.rows import places, seconds
from reelscore.campaigns.judgments import Judgment
from reelscore.data.checks import Problems
from reelscore.data.formats.delimited import header_cells
from reelscore.data.reading import ITEM_FIELDS
from reelscore.data.source import Source
from reelscore.data.spreadsheet import unquoted
from reelscore.data.tables.table_rows import RATER_NAMES, SCORE_NAMES, SYSTEM_NAMES
from reelscore.errors import DataError

# What others call the columns; the first is ours.
NAMES = {
    "rater": RATER_NAMES,
    "system": SYSTEM_NAMES,
    "item": ITEM_FIELDS,
    "score": SCORE_NAMES,
    "kind": ("kind", "type"),
    "hit": ("hit", "hitid", "batch"),
}
NEEDED = ("rater", "system", "item", "score")
OTHERS = tuple(name for name in Judgment.__struct_fields__ if name not in NAMES)


def read_plain(source: Source, intake: rows.Intake) -> Iterator[Judgment]:
    """Yield the judgments of a table; a rater without HITs has done one."""
    names = header_cells(source.head, delimiter(source.head))
    column = columns(names)
    missing = [name for name in NEEDED if name not in column]
    if missing:
        raise DataError(
            f"{source.path}:1: no column {', '.join(missing)}; expected rater, system, item and "
            f"score, and perhaps hit, kind, {', '.join(OTHERS)}. The header is "
            f"{', '.join(names[:12])}."
        )
    for line, _, cells in rows.rows(source, delimiter(source.head), intake):
        row = {name: unquoted(cells[place]).strip() for name, place in column.items()}
        try:
            yield _judgment(row, intake.scale)
        except DataError as error:
            intake.problems.add(f"{source.path}:{line}: {error}")


def columns(header: Sequence[str]) -> dict[str, int]:
    """Find the columns under any of their names.

    >>> columns(["worker", "video_id", "model", "rating"])
    {'rater': 0, 'system': 2, 'item': 1, 'score': 3}
    """
    names = NAMES | {name: (name,) for name in OTHERS}
    found = {name: [other for other in others if other in header] for name, others in names.items()}
    return {name: list(header).index(known[0]) for name, known in found.items() if known}


def delimiter(head: bytes) -> str:
    r"""Find the separator by the header.

    >>> delimiter(b"rater;item;system;score\nr1;v1;mine;3")
    ';'
    """
    first = head.partition(b"\n")[0]
    return max(",\t;", key=lambda each: first.count(each.encode()))


def _judgment(row: dict[str, str], scale: rows.Scale) -> Judgment:
    for name in NEEDED[:3]:
        if not row[name]:
            raise DataError(f"the {name} is empty.")
    position = row.get("position", "")
    if position and not position.isdigit():
        raise DataError(f"the position is {position!r}; expected a whole number from 0.")
    return Judgment(
        rater=row["rater"],
        hit=row.get("hit", "") or f"all of {row['rater']}",
        task=row.get("task", ""),
        position=int(position) if position else -1,
        system=row["system"],
        item=row["item"],
        kind=rows.kind(row.get("kind", "")),
        score=rows.score(row["score"], scale),
        criterion=row.get("criterion", "") or "adequacy",
        against=row.get("against", ""),
        started=seconds(row.get("started", "")),
        submitted=seconds(row.get("submitted", "")),
        seconds=_number(row.get("seconds", ""), "number of seconds"),
        client=row.get("client", ""),
        status=row.get("status", "").lower(),
        z=_number(row.get("z", ""), "z"),
        opened=seconds(row.get("opened", "")),
        received=seconds(row.get("received", "")),
        watched=_number(row.get("watched", ""), "share watched"),
    )


def _number(text: str, what: str) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        raise DataError(f"the {what} is {text[:40]!r}; expected a number.") from None


def read_groups(description: str) -> dict[str, str]:
    r"""Read groups from a table with a header, separated by commas, tabs or blanks."""
    parts = description.rsplit(":", 2)
    if len(parts) != 3:
        raise DataError(f"Groups are {description!r}; expected FILE:ITEM:GROUP, with two columns.")
    path, item, group = parts
    groups: dict[str, str] = {}
    with Source(path) as source:
        lines = (line.decode("utf-8", "replace").strip() for _, line in source.lines(1 << 20))
        header = next(lines, "")
        separator = next((each for each in ",\t" if each in header), None)
        names = [name.strip() for name in header.split(separator)]
        at = places(names, [item, group], path)
        for number, line in enumerate(lines, start=2):
            cells = [cell.strip() for cell in line.split(separator)]
            if not line:
                continue
            if len(cells) != len(names):
                raise DataError(
                    f"{path}:{number}: {len(cells)} fields, the header has {len(names)}."
                )
            if groups.setdefault(cells[at[item]], cells[at[group]]) != cells[at[group]]:
                raise DataError(f"{path}:{number}: item {cells[at[item]]!r} has two groups.")
    return groups


_QUESTION = ("item", "first", "second", "expected")


def read_questions(path: str | os.PathLike[str]) -> tuple[Task, ...]:
    r"""Read test questions from a CSV file with the columns item, first, second, expected."""
    intake = rows.Intake(Problems(os.fspath(path)), (-2, 2))
    questions = []
    with Source(path) as source:
        for line, header, cells in rows.rows(source, ",", intake):
            places = rows.places(header, _QUESTION, source.path)
            item, first, second, expected = (cells[places[name]].strip() for name in _QUESTION)
            try:
                if not item or not first or not second:
                    raise DataError("an item and two captions are needed.")
                score = rows.score(expected, intake.scale)
            except DataError as error:
                intake.problems.add(f"{source.path}:{line}: {error}")
                continue
            shown = (Shown("test 1", first, "test"), Shown("test 2", second, "test"))
            questions.append(Task(f"question {line}", item, shown, score))
    intake.problems.raise_if_any()
    if not questions:
        raise DataError(f"{os.fspath(path)}: no question in it.")
    return tuple(questions)
