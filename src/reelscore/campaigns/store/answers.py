"""Answers and reports of raters: checked, kept once, acknowledged whenever they are sent.

They are given back as judgments and skips.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    and_,
    bindparam,
    case,
    exists,
    func,
    insert,
    literal,
    or_,
    select,
    update,
)

from reelscore.campaigns.judgments import Judgment
from reelscore.campaigns.protocols import Answer
from reelscore.campaigns.store.assignments import take_back
from reelscore.campaigns.store.campaigns import EXCLUDE, READMIT, read_settings
from reelscore.campaigns.store.records import REJECTED, Receipt, Skip, Terms
from reelscore.campaigns.store.schema import (
    assignment,
    campaign,
    event,
    hit,
    judgment,
    shown,
    skip,
    task,
)
from reelscore.errors import RefusedError
from reelscore.store.database import alone
from reelscore.store.values import seconds

# Made once: these are what a busy campaign does all day.
_PLACE: Select[Any] = (
    select(
        *(assignment.c[name] for name in ("id", "hit", "slot", "rater", "state", "status")),
        *(assignment.c[name] for name in ("task", "opened", "flags")),
        campaign.c.state.label("campaign_state"),
        task.c.key,
        task.c.position,
        select(func.count()).where(shown.c.task == task.c.key).scalar_subquery().label("captions"),
        exists()
        .where(skip.c.assignment == assignment.c.id, skip.c.task == task.c.key)
        .label("skipped"),
        select(event.c.what)
        .where(event.c.campaign == assignment.c.campaign, event.c.about == assignment.c.rater)
        .where(or_(event.c.what == EXCLUDE, event.c.what == READMIT))  # faster than a list
        .order_by(event.c.id.desc())
        .limit(1)
        .scalar_subquery()
        .label("last_word"),
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
_REMAINING = select(
    select(func.count()).where(task.c.hit == bindparam("hit")).scalar_subquery()
    - select(func.count(judgment.c.task.distinct()))
    .where(judgment.c.assignment == bindparam("assignment"))
    .scalar_subquery()
    - select(func.count()).where(skip.c.assignment == bindparam("assignment")).scalar_subquery()
)
_SEEN = (
    update(assignment)
    .where(assignment.c.id == bindparam("assignment"))
    .values(active=bindparam("now"), flags=bindparam("all_flags"))
)
_DONE = _SEEN.values(state="done", finished=bindparam("now"))
MEDIA = "media"  # of the settings: the seconds of each item's video
_QUICK = 1.0  # seconds: nobody watches, reads and answers faster
_FEW = 3  # quick answers that may be accidents
_SHARE = 0.1  # of the HIT's answers that may be quick
_LEAST = 0.9 / 2  # of a video's length: pages play at up to twice the speed, and ask for 90 %
_TIMES = (
    select(judgment.c.task, judgment.c.opened, judgment.c.received, task.c.item)
    .join(task, task.c.key == judgment.c.task)
    .where(judgment.c.assignment == bindparam("assignment"))
    .distinct()
)

PlaceRow = Row[Any]  # what `_PLACE` finds
AT_ONCE = 5000  # rows fetched together
_MOMENTS = [
    Judgment.__struct_fields__.index(n) for n in ("started", "submitted", "opened", "received")
]


@dataclass(frozen=True)
class Sent:
    """An answer as it comes, with its times in microseconds, as the rater's page has them."""

    assignment: int
    rater: str
    task: str
    answer: Answer
    started: int | None
    submitted: int | None
    client: str
    watched: float | None = None
    is_served: bool = False


