"""From temporary tables into those of the campaign, with names turned into keys."""

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
    insert,
    literal,
    select,
)

from reelscore.data.problems import Problems
from reelscore.human.store.lines import columns
from reelscore.human.store.records import Terms
from reelscore.human.store.schema import assignment, hit, metadata, shown, task
from reelscore.human.store.staging import analyze, missing, repeated, report

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
