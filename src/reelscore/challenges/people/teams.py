"""Teams: who is in them, how somebody gets in, and what organisers decide about them."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Literal

from sqlalchemy import Connection, func, insert, select, update

from reelscore.challenges.challenge import Challenge
from reelscore.challenges.store.blobs import blob_digest
from reelscore.challenges.store.events import check_reason, log
from reelscore.challenges.store.tables import TableRow, member, phase, submission, team
from reelscore.errors import DataError, RefusedError
from reelscore.store.database import alone
from reelscore.store.values import checked_name, skeleton

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
    challenge: Challenge,
    name: str,
    *,
    kind: str = "team",
    account: int | None = None,
    approved: bool = True,
    actor: str = "",
    reason: str = "",
) -> Team:
    """Make a team; the account, if there is one, is its captain."""
    name = checked_name(name)
    own = skeleton(name)
    with challenge.writing() as connection:
        alone(connection, team.name, str(challenge.key))
        now = challenge.now(connection)
        if kind == "team":
            _check_not_closed(challenge, now)
        taken = select(team.c.name).filter_by(challenge=challenge.key, skeleton=own)
        if (other := connection.scalar(taken)) is not None:
            raise DataError(f"There is a team {other!r}, whose name looks like {name!r}.")
        if account is not None:
            _check_free(connection, challenge.key, account)
        added = insert(team).values(
            challenge=challenge.key,
            id=secrets.token_hex(5),
            name=name,
            skeleton=own,
            kind=kind,
            state="active",
            approved=approved,
            members_shown=False,
            created=now,
        )
        made = _team(connection.execute(added.returning(*team.c)).one())
        if account is not None:
            captain = {"account": account, "role": "captain", "state": "active", "invitation": ""}
            values = {"challenge": challenge.key, "team": made.key, "since": now, **captain}
            connection.execute(insert(member).values(values))
        log(connection, now, challenge.key, "team", made.id, actor=actor, reason=reason,
            after=name)  # fmt: skip
        return made


def find_team(challenge: Challenge, name: str) -> Team | None:
    """Return a team by its id or its name."""
    with challenge.reading() as connection:
        of_challenge = select(team).filter_by(challenge=challenge.key)
        row = connection.execute(of_challenge.filter_by(id=name)).one_or_none()
        if row is None:
            row = connection.execute(of_challenge.filter_by(skeleton=skeleton(name))).one_or_none()
        return None if row is None else _team(row)


def team_of(challenge: Challenge, account: int) -> Team | None:
    """Return the team that an account is in."""
    with challenge.reading() as connection:
        row = connection.execute(
            select(team)
            .join(member, member.c.team == team.c.key)
            .where(
                member.c.challenge == challenge.key,
                member.c.account == account,
                member.c.state == "active",
            )
        ).one_or_none()
        return None if row is None else _team(row)


def list_teams(challenge: Challenge) -> list[Team]:
    """Return the teams of a challenge, by name."""
    with challenge.reading() as connection:
        rows = connection.execute(
            select(team).filter_by(challenge=challenge.key).order_by(team.c.name)
        )
        return [_team(row) for row in rows]


def members(challenge: Challenge, own: Team) -> Sequence[TableRow]:
    """Return the rows of a team's members and open invitations."""
    with challenge.reading() as connection:
        rows = select(member).where(member.c.team == own.key, member.c.state != "left")
        return connection.execute(rows.order_by(member.c.key)).all()


def all_members(challenge: Challenge) -> Sequence[TableRow]:
    """Return the rows of all active members of a challenge, each with the id of its team."""
    with challenge.reading() as connection:
        rows = select(member, team.c.id.label("team_id")).join(team, member.c.team == team.c.key)
        active = rows.where(member.c.challenge == challenge.key, member.c.state == "active")
        return connection.execute(active.order_by(member.c.key)).all()


def invite(challenge: Challenge, own: Team, *, actor: str = "") -> str:
    """Make a link by which one account can join a team."""
    token = secrets.token_urlsafe(24)
    digest = blob_digest(token.encode())
    with challenge.writing() as connection:
        now = challenge.now(connection)
        invited = {"account": None, "role": "member", "state": "invited", "invitation": digest}
        values = {"challenge": own.challenge, "team": own.key, "since": now, **invited}
        connection.execute(insert(member).values(values))
        log(connection, now, challenge.key, "invitation", own.id, actor=actor)
    return token