def submit(connection: Connection, terms: Terms, sent: Sent, now: int) -> Receipt:
    """Keep an answer, or say why not.

    The same answer may come again at any time, also when the HIT is finished or the campaign
    closed: a rater whose connection broke cannot know whether it had arrived.
    """
    alone(connection, terms.id, sent.rater)
    row = _place(connection, terms, sent.assignment, sent.rater, sent.task)
    terms.protocol.check(sent.answer, row.captions)
    if row.skipped:
        raise RefusedError(
            "answered", f"Task {sent.task!r} of assignment {row.id} was reported and skipped."
        )
    missing = _missing(connection, sent, row)
    if missing:
        _check_open(connection, terms, row, now)
        same = {
            **{name: getattr(sent, name) for name in ("started", "submitted", "client", "watched")},
            **{"assignment": row.id, "task": row.key, "position": row.position, "received": now},
            "opened": row.opened if row.task == row.key else None,
        }
        scores = [
            {**same, "slot": slot, "criterion": criterion, "score": score}
            for (slot, criterion), score in missing.items()
        ]
        connection.execute(insert(judgment), scores)
    if not missing:
        return _receipt(connection, row, sent.task, is_new=False)
    flags = set()
    if sent.is_served and row.task != row.key:
        flags.add("unopened")
    if sent.is_served and sent.started is not None and sent.started < terms.created * 1e6:
        flags.add("early")
    return _settle(connection, terms, row, sent.task, now, flags, is_served=sent.is_served)


def skip_task(
    connection: Connection, terms: Terms, id: int, rater: str, task: str, reason: str, now: int
) -> Receipt:
    """Note that a rater cannot answer a task; see `Campaign.skip`."""
    alone(connection, terms.id, rater)
    row = _place(connection, terms, id, rater, task)
    if connection.execute(_KNOWN, {"assignment": row.id, "task": row.key}).first():
        raise RefusedError("answered", f"Task {task!r} of assignment {row.id} has an answer.")
    if not row.skipped:
        _check_open(connection, terms, row, now)
        values = {"assignment": row.id, "task": row.key, "time": now, "reason": reason}
        connection.execute(insert(skip).values(values))
        is_served = row.task is not None
        return _settle(connection, terms, row, task, now, set(), is_served=is_served)
    return _receipt(connection, row, task, is_new=False)


def _place(connection: Connection, terms: Terms, id: int, rater: str, task: str) -> PlaceRow:
    wanted = {"campaign": terms.id, "assignment": id, "rater": rater, "task": task}
    row = connection.execute(_PLACE, wanted).one_or_none()
    if row is None:
        raise RefusedError("unknown", f"Rater {rater!r} has no assignment {id} in this campaign.")
    if row.key is None:
        raise RefusedError("unknown", f"Assignment {row.id} has no task {task!r}.")
    return row


def _receipt(connection: Connection, row: PlaceRow, task: str, *, is_new: bool) -> Receipt:
    left = connection.execute(_REMAINING, {"assignment": row.id, "hit": row.hit})
    remaining = left.scalar_one()
    return Receipt(row.id, task, is_new, remaining, remaining == 0)


def _settle(
    connection: Connection,
    terms: Terms,
    row: PlaceRow,
    task: str,
    now: int,
    flags: set[str],
    *,
    is_served: bool,
) -> Receipt:
    """Note that the rater was there, whether the HIT is done, and what to look at in it."""
    receipt = _receipt(connection, row, task, is_new=True)
    flags |= set(row.flags.split())
    if receipt.done and is_served:
        flags |= hit_flags(connection, terms, row.id)
    values = {"assignment": row.id, "now": now, "all_flags": " ".join(sorted(flags))}
    connection.execute(_DONE if receipt.done else _SEEN, values)
    return receipt


def _missing(connection: Connection, sent: Sent, row: PlaceRow) -> dict[tuple[int, str], float]:
    """Return the scores that are not there yet, by caption and criterion."""
    given = {
        (slot, criterion): float(score)
        for criterion, scores in sent.answer.items()
        for slot, score in enumerate(scores)
    }
    known = connection.execute(_KNOWN, {"assignment": row.id, "task": row.key})
    for slot, criterion, score in known:
        if given.pop((slot, criterion), None) != score:
            raise RefusedError(
                "answered",
                f"Task {sent.task!r} of assignment {row.id} has another answer already; answers "
                "are never changed.",
            )
    return given


