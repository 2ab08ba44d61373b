"""What a campaign hands out: its terms, assignments, receipts, the log and where it stands."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

import msgspec

from reelscore.campaigns.hits.tasks import Task
from reelscore.campaigns.protocols import Protocol, protocol
from reelscore.errors import DataError
from reelscore.store.values import check_name, check_text, microseconds

State = Literal["draft", "open", "paused", "closed"]
STATES: tuple[State, ...] = get_args(State)
AssignmentState = Literal["open", "held", "done", "abandoned"]
APPROVED, REJECTED = "approved", "rejected"  # what can become of a HIT
_LONGEST_SETTINGS = 8 << 20
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True)
class Terms:
    """What is settled when a campaign is made."""

    id: str  # what its database knows it by
    name: str  # what people call it
    protocol: Protocol  # what raters are asked
    layout: str  # the name of the layout its HITs were made by
    seed: int  # the seed they were made with
    raters_per_hit: int  # how many raters each HIT needs
    hold: float  # seconds without a sign of its rater after which a HIT returns to the pool
    created: float  # when it was made, in seconds since 1970

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Terms:
        """Take over the row of a campaign; see `row`."""
        values = {field.name: row[field.name] for field in fields(cls)}
        values |= {"protocol": protocol(row["protocol"]), "created": row["created"] / 1e6}
        return cls(**values)

    def row(self) -> dict[str, Any]:
        """Return the values as the database has them: the protocol's name, and microseconds."""
        return vars(self) | {"protocol": self.protocol.name, "created": microseconds(self.created)}


def check_terms(
    terms: Terms,
    systems: Sequence[str],
    settings: Mapping[str, object],
    humans: Collection[str] = (),
) -> None:
    """Refuse a campaign whose terms are not valid."""
    check_name(terms.id, "the campaign")
    if not _ID.fullmatch(terms.id):
        raise DataError(
            f"The campaign's id is {terms.id[:100]!r}; expected up to 100 letters, digits and . _ "
            "-, beginning with a letter or digit: it is used in addresses and file names."
        )
    check_text(terms.name, "the campaign's name")
    check_text(terms.layout, "the layout's name")
    for system in systems:
        check_name(system, "the system")
    if len(set(systems)) < len(systems):
        raise DataError(f"Two systems have the same name: {', '.join(systems)}.")
    for name in humans:
        if name not in systems:
            raise DataError(
                f"{name!r} is named as human, but is not a system of the campaign "
                f"({', '.join(systems)})."
            )
    if not 1 <= terms.raters_per_hit <= 1000:
        raise DataError(f"{terms.raters_per_hit} raters for each HIT; expected from 1 to 1,000.")
    check_hold(terms.hold)
    if not -(2**63) <= terms.seed < 2**63:
        raise DataError(f"The seed is {terms.seed}; expected one of at most 64 bits.")
    settings_text(settings)


def check_hold(hold: float) -> None:
    """Refuse a hold time that is not more than 0."""
    if not 0 < hold < 1e9:
        raise DataError(f"The hold time is {hold:g} seconds; expected more than 0.")


def settings_text(settings: Mapping[str, object]) -> str:
    """Write settings as the database keeps them."""
    try:
        text = msgspec.json.encode(dict(settings)).decode()
        msgspec.json.decode(text)
    except (TypeError, ValueError, msgspec.MsgspecError) as error:
        raise DataError(f"The settings cannot be written as JSON: {error}.") from None
    if len(text) > _LONGEST_SETTINGS:
        raise DataError(f"The settings take {len(text):,} characters; at most 8 MiB are stored.")
    return text


@dataclass(frozen=True)
class Assignment:
    """One HIT in the hands of one rater.

    Attributes:
        id: What answers refer to.
        hit: The HIT.
        rater: Who holds it.
        state: ``held``, ``done`` or ``abandoned``.
        tasks: The tasks of the HIT, in the order shown.
        answered: The ids of those that have an answer.
        skipped: The ids of those that the rater reported and skipped.
        flags: What an organiser should look at before the HIT is paid: ``unopened`` (answers to
            tasks that were never sent), ``early`` (times before the campaign was made), ``burst``
            (many answers within a second each), ``too-fast`` (than its videos can play).
        status: ``approved`` or ``rejected``; empty while nothing is decided.
    """

    id: int
    hit: str
    rater: str
    state: AssignmentState
    tasks: tuple[Task, ...]
    answered: frozenset[str]
    skipped: frozenset[str] = frozenset()
    flags: tuple[str, ...] = ()
    status: str = ""

    @property
    def needs_review(self) -> bool:
        """Whether an organiser has to look at the finished HIT before it is paid."""
        return self.state == "done" and bool(self.flags) and not self.status

    @property
    def remaining(self) -> tuple[Task, ...]:
        """The tasks that are neither answered nor skipped, in order."""
        settled = self.answered | self.skipped
        return tuple(task for task in self.tasks if task.id not in settled)


