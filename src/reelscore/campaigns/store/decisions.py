"""Decisions about work: it is paid or rejected, its rater excluded, its place offered again.

A HIT's `status` says what became of it: ``approved``, ``rejected``, or nothing yet. Judgments carry
it with them, so that results leave out what was rejected.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from sqlalchemy import Connection, exists, func, insert, select, update

from reelscore.campaigns.store.assignments import abandon, open_place
from reelscore.campaigns.store.campaigns import EXCLUDE, READMIT, log
from reelscore.campaigns.store.records import APPROVED, REJECTED, Terms
from reelscore.campaigns.store.schema import assignment, hit
from reelscore.errors import RefusedError
from reelscore.store.database import alone

PAY, REJECT, APPROVE = "pay", "reject", "approve"
Review = Literal["approve", "reject"]


def decide(
    connection: Connection, terms: Terms, what: str, about: str, now: int, actor: str, reason: str
) -> None:
    """Log a decision about a rater, and do what it means for their HITs."""
    alone(connection, terms.id, about)  # no answer of theirs comes in between
    log(connection, terms, now, actor, what, about, reason)
    theirs = update(assignment).filter_by(campaign=terms.id, rater=about)
    if what in (EXCLUDE, REJECT):
        held = select(assignment.c.id).filter_by(campaign=terms.id, rater=about, state="held")
        abandon(connection, terms, held.with_for_update(), now, what, actor)
    if what == REJECT:
        connection.execute(theirs.values(status=REJECTED))
    elif what == PAY:
        connection.execute(theirs.filter_by(state="done").values(status=APPROVED))
    elif what == READMIT:
        connection.execute(theirs.filter_by(status=REJECTED).values(status=""))


def review(
    connection: Connection,
    terms: Terms,
    id: int,
    verdict: Review,
    now: int,
    actor: str,
    reason: str,
) -> None:
    """Approve or reject one finished HIT, and log it."""
    status = APPROVED if verdict == APPROVE else REJECTED
    row = connection.execute(
        update(assignment)
        .filter_by(campaign=terms.id, id=id, state="done")
        .values(status=status)
        .returning(assignment.c.rater, assignment.c.hit)
    ).one_or_none()
    if row is None:
        raise RefusedError("unknown", f"Assignment {id} is not a finished one.")
    name = connection.scalar(select(hit.c.id).where(hit.c.key == row.hit))
    log(connection, terms, now, actor, verdict, row.rater, f"HIT {name}: {reason}")


def rejected(connection: Connection, terms: Terms) -> frozenset[str]:
    """Name the raters with a HIT that was rejected."""
    theirs = select(assignment.c.rater).filter_by(campaign=terms.id, status=REJECTED)
    return frozenset(connection.scalars(theirs))


def offer_again(
    connection: Connection, terms: Terms, id: int, now: int, actor: str, reason: str
) -> bool:
    """Offer the place of a finished HIT once more; tell whether it was not yet."""
    alone(connection, terms.id, "places")
    done = select(assignment.c.rater).filter_by(campaign=terms.id, id=id, state="done")
    if connection.scalar(done) is None:
        raise RefusedError("unknown", f"Assignment {id} is not a finished one.")
    return bool(_offer(connection, terms, [id], now, actor, reason))


def offer_all_again(
    connection: Connection, terms: Terms, raters: Collection[str], now: int, actor: str, reason: str
) -> int:
    """Offer once more the places of all HITs that these raters have finished."""
    done = select(assignment.c.id, assignment.c.rater).filter_by(campaign=terms.id, state="done")
    alone(connection, terms.id, "places")
    rows = connection.execute(done.order_by(assignment.c.id)).all()
    ids = [id for id, rater in rows if rater in raters]
    return _offer(connection, terms, ids, now, actor, reason)


def _offer(
    connection: Connection, terms: Terms, ids: Collection[int], now: int, actor: str, reason: str
) -> int:
    """Add a slot for each HIT whose rater is not replaced yet."""
    number = 0
    for id in ids:
        row = connection.execute(
            select(assignment.c.hit, assignment.c.rater, hit.c.id.label("name"))
            .join(hit, hit.c.key == assignment.c.hit)
            .where(assignment.c.id == id)
        ).one()
        is_replaced = exists().where(
            assignment.c.hit == row.hit, assignment.c.replaces == row.rater
        )
        if connection.scalar(select(is_replaced)):
            continue
        last = select(func.max(assignment.c.slot)).where(assignment.c.hit == row.hit)
        place = open_place(terms.id, row.hit, connection.execute(last).scalar_one() + 1)
        connection.execute(insert(assignment).values(**place, replaces=row.rater))
        log(connection, terms, now, actor, "offer again", row.rater, f"HIT {row.name}: {reason}")
        number += 1
    return number
