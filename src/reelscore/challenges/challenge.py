"""Challenges in a database, and the phases of each: found, and opened, moved and closed.

`updates` makes a challenge from its definition and brings it up to date.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Literal

from sqlalchemy import Connection, select, update

from reelscore.challenges.definition import records as defined
from reelscore.challenges.definition.reader import parsed_definition
from reelscore.challenges.store import tables
from reelscore.challenges.store.blobs import get_blob
from reelscore.challenges.store.events import check_reason, log
from reelscore.challenges.store.tables import TableRow, open_challenges
from reelscore.challenges.uploads.uploads import Expected, ItemList
from reelscore.errors import DataError, UnknownNameError
from reelscore.store.database import Database, server_clock
from reelscore.store.locations import Where
from reelscore.store.values import to_iso

Clock = Callable[[Connection], int]
Dates = dict[str, tuple[int | None, int | None]]  # before and after, by name
State = Literal["draft", "open", "closed", "archived"]
DAY = 86_400_000_000  # microseconds


def day_of(moment: int) -> str:
    """Return the day of UTC that a time lies in.

    >>> day_of(86_399_999_999), day_of(86_400_000_000)
    ('1970-01-01', '1970-01-02')
    """
    return str(to_iso(moment)).partition("T")[0]


def next_day(moment: int) -> int:
    """Return the time at which the next day of UTC begins.

    >>> next_day(86_399_999_999)
    86400000000
    """
    return (moment // DAY + 1) * DAY


@dataclass(frozen=True)
class Challenges:
    """The challenges of a database, and the clock that decides about windows, days and leases."""

    database: Database
    clock: Clock = server_clock

    @classmethod
    @contextmanager
    def opened(cls, where: Where, *, create: bool = False) -> Iterator[Challenges]:
        """Open a database of challenges; leaving closes it."""
        with open_challenges(where, create=create) as database:
            yield cls(database)

    def reading(self) -> AbstractContextManager[Connection]:
        """Open a transaction that sees one moment."""
        return self.database.reading()

    def writing(self) -> AbstractContextManager[Connection]:
        """Open a transaction that writes."""
        return self.database.writing()

    def now(self, connection: Connection) -> int:
        """Return the time in microseconds since 1970."""
        return self.clock(connection)

    def all(self) -> list[Challenge]:
        """Return all challenges, oldest first."""
        with self.reading() as connection:
            rows = connection.execute(select(tables.challenge).order_by(tables.challenge.c.key))
            return [self._challenge(row) for row in rows]

    def find(self, id: str = "") -> Challenge:
        """Return a challenge by its id; without one, the only one that there is."""
        with self.reading() as connection:
            own = tables.challenge
            ids = connection.scalars(select(own.c.id).order_by(own.c.key)).all()
            if not ids:
                raise DataError(f"{self.database.place}: there is no challenge; make one first.")
            if not id and len(ids) > 1:
                raise DataError(f"There are several challenges: {', '.join(ids)}; name one.")
            if id and id not in ids:
                raise UnknownNameError.of("challenge", id, ids)
            found = select(own).filter_by(id=id or ids[0])
            return self._challenge(connection.execute(found).one())

    def of_submission(self, id: str) -> Challenge | None:
        """Return the challenge that a submission was made to, by its public id."""
        own = (
            select(tables.challenge)
            .join(tables.phase, tables.phase.c.challenge == tables.challenge.c.key)
            .join(tables.submission, tables.submission.c.phase == tables.phase.c.key)
            .where(tables.submission.c.id == id)
        )
        with self.reading() as connection:
            row = connection.execute(own).one_or_none()
        return None if row is None else self._challenge(row)

    def _challenge(self, row: TableRow) -> Challenge:
        definition, pages = parsed_definition(row.definition), json.loads(row.pages)
        return Challenge(self, row.key, row.state, definition, pages, row.digest, row.created)


@dataclass(frozen=True)
class Phase:
    """A phase in the database; its times may have been changed since the definition."""

    key: int  # its number there
    definition: defined.Phase  # what the file says about it
    opens: int  # when it opens, in microseconds since 1970
    closes: int  # when it closes
    reveals: int | None  # when hidden scores may be seen; ``None``: by hand
    generation: int  # the generation of scores that boards show
    settings: defined.ScoringSettings  # how its submissions are scored

    @property
    def id(self) -> str:
        """What the definition calls it."""
        return self.definition.id

    def is_open(self, moment: int) -> bool:
        """Return whether submissions are taken at a time: the window is half open."""
        return self.opens <= moment < self.closes


@dataclass(frozen=True)
class Challenge:
    """A challenge in the database."""

    store: Challenges = field(repr=False)  # the challenges of the database
    key: int  # its number there
    state: str  # ``draft``, ``open``, ``closed`` or ``archived``
    definition: defined.Definition  # what it is
    pages: Mapping[str, str]  # its texts in Markdown, by page
    digest: str  # of the definition
    created: int  # when it was made

    @property
    def id(self) -> str:
        """What its address is called by."""
        return self.definition.id

    @property
    def database(self) -> Database:
        """Where it is kept."""
        return self.store.database

    def reading(self) -> AbstractContextManager[Connection]:
        """Open a transaction that sees one moment."""
        return self.database.reading()

    def writing(self) -> AbstractContextManager[Connection]:
        """Open a transaction that writes."""
        return self.database.writing()

    def now(self, connection: Connection) -> int:
        """Return the time in microseconds since 1970."""
        return self.store.clock(connection)

    def read_from(self, database: Database) -> Challenge:
        """Return the same challenge with another connection to its database."""
        return replace(self, store=replace(self.store, database=database))

    def phases(self, connection: Connection) -> dict[str, Phase]:
        """Return all phases by their ids."""
        own = select(tables.phase).filter_by(challenge=self.key).order_by(tables.phase.c.key)
        return {row.id: self._phase(row) for row in connection.execute(own)}

    def phase(self, connection: Connection, id: str) -> Phase:
        """Return a phase by its id."""
        own = select(tables.phase).filter_by(challenge=self.key, id=id)
        row = connection.execute(own).one_or_none()
        if row is None:
            raise UnknownNameError.of("phase", id, [each.id for each in self.definition.phases])
        return self._phase(row)

    def find_phase(self, id: str) -> Phase:
        """Return a phase by its id, in a transaction of its own."""
        with self.reading() as connection:
            return self.phase(connection, id)

    def _phase(self, row: TableRow) -> Phase:
        described, settings = self.definition.phase(row.id), json.loads(row.settings)
        dates = (row.opens, row.closes, row.reveals)
        return Phase(row.key, described, *dates, row.generation, settings)

    def expected_upload(self, connection: Connection, phase: Phase) -> Expected:
        """Return what an upload for a phase has to hold: ids of items and limits, no references."""
        lists = [
            ItemList.of(row.id, get_blob(connection, row.items_blob))
            for row in split_rows(connection, phase.key)
        ]
        return expected_of(self.definition, phase.definition, lists)

    def change_dates(
        self,
        id: str,
        *,
        actor: str,
        reason: str,
        closes: int | None = None,
        reveals: int | None = None,
    ) -> None:
        """Change when a phase closes or reveals; the change stands in the log and on its page."""
        check_reason(reason)
        with self.writing() as connection:
            own = self.phase(connection, id)
            new_closes = own.closes if closes is None else closes
            new_reveals = own.reveals if reveals is None else reveals
            if not own.opens < new_closes or (new_reveals is not None and new_reveals < new_closes):
                raise DataError("A phase opens, then closes, then reveals; these times do not.")
            values = {"closes": new_closes, "reveals": new_reveals}
            connection.execute(update(tables.phase).filter_by(key=own.key).values(values))
            mark_late(connection, own.key, new_closes)
            dates = {"closes": (own.closes, new_closes), "reveals": (own.reveals, new_reveals)}
            log_dates(connection, self, id, dates, actor, reason)

    def announce(self, text: str, *, actor: str) -> None:
        """Announce something to everybody, in the log; it is never changed."""
        with self.writing() as connection:
            now = self.now(connection)
            log(connection, now, self.key, "announced", self.id, actor=actor, reason=text)

    def set_state(self, state: State, *, actor: str, reason: str) -> None:
        """Make it a draft, open, closed or archived."""
        check_reason(reason)
        with self.writing() as connection:
            own = update(tables.challenge).filter_by(key=self.key)
            connection.execute(own.values(state=state))
            log(connection, self.now(connection), self.key, "state", self.id, actor=actor,
                reason=reason, before=self.state, after=state)  # fmt: skip


def split_rows(connection: Connection, phase_key: int) -> Sequence[TableRow]:
    """Return the splits of a phase in order: rows of `challenge_split` with feedback and step."""
    split, own = tables.split, tables.phase_split
    return connection.execute(
        select(split, own.c.feedback, own.c.step)
        .join(own, own.c.split == split.c.key)
        .where(own.c.phase == phase_key)
        .order_by(own.c.position)
    ).all()


def expected_of(
    definition: defined.Definition, phase: defined.Phase, lists: Sequence[ItemList]
) -> Expected:
    """Return what an upload has to hold, by the definition and the items of the phase's splits."""
    scoring, kind = definition.scoring, definition.kind(phase)
    if kind == "captions":
        return Expected(kind, lists, scoring.limits)
    return Expected(kind, lists, scoring.limits, scoring.story_protocol.missing)


def mark_late(connection: Connection, phase_key: int, closes: int) -> None:
    """Mark the submissions that came after the close, which may have been moved."""
    late = tables.submission.c.arrived >= closes
    connection.execute(update(tables.submission).filter_by(phase=phase_key).values(late=late))


def log_dates(
    connection: Connection, challenge: Challenge, phase: str, dates: Dates, actor: str, reason: str
) -> None:
    """Write into the log that dates of a phase were changed."""
    log(connection, challenge.now(connection), challenge.key, "dates", phase, actor=actor,
        reason=reason, before=_dates(dates, 0), after=_dates(dates, 1))  # fmt: skip


def _dates(dates: Dates, place: int) -> str:
    """Write dates for the log and the overview: those before, or those after."""
    texts = {name: date_text(pair[place]).replace(".000000Z", "Z") for name, pair in dates.items()}
    return ", ".join(f"{name} {text}" for name, text in texts.items())


def date_text(moment: int | None) -> str:
    """Write when something happens, or that it does by hand."""
    return to_iso(moment) or "by hand"