Service = Literal["link", "open", "prolific", "mturk"]  # how a rater came in
CROWD_SERVICES: tuple[Service, ...] = ("prolific", "mturk")  # of them, those that pay


@dataclass(frozen=True)
class TakenHit:
    """One HIT in the hands of one rater: how far it is, what it earns, and who is paid."""

    id: int  # what answers refer to
    hit: str  # the HIT
    rater: str  # what judgments call the rater
    state: AssignmentState  # ``held``, ``done`` or ``abandoned``
    active: float  # when the rater was last seen, in seconds since 1970
    tasks: int  # how many tasks there are
    answers: int  # how many of them have an answer
    skipped: int  # how many were reported and skipped
    flags: tuple[str, ...] = ()  # what an organiser should look at; see `Assignment`
    status: str = ""  # what was decided; see `Assignment`
    rejected: str = ""  # why it is not paid; empty where it is
    service: str = ""  # where the rater came from; empty where judgments were imported
    worker: str = ""  # what the service calls the rater
    study: str = ""  # the service's study, or HIT
    session: str = ""  # the service's submission, or assignment

    @property
    def needs_review(self) -> bool:
        """Whether an organiser has to look at it before it is paid."""
        return self.state == "done" and bool(self.flags) and not self.status

    @property
    def is_whole(self) -> bool:
        """Whether it earns the price of a HIT: finished, and not by reports for the most part."""
        return self.state == "done" and self.skipped <= self.answers

    def amount(self, price: float, *, pro_rata: bool = True) -> float:
        """Return what it earns: the price, a part of it for a part of the tasks, or nothing."""
        if self.rejected:
            return 0.0
        if self.is_whole:
            return price
        return round(price * self.answers / self.tasks, 2) if pro_rata else 0.0


@dataclass(frozen=True)
class Receipt:
    """The promise that an answer, or the report of a skipped task, is kept.

    Attributes:
        assignment: Which assignment it belongs to.
        task: Which task it is about.
        new: False where the same had come before.
        remaining: How many tasks of the HIT are neither answered nor skipped yet.
        done: Whether the HIT is finished.
    """

    assignment: int
    task: str
    new: bool
    remaining: int
    done: bool


@dataclass(frozen=True)
class Skip:
    """A task that a rater reported and skipped: when, and why."""

    assignment: int
    hit: str
    rater: str
    task: str
    item: str
    time: float
    reason: str


@dataclass(frozen=True)
class Decision:
    """One decision: when, by whom, what, about which rater or HIT, and why."""

    time: float
    actor: str
    what: str
    about: str
    reason: str


@dataclass(frozen=True)
class Status:
    """Where a campaign stands.

    Attributes:
        state: Draft, open, paused or closed.
        hits: How many HITs there are.
        finished: How many of them have all the raters they need.
        open: Assignments that wait for a rater.
        held: Assignments that a rater is at.
        done: Assignments that were finished.
        abandoned: Assignments that were given up, and their places offered again.
        judgments: How many judgments there are.
        skipped: How many tasks were reported and skipped.
        raters: How many people have taken a HIT.
        by_system: How many judgments of its captions each system has, controls not counted.
    """

    state: State
    hits: int
    finished: int
    open: int
    held: int
    done: int
    abandoned: int
    judgments: int
    skipped: int
    raters: int
    by_system: Mapping[str, int]

    @property
    def fewest(self) -> int:
        """How many judgments the system with the fewest has."""
        return min(self.by_system.values(), default=0)

    @property
    def most(self) -> int:
        """How many judgments the system with the most has."""
        return max(self.by_system.values(), default=0)
