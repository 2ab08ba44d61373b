"""Take a rater's answers: checked, kept once, acknowledged as often as they are sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, and_, bindparam, exists, func, insert, select, update

from reelscore.errors import RefusedError
from reelscore.human.protocol import Answer
from reelscore.human.store.claiming import take_back
from reelscore.human.store.connecting import Database
from reelscore.human.store.records import Receipt, Terms
from reelscore.human.store.schema import assignment, campaign, judgment, shown, task

# Made once: these are what a busy campaign does all day.
_PLACE = (
    select(
        assignment,
        campaign.c.state.label("campaign_state"),
        task.c.key.label("task"),
        task.c.position,
        select(func.count()).where(shown.c.task == task.c.key).scalar_subquery().label("captions"),
    )
    .join(campaign, campaign.c.id == assignment.c.campaign)
    .outerjoin(task, and_(task.c.hit == assignment.c.hit, task.c.id == bindparam("task")))
    .where(assignment.c.id == bindparam("assignment"), assignment.c.state != "open")
    .where(assignment.c.campaign == bindparam("campaign"))
    .where(assignment.c.rater == bindparam("rater"))
    .with_for_update(of=assignment)
)
_KNOWN = select(judgment.c.slot, judgment.c.criterion, judgment.c.score).where(
    judgment.c.assignment == bindparam("assignment"), judgment.c.task == bindparam("task")
)
_REMAINING = (
    select(func.count())
    .select_from(task)
    .where(task.c.hit == bindparam("hit"))
    .where(
        ~exists().where(
            judgment.c.assignment == bindparam("assignment"), judgment.c.task == task.c.key
        )
    )
)
_SEEN = (
    update(assignment)
    .where(assignment.c.id == bindparam("assignment"))
    .values(active=bindparam("now"))
)
_DONE = _SEEN.values(state="done", finished=bindparam("now"))


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
        left = connection.execute(_REMAINING, {"assignment": row.id, "hit": row.hit})
        remaining = left.scalar_one()
        if missing:
            seen = _SEEN if remaining else _DONE
            connection.execute(seen, {"assignment": row.id, "now": now})
        return Receipt(sent.assignment, sent.task, bool(missing), remaining, remaining == 0)


def _place(connection: Connection, terms: Terms, sent: Sent) -> Row[Any]:
    known = {
        "campaign": terms.id,
        "assignment": sent.assignment,
        "rater": sent.rater,
        "task": sent.task,
    }
    row = connection.execute(_PLACE, known).one_or_none()
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
    known = connection.execute(_KNOWN, {"assignment": row.id, "task": row.task})
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
