"""Who may rate the entries of a challenge: nobody who takes part; of blind splits, only invited."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import Connection, select

from reelscore.campaigns.store.campaigns import all_terms, change_settings, read_settings
from reelscore.campaigns.store.hits import items
from reelscore.challenges.store import tables
from reelscore.errors import DataError, UnknownNameError


def may_rate(connection: Connection, campaign: str, accounts: Collection[int]) -> bool:
    """Return whether somebody may rate in a campaign: not in one of a challenge they take part in.

    Whoever is or was a member of a team knows captions that are judged.

    Args:
        connection: The database.
        campaign: The campaign's id; most belong to no challenge.
        accounts: The accounts that they are known to have.
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
    """Return the items that raters of a campaign see; of blind splits only those who are invited.

    Args:
        connection: A transaction that writes.
        campaign: The campaign's id.
        blind: Whether it shows references of a blind split: nobody can open it to anybody then.

    Raises:
        DataError: If so, and anybody may enter it: the setting ``open`` of its pages says so.
        UnknownNameError: If there is no such campaign.
    """
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
