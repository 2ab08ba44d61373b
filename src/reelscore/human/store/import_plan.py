"""HITs, tasks and places for judgments made elsewhere, moved from temporary tables as a whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    Table,
    and_,
    case,
    delete,
    exists,
    func,
    insert,
    literal,
    null,
    select,
    update,
)

from reelscore.data.checks import Problems
from reelscore.human.hits.tasks import GENUINE
from reelscore.human.store.campaigns import add_systems, read_systems
from reelscore.human.store.lines import columns
from reelscore.human.store.records import Terms
from reelscore.human.store.schema import assignment, hit, judgment, metadata, shown, skip, task
from reelscore.store.staging import analyze, missing, repeated, report

_WORK = ("rater", "claimed", "active", "finished", "client", "seconds", "status")


def make_plan(connection: Connection, terms: Terms, incoming: Table, now: int) -> None:
    """Make what the rows name and the campaign lacks, in the order of the rows."""
    first = func.min(incoming.c.line)
    new_hits = (
        select(literal(terms.id), incoming.c.hit)
        .where(~exists().where(hit.c.campaign == terms.id, hit.c.id == incoming.c.hit))
        .group_by(incoming.c.hit)
        .order_by(first)
    )
    connection.execute(insert(hit).from_select(["campaign", "id"], new_hits))
    analyze(connection, hit)
    new_tasks = (
        select(
            literal(terms.id),
            hit.c.key,
            incoming.c.task,
            func.min(incoming.c.position),
            func.min(incoming.c.item),
        )
        .select_from(_with_hit(terms, incoming))
        .where(~exists().where(task.c.hit == hit.c.key, task.c.id == incoming.c.task))
        .group_by(hit.c.key, incoming.c.task)
        .order_by(first)
    )
    names = ["campaign", "hit", "id", "position", "item"]
    connection.execute(insert(task).from_select(names, new_tasks))
    analyze(connection, task)
    _make_captions(connection, terms, incoming)
    _make_places(connection, terms, incoming, now)
    _add_systems(connection, terms, incoming)


def seat_raters(connection: Connection, terms: Terms, incoming: Table, now: int) -> None:
    """Give each rater who is new to a HIT one of its open places, as long as there are any.

    They count as abandoned until `settle` has seen what came.
    """
    number = func.row_number().over(partition_by=assignment.c.hit, order_by=assignment.c.slot)
    offered = (
        select(assignment.c.id, assignment.c.hit, number.label("number"))
        .filter_by(campaign=terms.id, state="open")
        .subquery("offered")
    )
    pairs = _new_pairs(terms, incoming, now)
    seats = (
        select(offered.c.id, *(pairs.c[name] for name in _WORK))
        .join(pairs, and_(pairs.c.hit == offered.c.hit, pairs.c.number == offered.c.number))
        .subquery("seats")
    )
    connection.execute(
        update(assignment)
        # a claim may have been faster
        .where(assignment.c.id == seats.c.id, assignment.c.state == "open")
        .values(state="abandoned", **{name: seats.c[name] for name in _WORK})
    )


def settle(connection: Connection, terms: Terms, incoming: Table) -> None:
    """Find out what the new judgments mean for the places of their raters.

    A HIT that is complete is done. One that came in part stays abandoned, and its place is
    offered again. One that was abandoned before is done if nobody has taken its place.
    """
    theirs = assignment.alias("theirs")
    pairs = select(hit.c.key, incoming.c.rater).select_from(_with_hit(terms, incoming)).distinct()
    pair = pairs.subquery("pair")
    of_pair = and_(theirs.c.hit == pair.c.key, theirs.c.rater == pair.c.rater)
    touched = assignment.c.id.in_(select(theirs.c.id).join(pair, of_pair))
    answered = (
        exists()
        .where(judgment.c.assignment == assignment.c.id, judgment.c.task == task.c.key)
        .correlate(assignment, task)
    )
    skipped = (
        exists()
        .where(skip.c.assignment == assignment.c.id, skip.c.task == task.c.key)
        .correlate(assignment, task)
    )
    unfinished_task = and_(task.c.hit == assignment.c.hit, ~answered, ~skipped)
    complete = ~exists().where(unfinished_task).correlate(assignment)
    mine = and_(assignment.c.campaign == terms.id, touched)
    other = assignment.alias("other")
    same_place = and_(other.c.hit == assignment.c.hit, other.c.slot == assignment.c.slot)
    newly_seated = and_(
        mine,
        assignment.c.state == "abandoned",
        ~exists().where(same_place, other.c.state != "abandoned"),
    )
    connection.execute(update(assignment).where(newly_seated, complete).values(state="done"))
    connection.execute(update(assignment).where(newly_seated, ~complete).values(finished=null()))
    again = select(
        assignment.c.campaign,
        assignment.c.hit,
        assignment.c.slot,
        assignment.c.turn + 1,
        *map(literal, ("open", "", "", "")),
    ).where(newly_seated)
    names = ["campaign", "hit", "slot", "turn", "state", "rater", "client", "status"]
    connection.execute(insert(assignment).from_select(names, again))
    unfinished = assignment.c.state.in_(["held", "abandoned"])
    for row in connection.execute(select(assignment).where(mine, unfinished, complete)).all():
        offered = and_(assignment.c.hit == row.hit, assignment.c.slot == row.slot)
        free = delete(assignment).where(offered, assignment.c.state == "open")
        if row.state == "held" or connection.execute(free).rowcount:
            done = {"state": "done", "finished": row.active}
            connection.execute(update(assignment).filter_by(id=row.id).values(done))


def _with_hit(terms: Terms, incoming: Table) -> FromClause:
    return incoming.join(hit, and_(hit.c.campaign == terms.id, hit.c.id == incoming.c.hit))


def _make_captions(connection: Connection, terms: Terms, incoming: Table) -> None:
    joined = (
        _with_hit(terms, incoming)
        .join(task, and_(task.c.hit == hit.c.key, task.c.id == incoming.c.task))
        .outerjoin(shown, shown.c.task == task.c.key)
    )

    def captions(slot: Any, system: Any, *group: Any) -> Any:
        return (
            select(task.c.key, slot, system, literal(""), func.min(incoming.c.kind))
            .select_from(joined)
            .where(shown.c.task.is_(None))
            .group_by(task.c.key, *group)
        )

    if terms.protocol.form == "ranking":
        appearance = func.min(incoming.c.line)
        slot = func.row_number().over(partition_by=task.c.key, order_by=appearance) - 1
        rows = captions(slot, incoming.c.system, incoming.c.system)
    else:
        rows = captions(literal(0), func.min(incoming.c.system))
        if terms.protocol.form == "comparison":
            rows = rows.union_all(captions(literal(1), func.min(incoming.c.against)))
    names = ["task", "slot", "system", "text", "kind"]
    connection.execute(insert(shown).from_select(names, rows))


def _new_pairs(terms: Terms, incoming: Table, now: int) -> FromClause:
    """Find each rater's new HITs, numbered in each HIT, with what is known of the work on it."""
    values = incoming.c
    last = func.coalesce(func.max(values.submitted), now)
    line = func.min(values.line)
    has = exists().where(assignment.c.hit == hit.c.key, assignment.c.rater == values.rater)
    return (
        select(
            hit.c.key.label("hit"),
            values.rater,
            line.label("line"),
            func.row_number().over(partition_by=hit.c.key, order_by=line).label("number"),
            func.min(values.started).label("claimed"),
            last.label("active"),
            last.label("finished"),
            func.min(values.client).label("client"),
            func.max(values.seconds).label("seconds"),
            func.max(values.status).label("status"),
        )
        .select_from(_with_hit(terms, incoming))
        .where(~has)
        .group_by(hit.c.key, values.rater)
        .subquery("pairs")
    )


