"""Who holds which HIT: raters claim, come back, and go away."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    Row,
    Select,
    and_,
    case,
    delete,
    exists,
    func,
    insert,
    or_,
    select,
    update,
)

from reelscore.campaigns.hits.tasks import Shown, Task
from reelscore.campaigns.store.campaigns import is_excluded, log, read_state
from reelscore.campaigns.store.records import REJECTED, Assignment, Terms
from reelscore.campaigns.store.schema import assignment, hit, judgment, shown, skip, task
from reelscore.errors import RefusedError
from reelscore.store.database import Database, alone

ACTOR = "reelscore"  # what the log calls us
_NOTICED = 0.05  # of the hold time; signs of a rater that come sooner are not written down


def claim(
    connection: Connection, terms: Terms, rater: str, client: str, now: int, *, releasing: bool
) -> Assignment | None:
    """Return a rater the HIT held, the one abandoned, or the next; None where there is none.

    Places of raters who were not seen for the hold time are offered again before, if `releasing`.
    """
    alone(connection, terms.id, rater)
    mine = select(assignment.c.id).filter_by(campaign=terms.id, rater=rater)
    rejected = connection.scalar(mine.filter_by(status=REJECTED).limit(1))
    if is_excluded(connection, terms, rater) or rejected is not None:
        raise RefusedError("excluded", f"Rater {rater!r} is excluded from this campaign.")
    # another claim may be about to offer it again
    held = connection.scalar(mine.filter_by(state="held").with_for_update())
    if held is None:
        if read_state(connection, terms) != "open":
            return None
        if releasing:
            release(connection, terms, now)
        held = _return(connection, terms, rater, now) or _next(connection, terms, rater)
        if held is None:
            return None
    _hold(connection, held, rater, client, now)
    return load_assignment(connection, terms, held)


def release(connection: Connection, terms: Terms, now: int) -> int:
    """Offer again the places of raters who have not been seen for the hold time."""
    hold = round(terms.hold * 1e6)
    # seen in the future: the clock was wrong then, and has been set back by more than the hold time
    is_overdue = or_(assignment.c.active < now - hold, assignment.c.active > now + hold)
    overdue = (
        select(assignment.c.id)
        .filter_by(campaign=terms.id, state="held")
        .where(is_overdue)
        .with_for_update(skip_locked=True)  # one that is locked is just being answered
    )
    return abandon(connection, terms, overdue, now, f"not seen for {terms.hold:g} seconds")


def touch(database: Database, terms: Terms, id: int, rater: str, now: int) -> bool:
    """Note that a rater is still there; tell whether they hold the HIT."""
    mine = {"campaign": terms.id, "id": id, "rater": rater, "state": "held"}
    with database.reading() as connection:
        active = connection.scalar(select(assignment.c.active).filter_by(**mine))
    if active is None:
        return False
    if abs(now - active) > terms.hold * 1e6 * _NOTICED:  # the clock may have been set back
        with database.writing() as connection:
            connection.execute(update(assignment).filter_by(**mine).values(active=now))
    return True


def open_task(database: Database, terms: Terms, id: int, rater: str, name: str, now: int) -> bool:
    """Note that a rater is sent a task, the first time; tell whether they hold the HIT."""
    wanted = {"campaign": terms.id, "id": id, "rater": rater, "state": "held"}
    mine = and_(*(assignment.c[column] == value for column, value in wanted.items()))
    of_hit = and_(task.c.hit == assignment.c.hit, task.c.id == name)
    with database.reading() as connection:
        row = connection.execute(
            select(assignment.c.task, task.c.key).join(task, of_hit).where(mine)
        ).one_or_none()
    if row is None:
        return False
    if row.task != row.key:
        is_first = assignment.c.task.is_distinct_from(row.key)
        opened = update(assignment).where(mine, is_first)
        with database.writing() as connection:
            connection.execute(opened.values(task=row.key, opened=now, active=now))
        return True
    return touch(database, terms, id, rater, now)


def release_one(
    connection: Connection, terms: Terms, id: int, now: int, actor: str, reason: str
) -> None:
    """Offer one place again, whenever its rater was last seen."""
    wanted = (
        select(assignment.c.id).filter_by(campaign=terms.id, id=id, state="held").with_for_update()
    )
    if not abandon(connection, terms, wanted, now, reason, actor):
        raise RefusedError("unknown", f"No rater holds assignment {id}.")


def abandon(
    connection: Connection,
    terms: Terms,
    which: Select[int],
    now: int,
    reason: str,
    actor: str = ACTOR,
) -> int:
    """Offer the places of held HITs again; give how many."""
    ids = connection.scalars(which).all()
    for id in ids:
        row = connection.execute(
            update(assignment)
            .filter_by(id=id)
            .values(state="abandoned")
            .returning(assignment.c.hit, assignment.c.slot, assignment.c.rater)
        ).one()
        # others may have had the place since this rater first took it
        turns = select(func.max(assignment.c.turn)).filter_by(hit=row.hit, slot=row.slot)
        place = open_place(terms.id, row.hit, row.slot, connection.execute(turns).scalar_one() + 1)
        connection.execute(insert(assignment).values(place))
        log(connection, terms, now, actor, "release", row.rater, reason)
    return len(ids)


def take_back(connection: Connection, terms: Terms, row: Row[Any], now: int) -> bool:
    """Let a rater go on with an abandoned HIT, if nobody else has taken the place."""
    holds = exists().where(
        assignment.c.campaign == terms.id,
        assignment.c.rater == row.rater,
        assignment.c.state == "held",
    )
    offered = delete(assignment).where(
        assignment.c.hit == row.hit,
        assignment.c.slot == row.slot,
        assignment.c.state == "open",
    )
    if connection.scalar(select(holds)) or connection.execute(offered).rowcount == 0:
        return False
    connection.execute(update(assignment).filter_by(id=row.id).values(state="held", active=now))
    log(connection, terms, now, row.rater, "return", row.rater, "came back in time")
    return True


def _return(connection: Connection, terms: Terms, rater: str, now: int) -> int | None:
    given_up = connection.execute(
        select(assignment)
        .filter_by(campaign=terms.id, rater=rater, state="abandoned")
        .order_by(assignment.c.active.desc())
    ).all()
    for row in given_up:
        if take_back(connection, terms, row, now):
            return int(row.id)
    return None


def _next(connection: Connection, terms: Terms, rater: str) -> int | None:
    """Find the next place: HITs with the fewest raters first, in the order they were added."""
    return connection.scalar(
        select(assignment.c.id)
        .filter_by(campaign=terms.id, state="open")
        .where(assignment.c.hit.not_in(_had(terms, rater)))
        .where(assignment.c.hit.not_in(_familiar(terms, rater)))
        .order_by(assignment.c.slot, assignment.c.hit)
        .limit(1)
        .with_for_update(skip_locked=True)
    )


def _had(terms: Terms, rater: str) -> Select[int]:
    return select(assignment.c.hit).filter_by(campaign=terms.id, rater=rater)


def _familiar(terms: Terms, rater: str) -> Select[int]:
    """HITs that show what the rater has seen: a caption of the same system, or in the same words.

    Where captions are compared, it is the same two, since one of them, such as the reference, may
    well stand beside others. Questions with a known answer may come again.
    """
    seen, seen_task = shown.alias("seen"), task.alias("seen_task")
    familiar = (
        select(task.c.hit)
        .select_from(seen_task)
        .join(seen, seen.c.task == seen_task.c.key)
        .join(task, and_(task.c.campaign == terms.id, task.c.item == seen_task.c.item))
        .join(shown, shown.c.task == task.c.key)
        .where(seen_task.c.hit.in_(_had(terms, rater)))
        .where(seen.c.kind != "test", shown.c.kind != "test")
        .distinct()
    )
    if terms.protocol.form != "comparison":
        return familiar.where(_same(seen, shown))
    beside_seen, beside = shown.alias("beside_seen"), shown.alias("beside")
    return (
        familiar.join(beside_seen, beside_seen.c.task == seen_task.c.key)
        .join(beside, beside.c.task == task.c.key)
        .where(seen.c.slot == 0, beside_seen.c.slot == 1, shown.c.slot != beside.c.slot)
        .where(_same(seen, shown), _same(beside_seen, beside))
    )


def _same(one: FromClause, other: FromClause) -> ColumnElement[bool]:
    words = and_(one.c.text == other.c.text, one.c.text != "")
    return or_(one.c.system == other.c.system, words)


def _hold(connection: Connection, id: int, rater: str, client: str, now: int) -> None:
    connection.execute(
        update(assignment)
        .filter_by(id=id)
        .values(state="held", rater=rater, active=now)
        .values(
            # the first time counts, and what was used then
            claimed=func.coalesce(assignment.c.claimed, now),
            client=case((assignment.c.claimed.is_(None), client), else_=assignment.c.client),
        )
    )


def open_place(campaign: str, hit: int, slot: int, turn: int = 0) -> dict[str, object]:
    """Describe an assignment that waits for a rater."""
    return {
        "campaign": campaign,
        "hit": hit,
        "slot": slot,
        "turn": turn,
        "state": "open",
        **dict.fromkeys(("rater", "client", "status"), ""),
    }


def load_assignment(connection: Connection, terms: Terms, id: int) -> Assignment | None:
    """Return one assignment with its tasks; None where nobody has it."""
    row = connection.execute(
        select(assignment, hit.c.key, hit.c.id.label("name"))
        .join(hit, hit.c.key == assignment.c.hit)
        .where(assignment.c.id == id, assignment.c.campaign == terms.id, assignment.c.rater != "")
    ).one_or_none()
    if row is None:
        return None
    answered = (
        select(task.c.id)
        .join(judgment, judgment.c.task == task.c.key)
        .where(judgment.c.assignment == id)
    )
    skipped = select(task.c.id).join(skip, skip.c.task == task.c.key)
    return Assignment(
        id,
        row.name,
        row.rater,
        row.state,
        tuple(load_tasks(connection, row.key)),
        frozenset(connection.scalars(answered)),
        frozenset(connection.scalars(skipped.where(skip.c.assignment == id))),
        tuple(row.flags.split()),
        row.status,
    )


def load_tasks(connection: Connection, hit_key: int) -> Sequence[Task]:
    """Return the tasks of a HIT, in the order shown."""
    query = task_rows().where(task.c.hit == hit_key)
    rows = connection.execute(query.order_by(task.c.position, task.c.key, shown.c.slot))
    return list(tasks_of(iter(rows)))


def task_rows(*more: Any) -> Select[Any]:
    """Select tasks with their captions, a row for each caption, and further columns."""
    columns = (task.c.key, task.c.id, task.c.item, task.c.expected)
    captions = (shown.c.system, shown.c.text, shown.c.kind)
    return select(*columns, *captions, *more).select_from(task).join(shown)


def tasks_of(rows: Iterator[Any]) -> Iterator[Task]:
    """Yield the tasks of such rows, in their order."""
    for _, of_task in groupby(rows, key=lambda row: row.key):
        captions = list(of_task)
        first = captions[0]
        texts = tuple(Shown(row.system, row.text, row.kind) for row in captions)
        yield Task(first.id, first.item, texts, first.expected)


class Place(NamedTuple):
    """One task in the hands of a rater."""

    rater: str
    task: str
    item: str


def find_place(connection: Connection, terms: Terms, id: int, number: int) -> Place:
    """Look up a task of an assignment by its number, from 1."""
    row = connection.execute(
        select(assignment.c.rater, task.c.id, task.c.item)
        .join(task, task.c.hit == assignment.c.hit)
        .where(assignment.c.campaign == terms.id, assignment.c.id == id)
        .order_by(task.c.position, task.c.key)
        .offset(number - 1)
        .limit(1)
    ).one_or_none()
    if row is None:
        raise RefusedError("unknown", f"Assignment {id} has no task {number}.")
    return Place(*row)
