"""Files of crowd services and of the Direct Assessment tools.

A batch of Mechanical Turk has a HIT in a row: one rater's work. Its answer joins all scores by a
bar, each written as system_item_TYPE_position__score, in the order the rater saw.

The tables of the Direct Assessment tools have a judgment in a row: ``ad-latest.csv`` and its
filtered forms scores from 0 to 100, ``ad-…-good-stnd.csv`` of WMT z scores, whose means and
deviations in another file give the raw scores back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from reelscore.campaigns.imports import rows
from reelscore.campaigns.imports.rows import seconds
from reelscore.campaigns.judgments import Judgment
from reelscore.data.source import Source
from reelscore.errors import DataError

BATCH_COLUMNS = ("HITId", "WorkerId", "AssignmentStatus")
_SCORE = re.compile(
    r"(?P<system>.+?)_(?P<item>[^_]+)_(?P<kind>BAD_REF|SYSTEM|REPEAT|REF)"
    r"_(?P<position>\d+)__(?P<score>.*)"
)


def read_batch(source: Source, intake: rows.Intake) -> Iterator[Judgment]:
    """Yield the judgments of a batch; HITs with missing answers are left out, as the tools do."""
    problems = intake.problems
    done: dict[tuple[str, str], int] = {}
    for line, header, cells in rows.rows(source, ",", intake, torn=True):
        rows.places(header, BATCH_COLUMNS, source.path)
        row = dict(zip(header, cells, strict=True))
        if not intake.takes(row.get("Input.src", ""), row.get("Input.trg", "")):
            continue
        where = f"{source.path}:{line}"
        hit, rater = row["HITId"], row["WorkerId"]
        if not hit or not rater:
            problems.add(f"{where}: no HITId or no WorkerId.")
            continue
        if (hit, rater) in done:
            problems.add(
                f"{where}: rater {rater!r} did HIT {hit!r} already in line {done[hit, rater]}; "
                "expected each row once."
            )
            continue
        done[hit, rater] = line
        try:
            judgments = list(_batch_judgments(row, intake.scale))
        except DataError as error:
            problems.add(f"{where}: {error}")
            continue
        asked = sum(name.startswith("Input.sid_") and bool(row[name]) for name in header)
        if asked and len(judgments) != asked:
            intake.incomplete += 1
            continue
        yield from judgments


def _batch_judgments(row: dict[str, str], scale: rows.Scale) -> Iterator[Judgment]:
    answers = [value for name, value in row.items() if name.startswith("Answer.") and "__" in value]
    if len(answers) != 1:
        columns = [name for name in row if name.startswith("Answer.")]
        raise DataError(
            f"{len(answers)} answers of the form system_item_TYPE_position__score|… in the "
            f"columns {', '.join(columns) or 'Answer.…, of which there is none'}; expected one."
        )
    work = batch_work(row)
    positions: set[int] = set()
    for answer in answers[0].split("|"):
        match = _SCORE.fullmatch(answer.strip())
        if match is None:
            raise DataError(
                f"an answer is {answer[:60]!r}; expected system_item_TYPE_position__score."
            )
        position = int(match["position"])
        if position in positions:
            raise DataError(f"position {position} is answered twice.")
        positions.add(position)
        yield Judgment(
            rater=row["WorkerId"],
            hit=row["HITId"],
            task="",  # the page shuffles tasks for each rater: what they show names them
            position=position,
            system=match["system"],
            item=match["item"],
            kind=rows.kind(match["kind"]),
            score=rows.score(match["score"], scale),
            **work,
        )


def batch_work(row: Mapping[str, str | None]) -> dict[str, Any]:
    """Return what a row of a batch says of the work on a HIT, as judgments have it."""
    worked = row.get("WorkTimeInSeconds") or ""
    return {
        "started": seconds(row.get("AcceptTime") or ""),
        "submitted": seconds(row.get("SubmitTime") or ""),
        "seconds": float(worked) if worked.isdigit() else None,
        "client": "mturk",
        "status": (row.get("AssignmentStatus") or "").lower(),
    }


TABLE_COLUMNS = ("HITId", "WorkerId", "Input.src", "Input.trg", "sys_id", "type", "sid", "score")
_WHOLE = 0.01  # printed means have seven digits: a raw score comes back whole up to this


class Moments(NamedTuple):
    """Mean and standard deviation of a rater's scores, as printed."""

    mean: float
    deviation: float


