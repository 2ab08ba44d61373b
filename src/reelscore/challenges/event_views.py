"""The log of a challenge as somebody sees it."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, select

from reelscore.challenges.definition.records import Definition
from reelscore.challenges.showing import PUBLIC_EVENTS, Situation, Who, view
from reelscore.challenges.store import tables
from reelscore.challenges.store.events import Event, read_events

_CHANGED = "The definition is changed."


def seen_events(
    connection: Connection, key: int, who: Who, whole: Definition, phases: Collection[str]
) -> list[Event]:
    """List the events that somebody may see, oldest first.

    Args:
        connection: The database.
        key: The challenge's number there.
        who: Who looks.
        whole: The definition with all phases.
        phases: The phases that they may know of.
    """
    rows = read_events(connection, key)
    own = _own(connection, who.team)
    hidden = {phase.id for phase in whole.phases} - set(phases)
    hidden |= {human.id for human in whole.humans if human.phase not in phases}
    known = [told for row in rows if (told := _told(row, hidden)) is not None]
    seen = view(
        who.seen_as(who.team),
        "events",
        Situation(),
        lambda: rows,
        public=lambda: [row for row in known if row.what in PUBLIC_EVENTS],
        own=lambda: [row for row in known if row.what in PUBLIC_EVENTS or row.about in own],
    )
    return seen or []


def _own(connection: Connection, team_id: str) -> set[str]:
    """What the events of a team are about: the team and its submissions."""
    if not team_id:
        return set()
    team, submission = tables.team, tables.submission
    ids = select(submission.c.id).join(team, submission.c.team == team.c.key)
    return {*connection.scalars(ids.where(team.c.id == team_id)), team_id}


def _told(row: Event, hidden: set[str]) -> Event | None:
    """Return an event without who did it; ``None`` where it tells of a phase that is not known."""
    if row.what == "definition":
        names = any(repr(name) in row.reason for name in hidden)
        return row._replace(actor="", reason=_CHANGED if names else row.reason)
    if row.what != "state" and hidden & {row.about, *row.after.split()}:
        return None
    return row._replace(actor="")
