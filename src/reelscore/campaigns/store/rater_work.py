"""Who has taken which HIT, and how far they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func, select

from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.hits.tasks import Task
from reelscore.campaigns.store.assignments import load_tasks
from reelscore.campaigns.store.records import AssignmentState
from reelscore.campaigns.store.schema import assignment, hit, judgment, task
from reelscore.store.database import Database


@dataclass(frozen=True)
class Taken:
    """One HIT that a rater has taken; times in seconds since 1970."""

    id: int
    hit: str
    rater: str
    state: AssignmentState
    claimed: float
    active: float
    answers: int
    flags: tuple[str, ...] = ()
    status: str = ""

    @property
    def needs_review(self) -> bool:
        """Whether an organiser has to look at it before it is paid."""
        return self.state == "done" and bool(self.flags) and not self.status


def list_taken(database: Database, campaign: str) -> Sequence[Taken]:
    """Return every HIT that was taken, the newest first."""
    answers = (
        select(func.count(judgment.c.task.distinct()))
        .where(judgment.c.assignment == assignment.c.id)
        .scalar_subquery()
        .label("answers")
    )
    query = (
        select(
            assignment.c.id,
            hit.c.id.label("name"),
            assignment.c.rater,
            assignment.c.state,
            assignment.c.claimed,
            assignment.c.active,
            answers,
            assignment.c.flags,
            assignment.c.status,
        )
        .join(hit, hit.c.key == assignment.c.hit)
        .where(assignment.c.campaign == campaign, assignment.c.rater != "")
        .order_by(assignment.c.active.desc(), assignment.c.id.desc())
    )
    with database.reading() as connection:
        return [
            Taken(
                row.id,
                row.name,
                row.rater,
                row.state,
                (row.claimed or 0) / 1e6,
                (row.active or 0) / 1e6,
                row.answers,
                tuple(row.flags.split()),
                row.status,
            )
            for row in connection.execute(query)
        ]


def count_done(database: Database, campaign: str, rater: str) -> int:
    """Count the HITs that a rater has finished."""
    query = select(func.count()).where(
        assignment.c.campaign == campaign,
        assignment.c.rater == rater,
        assignment.c.state == "done",
    )
    with database.reading() as connection:
        return connection.execute(query).scalar_one()


def count_tasks(database: Database, campaign: str) -> int:
    """Count the tasks of all HITs, each once however many raters it needs."""
    tasks = select(func.count()).select_from(task).filter_by(campaign=campaign)
    with database.reading() as connection:
        return connection.execute(tasks).scalar_one()


@dataclass(frozen=True)
class HitRow:
    """One HIT of the plan: its number from 1, how many tasks it has, and how far its raters are."""

    number: int
    id: str
    tasks: int
    open: int
    held: int
    done: int


def count_hits(database: Database, campaign: str) -> int:
    """Count the HITs of a campaign."""
    with database.reading() as connection:
        query = select(func.count()).select_from(hit).filter_by(campaign=campaign)
        return connection.execute(query).scalar_one()


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