def read_table(source: Source, intake: rows.Intake) -> Iterator[Judgment]:
    """Yield raw judgments."""
    for where, row in _rows(source, intake):
        try:
            yield _judgment(row, rows.score(row["score"], intake.scale))
        except DataError as error:
            intake.problems.add(f"{where}: {error}")


def read_standardized(
    source: Source, intake: rows.Intake, moments: Mapping[str, Moments]
) -> Iterator[Judgment]:
    """Yield judgments with their z scores; raw scores are z · deviation + mean."""
    for where, row in _rows(source, intake):
        try:
            z, raw = _raw(row, moments, intake.scale)
            yield _judgment(row, raw, z)
        except DataError as error:
            intake.problems.add(f"{where}: {error}")


def read_moments(path: str | Path) -> dict[str, Moments]:
    """Read raters' means and deviations from what R printed: ``ad-…-trk-mean-sd.txt``."""
    with Source(path) as source:
        lines = [line.decode().strip() for _, line in source.lines(longest=1 << 16)]
    values = [line.removeprefix("[1]").strip().strip('"') for line in lines if line]
    try:
        return {
            values[k]: Moments(float(values[k + 1]), float(values[k + 2]))
            for k in range(0, len(values), 3)
        }
    except (IndexError, ValueError):
        raise DataError(
            f"{path}: not raters' means and deviations; expected three lines for each rater: "
            'name, mean, deviation, such as [1] "F0002".'
        ) from None


def moments_file(path: str | Path) -> Path:
    """Name the file of means and deviations that belongs to a table of z scores.

    >>> moments_file("analysis/ad-csen-good-stnd.csv").name
    'ad-csen-trk-mean-sd.txt'
    """
    path = Path(path)
    return path.with_name(re.sub(r"-good-stnd.*$", "", path.name) + "-trk-mean-sd.txt")


def is_standardized(head: bytes) -> bool:
    """Distinguish z scores from raw ones: they are not whole numbers from 0 to 100."""
    lines = head.decode("utf-8", "replace").splitlines()
    if len(lines) < 2:
        return False
    place = lines[0].split().index("score")
    cells = (line.split("\t") for line in lines[1:20])
    return any(len(row) > place and not row[place].strip().isdigit() for row in cells)


def _rows(source: Source, intake: rows.Intake) -> Iterator[tuple[str, dict[str, str]]]:
    for line, header, cells in rows.rows(source, "\t", intake):
        rows.places(header, TABLE_COLUMNS, source.path)
        row = dict(zip(header, cells, strict=True))
        if intake.takes(row["Input.src"], row["Input.trg"]):
            yield f"{source.path}:{line}", row


def _judgment(row: Mapping[str, str], score: float, z: float | None = None) -> Judgment:
    seconds = row.get("time", "")
    return Judgment(
        rater=row["WorkerId"],
        hit=row["HITId"],
        task="",
        position=-1,
        system=row["sys_id"],
        item=row["sid"],
        kind=rows.kind(row["type"]),
        score=score,
        seconds=float(seconds) if seconds.replace(".", "", 1).isdigit() else None,
        z=z,
    )


def _raw(
    row: Mapping[str, str], moments: Mapping[str, Moments], scale: rows.Scale
) -> tuple[float, float]:
    """Return a score as z, and as the whole number it was made of."""
    rater = row["WorkerId"]
    if rater not in moments:
        raise DataError(f"rater {rater!r} has no mean and deviation.")
    try:
        z = float(row["score"])
    except ValueError:
        raise DataError(f"the score is {row['score'][:40]!r}; expected a number.") from None
    raw = z * moments[rater].deviation + moments[rater].mean
    if abs(raw - round(raw)) < _WHOLE:
        raw = float(round(raw))
    if not scale[0] <= raw <= scale[1]:
        raise DataError(
            f"z {row['score'][:20]} of rater {rater!r} is a raw score of {raw:.2f}; expected "
            f"{scale[0]:g} to {scale[1]:g}. Do means and scores belong together?"
        )
    return z, raw
