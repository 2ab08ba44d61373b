"""The HITs of a campaign: put in as a whole, given back, and counted as raters finish them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, groupby, islice
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    Row,
    Select,
    Table,
    and_,
    case,
    func,
    insert,
    literal,
    select,
)
from sqlalchemy.exc import IntegrityError

from reelscore.campaigns.hits.tasks import GENUINE, Hit, check_hit
from reelscore.campaigns.store.answers import AT_ONCE
from reelscore.campaigns.store.assignments import open_place, task_rows, tasks_of
from reelscore.campaigns.store.campaigns import read_state, read_systems
from reelscore.campaigns.store.lines import columns
from reelscore.campaigns.store.records import Status, Terms
from reelscore.campaigns.store.schema import assignment, hit, judgment, metadata, shown, skip, task
from reelscore.data.checks import Problems
from reelscore.errors import DataError
from reelscore.store.database import writing
from reelscore.store.staging import analyze, fill, missing, repeated, stage


def hits(connection: Connection, terms: Terms) -> Iterator[Hit]:
    """Yield the HITs, one after the other, in the order they were added."""
    query = (
        task_rows(hit.c.id.label("whole"))
        .join(hit, hit.c.key == task.c.hit)
        .where(hit.c.campaign == terms.id)
        .order_by(hit.c.key, task.c.position, task.c.key, shown.c.slot)
    )
    rows = connection.execute(query.execution_options(yield_per=AT_ONCE))
    for id, of_hit in groupby(rows, key=lambda row: row.whole):
        yield Hit(id, tuple(tasks_of(of_hit)))


def items(connection: Connection, terms: Terms) -> Sequence[str]:
    """Name the items of all tasks, in order."""
    query = select(task.c.item).filter_by(campaign=terms.id).distinct().order_by(task.c.item)
    return connection.scalars(query).all()


def awaited(connection: Connection, terms: Terms) -> dict[tuple[str, str], int]:
    """Count the judgments of each caption that open and held places will bring."""
    query = (
        select(shown.c.system, task.c.item, func.count())
        .select_from(assignment)
        .join(task, task.c.hit == assignment.c.hit)
        .join(shown, shown.c.task == task.c.key)
        .where(assignment.c.campaign == terms.id, assignment.c.state.in_(["open", "held"]))
        .where(shown.c.kind == "caption")
        .group_by(shown.c.system, task.c.item)
    )
    rows = connection.execute(query)
    return {(system, item): number for system, item, number in rows}


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
    count = select(func.count())
    hits = _number(connection, count.select_from(hit).filter_by(campaign=terms.id))
    waiting = _number(connection, count.select_from(unfinished.subquery()))
    raters = select(func.count(assignment.c.rater.distinct())).where(mine, assignment.c.rater != "")
    judgments, skipped = (
        _number(connection, count.select_from(table.join(assignment)).where(mine))
        for table in (judgment, skip)
    )
    return Status(
        state=read_state(connection, terms),
        hits=hits,
        finished=hits - waiting,
        **states,
        judgments=judgments,
        skipped=skipped,
        raters=_number(connection, raters),
        by_system={system: int(n) for system, n in connection.execute(_by_system(terms))},
    )


def _number(connection: Connection, query: Select[int]) -> int:
    return int(connection.execute(query).scalar_one())


def _by_system(terms: Terms) -> Select[str, int]:
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
_PLANNED = ("hit", "task", "shown")
_HITS = 200  # staged together


def insert_hits(connection: Connection, terms: Terms, hits: Iterable[Hit]) -> int:
    """Put HITs in, all or none, each with a place for every rater it needs."""
    with connection.begin():  # only temporary tables: nobody waits meanwhile
        systems = frozenset(read_systems(connection, terms))
        staged = {kind: stage(connection, f"new_{kind}", columns(kind)) for kind in _PLANNED}
        numbers = {kind: count(1) for kind in _PLANNED}
        hits = iter(hits)
        while batch := list(islice(hits, _HITS)):
            for each in batch:
                check_hit(each, terms.protocol, systems)
            for kind, rows in _rows(batch).items():
                numbered = zip(rows, numbers[kind], strict=False)
                fill(connection, staged[kind], ((line, *row) for row, line in numbered))
        analyze(connection, *staged.values())
    try:
        with writing(connection):
            moved = {
                kind: move(connection, terms, kind, table, lambda line: f"HIT number {line:,}")
                for kind, table in staged.items()
            }
            _offer_places(connection, terms, staged["hit"])
    except IntegrityError:  # somebody else has added them since we looked
        raise DataError(
            "The campaign has received HITs with the same ids in the meantime."
        ) from None
    return moved["hit"]


def _rows(hits: Sequence[Hit]) -> dict[str, Iterator[Sequence[object]]]:
    """Return the rows of all three tables."""
    tasks = [(each.id, task, k) for each in hits for k, task in enumerate(each.tasks)]
    return {
        "hit": ((each.id,) for each in hits),
        "task": ((id, task.id, k, task.item, task.expected) for id, task, k in tasks),
        "shown": (
            (id, task.id, slot, caption.system, caption.text, caption.kind)
            for id, task, _ in tasks
            for slot, caption in enumerate(task.shown)
        ),
    }


def _offer_places(connection: Connection, terms: Terms, new: Table) -> None:
    for slot in range(terms.raters_per_hit):
        constant = open_place(terms.id, 0, slot)
        place = {name: literal(value) for name, value in constant.items()} | {"hit": hit.c.key}
        rows = (
            select(*place.values())
            .select_from(new.join(hit, and_(hit.c.campaign == terms.id, hit.c.id == new.c.id)))
            .order_by(hit.c.key)
        )
        connection.execute(insert(assignment).from_select(list(place), rows))


@dataclass(frozen=True)
class _Joined:
    """Staged lines joined with what they refer to."""

    rows: FromClause  # the joined tables
    # what each line must refer to, by the words for a message where there is none
    keys: Mapping[str, ColumnElement[Any]]
    # the columns of the target that are not those of the line
    values: Mapping[str, ColumnElement[Any]]


def move(connection: Connection, terms: Terms, kind: str, staged: Table, where: Where) -> int:
    """Move all lines of one type; what they refer to must have been moved before."""
    joined = _joined(kind, staged, terms)
    if kind in _KEYS:
        _check_once(connection, terms, kind, staged, where)
    if joined.keys:
        _check_references(connection, kind, joined, staged, where)
    target = metadata.tables[kind]
    same = {name: staged.c[name] for name, _ in columns(kind) if name in target.c}
    values = {**same, **joined.values}
    rows = select(*values.values()).select_from(joined.rows).order_by(staged.c.line)
    into = insert(target).from_select(list(values), rows)
    count = connection.execute(into, execution_options={"preserve_rowcount": True}).rowcount
    analyze(connection, target)
    return count


def _joined(kind: str, staged: Table, terms: Terms) -> _Joined:
    campaign = {"campaign": literal(terms.id)}
    if kind in ("caption", "hit", "event"):
        return _Joined(staged, {}, campaign)
    of_hit = and_(hit.c.campaign == terms.id, hit.c.id == staged.c.hit)
    rows = staged.outerjoin(hit, of_hit)
    keys: dict[str, ColumnElement[Any]] = {"HIT": hit.c.key}
    if kind == "task":
        return _Joined(rows, keys, campaign | {"hit": hit.c.key})
    rows = rows.outerjoin(task, and_(task.c.hit == hit.c.key, task.c.id == staged.c.task))
    if kind == "assignment":
        sent = case((staged.c.task == "", 0), else_=task.c.key)
        keys |= {"task in the HIT": sent}
        return _Joined(rows, keys, campaign | {"hit": hit.c.key, "task": task.c.key})
    keys |= {"task in the HIT": task.c.key}
    if kind == "shown":
        return _Joined(rows, keys, {"task": task.c.key})
    of_rater = and_(assignment.c.hit == hit.c.key, assignment.c.rater == staged.c.rater)
    if kind == "judgment":
        of_task = and_(shown.c.task == task.c.key, shown.c.slot == staged.c.slot)
        rows = rows.outerjoin(shown, of_task)
        keys |= {"caption in the task": shown.c.slot}
    rows = rows.outerjoin(assignment, of_rater)
    keys |= {"assignment of the HIT": assignment.c.id}
    return _Joined(rows, keys, {"task": task.c.key, "assignment": assignment.c.id})


Fault = tuple[Select[Any], Callable[[Row[Any]], str]]  # rows that are wrong, and what to say


def refuse(connection: Connection, subject: str, *faults: Fault) -> None:
    """Raise an error that names the first rows that are wrong, if any are."""
    problems = Problems(subject)
    for wrong, message in faults:
        for row in connection.execute(wrong.execution_options(yield_per=1000)):
            problems.add(message(row))
    problems.raise_if_any()


def _check_once(
    connection: Connection, terms: Terms, kind: str, staged: Table, where: Where
) -> None:
    again = repeated(staged, [staged.c[name] for name in _KEYS[kind]])
    word = {"hit": "HIT", "shown": "caption"}.get(kind, kind)
    faults: list[Fault] = [
        (again, lambda row: f"{where(row.line)}: the same {word} as {where(row.first)}.")
    ]
    if kind == "hit":
        there = and_(hit.c.campaign == terms.id, hit.c.id == staged.c.id)
        known = select(staged).join(hit, there).order_by(staged.c.line)
        faults.append(
            (known, lambda row: f"{where(row.line)}: the campaign has a HIT {row.id!r} already.")
        )
    refuse(connection, "The campaign", *faults)


def _check_references(
    connection: Connection, kind: str, joined: _Joined, staged: Table, where: Where
) -> None:
    keys = list(joined.keys.values())
    wrong = select(staged, *(key.label(f"key_{k}") for k, key in enumerate(keys)))
    wrong = wrong.select_from(joined.rows).where(missing(*keys)).order_by(staged.c.line)

    def fault(row: Row[Any]) -> str:
        what = next(what for k, what in enumerate(joined.keys) if row._mapping[f"key_{k}"] is None)
        named = ", ".join(f"{name} {row._mapping[name]!r}" for name in _KEYS[kind])
        return f"{where(row.line)}: there is no such {what} ({named})."

    refuse(connection, "The campaign", (wrong, fault))
