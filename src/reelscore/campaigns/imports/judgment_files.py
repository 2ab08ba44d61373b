"""Read judgments from files, whatever tool wrote them."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Literal, get_args

import msgspec

from reelscore.campaigns.imports import crowd_tables, plain_tables
from reelscore.campaigns.imports.rows import Intake
from reelscore.campaigns.judgments import Judgment, Judgments
from reelscore.campaigns.protocols import Form, protocol
from reelscore.data.checks import Problems
from reelscore.data.source import Source, decode_line
from reelscore.data.spreadsheet import spreadsheet_csv
from reelscore.errors import DataError, check_choice

Format = Literal["mturk", "ad-latest", "standardized", "csv"]
FORMATS: tuple[Format, ...] = get_args(Format)
Reader = Callable[[Source, Intake], Iterator[Judgment]]
_FEW = 10  # scores that may be low by chance

_READERS: dict[str, Reader] = {
    "mturk": crowd_tables.read_batch,
    "ad-latest": crowd_tables.read_table,
    "csv": plain_tables.read_plain,
}


@dataclass(frozen=True)
class Imported:
    """Judgments, and what there is to say about how they were read."""

    judgments: Judgments  # all of them
    notes: tuple[str, ...] = ()  # what was left out or repaired


def read_judgments(
    paths: Sequence[str | os.PathLike[str]],
    *,
    format: Format | None = None,
    protocol_name: str = "direct-assessment",
    pair: str | None = None,
    moments: str | os.PathLike[str] | None = None,
) -> Imported:
    r"""Read the judgments of one campaign from its files.

    Args:
        paths: The files; they may be compressed.
        format: ``mturk`` (batch results), ``ad-latest`` (tables of the Direct Assessment tools),
            ``standardized`` (those with z scores) or ``csv`` (any table with the columns rater,
            system, item, score); each file's header tells if not given.
        protocol_name: What was asked; it has the scale.
        pair: Where files hold several pairs of languages, the one to keep: ``cs-en``.
        moments: For z scores, the raters' means and deviations; looked for beside the file.

    Raises:
        DataError: If a file cannot be read, or has rows that cannot be used, or rows twice.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "ratings.csv")
    >>> _ = path.write_text("rater,system,item,score\nr1,mine,clip1,71\nr1,other,clip1,40\n")
    >>> read_judgments([path]).judgments.score.tolist()
    [71.0, 40.0]
    """
    notes: list[str] = []
    rows = stream_judgments(
        paths, notes, format=format, protocol_name=protocol_name, pair=pair, moments=moments
    )
    return Imported(Judgments.of(rows), tuple(notes))


def stream_judgments(
    paths: Sequence[str | os.PathLike[str]],
    notes: list[str],
    *,
    format: Format | None = None,
    protocol_name: str = "direct-assessment",
    pair: str | None = None,
    moments: str | os.PathLike[str] | None = None,
) -> Iterator[Judgment]:
    """Yield judgments one by one, without holding them; what is wrong is said at the end."""
    if not paths:
        raise DataError("No file of judgments is named; name at least one.")
    if format is not None:
        check_choice("format of judgments", format, FORMATS)
    asked = protocol(protocol_name)
    # how many captions were ranked is not known here; a rank is 1 or more
    scale = (asked.scale[0], math.inf) if asked.form == "ranking" else asked.scale
    intake = Intake(Problems(_subject(paths)), scale, pair)
    count, highest = 0, 0.0
    for row in _distinct(_rows(paths, format, moments, intake), asked.form, intake):
        count += 1
        highest = max(highest, row.score)
        yield row
    if pair is None and len(intake.pairs) > 1:
        raise DataError(
            f"{_subject(paths)}: judgments of {len(intake.pairs)} pairs of languages "
            f"({', '.join(sorted(intake.pairs))}); choose one: pair={min(intake.pairs)!r}."
        )
    intake.problems.raise_if_any()
    if not count:
        kept = f" of the pair {pair!r}" if pair else ""
        raise DataError(f"{_subject(paths)}: no judgment{kept} in it.")
    notes += intake.notes
    if intake.incomplete:
        hits = "HIT was" if intake.incomplete == 1 else "HITs were"
        notes.append(f"{intake.incomplete:,} {hits} left out: not all tasks are answered.")
    if asked.form == "rating" and count >= _FEW and highest <= asked.scale[1] / 10:
        notes.append(
            f"The highest of {count:,} scores is {highest:g}, on a scale up to "
            f"{asked.scale[1]:g}: if they are on another one, convert them first."
        )


def _rows(
    paths: Sequence[str | os.PathLike[str]],
    format: Format | None,
    moments: str | os.PathLike[str] | None,
    intake: Intake,
) -> Iterator[Judgment]:
    for path in paths:
        with Source(path) as source:
            kind = format or _told_by(source)
            if kind == "standardized":
                known = _moments(source.path, moments)
                yield from crowd_tables.read_standardized(source, intake, known)
            else:
                yield from _READERS[kind](source, intake)


def _moments(path: str, named: str | os.PathLike[str] | None) -> dict[str, crowd_tables.Moments]:
    beside = Path(named) if named else crowd_tables.moments_file(path)
    if not beside.is_file():
        raise DataError(
            f"{path}: z scores need the raters' means and deviations to become raw scores; there "
            f'is no {str(beside)!r}. Name the file: moments="FILE".'
        )
    return crowd_tables.read_moments(beside)


def _told_by(source: Source) -> Format:
    """Recognise the format by the header."""
    first = decode_line(source.head.partition(b"\n")[0], source.path, 1).strip()
    cells = {cell.strip('"') for cell in first.split(",")}
    if cells.issuperset(crowd_tables.BATCH_COLUMNS) and any(c.startswith("Answer.") for c in cells):
        return "mturk"
    if set(first.split()).issuperset(crowd_tables.TABLE_COLUMNS):
        return "standardized" if crowd_tables.is_standardized(source.head) else "ad-latest"
    return "csv"


def _distinct(rows: Iterator[Judgment], form: Form, intake: Intake) -> Iterator[Judgment]:
    """Name tasks and places that have none; refuse a judgment that is there twice."""
    counts: dict[tuple[str, str, str], int] = {}
    seen: set[int] = set()  # hashes: the names of millions of tasks would fill the memory
    for row in rows:
        place = (row.rater, row.hit, row.criterion)
        position = row.position
        if position < 0:
            position = counts[place] = counts.get(place, -1) + 1
        task = row.task or _task(row, form)
        key = hash((*place, task, row.system if form == "ranking" else ""))
        if key in seen:
            intake.problems.add(
                f"Rater {row.rater!r} judged task {task!r} of HIT {row.hit!r} twice; "
                "expected each judgment once. Is a file named twice, or a repeat not marked as one?"
            )
            continue
        seen.add(key)
        yield msgspec.structs.replace(row, position=position, task=task)


def _task(row: Judgment, form: Form) -> str:
    """Name a task by what it shows: the same for all raters, in whatever order they saw it."""
    if form == "ranking":
        return row.item
    return "/".join(filter(None, (row.item, row.system, row.against, row.kind)))


def _subject(paths: Sequence[str | os.PathLike[str]]) -> str:
    first = os.fspath(paths[0])
    return first if len(paths) == 1 else f"{first} and {len(paths) - 1} more"


_TIMES = ("started", "submitted", "opened", "received")


def judgments_csv(judgments: Iterable[Judgment]) -> str:
    r"""Write judgments as CSV, every field a column, times in UTC."""
    return spreadsheet_csv([Judgment.__struct_fields__, *map(_cells, judgments)])


def _cells(judgment: Judgment) -> list[object]:
    values = msgspec.structs.asdict(judgment)
    for name in _TIMES:
        if values[name] is not None:
            moment = datetime.fromtimestamp(values[name], timezone.utc)
            values[name] = moment.isoformat().replace("+00:00", "Z")
    return ["" if value is None else value for value in values.values()]
