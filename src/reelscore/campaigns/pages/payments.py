"""Whom to pay how much: amounts for each rater, and the files that crowd services take."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, ScalarSelect, Select, func, select

from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.pages.rater_pages import read_pages
from reelscore.campaigns.store.records import REJECTED
from reelscore.campaigns.store.schema import assignment, hit, judgment, skip, task
from reelscore.data.spreadsheet import spreadsheet_csv
from reelscore.web.store.schema import rater, submission


@dataclass(frozen=True)
class PaidWork:
    """One HIT in the hands of one rater, and what it earns.

    Attributes:
        rater: What judgments call the rater.
        service: Where the rater came from; empty where judgments were imported.
        worker: What the service calls the rater.
        study: The service's study, or HIT.
        session: The service's submission, or assignment.
        hit: The HIT.
        is_done: Whether it was finished.
        answers: How many of its tasks have an answer.
        skipped: How many were reported and skipped.
        tasks: How many there are.
        waits: Whether an organiser has to look at it before it is paid.
        rejected: Why it is not paid; empty where it is.
    """

    rater: str
    service: str
    worker: str
    study: str
    session: str
    hit: str
    is_done: bool
    answers: int
    skipped: int
    tasks: int
    waits: bool = False
    rejected: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether it earns the price of a HIT: finished, and not by reports for the most part."""
        return self.is_done and self.skipped <= self.answers

    def amount(self, price: float, *, pro_rata: bool = True) -> float:
        """Return what it earns: the price, a part of it for a part of the tasks, or nothing.

        >>> part = PaidWork("r1", "prolific", "5f1e", "s", "x", "h1", False, 25, 0, 100)
        >>> part.amount(2.0), part.amount(2.0, pro_rata=False)
        (0.5, 0.0)
        """
        if self.rejected:
            return 0.0
        if self.is_whole:
            return price
        return round(price * self.answers / self.tasks, 2) if pro_rata else 0.0


def list_work(campaign: Campaign) -> Sequence[PaidWork]:
    """Return every HIT that was taken, the first place first; see `PaidWork`."""
    reasons = {event.about: event.reason for event in campaign.events() if event.what == "reject"}
    reviews = read_pages(campaign.settings).review
    with campaign.database.reading() as connection:
        rows = connection.execute(_taken(campaign.id))
        return [
            replace(
                PaidWork(*values),
                waits=reviews and bool(flags) and not status,
                rejected=reasons.get(values[0]) or REJECTED if status == REJECTED else "",
            )
            for *values, flags, status in rows
        ]


def _taken(campaign: str) -> Select[Any]:
    def count(column: ColumnElement[int], condition: ColumnElement[bool]) -> ScalarSelect[int]:
        return select(func.count(column.distinct())).where(condition).scalar_subquery()

    texts = (rater.c.service, rater.c.worker)
    # of HITs taken before submissions were noted, the rater's own is the best guess
    visits = [func.coalesce(submission.c[name], rater.c[name], "") for name in ("study", "session")]
    return (
        select(
            assignment.c.rater,
            *(func.coalesce(column, "") for column in texts),
            *visits,
            hit.c.id,
            assignment.c.state == "done",
            count(judgment.c.task, judgment.c.assignment == assignment.c.id),
            count(skip.c.task, skip.c.assignment == assignment.c.id),
            count(task.c.key, task.c.hit == assignment.c.hit),
            assignment.c.flags,
            assignment.c.status,
        )
        .join(hit, hit.c.key == assignment.c.hit)
        .outerjoin(
            rater,
            (rater.c.campaign == assignment.c.campaign) & (rater.c.rater == assignment.c.rater),
        )
        .outerjoin(submission, submission.c.assignment == assignment.c.id)
        .where(assignment.c.campaign == campaign, assignment.c.rater != "")
        .order_by(assignment.c.id)
    )


@dataclass(frozen=True)
class Pay:
    """What raters get: for a HIT, and whether unfinished ones earn a part of it."""

    price: float
    currency: str = "USD"
    pro_rata: bool = True

    @classmethod
    def of(cls, campaign: Campaign) -> Pay:
        """Return what a campaign's settings say."""
        pages = read_pages(campaign.settings)
        return cls(pages.price, pages.currency)

    def amount(self, work: Iterable[PaidWork]) -> float:
        """Add up what work earns."""
        return round(sum(each.amount(self.price, pro_rata=self.pro_rata) for each in work), 2)


def amounts_csv(work: Sequence[PaidWork], pay: Pay) -> str:
    """Write a row for each rater: HITs, answers, and the amount."""
    who, counts = ("rater", "service", "worker"), ("HITs done", "HITs begun", "answers", "skipped")
    rows: list[list[object]] = [[*who, *counts, "to review", "amount", "currency", "rejected"]]
    for name, mine in _by(work, "rater").items():
        first = mine[0]
        rows.append(
            [
                name,
                first.service,
                first.worker,
                sum(each.is_done for each in mine),
                len(mine),
                sum(each.answers for each in mine),
                sum(each.skipped for each in mine),
                sum(each.waits for each in mine),
                f"{pay.amount(mine):.2f}",
                pay.currency,
                first.rejected,
            ]
        )
    return spreadsheet_csv(rows)


def prolific_ids(work: Sequence[PaidWork], pay: Pay) -> str:
    """List the participants to approve, one on a line, as Prolific's bulk approval takes them."""
    whole = [
        each.worker
        for each in _from(work, "prolific")
        if each.is_whole and not each.waits and not each.rejected
    ]
    return "".join(f"{worker}\n" for worker in dict.fromkeys(whole))


def prolific_bonuses(work: Sequence[PaidWork], pay: Pay) -> str:
    """List what unfinished HITs earn, participant and amount, for Prolific's bulk bonuses."""
    parts = [each for each in _from(work, "prolific") if not each.is_whole]
    due = {worker: pay.amount(mine) for worker, mine in _by(parts, "worker").items()}
    return "".join(f"{worker},{amount:.2f}\n" for worker, amount in due.items() if amount)


def mturk_csv(work: Sequence[PaidWork], pay: Pay) -> str:
    """Write the review of finished HITs, as Mechanical Turk's upload takes it."""
    rows: list[list[object]] = [["HITId", "AssignmentId", "WorkerId", "Approve", "Reject"]]
    for each in _from(work, "mturk"):
        if each.is_whole:
            approve = "" if each.rejected or each.waits else "x"
            rows.append([each.study, each.session, each.worker, approve, each.rejected])
    return spreadsheet_csv(rows)


PAY_LISTS: dict[str, Callable[[Sequence[PaidWork], Pay], str]] = {
    "amounts": amounts_csv,
    "prolific-approve": prolific_ids,
    "prolific-bonus": prolific_bonuses,
    "mturk": mturk_csv,
}


def _from(work: Iterable[PaidWork], service: str) -> list[PaidWork]:
    return [each for each in work if each.service == service]


def _by(work: Iterable[PaidWork], name: str) -> Mapping[str, list[PaidWork]]:
    groups: dict[str, list[PaidWork]] = {}
    for each in work:
        groups.setdefault(getattr(each, name), []).append(each)
    return groups
