"""Teams: who is in them, and how somebody gets in; `team_decisions` has what organisers decide."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select, update

from reelscore.challenges.arena import Arena
from reelscore.challenges.challenge import Known
from reelscore.challenges.store.events import log
from reelscore.challenges.store.tables import member, team
from reelscore.errors import DataError, RefusedError
from reelscore.store.database import alone
from reelscore.web.store.names import checked_name, skeleton

_LONGEST_CONTACT = 200


@dataclass(frozen=True)
class Team:
    """A team of a challenge."""

    key: int
    challenge: int
    id: str
    name: str
    kind: str
    state: str
    approved: bool
    members_shown: bool


def add_team(
    arena: Arena,
    known: Known,
    name: str,
    *,
    kind: str = "team",
    account: int | None = None,
    approved: bool = True,
    actor: str = "",
) -> Team:
    """Make a team; whoever makes it is its captain.

    Args:
        arena: The database.
        known: The challenge.
        name: Its name.
        kind: ``team``, ``organisers`` or ``baseline``.
        account: The captain's account; ``None`` for the command line.
        approved: Whether it may submit at once.
        actor: Who does it, for the log.

    Raises:
        DataError: If the name is not valid or looks like another's.
        RefusedError: If the account is in another team, or teams are closed.
    """
    name = checked_name(name)
    own = skeleton(name)
    with arena.database.writing() as connection:
        alone(connection, team.name, str(known.key))
        now = arena.clock(connection)
        close = known.definition.teams.close
        if kind == "team" and close is not None and now >= close:
            raise RefusedError("closed", "Teams can no longer be made or changed.")
        taken = select(team.c.name).filter_by(challenge=known.key, skeleton=own)
        if (other := connection.scalar(taken)) is not None:
            raise DataError(f"There is a team {other!r}, whose name looks like {name!r}.")
        if account is not None:
            _check_free(connection, known.key, account)
        added = insert(team).values(
            challenge=known.key,
            id=secrets.token_hex(5),
            name=name,
            skeleton=own,
            kind=kind,
            state="active",
            approved=approved,
            members_shown=False,
            created=now,
        )
        row = connection.execute(added.returning(*team.c)).one()
        if account is not None:
            _add_member(connection, row, account, "captain", now)
        log(connection, now, known.key, "team", row.id, actor=actor, after=name)
        return _team(row)


def find_team(arena: Arena, known: Known, name: str) -> Team | None:
    """Return a team by its id or its name."""
    with arena.database.reading() as connection:
        of_challenge = select(team).filter_by(challenge=known.key)
        row = connection.execute(of_challenge.filter_by(id=name)).one_or_none()
        if row is None:
            row = connection.execute(of_challenge.filter_by(skeleton=skeleton(name))).one_or_none()
        return None if row is None else _team(row)


def team_of(arena: Arena, known: Known, account: int) -> Team | None:
    """Return the team that an account is in."""
    with arena.database.reading() as connection:
        row = connection.execute(
            select(team)
            .join(member, member.c.team == team.c.key)
            .where(
                member.c.challenge == known.key,
                member.c.account == account,
                member.c.state == "active",
            )
        ).one_or_none()
        return None if row is None else _team(row)


def list_teams(arena: Arena, known: Known) -> list[Team]:
    """Return the teams of a challenge, by name."""
    with arena.database.reading() as connection:
        rows = connection.execute(select(team).filter_by(challenge=known.key).order_by(team.c.name))
        return [_team(row) for row in rows]


def members(arena: Arena, own: Team) -> Sequence[Row[Any]]:
    """Return the rows of a team's members and open invitations."""
    with arena.database.reading() as connection:
        rows = select(member).where(member.c.team == own.key, member.c.state != "left")
        return connection.execute(rows.order_by(member.c.key)).all()


def all_members(arena: Arena, known: Known) -> Sequence[Row[Any]]:
    """Return the rows of all active members of a challenge, each with the id of its team."""
    with arena.database.reading() as connection:
        rows = select(member, team.c.id.label("team_id")).join(team, member.c.team == team.c.key)
        active = rows.where(member.c.challenge == known.key, member.c.state == "active")
        return connection.execute(active.order_by(member.c.key)).all()


def invite(arena: Arena, known: Known, own: Team, *, actor: str = "") -> str:
    """Make a link by which one account can join a team.

    Returns:
        The token of the link; it is not kept.
    """
    token = secrets.token_urlsafe(24)
    with arena.database.writing() as connection:
        now = arena.clock(connection)
        connection.execute(
            insert(member).values(
                challenge=known.key,
                team=own.key,
                account=None,
                role="member",
                state="invited",
                invitation=_digest(token),
                since=now,
            )
        )
        log(connection, now, known.key, "invitation", own.id, actor=actor)
    return token


