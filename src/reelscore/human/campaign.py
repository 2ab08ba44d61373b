"""One human evaluation: its HITs, the raters who hold them, and every judgment they gave.

A campaign lives in a SQLite file or a PostgreSQL database, which may hold several. Any number of
processes may use it at once. Judgments are added and never changed; what was acknowledged is kept.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reelscore.errors import DataError, MissingExtraError, UnknownNameError
from reelscore.human.judgments import Judgment
from reelscore.human.protocols import protocol as protocol_named
from reelscore.human.running import Clock, Running
from reelscore.human.store.checks import check_terms
from reelscore.human.store.records import Terms
from reelscore.store.values import microseconds

if TYPE_CHECKING:
    from reelscore.human.hits.design import Design
    from reelscore.human.hits.plan import HitPlan
    from reelscore.store.database import Database
    from reelscore.store.locations import Where
    from reelscore.store.tables import Migrations

HOLD = 24 * 3600.0  # seconds


@dataclass(frozen=True)
class Campaign(Running):
    """A campaign in its database.

    Use it in a ``with`` block, or `disconnect` at the end. Threads may share it; a process that
    forks opens it anew.

    >>> from tempfile import TemporaryDirectory
    >>> from reelscore.human.hits.tasks import Hit, Shown, Task
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
    """

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
        settings: Mapping[str, Any] | None = None,
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
            from reelscore.human.store.campaigns import insert_campaign, insert_captions

            with database.writing() as connection:
                insert_campaign(connection, terms, systems, humans, settings or {})
                insert_captions(connection, terms, captions or {})
            return cls._of(terms, database, clock)

    @classmethod
    def open(cls, where: Where, id: str | None = None, *, clock: Clock = time.time) -> Campaign:
        """Open a campaign; its database is brought up to date first.

        Args:
            where: The path of a SQLite file, or the URL of a PostgreSQL database.
            id: Which campaign, where there are several.
            clock: Where the time comes from.

        Raises:
            DataError: If there is no such database, or it holds several campaigns and none is
                named.
            UnknownNameError: If it has no campaign of that id.
        """
        with _opened(where) as database:
            known = {terms.id: terms for terms in _all_terms(database)}
            if id is None and len(known) == 1:
                (id,) = known
            if id is None:
                which = f" ({', '.join(known)}); name one by its id." if known else "."
                raise DataError(f"{database.place}: holds {len(known)} campaigns{which}")
            if id not in known:
                raise UnknownNameError.of("campaign", id, known)
            return cls._of(known[id], database, clock)

    @classmethod
    def list(cls, where: Where) -> Sequence[Terms]:
        """Tell the terms of every campaign in a database, oldest first.

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
        """Make a new campaign, in state ``draft``, with the HITs of a plan.

        Args:
            where: The path of a SQLite file, or the URL of a PostgreSQL database.
            name: What people call it.
            design: How the plan was made.
            plan: The HITs, and the captions that more can be made of.
            raters_per_hit: How many raters each HIT needs.
            hold: Seconds without a sign of its rater after which a HIT returns to the pool.

        Raises:
            DataError: As of `create`.
        """
        systems = sorted({shown.system for task in plan.tasks for shown in task.shown})
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
        settings: Mapping[str, Any] | None = None,
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
        with _built(where) as database:
            from reelscore.human.store.campaigns import insert_campaign, mark_humans
            from reelscore.human.store.imports import append

            def begin() -> None:
                insert_campaign(connection, terms, (), (), settings or {}, "closed")

            with database.staging() as connection:
                append(
                    connection,
                    terms,
                    judgments,
                    created,
                    new_hits=True,
                    first=begin,
                    last=lambda: mark_humans(connection, terms, humans),
                )
        return cls.open(where, terms.id, clock=clock)

    @classmethod
    def restore(
        cls, where: Where, path: str | Path, *, id: str | None = None, clock: Clock = time.time
    ) -> Campaign:
        """Make a campaign of the files that `export` wrote, the same in every respect.

        Args:
            where: The database to make it in.
            path: A .jsonl file, perhaps compressed, or a folder.
            id: Another id than it had.
            clock: Where the time comes from.

        Raises:
            DataError: If the files are not those of a campaign, or contradict themselves; then
                nothing is made.
        """
        with _built(where) as database:
            from reelscore.human.store.restore import restore

            made = restore(database, Path(path), id)
        return cls.open(where, made, clock=clock)

    @staticmethod
    def backup(where: Where, path: str | Path) -> Path:
        """Copy a whole database, all its campaigns, while it is in use.

        Args:
            where: The path of a SQLite file, or the URL of a PostgreSQL database.
            path: The file to make, or a folder, where it is named by the database and the time.

        Returns:
            The file: SQLite's can be used as it is, PostgreSQL's is for ``pg_restore``.

        Raises:
            DataError: If the database cannot be copied, or the file is there already.
        """
        _store()  # says what to install
        from reelscore.store.backups import backup

        return backup(where, path)

    @classmethod
    def _of(cls, terms: Terms, database: Database, clock: Clock) -> Campaign:
        settled = {each.name: getattr(terms, each.name) for each in fields(terms)}
        return cls(**settled, database=database, clock=clock)


@contextmanager
def _opened(where: Where, *, create: bool = False) -> Iterator[Database]:
    """Open a database, and close it again only if something goes wrong."""
    database = _store().Database(where, _migrations(), create=create)
    try:
        yield database
    except BaseException:
        database.close()
        raise


@contextmanager
def _built(where: Where) -> Iterator[Database]:
    """Open a database for something large that may fail; a new file appears when it is whole."""
    with _store().building(where, _migrations()) as database:
        yield database


def _store() -> Any:
    try:
        from reelscore.store import database
    except ImportError as error:
        if error.name and error.name.partition(".")[0] in ("sqlalchemy", "alembic"):
            raise MissingExtraError(
                "Campaigns need SQLAlchemy and Alembic. Install them: "
                "pip install 'reelscore[campaign]'."
            ) from None
        raise
    return database


def _migrations() -> Migrations:
    from reelscore.human.store.migrations import MIGRATIONS

    return MIGRATIONS


def _all_terms(database: Database) -> Sequence[Terms]:
    from reelscore.human.store.campaigns import all_terms

    with database.reading() as connection:
        return all_terms(connection)


def _id(name: str) -> str:
    """Make an id of a name, such as trecvid-2017 of "TRECVid 2017"."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60] or secrets.token_hex(4)