def _make_places(connection: Connection, terms: Terms, incoming: Table, now: int) -> None:
    pairs = _new_pairs(terms, incoming, now)
    free = select(func.coalesce(func.max(assignment.c.slot) + 1, 0))
    free = free.where(assignment.c.hit == pairs.c.hit)
    rows = select(
        literal(terms.id),
        pairs.c.hit,
        free.scalar_subquery() + pairs.c.number - 1,
        literal(0),
        literal("done"),
        *(pairs.c[name] for name in _WORK),
    ).order_by(pairs.c.line)
    names = ["campaign", "hit", "slot", "turn", "state", *_WORK]
    connection.execute(insert(assignment).from_select(names, rows))


def _add_systems(connection: Connection, terms: Terms, incoming: Table) -> None:
    """Add the systems that the rows judge to those the campaign knows."""
    there = read_systems(connection, terms)
    judged: dict[str, None] = {}
    for column in (incoming.c.system, incoming.c.against):
        found = (
            select(column)
            .where(incoming.c.kind.in_(GENUINE), column != "")
            .group_by(column)
            .order_by(func.min(incoming.c.line))
        )
        judged.update(dict.fromkeys(connection.scalars(found)))
    add_systems(connection, terms, [name for name in judged if name not in there])


Where = Callable[[int], str]

# What makes two lines of a type the same thing.
_KEYS: Mapping[str, tuple[str, ...]] = {
    "caption": ("system", "item"),
    "hit": ("id",),
    "task": ("hit", "id"),
    "shown": ("hit", "task", "slot"),
    "assignment": ("hit", "slot", "turn"),
    "judgment": ("hit", "rater", "task", "slot", "criterion"),
    "skip": ("hit", "rater", "task"),
}


