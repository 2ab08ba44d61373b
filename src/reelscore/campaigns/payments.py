"""Whom to pay how much: amounts for each rater, and the files that crowd services take."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from reelscore.campaigns.pages.rater_pages import read_pages
from reelscore.campaigns.store.records import TakenHit
from reelscore.data.spreadsheet import spreadsheet_csv

if TYPE_CHECKING:
    from reelscore.campaigns.campaign import Campaign


@dataclass(frozen=True)
class Pay:
    """What raters get."""

    price: float  # for a HIT
    currency: str = "USD"  # of what
    pro_rata: bool = True  # whether unfinished HITs earn a part of it
    reviewed: bool = True  # whether HITs with impossible times wait for a review

    @classmethod
    def of(cls, campaign: Campaign) -> Pay:
        """Return what a campaign's settings say."""
        pages = read_pages(campaign.settings)
        return cls(pages.price, pages.currency, reviewed=pages.review)

    def amount(self, taken: Iterable[TakenHit]) -> float:
        """Add up what work earns."""
        return round(sum(each.amount(self.price, pro_rata=self.pro_rata) for each in taken), 2)

    def waits(self, taken: TakenHit) -> bool:
        """Return whether an organiser has to look at it before it is paid."""
        return self.reviewed and taken.needs_review


def amounts_csv(taken: Sequence[TakenHit], pay: Pay) -> str:
    """Write a row for each rater: HITs, answers, and the amount."""
    columns = "rater,service,worker,HITs done,HITs begun,answers,skipped,to review,amount,currency"
    rows: list[list[object]] = [[*columns.split(","), "rejected"]]
    for name, mine in _by(taken, "rater").items():
        done = sum(each.state == "done" for each in mine)
        answers, skipped = sum(each.answers for each in mine), sum(each.skipped for each in mine)
        pays = [sum(map(pay.waits, mine)), f"{pay.amount(mine):.2f}", pay.currency]
        who = [name, mine[0].service, mine[0].worker]
        rows.append([*who, done, len(mine), answers, skipped, *pays, mine[0].rejected])
    return spreadsheet_csv(rows)


def prolific_ids(taken: Sequence[TakenHit], pay: Pay) -> str:
    """List the participants to approve, one on a line, as Prolific's bulk approval takes them."""
    whole = [
        each.worker
        for each in _from(taken, "prolific")
        if each.is_whole and not pay.waits(each) and not each.rejected
    ]
    return "".join(f"{worker}\n" for worker in dict.fromkeys(whole))


def prolific_bonuses(taken: Sequence[TakenHit], pay: Pay) -> str:
    """List what unfinished HITs earn, participant and amount, for Prolific's bulk bonuses."""
    parts = [each for each in _from(taken, "prolific") if not each.is_whole]
    due = {worker: pay.amount(mine) for worker, mine in _by(parts, "worker").items()}
    return "".join(f"{worker},{amount:.2f}\n" for worker, amount in due.items() if amount)


def mturk_csv(taken: Sequence[TakenHit], pay: Pay) -> str:
    """Write the review of finished HITs, as Mechanical Turk's upload takes it."""
    rows: list[list[object]] = [["HITId", "AssignmentId", "WorkerId", "Approve", "Reject"]]
    for each in _from(taken, "mturk"):
        if each.is_whole:
            approve = "" if each.rejected or pay.waits(each) else "x"
            rows.append([each.study, each.session, each.worker, approve, each.rejected])
    return spreadsheet_csv(rows)


class PayList(NamedTuple):
    """One form of saying whom to pay how much: what it is for, and what writes it."""

    words: str
    write: Callable[[Sequence[TakenHit], Pay], str]


PAY_LISTS = {
    "amounts": PayList("Amounts for each rater, as CSV", amounts_csv),
    "prolific-approve": PayList("Prolific: participants to approve, one on a line", prolific_ids),
    "prolific-bonus": PayList("Prolific: bonuses for unfinished HITs", prolific_bonuses),
    "mturk": PayList("Mechanical Turk: approvals and rejections, as CSV to upload", mturk_csv),
}


def pay_list(form: str, taken: Sequence[TakenHit], pay: Pay) -> str:
    """Write one of the lists, the HITs in the order they were offered."""
    return PAY_LISTS[form].write(sorted(taken, key=lambda each: each.id), pay)


def _from(taken: Iterable[TakenHit], service: str) -> list[TakenHit]:
    return [each for each in taken if each.service == service]


def _by(taken: Iterable[TakenHit], name: str) -> Mapping[str, list[TakenHit]]:
    groups: dict[str, list[TakenHit]] = {}
    for each in taken:
        groups.setdefault(getattr(each, name), []).append(each)
    return groups
