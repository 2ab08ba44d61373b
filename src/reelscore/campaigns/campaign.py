"""One human evaluation: its HITs, the raters who hold them, and every judgment they gave.

A campaign lives in a SQLite file or a PostgreSQL database, which may hold several. Any number of
processes may use it at once. Judgments are added and never changed; what was acknowledged is kept.

The class says what can be done with a campaign; how it is done is in `reelscore.campaigns.store`.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, TypeVar

from reelscore.campaigns import store
from reelscore.campaigns.hits.tasks import Hit
from reelscore.campaigns.judgments import Judgment, Judgments
from reelscore.campaigns.protocols import Answer, Protocol
from reelscore.campaigns.protocols import protocol as protocol_named
from reelscore.campaigns.store.records import (
    Assignment,
    Decision,
    Receipt,
    Skip,
    State,
    Status,
    Terms,
    check_terms,
)
from reelscore.errors import DataError, UnknownNameError
from reelscore.store.values import check_name, check_text, microseconds

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from reelscore.campaigns.hits.design import Design
    from reelscore.campaigns.hits.tasks import HitPlan
    from reelscore.store.database import Database
    from reelscore.store.locations import Where

HOUR = 3600.0  # seconds
HOLD = 24 * HOUR
Clock = Callable[[], float]
# Tells of a hold time whether raters who were not seen for it had the chance to be seen.
MayRelease = Callable[[float], bool]
P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Campaign:
    """A campaign in its database.

    Use it in a ``with`` block, or `disconnect` at the end. Threads may share it; a process that
    forks opens it again.

    >>> from tempfile import TemporaryDirectory
    >>> from reelscore.campaigns.hits.tasks import Hit, Shown, Task
    >>> hit = Hit("h1", (Task("t1", "clip1", (Shown("mine", "a dog runs"),)),))
    >>> with TemporaryDirectory() as folder:
    ...     with Campaign.create(Path(folder, "dogs.db"), "Dogs", systems=["mine"]) as campaign:
    ...         campaign.add_hits([hit])
    ...         campaign.set_state("open", actor="me")
    ...         held = campaign.claim("r1")
    ...         receipt = campaign.submit(held.id, "r1", "t1", {"adequacy": [71]})
    ...         receipt.done, campaign.judgments().score.tolist()
    1
    (True, [71.0])

    Attributes:
        terms: What was settled when it was made.
        database: Where it is kept.
        clock: Where the time comes from, in seconds since 1970.
        may_release: Tells whether places of raters who were not seen for the hold time may be
            offered again.
    """

    terms: Terms
    database: Database = field(repr=False, compare=False)
    clock: Clock = field(default=time.time, repr=False, compare=False)
    may_release: MayRelease = field(default=lambda hold: True, repr=False, compare=False)

    # made, opened and copied

    @classmethod
    def create(
        cls,
        where: Where,
        name: str,
        *,
        systems: Sequence[str],
        humans: Sequence[str] = (),
        protocol: str = "direct-assessment",
        layout: str = "",
        seed: int = 0,
        raters_per_hit: int = 1,
        hold: float = HOLD,
        settings: Mapping[str, object] | None = None,
        captions: Mapping[str, Mapping[str, str]] | None = None,
        id: str | None = None,
        clock: Clock = time.time,
    ) -> Campaign:
        """Make a new campaign, in state ``draft``.

        Args:
            where: The path of a SQLite file, made where there is none, or the URL of a
                PostgreSQL database.
            name: What people call it.
            systems: The systems whose captions are judged, people among them.
            humans: Those of them that are people.
            protocol: The name of a protocol.
            layout: The name of the layout its HITs are made by.
            seed: The seed they are made with.
            raters_per_hit: How many raters each HIT needs.
            hold: Seconds without a sign of its rater after which a HIT returns to the pool.
            settings: Anything that JSON can say, for programs on top.
            captions: What its HITs are made of, by system and item, so that more can be made;
                `HitPlan.captions`.
            id: What the database knows it by; made of the name unless given.
            clock: Where the time comes from, in seconds since 1970.

        Raises:
            DataError: If the database cannot be used, has a campaign of that id, or an argument
                cannot be.
            UnknownNameError: If there is no such protocol.
        """
        terms = Terms(
            id=id or _id(name),
            name=name,
            protocol=protocol_named(protocol),
            layout=layout,
            seed=seed,
            raters_per_hit=raters_per_hit,
            hold=hold,
            created=microseconds(clock()) / 1e6,
        )
        check_terms(terms, systems, settings or {}, humans)
        with _opened(where, create=True) as database:
            with database.writing() as connection:
                store.campaigns.insert_campaign(connection, terms, systems, humans, settings or {})
                store.campaigns.insert_captions(connection, terms, captions or {})
            return cls(terms, database, clock)

    @classmethod
    def open(cls, where: Where, id: str | None = None, *, clock: Clock = time.time) -> Campaign:
        """Open a campaign, by its id where there are several; see `create`.

        Its database is brought up to date first.

        Raises:
            DataError: If there is no such database, or it holds several campaigns and none is
                named.
            UnknownNameError: If it has no campaign of that id.
        """
        with _opened(where) as database:
            by_id = {terms.id: terms for terms in _all_terms(database)}
            if id is None and len(by_id) == 1:
                (id,) = by_id
            if id is None:
                which = f" ({', '.join(by_id)}); name one by its id." if by_id else "."
                raise DataError(f"{database.place}: holds {len(by_id)} campaigns{which}")
            if id not in by_id:
                raise UnknownNameError.of("campaign", id, by_id)
            return cls(by_id[id], database, clock)

    @classmethod
    def list(cls, where: Where) -> Sequence[Terms]:
        """Return the terms of every campaign in a database, oldest first.

        Raises:
            DataError: If there is no such database.
        """
        with _opened(where) as database, database:
            return _all_terms(database)

    @classmethod
    def from_plan(
        cls,
        where: Where,
        name: str,
        design: Design,
        plan: HitPlan,
        *,
        raters_per_hit: int = 1,
        hold: float = HOLD,
    ) -> Campaign:
        """Make a new campaign, in state ``draft``, with the HITs of a plan; see `create`.

        Raises:
            DataError: As of `create`.
        """
        tasks = (task for task in plan.tasks if task.expected is None)
        systems = sorted({shown.system for task in tasks for shown in task.shown})
        campaign = cls.create(
            where,
            name,
            systems=systems,
            protocol=design.protocol,
            layout=design.layout if protocol_named(design.protocol).form == "rating" else "",
            seed=design.seed,
            raters_per_hit=raters_per_hit,
            hold=hold,
            humans=[design.human] if design.human in systems else [],
            captions=plan.captions,
        )
        try:
            campaign.add_hits(plan.hits)
        except BaseException:
            campaign.disconnect()
            raise
        return campaign

    @classmethod
    def from_judgments(
        cls,
        where: Where,
        name: str,
        judgments: Iterable[Judgment],
        *,
        humans: Sequence[str] = (),
        protocol: str = "direct-assessment",
        layout: str = "imported",
        seed: int = 0,
        settings: Mapping[str, object] | None = None,
        id: str | None = None,
        clock: Clock = time.time,
    ) -> Campaign:
        """Make a campaign, in state ``closed``, of judgments that were made elsewhere.

        HITs, tasks, raters and systems are those that the rows name; caption texts are unknown.
        See `create` for the other arguments, and `append`.

        Raises:
            DataError: If rows contradict each other or the protocol; then nothing is made.
            UnknownNameError: If `humans` names a system that no row is about.
        """
        created = microseconds(clock())
        asked = protocol_named(protocol)
        terms = Terms(id or _id(name), name, asked, layout, seed, 1, HOLD, created / 1e6)
        check_terms(terms, (), settings or {})
        with store.database.building(where, store.schema.MIGRATIONS) as database:
            begin, end = store.campaigns.insert_campaign, store.campaigns.mark_humans
            with database.staging() as connection:
                store.imports.append(
                    connection,
                    terms,
                    judgments,
                    created,
                    new_hits=True,
                    first=partial(begin, connection, terms, (), (), settings or {}, "closed"),
                    last=partial(end, connection, terms, humans),
                )
        return cls.open(where, terms.id, clock=clock)

    @classmethod
    def restore(
        cls, where: Where, path: str | Path, *, id: str | None = None, clock: Clock = time.time
    ) -> Campaign:
        """Make a campaign of the files that `export` wrote, the same in every respect.

        They are a .jsonl file, perhaps compressed, or a folder; `id` is another than it had.

        Raises:
            DataError: If the files are not those of a campaign, or contradict themselves; then
                nothing is made.
        """
        with store.database.building(where, store.schema.MIGRATIONS) as database:
            made = store.files.restore(database, Path(path), id)
        return cls.open(where, made, clock=clock)

    @staticmethod
    def backup(where: Where, path: str | Path) -> Path:
        """Copy a whole database, all its campaigns, while it is in use.

        In a folder the file is named by the database and the time.

        Returns:
            The file: SQLite's can be used as it is, PostgreSQL's is for ``pg_restore``.

        Raises:
            DataError: If the database cannot be copied, or the file is there already.
        """
        return store.backups.backup(where, path)

    def __enter__(self) -> Campaign:
        """Return the campaign itself; leaving disconnects it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Disconnect."""
        self.disconnect()

    def disconnect(self) -> None:
        """Close the connections to the database; the campaign itself stays as it is."""
        self.database.close()

    # what it is

    @property
    def id(self) -> str:
        """What its database knows it by."""
        return self.terms.id

    @property
    def name(self) -> str:
        """What people call it."""
        return self.terms.name

    @property
    def protocol(self) -> Protocol:
        """What raters are asked."""
        return self.terms.protocol

    @property
    def state(self) -> State:
        """Draft, open, paused or closed, at this moment."""
        return self._read(store.campaigns.read_state)

    def set_state(self, state: State, *, actor: str, reason: str = "") -> None:
        """Open, pause or close the campaign, and log it.

        In a draft nothing is handed out. A paused campaign hands out no new HITs and still takes
        the answers to those that are held; a closed one takes none. It may be opened again.

        Raises:
            UnknownNameError: If there is no such state.
            DataError: If a campaign that was begun is to be a draft again.
        """
        self._write(store.campaigns.change_state, state, self._now(), actor, reason)

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems whose captions are judged."""
        return self._read(store.campaigns.read_systems)

    @property
    def humans(self) -> tuple[str, ...]:
        """The systems that are people."""
        return self._read(store.campaigns.read_humans)

    @property
    def settings(self) -> dict[str, Any]:
        """Whatever programs on top have noted."""
        return self._read(store.campaigns.read_settings)

    def change_settings(self, parts: Mapping[str, object]) -> None:
        """Replace some of the settings, whatever others do with the rest at the same time.

        Raises:
            DataError: If JSON cannot say them.
        """
        self._write(store.campaigns.change_settings, parts)

    def set_hold(self, hold: float, *, actor: str, reason: str = "") -> Campaign:
        """Change how many seconds a HIT waits for its rater, and log it.

        Returns:
            The campaign with the new hold time; this one keeps the old.

        Raises:
            DataError: If the time is not more than 0.
        """
        reason = reason or f"from {self.terms.hold / 3600:g} to {hold / 3600:g} hours"
        self._write(store.campaigns.change_hold, hold, self._now(), actor, reason)
        return replace(self, terms=replace(self.terms, hold=hold))

    # HITs and their raters

    def add_hits(self, hits: Iterable[Hit]) -> int:
        """Add HITs, all or none; those added first are handed out first.

        Returns:
            How many there were.

        Raises:
            DataError: If a HIT is there already, or does not fit the protocol or the systems.
        """
        with self.database.staging() as connection:
            return store.hits.insert_hits(connection, self.terms, hits)

    def hits(self) -> Iterator[Hit]:
        """Yield the HITs one after the other, in the order they were added."""
        with self.database.reading() as connection:
            yield from store.hits.hits(connection, self.terms)

    def items(self) -> Sequence[str]:
        """Name the items that HITs are about, in order."""
        return self._read(store.hits.items)

    def captions(self) -> dict[str, dict[str, str]]:
        """Return the captions that the HITs are made of, by system and item; empty if not known."""
        return self._read(store.campaigns.read_captions)

    def awaited(self) -> dict[tuple[str, str], int]:
        """Count the judgments of each caption that open and held places will bring."""
        return self._read(store.hits.awaited)

    def claim(self, rater: str, client: str = "") -> Assignment | None:
        """Return a rater a HIT: the one held, else the one left if it is still free, else the next.

        The next is one with the fewest raters so far, of which the rater has had no caption.
        Places of raters who have not been seen for the hold time are offered again before.

        Returns:
            The assignment; None where there is no HIT for this rater now.

        Raises:
            RefusedError: If the rater is excluded.
        """
        check_name(rater, "the rater")
        check_text(client, "the client")
        releasing = self.may_release(self.terms.hold)
        return self._write(store.assignments.claim, rater, client, self._now(), releasing=releasing)

    def assignment(self, id: int) -> Assignment | None:
        """Look an assignment up; None where nobody has it."""
        return self._read(store.assignments.load_assignment, id)

    def submit(
        self,
        assignment: int,
        rater: str,
        task: str,
        answer: Answer,
        *,
        started: float | None = None,
        submitted: float | None = None,
        client: str = "",
        watched: float | None = None,
        is_served: bool = False,
    ) -> Receipt:
        """Keep the answer to one task; when this returns, it is on the disk.

        The same answer may be sent again and is acknowledged again. An answer that comes after
        the HIT has returned to the pool is kept as long as nobody else has taken the place.

        Args:
            assignment: The id of the assignment.
            rater: Who answers.
            task: The id of the task.
            answer: Scores by criterion, as the protocol asks.
            started: When the task was shown, in seconds since 1970, as the rater's page says.
            submitted: When it was answered, as the page says.
            client: What the rater used.
            watched: The share of the video that was watched, as the page says.
            is_served: Whether the answer comes from a page that `open_task` was called for; then
                times that cannot be are noted in the assignment's flags.

        Raises:
            DataError: If the protocol cannot have such an answer.
            RefusedError: If the rater has no such task, it has another answer or was skipped, the
                place is taken, the rater is excluded, or the campaign is closed.
        """
        check_text(client, "the client")
        times = [None if when is None else microseconds(when) for when in (started, submitted)]
        sent = store.answers.Sent(
            assignment, rater, task, answer, times[0], times[1], client, watched, is_served
        )
        return self._write(store.answers.submit, sent, self._now())

    def skip(self, assignment: int, rater: str, task: str, reason: str = "") -> Receipt:
        """Note that a rater reports a task and goes on without an answer.

        A skipped task counts as settled: a HIT whose other tasks are answered is done. The same
        may be sent again and is acknowledged again.

        Raises:
            RefusedError: If the rater has no such task, it has an answer, the place is taken, or
                the campaign is closed.
        """
        check_text(reason, "the reason")
        return self._write(store.answers.skip_task, assignment, rater, task, reason, self._now())

    def skips(self) -> Sequence[Skip]:
        """Return the tasks that raters reported and skipped, oldest first."""
        return self._read(store.answers.skips)

    def open_task(self, assignment: int, rater: str, task: str) -> bool:
        """Note that a rater is sent a task now; the first time counts.

        The answer to the task that was sent last is stored with this time beside what the
        rater's page says. Like `touch`, it starts the hold time again.

        Returns:
            Whether the rater holds the assignment and it has the task; if not, nothing changes.
        """
        wanted = (assignment, rater, task, self._now())
        return store.assignments.open_task(self.database, self.terms, *wanted)

    def touch(self, assignment: int, rater: str) -> bool:
        """Note that a rater is still at work, so that the hold time starts again.

        Returns:
            Whether the rater holds it; if not, nothing changes.
        """
        return store.assignments.touch(self.database, self.terms, assignment, rater, self._now())

    def release_abandoned(self, now: float | None = None) -> int:
        """Offer again the places of raters not seen for the hold time; return how many.

        Their judgments stay. Whoever claims does this too. `now` stands for the clock's time.
        """
        moment = self._now() if now is None else microseconds(now)
        return self._write(store.assignments.release, moment)

    def release(self, assignment: int, *, actor: str, reason: str = "") -> None:
        """Offer one place again at once, and log it.

        Raises:
            RefusedError: If nobody holds it.
        """
        self._write(store.assignments.release_one, assignment, self._now(), actor, reason)

    # judgments

    def judgments(self, *, finished: bool = False) -> Judgments:
        """Return the judgments in the order they came, if `finished` those of finished HITs."""
        return Judgments.of(self.rows(finished=finished))

    def rows(self, *, finished: bool = False) -> Iterator[Judgment]:
        """Yield the judgments one after the other, without holding them all."""
        with self.database.reading() as connection:
            yield from store.answers.judgments(connection, self.terms, finished=finished)

    def append(self, judgments: Iterable[Judgment], *, new_hits: bool = False) -> int:
        """Add judgments that were made elsewhere, all or none.

        A rater's judgments of a HIT take one of its places. Where they are not all, the HIT counts
        as abandoned: they stay, and the place is offered again.

        Args:
            judgments: The judgments, of tasks that the campaign has.
            new_hits: Make HITs, tasks and places that it does not have; each is done then.

        Returns:
            How many there were.

        Raises:
            DataError: If any has no task or no place, contradicts the task or the scale, or is
                there already; the message names the first few.
        """
        with self.database.staging() as connection:
            return store.imports.append(
                connection, self.terms, judgments, self._now(), new_hits=new_hits
            )

    def status(self) -> Status:
        """Return where the campaign stands."""
        return self._read(store.hits.status)

    # decisions

    def decide(self, what: str, about: str, *, actor: str, reason: str = "") -> None:
        """Log a decision, and do what it means.

        ``exclude`` takes a rater out of the results and lets them do nothing more: the HIT they
        hold is offered again. ``reject`` does the same, and none of their HITs is paid.
        ``readmit`` ends both. ``pay`` approves the HITs that they have finished. Another word is
        logged and does nothing.
        """
        self._write(store.decisions.decide, what, about, self._now(), actor, reason)

    def review(
        self,
        assignment: int,
        verdict: Literal["approve", "reject"],
        *,
        actor: str,
        reason: str = "",
    ) -> None:
        """Approve or reject one finished HIT, and log it.

        Raises:
            RefusedError: If it is not a finished one.
        """
        self._write(store.decisions.review, assignment, verdict, self._now(), actor, reason)

    def offer_again(self, assignment: int, *, actor: str, reason: str = "") -> bool:
        """Offer the place of a finished HIT to one more rater, and log it.

        Its judgments stay; whether they count is another question.

        Returns:
            Whether a place was added; False where it was before.

        Raises:
            RefusedError: If it is not a finished one.
        """
        return self._write(store.decisions.offer_again, assignment, self._now(), actor, reason)

    def offer_all_again(self, raters: Collection[str], *, actor: str, reason: str = "") -> int:
        """Offer once more the places of all HITs that these raters have finished, and log it.

        Returns:
            How many places were added; those that were offered again before do not count.
        """
        return self._write(store.decisions.offer_all_again, raters, self._now(), actor, reason)

    def events(self) -> Sequence[Decision]:
        """Return the log, oldest first."""
        return self._read(store.campaigns.events)

    def excluded(self) -> frozenset[str]:
        """Name the raters who are excluded."""
        return self._read(store.campaigns.excluded)

    def rejected(self) -> frozenset[str]:
        """Name the raters with a HIT that was rejected."""
        return self._read(store.decisions.rejected)

    def export(self, path: str | Path) -> None:
        """Write everything to plain files: a .jsonl file, or a new folder of CSV files.

        `Campaign.restore` makes the same campaign of them, and that writes the same files.

        Raises:
            DataError: If they cannot be written, or the folder is there and not empty.
        """
        self._read(store.files.export, Path(path))

    def _now(self) -> int:
        return microseconds(self.clock())

    def _read(
        self,
        function: Callable[Concatenate[Connection, Terms, P], T],
        *arguments: P.args,
        **options: P.kwargs,
    ) -> T:
        """Call a function of the store in a transaction that reads."""
        with self.database.reading() as connection:
            return function(connection, self.terms, *arguments, **options)

    def _write(
        self,
        function: Callable[Concatenate[Connection, Terms, P], T],
        *arguments: P.args,
        **options: P.kwargs,
    ) -> T:
        """Call a function of the store in a transaction that writes."""
        with self.database.writing() as connection:
            return function(connection, self.terms, *arguments, **options)


@contextmanager
def _opened(where: Where, *, create: bool = False) -> Iterator[Database]:
    """Open a database, and close it again only if something goes wrong."""
    database = store.database.Database(where, store.schema.MIGRATIONS, create=create)
    try:
        yield database
    except BaseException:
        database.close()
        raise


def _all_terms(database: Database) -> Sequence[Terms]:
    with database.reading() as connection:
        return store.campaigns.all_terms(connection)


def _id(name: str) -> str:
    """Make an id of a name, such as trecvid-2017 of "TRECVid 2017"."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60] or secrets.token_hex(4)
