"""What is read from a campaign as a whole: its HITs, its judgments, and where it stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, Select, and_, case, func, literal, select

from reelscore.human.hits.tasks import GENUINE, Hit
from reelscore.human.judgments import Judgment
from reelscore.human.store.assignments import task_rows, tasks_of
from reelscore.human.store.campaigns import read_state
from reelscore.human.store.records import Skip, Status, Terms
from reelscore.human.store.schema import assignment, hit, judgment, shown, skip, task
from reelscore.store.values import seconds

AT_ONCE = 5000  # rows fetched together
_TIMES = [
    Judgment.__struct_fields__.index(n) for n in ("started", "submitted", "opened", "received")
]


def hits(connection: Connection, terms: Terms) -> Iterator[Hit]:
    """Give the HITs, one after the other, in the order they were added."""
    found = (
        task_rows(hit.c.id.label("whole"))
        .join(hit, hit.c.key == task.c.hit)
        .where(hit.c.campaign == terms.id)
        .order_by(hit.c.key, task.c.position, task.c.key, shown.c.slot)
    )
    rows = connection.execute(found.execution_options(yield_per=AT_ONCE))
    for id, of_hit in groupby(rows, key=lambda row: row.whole):
        yield Hit(id, tuple(tasks_of(of_hit)))


def items(connection: Connection, terms: Terms) -> Sequence[str]:
    """Name the items of all tasks, in order."""
    found = select(task.c.item).filter_by(campaign=terms.id).distinct().order_by(task.c.item)
    return connection.scalars(found).all()


def judgments(
    connection: Connection, terms: Terms, *, finished: bool = False
) -> Iterator[Judgment]:
    """Give the judgments in the order they came; `finished`: only those of finished HITs."""
    compares = terms.protocol.form == "comparison"
    second = shown.alias("second")
    found = (
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
        found = found.join(second, and_(second.c.task == task.c.key, second.c.slot == 1))
    if finished:
        found = found.where(assignment.c.state == "done")
    for row in connection.execute(found.execution_options(yield_per=AT_ONCE)):
        values = list(row)
        for place in _TIMES:
            values[place] = seconds(row[place])
        yield Judgment(*values)


def skips(connection: Connection, terms: Terms) -> Sequence[Skip]:
    """Give the tasks that raters reported and skipped, oldest first."""
    found = (
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
    rows = connection.execute(found)
    return [Skip(*row[:5], row.time / 1e6, row.reason) for row in rows]


def awaited(connection: Connection, terms: Terms) -> dict[tuple[str, str], int]:
    """Count the judgments of each caption that open and held places will bring."""
    found = (
        select(shown.c.system, task.c.item, func.count())
        .select_from(assignment)
        .join(task, task.c.hit == assignment.c.hit)
        .join(shown, shown.c.task == task.c.key)
        .where(assignment.c.campaign == terms.id, assignment.c.state.in_(["open", "held"]))
        .where(shown.c.kind == "caption")
        .group_by(shown.c.system, task.c.item)
    )
    rows = connection.execute(found)
    return {(system, item): number for system, item, number in rows}


def kind_of_pair(first: Any, second: Any) -> Any:
    """Say in SQL what a comparison is there for: what the caption beside a reference is."""
    return case((first != "reference", first), else_=second)


def status(connection: Connection, terms: Terms) -> Status:
    """Count everything, at one moment."""
    mine = assignment.c.campaign == terms.id
    states = dict.fromkeys(("open", "held", "done", "abandoned"), 0)
    counted = select(assignment.c.state, func.count()).where(mine).group_by(assignment.c.state)
    for name, number in connection.execute(counted):
        states[name] = number
    unfinished = (
        select(assignment.c.hit).where(mine, assignment.c.state.in_(["open", "held"])).distinct()
    )
    hit_count = _number(
        connection, select(func.count()).select_from(hit).filter_by(campaign=terms.id)
    )
    waiting = _number(connection, select(func.count()).select_from(unfinished.subquery()))
    raters = select(func.count(assignment.c.rater.distinct())).where(mine, assignment.c.rater != "")
    all_judgments = select(func.count()).select_from(judgment).join(assignment).where(mine)
    return Status(
        state=read_state(connection, terms),
        hits=hit_count,
        finished=hit_count - waiting,
        **states,
        judgments=_number(connection, all_judgments),
        skipped=_number(
            connection, select(func.count()).select_from(skip.join(assignment)).where(mine)
        ),
        raters=_number(connection, raters),
        by_system={system: int(n) for system, n in connection.execute(_by_system(terms))},
    )


def _number(connection: Connection, query: Select[Any]) -> int:
    return int(connection.execute(query).scalar_one())


def _by_system(terms: Terms) -> Select[Any]:
    # Judgments of a caption are counted first: there are fewer captions than judgments.
    each = (
        select(judgment.c.task, judgment.c.slot, func.count().label("n"))
        .join(assignment)
        .where(assignment.c.campaign == terms.id)
        .group_by(judgment.c.task, judgment.c.slot)
        .subquery()
    )
    of_caption = each.c.task == shown.c.task
    if terms.protocol.form != "comparison":  # a comparison is about both captions
        of_caption = and_(of_caption, each.c.slot == shown.c.slot)
    return (
        select(shown.c.system, func.sum(each.c.n))
        .join(each, of_caption)
        .where(shown.c.kind.in_(GENUINE))
        .group_by(shown.c.system)
        .order_by(shown.c.system)
    )
