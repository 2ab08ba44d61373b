"""Phases that are not listed: which teams are invited to them, and so may know of them."""

from __future__ import annotations

from sqlalchemy import Connection, delete, insert, select

from reelscore.challenges.arena import Arena
from reelscore.challenges.challenge import Known, phase_in
from reelscore.challenges.people.teams import Team, own_keys
from reelscore.challenges.store.events import check_reason, log
from reelscore.challenges.store.tables import phase, phase_team, team
from reelscore.errors import DataError


def invite_to_phase(
    arena: Arena, known: Known, phase_id: str, own: Team, *, actor: str, reason: str
) -> None:
    """Let a team know of a phase that is not listed, and take part in it.

    Raises:
        DataError: If there is no reason, the phase is listed, or the team is invited already.
        UnknownNameError: If there is no such phase.
    """
    _change(arena, known, phase_id, own, "invited", actor, reason)


def withdraw_invitation(
    arena: Arena, known: Known, phase_id: str, own: Team, *, actor: str, reason: str
) -> None:
    """Take an invitation to a phase back; what the team has handed in stays.

    Raises:
        DataError: If there is no reason, or the team is not invited.
        UnknownNameError: If there is no such phase.
    """
    _change(arena, known, phase_id, own, "uninvited", actor, reason)


def _change(
    arena: Arena, known: Known, phase_id: str, own: Team, what: str, actor: str, reason: str
) -> None:
    check_reason(reason)
    with arena.database.writing() as connection:
        described = phase_in(connection, known, phase_id)
        row = {"phase": described.key, "team": own.key}
        is_invited = connection.execute(select(phase_team).filter_by(**row)).first() is not None
        now = arena.clock(connection)
        if what == "uninvited":
            if not is_invited:
                raise DataError(f"{own.name} is not invited to {phase_id}.")
            connection.execute(delete(phase_team).filter_by(**row))
        elif described.definition.listed:
            raise DataError(f"Everybody may take part in {phase_id}; it needs no invitation.")
        elif is_invited:
            raise DataError(f"{own.name} is invited to {phase_id} already.")
        else:
            connection.execute(insert(phase_team).values(**row, invited=now))
        log(connection, now, known.key, what, own.id, actor=actor, reason=reason, after=phase_id)


def invited_phases(connection: Connection, challenge: int, team_id: str) -> set[str]:
    """Return the ids of the phases that a team, or one that was merged into it, is invited to."""
    key = connection.scalar(select(team.c.key).filter_by(challenge=challenge, id=team_id))
    if key is None:
        return set()
    ids = select(phase.c.id).join(phase_team, phase_team.c.phase == phase.c.key)
    own = phase_team.c.team.in_(own_keys(connection, key))
    return set(connection.scalars(ids.where(own)))


def invited_teams(arena: Arena, known: Known) -> dict[str, list[str]]:
    """Return the public ids of the invited teams, by phase, for all phases that are not listed."""
    invited: dict[str, list[str]] = {
        each.id: [] for each in known.definition.phases if not each.listed
    }
    rows = (
        select(phase.c.id, team.c.id.label("team"))
        .join(phase_team, phase_team.c.phase == phase.c.key)
        .join(team, phase_team.c.team == team.c.key)
        .where(phase.c.challenge == known.key)
        .order_by(team.c.name)
    )
    with arena.database.reading() as connection:
        for row in connection.execute(rows):
            invited.setdefault(row.id, []).append(row.team)
    return invited
