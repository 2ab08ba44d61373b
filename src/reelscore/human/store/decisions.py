"""The log of decisions: who decided what, about whom, and why. It is added to, never changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, Select, func, insert, select

from reelscore.human.store.records import Event, Terms
from reelscore.human.store.schema import event
from reelscore.store.values import check_name, check_text

EXCLUDE, READMIT = "exclude", "readmit"


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


def events(connection: Connection, terms: Terms) -> Iterator[Event]:
    """Give all decisions, oldest first."""
    rows = connection.execute(select(event).filter_by(campaign=terms.id).order_by(event.c.id))
    for row in rows:
        yield Event(row.time / 1e6, row.actor, row.what, row.about, row.reason)


def is_excluded(connection: Connection, terms: Terms, rater: str) -> bool:
    """Tell whether the last word about a rater is to exclude."""
    last = _last(terms).where(event.c.about == rater)
    return connection.scalar(last) is not None


def excluded(connection: Connection, terms: Terms) -> frozenset[str]:
    """Name the raters whom the last word excludes."""
    return frozenset(connection.scalars(_last(terms)))


def _last(terms: Terms) -> Select[Any]:
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
