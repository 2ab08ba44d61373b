"""Raters as they came in, by a link or from a crowd service, and the work they have taken."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    ScalarSelect,
    Table,
    and_,
    delete,
    func,
    insert,
    select,
    update,
)

from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.hits.tasks import Task
from reelscore.campaigns.store.assignments import load_tasks
from reelscore.campaigns.store.records import CROWD_SERVICES, REJECTED, Service, TakenHit
from reelscore.campaigns.store.schema import assignment, hit, judgment, skip, task
from reelscore.errors import RefusedError
from reelscore.store.database import Database, alone
from reelscore.web.security import digest, new_token
from reelscore.web.store.schema import rater as table
from reelscore.web.store.schema import submission


@dataclass(frozen=True)
class Rater:
    """One rater of one campaign; see the table for what the fields mean."""

    id: int
    campaign: str
    rater: str
    service: Service
    worker: str
    study: str
    session: str
    destination: str
    browser: str
    created: int
    consented: int | None
    practised: int
    attempts: int
    passed: bool | None
    assignment: int | None

    @property
    def is_sent(self) -> bool:
        """Whether a crowd service sends and pays the rater, for one HIT at a time."""
        return self.service in CROWD_SERVICES


@dataclass(frozen=True)
class Arrival:
    """Somebody sent by a crowd service, in the service's own words."""

    service: Service
    worker: str
    study: str = ""
    session: str = ""
    destination: str = ""


ELSEWHERE = (
    "This link was opened in another browser before and works only there. Go back to that "
    "browser, or ask the organiser for a new link."
)
_COLUMNS = tuple(table.c[field.name] for field in fields(Rater))


def invite(database: Database, campaign: str, names: Sequence[str], now: int) -> list[str]:
    """Make a link's token for each rater to be; only digests are stored."""
    tokens = [new_token() for _ in names]
    with database.writing() as connection:
        alone(connection, table.name, campaign)
        taken = set(connection.scalars(select(table.c.rater).filter_by(campaign=campaign)))
        rows = []
        for name, token in zip(names, tokens, strict=True):
            chosen = name or new_name()
            if chosen in taken:
                raise RefusedError("taken", f"There is a rater {chosen!r} already.")
            taken.add(chosen)
            rows.append(_row(campaign, chosen, "link", chosen, now) | {"token": digest(token)})
        if rows:
            connection.execute(insert(table), rows)
    return tokens


def find_link(database: Database, token: str) -> Rater | None:
    """Look a rater up by the token of the link."""
    with database.reading() as connection:
        return find(connection, token=digest(token))


def bind(database: Database, id: int, browser: str) -> Rater:
    """Let a link work in this browser only, from its first use on."""
    mine = digest(browser)
    with database.writing() as connection:
        connection.execute(update(table).filter_by(id=id, browser="").values(browser=mine))
        rater = find(connection, id=id)
        if rater is None or rater.browser != mine:
            raise RefusedError("taken", ELSEWHERE)
        return rater


def unbind(database: Database, campaign: str, name: str) -> bool:
    """Let a link work in the next browser that opens it; tell whether there is such a link."""
    with database.writing() as connection:
        link = update(table).filter_by(campaign=campaign, rater=name, service="link")
        return bool(connection.execute(link.values(browser="")).rowcount)


def welcome(database: Database, campaign: str, visit: Arrival, browser: str, now: int) -> Rater:
    """Return the rater whom a crowd service sends, a new one at the first visit."""
    mine = digest(browser)
    with database.writing() as connection:
        alone(connection, table.name, campaign, visit.worker)
        known = {"campaign": campaign, "service": visit.service, "worker": visit.worker}
        rater = find(connection, **known)
        if rater is None:
            row = _row(campaign, new_name(), visit.service, visit.worker, now)
            connection.execute(insert(table).values(row | vars(visit) | {"browser": mine}))
            rater = find(connection, **known)
            assert rater is not None
            return rater
        is_same_session = bool(visit.session) and visit.session == rater.session
        # frames have no cookies to be known by, and a HIT may be returned there and another taken
        is_known = visit.service == "mturk" or rater.browser == mine or is_same_session
        state = connection.scalar(select(assignment.c.state).filter_by(id=rater.assignment))
        if not is_known and state == "held":  # what is under way, a stranger could take over
            raise RefusedError(
                "taken",
                "You have begun in another browser. Go back to it and open the link there.",
            )
        values: dict[str, Any] = vars(visit) | {"browser": mine}
        if not is_same_session:
            values["assignment"] = None  # a new submission is new work
        connection.execute(update(table).filter_by(id=rater.id).values(**values))
        return replace(rater, **values)


def note(database: Database, id: int, **values: object) -> None:
    """Write down how far a rater has come."""
    with database.writing() as connection:
        connection.execute(update(table).filter_by(id=id).values(**values))