def _check_open(connection: Connection, terms: Terms, row: PlaceRow, now: int) -> None:
    if row.last_word == EXCLUDE or row.status == REJECTED:
        raise RefusedError("excluded", f"Rater {row.rater!r} is excluded from this campaign.")
    if row.campaign_state == "closed":
        raise RefusedError("closed", "The campaign is closed; no more answers are accepted.")
    if row.state == "done":
        raise RefusedError("closed", f"Assignment {row.id} is finished.")
    if row.state == "abandoned" and not take_back(connection, terms, row, now):
        raise RefusedError(
            "taken",
            f"Assignment {row.id} was left too long and its place is taken; ask for another HIT.",
        )


def hit_flags(connection: Connection, terms: Terms, assignment: int) -> set[str]:
    """Name what is wrong with the times of a finished HIT.

    A video counts once, however many tasks show it: who knows it need not watch it again.
    """
    rows = connection.execute(_TIMES, {"assignment": assignment}).all()
    times = [0.0 if row.opened is None else (row.received - row.opened) / 1e6 for row in rows]
    flags = set()
    quick = sum(time < _QUICK for time in times)
    if quick >= _FEW and quick > _SHARE * len(times):
        flags.add("burst")
    durations = read_settings(connection, terms).get(MEDIA) or {}
    playing = sum(durations.get(item, 0.0) for item in {row.item for row in rows})
    if sum(times) < _LEAST * playing:
        flags.add("too-fast")
    return flags


def judgments(
    connection: Connection, terms: Terms, *, finished: bool = False
) -> Iterator[Judgment]:
    """Yield the judgments in the order they came; `finished`: only those of finished HITs."""
    compares = terms.protocol.form == "comparison"
    second = shown.alias("second")
    query = (
        select(
            assignment.c.rater,
            hit.c.id,
            task.c.id,
            judgment.c.position,
            shown.c.system,
            task.c.item,
            kind_of_pair(shown.c.kind, second.c.kind) if compares else shown.c.kind,
            judgment.c.score,
            judgment.c.criterion,
            second.c.system if compares else literal(""),
            judgment.c.started,
            judgment.c.submitted,
            assignment.c.seconds,
            judgment.c.client,
            assignment.c.status,
            judgment.c.z,
            judgment.c.opened,
            # of judgments made elsewhere, it says when they were added
            case((judgment.c.opened.is_not(None), judgment.c.received)),
            judgment.c.watched,
        )
        .select_from(judgment)
        .join(assignment, assignment.c.id == judgment.c.assignment)
        .join(hit, hit.c.key == assignment.c.hit)
        .join(task, task.c.key == judgment.c.task)
        .join(shown, and_(shown.c.task == judgment.c.task, shown.c.slot == judgment.c.slot))
        .where(assignment.c.campaign == terms.id)
        .order_by(judgment.c.id)
    )
    if compares:
        query = query.join(second, and_(second.c.task == task.c.key, second.c.slot == 1))
    if finished:
        query = query.where(assignment.c.state == "done")
    for row in connection.execute(query.execution_options(yield_per=AT_ONCE)):
        values = list(row)
        for place in _MOMENTS:
            values[place] = seconds(row[place])
        yield Judgment(*values)


def skips(connection: Connection, terms: Terms) -> Sequence[Skip]:
    """Return the tasks that raters reported and skipped, oldest first."""
    query = (
        select(
            skip.c.assignment,
            hit.c.id,
            assignment.c.rater,
            task.c.id,
            task.c.item,
            skip.c.time,
            skip.c.reason,
        )
        .join(assignment, assignment.c.id == skip.c.assignment)
        .join(task, task.c.key == skip.c.task)
        .join(hit, hit.c.key == task.c.hit)
        .where(assignment.c.campaign == terms.id)
        .order_by(skip.c.time, skip.c.assignment, task.c.position)
    )
    rows = connection.execute(query)
    return [Skip(*row[:5], row.time / 1e6, row.reason) for row in rows]


def kind_of_pair(first: ColumnElement[str], second: ColumnElement[str]) -> ColumnElement[str]:
    """Return in SQL what a comparison is there for: what the caption beside a reference is."""
    return case((first != "reference", first), else_=second)
