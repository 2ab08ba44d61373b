"""Mechanical Turk's batch results, as the tools of Direct Assessment ask: a HIT in a row.

Each row is one rater's work on one HIT. Its answer joins all scores by a bar, each written as
system_item_TYPE_position__score, in the order the rater saw.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from reelscore.data.source import Source
from reelscore.errors import DataError
from reelscore.human.imports import rows
from reelscore.human.imports.times import seconds
from reelscore.human.judgments import Judgment

NEEDED = ("HITId", "WorkerId", "AssignmentStatus")
_SCORE = re.compile(
    r"(?P<system>.+?)_(?P<item>[^_]+)_(?P<kind>BAD_REF|SYSTEM|REPEAT|REF)"
    r"_(?P<position>\d+)__(?P<score>.*)"
)


def read(source: Source, intake: rows.Intake) -> Iterator[Judgment]:
    """Yield the judgments of a batch; HITs with missing answers are left out, as the tools do."""
    problems = intake.problems
    done: dict[tuple[str, str], int] = {}
    for line, header, cells in rows.rows(source, ",", intake, torn=True):
        rows.places(header, NEEDED, source.path)
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
            judgments = list(_judgments(row, intake.scale))
        except DataError as error:
            problems.add(f"{where}: {error}")
            continue
        asked = sum(name.startswith("Input.sid_") and bool(row[name]) for name in header)
        if asked and len(judgments) != asked:
            intake.incomplete += 1
            continue
        yield from judgments


def _judgments(row: dict[str, str], scale: rows.Scale) -> Iterator[Judgment]:
    answers = [value for name, value in row.items() if name.startswith("Answer.") and "__" in value]
    if len(answers) != 1:
        columns = [name for name in row if name.startswith("Answer.")]
        raise DataError(
            f"{len(answers)} answers of the form system_item_TYPE_position__score|… in the "
            f"columns {', '.join(columns) or 'Answer.…, of which there is none'}; expected one."
        )
    times = {name: seconds(row.get(name, "")) for name in ("AcceptTime", "SubmitTime")}
    worked = row.get("WorkTimeInSeconds", "")
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
            task="",  # the page shuffles tasks anew for each rater: what they show names them
            position=position,
            system=match["system"],
            item=match["item"],
            kind=rows.kind(match["kind"]),
            score=rows.score(match["score"], scale),
            started=times["AcceptTime"],
            submitted=times["SubmitTime"],
            seconds=float(worked) if worked.isdigit() else None,
            client="mturk",
            status=row["AssignmentStatus"].lower(),
        )


def is_batch(header: Sequence[str]) -> bool:
    """Tell a batch by its header."""
    return set(NEEDED) <= set(header) and any(name.startswith("Answer.") for name in header)
