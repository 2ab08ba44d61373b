"""What organisers decide about teams: approve, disqualify, reinstate, merge; same captions."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, func, select, update

from reelscore.challenges.arena import Arena
from reelscore.challenges.challenge import Known
from reelscore.challenges.people.teams import Team, ensure_captain, team_size
from reelscore.challenges.store.events import check_reason, log
from reelscore.challenges.store.tables import member, phase, submission, team
from reelscore.errors import DataError, RefusedError
from reelscore.store.database import alone


def merge(arena: Arena, known: Known, one: Team, into: Team, *, actor: str, reason: str) -> None:
    """Merge a team into another: members move, and what both have used in a phase adds up.

    Raises:
        DataError: If there is no reason.
        RefusedError: If they cannot be merged, or the merged team would be too large.
    """
    check_reason(reason)
    with arena.database.writing() as connection:
        alone(connection, team.name, str(known.key))
        now = arena.clock(connection)
        states = {_state(connection, own) for own in (one, into)}
        if one.key == into.key or states != {"active"}:
            raise RefusedError("unknown", "Only two active teams can be merged.")
        size = team_size(connection, one.key) + team_size(connection, into.key)
        if (largest := known.definition.teams.largest) is not None and size > largest:
            raise RefusedError("taken", f"The team would have {size} members; at most {largest}.")
        connection.execute(update(team).filter_by(key=one.key).values(state="merged"))
        # those merged into it before, too: `merged_into` always names a team that takes part
        is_part = (team.c.key == one.key) | (team.c.merged_into == one.key)
        connection.execute(update(team).where(is_part).values(merged_into=into.key))
        connection.execute(
            update(member)
            .where(member.c.team == one.key, member.c.state != "left")
            .values(team=into.key, role="member")
        )
        ensure_captain(connection, into.key)
        log(connection, now, known.key, "merged", one.id, actor=actor, reason=reason,
            after=into.id)  # fmt: skip


def decide(arena: Arena, known: Known, own: Team, what: str, *, actor: str, reason: str) -> None:
    """Approve, disqualify or reinstate a team.

    Raises:
        DataError: If there is no reason, or nothing of that kind can be decided.
    """
    changes: dict[str, dict[str, Any]] = {
        "approve": {"approved": True},
        "disqualify": {"state": "disqualified"},
        "reinstate": {"state": "active"},
    }
    if what not in changes:
        raise DataError(f"{what!r} is no decision; expected {', '.join(changes)}.")
    check_reason(reason)
    with arena.database.writing() as connection:
        if _state(connection, own) == "merged":
            raise DataError("The team was merged into another; decide about that one.")
        connection.execute(update(team).filter_by(key=own.key).values(changes[what]))
        log(connection, arena.clock(connection), known.key, what, own.id, actor=actor,
            reason=reason, before=own.state)  # fmt: skip


def same_captions(arena: Arena, known: Known) -> list[tuple[str, list[str]]]:
    """Find captions that several teams handed in: their digest, and the submissions."""
    with arena.database.reading() as connection:
        twice = (
            select(submission.c.content)
            .join(phase, phase.c.key == submission.c.phase)
            .where(phase.c.challenge == known.key)
            .group_by(submission.c.content)
            .having(func.count(submission.c.team.distinct()) > 1)
        )
        rows = connection.execute(
            select(submission.c.content, submission.c.id)
            .where(submission.c.content.in_(twice))
            .order_by(submission.c.arrived)
        ).all()
    groups: dict[str, list[str]] = {}
    for content, id in rows:
        groups.setdefault(content, []).append(id)
    return list(groups.items())


def _state(connection: Connection, own: Team) -> str:
    return str(connection.execute(select(team.c.state).filter_by(key=own.key)).scalar_one())