def accept(arena: Arena, known: Known, token: str, account: int, *, actor: str = "") -> Team:
    """Join a team by an invitation.

    Raises:
        RefusedError: If there is no such invitation, the account is in a team, the team is full,
            or teams are closed.
    """
    with arena.database.writing() as connection:
        alone(connection, team.name, str(known.key))
        now = arena.clock(connection)
        row = connection.execute(
            select(member).filter_by(challenge=known.key, invitation=_digest(token))
        ).one_or_none()
        if row is None or row.state != "invited":
            raise RefusedError("unknown", "This invitation has been used, or never was one.")
        close = known.definition.teams.close
        if close is not None and now >= close:
            raise RefusedError("closed", "Teams can no longer be made or changed.")
        _check_free(connection, known.key, account)
        largest = known.definition.teams.largest
        if largest is not None and team_size(connection, row.team) >= largest:
            raise RefusedError("taken", f"The team is full; it has {largest} members.")
        values = {"account": account, "state": "active", "invitation": "", "since": now}
        connection.execute(update(member).filter_by(key=row.key).values(values))
        ensure_captain(connection, row.team)
        joined = connection.execute(select(team).filter_by(key=row.team)).one()
        log(connection, now, known.key, "joined", joined.id, actor=actor)
        return _team(joined)


def leave(arena: Arena, known: Known, account: int, *, actor: str = "") -> None:
    """Leave a team; its submissions stay with it, and another member becomes captain.

    Raises:
        RefusedError: If the account is in no team.
    """
    with arena.database.writing() as connection:
        alone(connection, team.name, str(known.key))
        now = arena.clock(connection)
        row = connection.execute(
            select(member).filter_by(challenge=known.key, account=account, state="active")
        ).one_or_none()
        if row is None:
            raise RefusedError("unknown", "You are in no team.")
        connection.execute(
            update(member)
            .filter_by(key=row.key)
            .values(state="left", role="member", since=now, contact="")
        )
        ensure_captain(connection, row.team)
        id = connection.execute(select(team.c.id).filter_by(key=row.team)).scalar_one()
        log(connection, now, known.key, "left", id, actor=actor)


def show_members(arena: Arena, known: Known, own: Team, shown: bool, *, actor: str) -> None:
    """Let visitors read who is in a team, or no longer; it is the captain's to decide."""
    with arena.database.writing() as connection:
        connection.execute(update(team).filter_by(key=own.key).values(members_shown=shown))
        after = "named to everybody" if shown else "named to nobody"
        now = arena.clock(connection)
        log(connection, now, known.key, "members", own.id, actor=actor, after=after)


def set_contact(arena: Arena, known: Known, account: int, contact: str) -> None:
    """Keep by which address organisers can reach a member; empty removes it.

    The log does not have it: nothing can be removed from there.

    Raises:
        DataError: If it is long, or has characters that do not show.
        RefusedError: If the account is in no team.
    """
    contact = contact.strip()
    if len(contact) > _LONGEST_CONTACT or not contact.isprintable():
        raise DataError(
            f"The address has {len(contact)} characters, or some that do not show; expected up to "
            f"{_LONGEST_CONTACT}."
        )
    active = {"challenge": known.key, "account": account, "state": "active"}
    with arena.database.writing() as connection:
        changed = connection.execute(update(member).filter_by(**active).values(contact=contact))
        if not changed.rowcount:
            raise RefusedError("unknown", "You are in no team.")


def own_keys(connection: Connection, key: int) -> Sequence[int]:
    """Return the keys of all teams that are one by now: this one, and all merged with it."""
    heir = select(func.coalesce(team.c.merged_into, team.c.key)).filter_by(key=key)
    is_part = func.coalesce(team.c.merged_into, team.c.key) == heir.scalar_subquery()
    return connection.scalars(select(team.c.key).where(is_part)).all()


def ensure_captain(connection: Connection, key: int) -> None:
    """Let the member who has been in a team for longest be its captain, where it has none."""
    active = select(member.c.key, member.c.role).filter_by(team=key, state="active")
    rows = connection.execute(active.order_by(member.c.key)).all()
    if rows and all(row.role != "captain" for row in rows):
        connection.execute(update(member).filter_by(key=rows[0].key).values(role="captain"))


def _check_free(connection: Connection, challenge: int, account: int) -> None:
    taken = select(member.c.key).filter_by(challenge=challenge, account=account, state="active")
    if connection.scalar(taken) is not None:
        raise RefusedError("taken", "You are in a team already; leave it first.")


def _add_member(connection: Connection, own: Row[Any], account: int, role: str, now: int) -> None:
    connection.execute(
        insert(member).values(
            challenge=own.challenge,
            team=own.key,
            account=account,
            role=role,
            state="active",
            invitation="",
            since=now,
        )
    )


def team_size(connection: Connection, key: int) -> int:
    """Return the number of active members."""
    count = select(func.count()).select_from(member).filter_by(team=key, state="active")
    return int(connection.execute(count).scalar_one())


def _team(row: Row[Any]) -> Team:
    return Team(
        row.key,
        row.challenge,
        row.id,
        row.name,
        row.kind,
        row.state,
        bool(row.approved),
        bool(row.members_shown),
    )


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
