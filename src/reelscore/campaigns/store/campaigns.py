"""A campaign's own row: its terms, state, systems and settings, and the log of decisions.

The log says who decided what, about whom, and why. It is added to, never changed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, Select, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from reelscore.campaigns.store import schema
from reelscore.campaigns.store.records import (
    STATES,
    Decision,
    State,
    Terms,
    check_hold,
    settings_text,
)
from reelscore.campaigns.store.schema import event
from reelscore.errors import DataError, check_choice
from reelscore.store.database import alone
from reelscore.store.values import check_name, check_text

EXCLUDE, READMIT = "exclude", "readmit"


def insert_campaign(
    connection: Connection,
    terms: Terms,
    systems: Sequence[str],
    humans: Collection[str],
    settings: Mapping[str, object],
    state: State = "draft",
) -> None:
    """Put a new campaign in; `humans` are the systems that are people."""
    values = {**terms.row(), "state": state, "settings": settings_text(settings)}
    row = insert(schema.campaign).values(values)
    try:
        connection.execute(row)
    except IntegrityError:
        raise DataError(f"There is already a campaign {terms.id!r}; choose another id.") from None
    add_systems(connection, terms, systems, humans)


def insert_captions(
    connection: Connection, terms: Terms, captions: Mapping[str, Mapping[str, str]]
) -> None:
    """Keep the captions that HITs are made of."""
    rows = [
        {
            "campaign": terms.id,
            "system": check_name(system, "the system"),
            "item": check_name(item, "the item"),
            "text": check_text(text, f"the caption of {system!r} for item {item!r}"),
        }
        for system, texts in captions.items()
        for item, text in texts.items()
    ]
    if rows:
        connection.execute(insert(schema.caption), rows)


def read_captions(connection: Connection, terms: Terms) -> dict[str, dict[str, str]]:
    """Return the captions that HITs are made of, by system and item."""
    table = schema.caption
    query = select(table.c.system, table.c.item, table.c.text).filter_by(campaign=terms.id)
    captions: dict[str, dict[str, str]] = {}
    for system, item, text in connection.execute(query.order_by(table.c.system, table.c.item)):
        captions.setdefault(system, {})[item] = text
    return captions


def all_terms(connection: Connection) -> Sequence[Terms]:
    """Return the terms of every campaign in the database, oldest first."""
    table = schema.campaign
    rows = connection.execute(select(table).order_by(table.c.created, table.c.id))
    return [Terms.of(dict(row)) for row in rows.mappings()]


def read_state(connection: Connection, terms: Terms) -> State:
    """Return the campaign's state."""
    state: State = connection.execute(
        select(schema.campaign.c.state).filter_by(id=terms.id)
    ).scalar_one()
    return state


def change_state(
    connection: Connection, terms: Terms, state: State, now: int, actor: str, reason: str
) -> None:
    """Change the campaign's state, and log it."""
    check_choice("state", state, STATES)
    if state == "draft" and read_state(connection, terms) != "draft":
        raise DataError(
            "A campaign that has started cannot become a draft again; pause it instead."
        )
    connection.execute(update(schema.campaign).filter_by(id=terms.id).values(state=state))
    log(connection, terms, now, actor, state, "", reason)


def read_systems(connection: Connection, terms: Terms) -> tuple[str, ...]:
    """Name the systems."""
    return tuple(connection.scalars(_names(terms)))


def read_humans(connection: Connection, terms: Terms) -> tuple[str, ...]:
    """Name the systems that are people."""
    return tuple(connection.scalars(_names(terms).where(schema.system.c.human)))


def add_systems(
    connection: Connection, terms: Terms, systems: Sequence[str], humans: Collection[str] = ()
) -> None:
    """Add systems after those that are there; `humans` are those of them that are people."""
    first = len(read_systems(connection, terms))
    rows = [
        {"campaign": terms.id, "position": first + k, "name": name, "human": name in humans}
        for k, name in enumerate(systems)
    ]
    if rows:
        connection.execute(insert(schema.system), rows)


def mark_humans(connection: Connection, terms: Terms, humans: Collection[str]) -> None:
    """Note which systems are people."""
    systems = read_systems(connection, terms)
    for name in humans:
        check_choice("system", name, systems)
    connection.execute(
        update(schema.system)
        .filter_by(campaign=terms.id)
        .values(human=schema.system.c.name.in_(humans))
    )


def _names(terms: Terms) -> Select[str]:
    table = schema.system
    return select(table.c.name).filter_by(campaign=terms.id).order_by(table.c.position)


def read_settings(connection: Connection, terms: Terms) -> dict[str, Any]:
    """Return the free settings."""
    query = select(schema.campaign.c.settings).filter_by(id=terms.id)
    settings: dict[str, Any] = msgspec.json.decode(connection.execute(query).scalar_one())
    return settings


def change_settings(connection: Connection, terms: Terms, parts: Mapping[str, object]) -> None:
    """Replace some of the free settings, whatever others do with the rest at the same time."""
    alone(connection, terms.id, "settings")
    text = settings_text({**read_settings(connection, terms), **parts})
    connection.execute(update(schema.campaign).filter_by(id=terms.id).values(settings=text))


def change_hold(
    connection: Connection, terms: Terms, hold: float, now: int, actor: str, reason: str
) -> None:
    """Change the hold time, and log it."""
    check_hold(hold)
    connection.execute(update(schema.campaign).filter_by(id=terms.id).values(hold=hold))
    log(connection, terms, now, actor, "hold", "", reason)


def log(
    connection: Connection, terms: Terms, now: int, actor: str, what: str, about: str, reason: str
) -> None:
    """Write one decision down."""
    connection.execute(
        insert(event).values(
            campaign=terms.id,
            time=now,
            actor=check_name(actor, "the actor"),
            what=check_name(what, "the decision"),
            about=check_text(about, "what the decision is about"),
            reason=check_text(reason, "the reason"),
        )
    )


def events(connection: Connection, terms: Terms) -> Sequence[Decision]:
    """Return all decisions, oldest first."""
    rows = connection.execute(select(event).filter_by(campaign=terms.id).order_by(event.c.id))
    return [Decision(row.time / 1e6, row.actor, row.what, row.about, row.reason) for row in rows]


def is_excluded(connection: Connection, terms: Terms, rater: str) -> bool:
    """Return whether the last word about a rater is to exclude."""
    last = _last(terms).where(event.c.about == rater)
    return connection.scalar(last) is not None


def excluded(connection: Connection, terms: Terms) -> frozenset[str]:
    """Name the raters whom the last word excludes."""
    return frozenset(connection.scalars(_last(terms)))


def _last(terms: Terms) -> Select[str]:
    later = event.alias("later")
    word = [EXCLUDE, READMIT]
    newest = (
        select(func.max(later.c.id))
        .where(later.c.campaign == terms.id, later.c.about == event.c.about)
        .where(later.c.what.in_(word))
        .scalar_subquery()
    )
    return (
        select(event.c.about).filter_by(campaign=terms.id, what=EXCLUDE).where(event.c.id == newest)
    )