@dataclass(frozen=True)
class _Found:
    """Staged lines joined with what they refer to.

    Attributes:
        rows: The joined tables.
        keys: What they must have found, and what to say where they have not.
        values: The columns of the target that are not those of the line.
    """

    rows: FromClause
    keys: Mapping[str, ColumnElement[Any]]
    values: Mapping[str, ColumnElement[Any]]


def move(connection: Connection, terms: Terms, kind: str, staged: Table, where: Where) -> int:
    """Move all lines of one type; what they refer to must have been moved before.

    Args:
        connection: The transaction.
        terms: The campaign.
        kind: The type of the lines.
        staged: The temporary table they are in.
        where: Says where a line is, for messages.

    Returns:
        How many lines.

    Raises:
        DataError: If a line is there twice, or refers to nothing.
    """
    found = _found(kind, staged, terms)
    _check_once(connection, terms, kind, staged, where)
    _check_found(connection, kind, found, staged, where)
    target = metadata.tables[kind]
    same = {name: staged.c[name] for name, _ in columns(kind) if name in target.c}
    values = {**same, **found.values}
    rows = select(*values.values()).select_from(found.rows).order_by(staged.c.line)
    into = insert(target).from_select(list(values), rows)
    count = connection.execute(into, execution_options={"preserve_rowcount": True}).rowcount
    analyze(connection, target)
    return count


def _found(kind: str, staged: Table, terms: Terms) -> _Found:
    campaign = {"campaign": literal(terms.id)}
    if kind in ("caption", "hit", "event"):
        return _Found(staged, {}, campaign)
    of_hit = and_(hit.c.campaign == terms.id, hit.c.id == staged.c.hit)
    rows = staged.outerjoin(hit, of_hit)
    keys: dict[str, ColumnElement[Any]] = {"HIT": hit.c.key}
    if kind == "task":
        return _Found(rows, keys, campaign | {"hit": hit.c.key})
    rows = rows.outerjoin(task, and_(task.c.hit == hit.c.key, task.c.id == staged.c.task))
    if kind == "assignment":
        sent = case((staged.c.task == "", 0), else_=task.c.key)
        keys |= {"task in the HIT": sent}
        return _Found(rows, keys, campaign | {"hit": hit.c.key, "task": task.c.key})
    keys |= {"task in the HIT": task.c.key}
    if kind == "shown":
        return _Found(rows, keys, {"task": task.c.key})
    of_rater = and_(assignment.c.hit == hit.c.key, assignment.c.rater == staged.c.rater)
    if kind == "judgment":
        of_task = and_(shown.c.task == task.c.key, shown.c.slot == staged.c.slot)
        rows = rows.outerjoin(shown, of_task)
        keys |= {"caption in the task": shown.c.slot}
    rows = rows.outerjoin(assignment, of_rater)
    keys |= {"assignment of the HIT": assignment.c.id}
    return _Found(rows, keys, {"task": task.c.key, "assignment": assignment.c.id})


def _check_once(
    connection: Connection, terms: Terms, kind: str, staged: Table, where: Where
) -> None:
    if kind not in _KEYS:
        return
    problems = Problems("The campaign")
    again = repeated(staged, [staged.c[name] for name in _KEYS[kind]])
    report(
        connection,
        problems,
        again,
        lambda row: f"{where(row.line)}: the same {_word(kind)} as {where(row.first)}.",
    )
    if kind == "hit":
        there = and_(hit.c.campaign == terms.id, hit.c.id == staged.c.id)
        report(
            connection,
            problems,
            select(staged).join(hit, there).order_by(staged.c.line),
            lambda row: f"{where(row.line)}: the campaign has a HIT {row.id!r} already.",
        )
    problems.raise_if_any()


def _check_found(
    connection: Connection, kind: str, found: _Found, staged: Table, where: Where
) -> None:
    if not found.keys:
        return
    problems = Problems("The campaign")
    keys = list(found.keys.values())
    wrong = select(staged, *(key.label(f"key_{k}") for k, key in enumerate(keys)))
    wrong = wrong.select_from(found.rows).where(missing(*keys)).order_by(staged.c.line)

    def fault(row: Any) -> str:
        what = next(what for k, what in enumerate(found.keys) if row._mapping[f"key_{k}"] is None)
        named = ", ".join(f"{name} {row._mapping[name]!r}" for name in _KEYS[kind])
        return f"{where(row.line)}: there is no such {what} ({named})."

    report(connection, problems, wrong, fault)
    problems.raise_if_any()


def _word(kind: str) -> str:
    return {"hit": "HIT", "shown": "caption"}.get(kind, kind)
