"""Take a rater's answers: checked, kept once, acknowledged as often as they are sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, and_, exists, func, insert, select, update

from reelscore.errors import RefusedError
from reelscore.human.protocol import Answer
from reelscore.human.store.claiming import take_back
from reelscore.human.store.connecting import Database
from reelscore.human.store.records import Receipt, Terms
from reelscore.human.store.schema import assignment, campaign, judgment, shown, task


@dataclass(frozen=True)
class Sent:
    """An answer as it comes, with its times in microseconds."""

    assignment: int
    rater: str
    task: str
    answer: Answer
    started: int | None
    submitted: int | None
    client: str


def submit(database: Database, terms: Terms, sent: Sent, now: int) -> Receipt:
    """Keep an answer, or say why not.

    The same answer may come again at any time, also when the HIT is finished or the campaign
    closed: a rater whose connection broke cannot know whether it had arrived.
    """
    with database.writing() as connection:
        database.alone(connection, terms.id, sent.rater)
        row = _place(connection, terms, sent)
        terms.protocol.check(sent.answer, row.captions)
        missing = _missing(connection, sent, row)
        if missing:
            _check_open(connection, terms, row, now)
            connection.execute(
                insert(judgment), [_kept(sent, row, now, *each) for each in missing.items()]
            )
        remaining = _remaining(connection, row)
        if missing:
            done = {"state": "done", "finished": now} if remaining == 0 else {}
            connection.execute(update(assignment).filter_by(id=row.id).values(active=now, **done))
        return Receipt(sent.assignment, sent.task, bool(missing), remaining, remaining == 0)


def _place(connection: Connection, terms: Terms, sent: Sent) -> Row[Any]:
    captions = select(func.count()).where(shown.c.task == task.c.key).scalar_subquery()
    row = connection.execute(
        select(
            assignment,
            campaign.c.state.label("campaign_state"),
            task.c.key.label("task"),
            task.c.position,
            captions.label("captions"),
        )
        .join(campaign, campaign.c.id == assignment.c.campaign)
        .outerjoin(task, and_(task.c.hit == assignment.c.hit, task.c.id == sent.task))
        .where(assignment.c.id == sent.assignment, assignment.c.campaign == terms.id)
        .where(assignment.c.rater == sent.rater, assignment.c.state != "open")
        .with_for_update(of=assignment)
    ).one_or_none()
    if row is None:
        raise RefusedError(
            "unknown", f"Rater {sent.rater!r} has no assignment {sent.assignment} in this campaign."
        )
    if row.task is None:
        raise RefusedError("unknown", f"Assignment {row.id} has no task {sent.task!r}.")
    return row


def _missing(connection: Connection, sent: Sent, row: Row[Any]) -> dict[tuple[int, str], float]:
    """Give the scores that are not there yet, by caption and criterion."""
    given = {
        (slot, criterion): float(score)
        for criterion, scores in sent.answer.items()
        for slot, score in enumerate(scores)
    }
    known = connection.execute(
        select(judgment.c.slot, judgment.c.criterion, judgment.c.score).filter_by(
            assignment=row.id, task=row.task
        )
    )
    for slot, criterion, score in known:
        if given.pop((slot, criterion), None) != score:
            raise RefusedError(
                "answered",
                f"Task {sent.task!r} of assignment {row.id} has another answer already; answers "
                "are never changed.",
            )
    return given


def _check_open(connection: Connection, terms: Terms, row: Row[Any], now: int) -> None:
    if row.campaign_state == "closed":
        raise RefusedError("closed", "The campaign is closed; no more answers are taken.")
    if row.state == "done":
        raise RefusedError("closed", f"Assignment {row.id} is finished.")
    if row.state == "abandoned" and not take_back(connection, terms, row, now):
        raise RefusedError(
            "taken",
            f"Assignment {row.id} was left too long and its place is taken; ask for another HIT.",
        )


def _kept(
    sent: Sent, row: Row[Any], now: int, place: tuple[int, str], score: float
) -> dict[str, Any]:
    slot, criterion = place
    return {
        "assignment": row.id,
        "task": row.task,
        "slot": slot,
        "criterion": criterion,
        "score": score,
        "position": row.position,
        "started": sent.started,
        "submitted": sent.submitted,
        "received": now,
        "client": sent.client,
    }


def _remaining(connection: Connection, row: Row[Any]) -> int:
    answered = exists().where(judgment.c.assignment == row.id, judgment.c.task == task.c.key)
    left = select(func.count()).select_from(task).where(task.c.hit == row.hit, ~answered)
    return connection.execute(left).scalar_one()
