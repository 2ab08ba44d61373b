"""Phases that are not listed: which teams are invited to them, and so may know of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import Connection, delete, insert, select

from reelscore.campaigns.store.campaigns import all_terms, change_settings, read_settings
from reelscore.campaigns.store.hits import items
from reelscore.challenges.challenge import Challenge
from reelscore.challenges.people.teams import Team, own_keys
from reelscore.challenges.store import tables
from reelscore.challenges.store.events import check_reason, log
from reelscore.challenges.store.tables import phase, phase_team, team
from reelscore.errors import DataError, UnknownNameError


def invite_to_phase(
    challenge: Challenge, phase_id: str, own: Team, *, actor: str, reason: str
) -> None:
    """Let a team know of a phase that is not listed, and take part in it."""
    _change(challenge, phase_id, own, "invited", actor, reason)


def withdraw_invitation(
    challenge: Challenge, phase_id: str, own: Team, *, actor: str, reason: str
) -> None:
    """Take an invitation to a phase back; what the team has handed in stays."""
    _change(challenge, phase_id, own, "uninvited", actor, reason)


def _change(
    challenge: Challenge, phase_id: str, own: Team, what: str, actor: str, reason: str
) -> None:
    check_reason(reason)
    with challenge.writing() as connection:
        described = challenge.phase(connection, phase_id)
        row = {"phase": described.key, "team": own.key}
        is_invited = connection.execute(select(phase_team).filter_by(**row)).first() is not None
        now = challenge.now(connection)
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
        log(
            connection, now, challenge.key, what, own.id, actor=actor, reason=reason, after=phase_id
        )


def invited_phases(connection: Connection, challenge: int, team_id: str) -> set[str]:
    """Return the ids of the phases that a team, or one that was merged into it, is invited to."""
    key = connection.scalar(select(team.c.key).filter_by(challenge=challenge, id=team_id))
    if key is None:
        return set()
    ids = select(phase.c.id).join(phase_team, phase_team.c.phase == phase.c.key)
    own = phase_team.c.team.in_(own_keys(connection, key))
    return set(connection.scalars(ids.where(own)))


def invited_teams(challenge: Challenge) -> dict[str, list[str]]:
    """Return the public ids of the invited teams, by phase, for all phases that are not listed."""
    invited: dict[str, list[str]] = {
        each.id: [] for each in challenge.definition.phases if not each.listed
    }
    rows = (
        select(phase.c.id, team.c.id.label("team"))
        .join(phase_team, phase_team.c.phase == phase.c.key)
        .join(team, phase_team.c.team == team.c.key)
        .where(phase.c.challenge == challenge.key)
        .order_by(team.c.name)
    )
    with challenge.reading() as connection:
        for row in connection.execute(rows):
            invited.setdefault(row.id, []).append(row.team)
    return invited


def may_rate(connection: Connection, campaign: str, accounts: Collection[int]) -> bool:
    """Return whether somebody may rate in a campaign: not in one of a challenge they take part in.

    Whoever is or was a member of a team knows captions that are judged.
    """
    human, phase, member = tables.human, tables.phase, tables.member
    teammate = (
        select(member.c.key)
        .join(phase, phase.c.challenge == member.c.challenge)
        .join(human, human.c.phase == phase.c.key)
        .where(human.c.campaign == campaign, member.c.account.in_(accounts))
        .limit(1)
    )
    return not accounts or connection.scalar(teammate) is None


def shown_items(connection: Connection, campaign: str, *, blind: bool) -> Sequence[str]:
    """Return the items that raters of a campaign see; of blind splits only if invited."""
    terms = {each.id: each for each in all_terms(connection)}
    if campaign not in terms:
        raise UnknownNameError.of("campaign", campaign, terms)
    if blind:
        settings = read_settings(connection, terms[campaign])
        if settings.get("pages", {}).get("open"):
            raise DataError(
                f"The campaign {campaign} is open to anybody, and shows references of a blind "
                "split; let raters in by invitation only."
            )
        change_settings(connection, terms[campaign], {"blind": True})
    return items(connection, terms[campaign])
