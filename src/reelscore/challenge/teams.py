"""Teams: names that cannot be mistaken for another's, members, invitations, merging."""

from __future__ import annotations

import hashlib
import re
import secrets
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select, update

from reelscore.challenge.arena import Arena
from reelscore.challenge.challenges import Known
from reelscore.challenge.store.events import log
from reelscore.challenge.store.tables import member, submission, team
from reelscore.errors import DataError, RefusedError
from reelscore.store.database import alone

_LONGEST = 60
# Letters of other scripts, and digits, that look like Latin letters once they are lower case.
_LOOKALIKES = str.maketrans(
    "01а" + "сеіјорѕхуқһԁԛԝ" + "αειοκνρτυχ",
    "ola" + "ceijopsxyqhdqw" + "aeiokvptux",
)
# Scripts that belong together in one name.
_TOGETHER = {"HIRAGANA": "CJK", "KATAKANA": "CJK", "HANGUL": "CJK", "IDEOGRAPHIC": "CJK"}


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


def checked_name(name: str) -> str:
    """Give a team's name as it is kept.

    Raises:
        DataError: If it is empty, long, has characters that do not show, or mixes scripts.

    >>> checked_name("  Team  Seven ")
    'Team Seven'
    >>> checked_name("Pаr")
    Traceback (most recent call last):
    reelscore.errors.DataError: The name 'Pаr' mixes letters of CYRILLIC and LATIN; use one script.
    """
    name = " ".join(unicodedata.normalize("NFKC", name).split())
    if not name or len(name) > _LONGEST:
        raise DataError(f"The name has {len(name)} characters; expected 1 to {_LONGEST}.")
    for character in name:
        if unicodedata.category(character)[0] == "C":
            code = f"U+{ord(character):04X}"
            raise DataError(f"The name holds {code}, which does not show; remove it.")
    if not any(map(str.isalnum, name)):
        raise DataError("The name has no letter or digit; expected at least one.")
    if re.search("\\W{4}|[\u0300-\u036f]{2}", name):
        raise DataError("The name has many marks in a row; expected letters and digits.")
    scripts = sorted({_script(character) for character in name if character.isalpha()})
    if len(scripts) > 1:
        listed = " and ".join(scripts)
        raise DataError(f"The name {name!r} mixes letters of {listed}; use one script.")
    return name


def _script(letter: str) -> str:
    first = unicodedata.name(letter, "OTHER").split()[0]
    return _TOGETHER.get(first, first)


def skeleton(name: str) -> str:
    """Give what names that look alike have in common.

    >>> skeleton("Team 1O") == skeleton("team-lo") == skeleton("TEAM l0")
    True
    """
    plain = unicodedata.normalize("NFKD", name.casefold())
    plain = "".join(character for character in plain if not unicodedata.combining(character))
    plain = plain.translate(_LOOKALIKES).replace("rn", "m").replace("vv", "w").replace("i", "l")
    return "".join(character for character in plain if character.isalnum()) or plain


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
        close = known.definition.teams_close
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
    """Give a team by its id or its name."""
    with arena.database.reading() as connection:
        of_challenge = select(team).filter_by(challenge=known.key)
        row = connection.execute(of_challenge.filter_by(id=name)).one_or_none()
        if row is None:
            row = connection.execute(of_challenge.filter_by(skeleton=skeleton(name))).one_or_none()
        return None if row is None else _team(row)


def team_of(arena: Arena, known: Known, account: int) -> Team | None:
    """Give the team that an account is in."""
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
    """Give the teams of a challenge, by name."""
    with arena.database.reading() as connection:
        rows = connection.execute(select(team).filter_by(challenge=known.key).order_by(team.c.name))
        return [_team(row) for row in rows]


def members(arena: Arena, own: Team) -> Sequence[Row[Any]]:
    """Give the rows of a team's members and open invitations."""
    with arena.database.reading() as connection:
        rows = select(member).where(member.c.team == own.key, member.c.state != "left")
        return connection.execute(rows.order_by(member.c.key)).all()


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
        close = known.definition.teams_close
        if close is not None and now >= close:
            raise RefusedError("closed", "Teams can no longer be made or changed.")
        _check_free(connection, known.key, account)
        largest = known.definition.largest_team
        if largest is not None and _size(connection, row.team) >= largest:
            raise RefusedError("taken", f"The team is full; it has {largest} members.")
        values = {"account": account, "state": "active", "invitation": "", "since": now}
        connection.execute(update(member).filter_by(key=row.key).values(values))
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
            update(member).filter_by(key=row.key).values(state="left", role="member", since=now)
        )
        if row.role == "captain":
            eldest = (
                select(member.c.key)
                .filter_by(team=row.team, state="active")
                .order_by(member.c.key)
                .limit(1)
            )
            connection.execute(
                update(member)
                .where(member.c.key == eldest.scalar_subquery())
                .values(role="captain")
            )
        id = connection.execute(select(team.c.id).filter_by(key=row.team)).scalar_one()
        log(connection, now, known.key, "left", id, actor=actor)


def merge(arena: Arena, known: Known, one: Team, into: Team, *, actor: str, reason: str) -> None:
    """Merge a team into another: members move, and what both have used in a phase adds up.

    Raises:
        RefusedError: If they cannot be merged, or the merged team would be too large.
    """
    with arena.database.writing() as connection:
        alone(connection, team.name, str(known.key))
        now = arena.clock(connection)
        states = {_state(connection, each) for each in (one, into)}
        if one.key == into.key or states != {"active"}:
            raise RefusedError("unknown", "Only two active teams can be merged.")
        size = _size(connection, one.key) + _size(connection, into.key)
        if (largest := known.definition.largest_team) is not None and size > largest:
            raise RefusedError("taken", f"The team would have {size} members; at most {largest}.")
        connection.execute(
            update(team).filter_by(key=one.key).values(state="merged", merged_into=into.key)
        )
        connection.execute(
            update(member)
            .where(member.c.team == one.key, member.c.state != "left")
            .values(team=into.key, role="member")
        )
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
    if not reason:
        raise DataError("Say why; the team reads it.")
    with arena.database.writing() as connection:
        if _state(connection, own) == "merged":
            raise DataError("The team was merged into another; decide about that one.")
        connection.execute(update(team).filter_by(key=own.key).values(changes[what]))
        log(connection, arena.clock(connection), known.key, what, own.id, actor=actor,
            reason=reason, before=own.state)  # fmt: skip


def own_keys(connection: Connection, key: int) -> list[int]:
    """Give the keys of a team and of all that were merged into it."""
    keys = [key]
    for each in keys:
        merged = select(team.c.key).where(team.c.merged_into == each)
        keys += connection.scalars(merged).all()
    return keys


def same_captions(arena: Arena, known: Known) -> list[tuple[str, list[str]]]:
    """Find captions that several teams handed in: their digest, and the submissions."""
    from reelscore.challenge.store.tables import phase

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


def _size(connection: Connection, key: int) -> int:
    count = select(func.count()).select_from(member).filter_by(team=key, state="active")
    return int(connection.execute(count).scalar_one())


def _state(connection: Connection, own: Team) -> str:
    return str(connection.execute(select(team.c.state).filter_by(key=own.key)).scalar_one())


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