def take(database: Database, rater: Rater, assignment: int) -> None:
    """Write down which HIT a rater has taken, and under which submission; the last one counts."""
    with database.writing() as connection:
        connection.execute(update(table).filter_by(id=rater.id).values(assignment=assignment))
        connection.execute(delete(submission).filter_by(assignment=assignment))
        row = {"rater": rater.id, "study": rater.study, "session": rater.session}
        connection.execute(insert(submission).values(row | {"assignment": assignment}))


def list_raters(database: Database, campaign: str) -> Sequence[Rater]:
    """Return all raters of a campaign in the order they were known."""
    with database.reading() as connection:
        rows = connection.execute(
            select(*_COLUMNS).filter_by(campaign=campaign).order_by(table.c.id)
        )
        return [Rater(*row) for row in rows]


def find(connection: Connection, **known: object) -> Rater | None:
    """Look a rater up by what is known."""
    row = connection.execute(select(*_COLUMNS).select_from(table).filter_by(**known)).one_or_none()
    return None if row is None else Rater(*row)


def _row(campaign: str, name: str, service: Service, worker: str, now: int) -> dict[str, object]:
    return {
        "campaign": campaign,
        "rater": name,
        "service": service,
        "worker": worker,
        "created": now,
        **dict.fromkeys(("study", "session", "destination", "browser"), ""),
        **dict.fromkeys(("practised", "attempts"), 0),
    }


def new_name() -> str:
    """Make a name that tells nothing."""
    return f"r-{secrets.token_hex(5)}"


def list_taken(campaign: Campaign) -> Sequence[TakenHit]:
    """Return every HIT that was taken, the newest first."""

    def count(column: ColumnElement[int], condition: ColumnElement[bool]) -> ScalarSelect[int]:
        return select(func.count(column.distinct())).where(condition).scalar_subquery()

    # of HITs taken before submissions were noted, the rater's own is the best guess
    texts = {name: func.coalesce(table.c[name], "") for name in ("service", "worker")} | {
        name: func.coalesce(submission.c[name], table.c[name], "") for name in ("study", "session")
    }
    query = (
        select(
            assignment.c.id,
            hit.c.id.label("hit"),
            assignment.c.rater,
            assignment.c.state,
            assignment.c.active,
            count(task.c.key, task.c.hit == assignment.c.hit).label("tasks"),
            count(judgment.c.task, judgment.c.assignment == assignment.c.id).label("answers"),
            count(skip.c.task, skip.c.assignment == assignment.c.id).label("skipped"),
            assignment.c.flags,
            assignment.c.status,
            *(text.label(name) for name, text in texts.items()),
        )
        .join(hit, hit.c.key == assignment.c.hit)
        .outerjoin(
            table,
            and_(table.c.campaign == assignment.c.campaign, table.c.rater == assignment.c.rater),
        )
        .outerjoin(submission, submission.c.assignment == assignment.c.id)
        .where(assignment.c.campaign == campaign.id, assignment.c.rater != "")
        .order_by(assignment.c.active.desc(), assignment.c.id.desc())
    )
    reasons = {event.about: event.reason for event in campaign.events() if event.what == "reject"}
    with campaign.database.reading() as connection:
        return [
            TakenHit(
                **{
                    **row._mapping,
                    "active": (row.active or 0) / 1e6,
                    "flags": tuple(row.flags.split()),
                    "rejected": (reasons.get(row.rater) or REJECTED)
                    if row.status == REJECTED
                    else "",
                }
            )
            for row in connection.execute(query)
        ]


def count_rows(database: Database, table: Table, **values: str) -> int:
    """Count the rows of a table that have these values."""
    with database.reading() as connection:
        query = select(func.count()).select_from(table).filter_by(**values)
        return connection.execute(query).scalar_one()


@dataclass(frozen=True)
class HitRow:
    """One HIT of the plan: its number from 1, how many tasks it has, and how far its raters are."""

    number: int
    id: str
    tasks: int
    open: int
    held: int
    done: int


def list_hits(database: Database, campaign: str, first: int, most: int) -> Sequence[HitRow]:
    """Return some of the HITs in their order: how many at most, after how many others."""
    tasks = select(func.count()).where(task.c.hit == hit.c.key).scalar_subquery()
    places = [
        select(func.count())
        .where(assignment.c.hit == hit.c.key, assignment.c.state == state)
        .scalar_subquery()
        for state in ("open", "held", "done")
    ]
    query = select(hit.c.id, tasks, *places).filter_by(campaign=campaign).order_by(hit.c.key)
    with database.reading() as connection:
        rows = connection.execute(query.offset(first).limit(most))
        return [HitRow(number, *row) for number, row in enumerate(rows, start=first + 1)]


def load_hit(campaign: Campaign, number: int) -> Sequence[Task]:
    """Return the tasks of a HIT by its number from 1; none where there is no such HIT."""
    query = select(hit.c.key).filter_by(campaign=campaign.id).order_by(hit.c.key)
    with campaign.database.reading() as connection:
        key = connection.scalar(query.offset(number - 1).limit(1))
        return [] if key is None else load_tasks(connection, key)