def accept(challenge: Challenge, token: str, account: int, *, actor: str = "") -> Team:
    """Join a team by an invitation."""
    digest = blob_digest(token.encode())
    with challenge.writing() as connection:
        alone(connection, team.name, str(challenge.key))
        now = challenge.now(connection)
        row = connection.execute(
            select(member).filter_by(challenge=challenge.key, invitation=digest)
        ).one_or_none()
        if row is None or row.state != "invited":
            raise RefusedError("unknown", "This invitation has been used, or never was one.")
        _check_not_closed(challenge, now)
        _check_free(connection, challenge.key, account)
        largest = challenge.definition.teams.largest
        if largest is not None and team_size(connection, row.team) >= largest:
            raise RefusedError("taken", f"The team is full; it has {largest} members.")
        values = {"account": account, "state": "active", "invitation": "", "since": now}
        connection.execute(update(member).filter_by(key=row.key).values(values))
        ensure_captain(connection, row.team)
        joined = connection.execute(select(team).filter_by(key=row.team)).one()
        log(connection, now, challenge.key, "joined", joined.id, actor=actor)
        return _team(joined)


def leave(challenge: Challenge, account: int, *, actor: str = "") -> None:
    """Leave a team; its submissions stay with it, and another member becomes captain."""
    with challenge.writing() as connection:
        alone(connection, team.name, str(challenge.key))
        now = challenge.now(connection)
        row = connection.execute(
            select(member).filter_by(challenge=challenge.key, account=account, state="active")
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
        log(connection, now, challenge.key, "left", id, actor=actor)


def show_members(challenge: Challenge, own: Team, shown: bool, *, actor: str) -> None:
    """Let visitors read who is in a team, or no longer; it is the captain's to decide."""
    with challenge.writing() as connection:
        connection.execute(update(team).filter_by(key=own.key).values(members_shown=shown))
        after = "named to everybody" if shown else "named to nobody"
        now = challenge.now(connection)
        log(connection, now, challenge.key, "members", own.id, actor=actor, after=after)


def set_contact(challenge: Challenge, account: int, contact: str) -> None:
    """Keep by which address organisers can reach a member; empty removes it.

    The log does not have it: nothing can be removed from there.
    """
    contact = contact.strip()
    if len(contact) > _LONGEST_CONTACT or not contact.isprintable():
        raise DataError(
            f"The address has {len(contact)} characters, or some that do not show; expected up to "
            f"{_LONGEST_CONTACT}."
        )
    active = {"challenge": challenge.key, "account": account, "state": "active"}
    with challenge.writing() as connection:
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


def _check_not_closed(challenge: Challenge, now: int) -> None:
    close = challenge.definition.teams.close
    is_over = challenge.state in ("closed", "archived")
    if is_over or (close is not None and now >= close):
        raise RefusedError("closed", "Teams can no longer be made or changed.")


def _check_free(connection: Connection, challenge: int, account: int) -> None:
    taken = select(member.c.key).filter_by(challenge=challenge, account=account, state="active")
    if connection.scalar(taken) is not None:
        raise RefusedError("taken", "You are in a team already; leave it first.")


def team_size(connection: Connection, key: int) -> int:
    """Return the number of active members."""
    count = select(func.count()).select_from(member).filter_by(team=key, state="active")
    return int(connection.execute(count).scalar_one())


def _team(row: TableRow) -> Team:
    return Team(**{each.name: getattr(row, each.name) for each in fields(Team)})


def merge(challenge: Challenge, one: Team, into: Team, *, actor: str, reason: str) -> None:
    """Merge a team into another: members move, and what both have used in a phase adds up."""
    check_reason(reason)
    with challenge.writing() as connection:
        alone(connection, team.name, str(challenge.key))
        now = challenge.now(connection)
        states = {_state(connection, own) for own in (one, into)}
        if one.key == into.key or states != {"active"}:
            raise RefusedError("unknown", "Only two active teams can be merged.")
        size = team_size(connection, one.key) + team_size(connection, into.key)
        if (largest := challenge.definition.teams.largest) is not None and size > largest:
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
        log(connection, now, challenge.key, "merged", one.id, actor=actor, reason=reason,
            after=into.id)  # fmt: skip


Decision = Literal["approve", "disqualify", "reinstate"]
_CHANGES: dict[Decision, dict[str, object]] = {
    "approve": {"approved": True},
    "disqualify": {"state": "disqualified"},
    "reinstate": {"state": "active"},
}


def decide(challenge: Challenge, own: Team, what: Decision, *, actor: str, reason: str) -> None:
    """Approve, disqualify or reinstate a team."""
    check_reason(reason)
    with challenge.writing() as connection:
        if _state(connection, own) == "merged":
            raise DataError("The team was merged into another; decide about that one.")
        connection.execute(update(team).filter_by(key=own.key).values(_CHANGES[what]))
        log(connection, challenge.now(connection), challenge.key, what, own.id, actor=actor,
            reason=reason, before=own.state)  # fmt: skip


def same_captions(challenge: Challenge) -> list[tuple[str, list[str]]]:
    """Find captions that several teams handed in: their digest, and the submissions."""
    with challenge.reading() as connection:
        twice = (
            select(submission.c.content)
            .join(phase, phase.c.key == submission.c.phase)
            .where(phase.c.challenge == challenge.key)
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
