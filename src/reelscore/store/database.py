"""The two databases that reelscore keeps things in, made to behave alike.

A transaction that is acknowledged survives a killed process and a power cut: SQLite writes its log
through to the disk at every commit, PostgreSQL is asked to. Writers of SQLite queue for the file
from their first statement on, so none fails halfway; readers see one moment and wait for nobody.
"""

from __future__ import annotations

import math
import os
import random
import secrets
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError, OperationalError

from reelscore.errors import DataError, FullError, MissingExtraError
from reelscore.store.locations import Where, check_file, database_url, keep_private, place
from reelscore.store.tables import Migrations

PATIENCE = 60.0  # seconds a writer of SQLite waits for others
_NAP = (0.001, 0.01)  # seconds between tries to begin writing; a transaction takes as long
_POOL = {"pool_size": 20, "max_overflow": 20}
_CACHE = 4096  # kB that each connection to SQLite keeps; a busy server has dozens of them
# What both databases say about things that are not our mistakes.
_FIXABLE = ("connect", "unable to open", "readonly", "disk I/O")
_FULL = ("disk is full", "No space left on device", "Disk quota exceeded")
_FULL_FOR = 60.0  # seconds that a full disk is remembered; raters' pages try again sooner
_ROOM = 1 << 20  # bytes; with less, the next answers find none
_BLOCK = 1 << 16  # bytes that are written to see whether there is room again
_UPGRADES = 0x7265656C  # the lock that processes opening a new database at once queue for


class Database:
    """An open database whose tables are up to date; use it from any thread, not after a fork."""

    def __init__(self, where: Where, *migrations: Migrations, create: bool = False) -> None:
        """Open a database that is to have some families of tables, the one it is known by first.

        Raises:
            DataError: If there is none and none is to be made, it cannot be opened, or it is of
                another program or a newer version.
        """
        url = database_url(where)
        self.is_sqlite = url.get_backend_name() == "sqlite"
        self.place = place(url)
        if self.is_sqlite:
            check_file(Path(self.place), create)
            if create:
                keep_private(Path(self.place))
        self.engine = _engine(url)
        self._writer = threading.Lock()
        self._full_at = -math.inf
        try:
            with self._mishaps_explained():
                self._prepare(migrations, create)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    @property
    def is_full(self) -> bool:
        """Whether the disk has no room: it was so a moment ago, or a SQLite file's has none now."""
        if time.monotonic() - self._full_at < _FULL_FOR:
            return True
        if not self.is_sqlite:
            return False
        return shutil.disk_usage(Path(self.place).absolute().parent).free < _ROOM

    def has_room_again(self) -> bool:
        """Try to write, where the disk was full a moment ago; return whether that succeeds."""
        try:
            with self.writing() as connection:
                connection.execute(text("CREATE TABLE IF NOT EXISTS room (block TEXT)"))
                insert = text("INSERT INTO room VALUES (:block)")
                connection.execute(insert, {"block": "x" * _BLOCK})
            with self.writing() as connection:  # apart, or the block would never be written
                connection.execute(text("DROP TABLE room"))
        except (DataError, DBAPIError):
            return False
        self._full_at = -math.inf
        return not self.is_full

    @property
    def whole(self) -> Database:
        """The database itself, for what is written and not read again; see `Snapshot`."""
        return self

    def __enter__(self) -> Database:
        """Return the database itself; leaving closes it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close all connections."""
        self.close()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open a transaction that sees one moment, whatever is written meanwhile."""
        with self._connected() as connection:
            if not self.is_sqlite:
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                if not self.is_sqlite:  # plan for all rows, not for the first few
                    connection.execute(text("SET LOCAL cursor_tuple_fraction = 1"))
                yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Open a transaction that writes: everything in it holds, or nothing."""
        with self._queued(), self._connected() as connection, writing(connection):
            yield connection

    @contextmanager
    def staging(self) -> Iterator[Connection]:
        """Open a connection whose temporary tables go with it."""
        with self._connected() as connection:
            connection.detach()
            yield connection

    @contextmanager
    def _queued(self) -> Iterator[None]:
        """Let threads queue here for SQLite's one writer; they would wait less patiently there."""
        if not self.is_sqlite:
            yield
            return
        if not self._writer.acquire(timeout=PATIENCE):
            raise _busy(self.place)
        try:
            yield
        finally:
            self._writer.release()

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        with self._mishaps_explained(), self.engine.connect() as connection:
            yield connection

    def _prepare(self, migrations: Sequence[Migrations], create: bool) -> None:
        with self.engine.connect() as connection:
            tables = inspect(connection).get_table_names()
            connection.rollback()
            if migrations and migrations[0].version_table not in tables:
                if not create:
                    raise DataError(
                        f"{self.place}: holds neither campaigns nor challenges; make one there "
                        "first."
                    )
                if tables and self.is_sqlite:
                    raise DataError(
                        f"{self.place}: a database of another program; name a new file."
                    )
            if self.is_sqlite:
                _execute_patiently(connection, "PRAGMA journal_mode = WAL")
            for family in migrations:
                current = family.is_current(connection, self.place)
                connection.rollback()
                if not current:
                    with writing(connection):
                        if not self.is_sqlite:
                            connection.execute(text(f"SELECT pg_advisory_xact_lock({_UPGRADES})"))
                        if not family.is_current(connection, self.place):
                            family.upgrade(connection)

    @contextmanager
    def _mishaps_explained(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            explained = _explained(error, self.place)
            if isinstance(explained, FullError):
                self._full_at = time.monotonic()
            raise explained from None


class Snapshot(Database):
    """A database as one request sees it: all reading goes through one connection.

    The connection is opened when something is first read, and sees one moment. What is written has
    a connection of its own, and ends that moment, so that what is read afterwards shows it.
    """

    def __init__(self, whole: Database) -> None:
        """Prepare to read a database that is open."""
        self.is_sqlite, self.place, self.engine = whole.is_sqlite, whole.place, whole.engine
        self._whole = whole
        self._opened = ExitStack()
        self._connection: Connection | None = None

    @property
    def whole(self) -> Database:
        """The database that this is a snapshot of."""
        return self._whole

    @property
    def is_full(self) -> bool:
        """Whether the disk has no room."""
        return self.whole.is_full

    def close(self) -> None:
        """Release the connection; reading again opens another."""
        self._connection = None
        self._opened.close()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Read in the transaction of this snapshot."""
        with self.whole._mishaps_explained():
            if self._connection is None:
                self._connection = self._opened.enter_context(self.whole.reading())
            yield self._connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Open a transaction that writes: everything in it holds, or nothing."""
        self.close()
        with self.whole.writing() as connection:
            yield connection


@contextmanager
def building(where: Where, *migrations: Migrations) -> Iterator[Database]:
    """Open a database to put something large in; a new SQLite file appears when it is whole."""
    url = database_url(where)
    target = Path(url.database or "")
    if url.get_backend_name() != "sqlite" or target.exists():
        with Database(where, *migrations, create=True) as database:
            yield database
        return
    check_file(target, create=True)
    aside = target.with_name(f".{target.name[:50]}.{secrets.token_hex(4)}.tmp")
    try:
        with Database(aside, *migrations, create=True) as database:
            yield database
        os.link(aside, target)  # unlike a renaming, never replaces a file
    except FileExistsError:
        raise DataError(
            f"{target}: was created by someone else in the meantime; try again."
        ) from None
    finally:
        for suffix in ("", "-wal", "-shm"):
            aside.with_name(aside.name + suffix).unlink(missing_ok=True)


@contextmanager
def writing(connection: Connection) -> Iterator[None]:
    """Make the connection's next transaction one that writes."""
    with connection.execution_options(writing=True).begin():
        yield


def alone(connection: Connection, *names: str) -> None:
    """Let one transaction at a time go on with these names; SQLite has one writer anyway."""
    if connection.dialect.name != "sqlite":
        connection.execute(
            text("SELECT pg_advisory_xact_lock(hashtextextended(:key, 0))"),
            {"key": "\x1f".join(names)},
        )


def server_clock(connection: Connection) -> int:
    """Return the time in microseconds since 1970: PostgreSQL's own, or with SQLite this machine's.

    Several machines may work on a PostgreSQL database; their own clocks do not matter then.
    """
    if connection.dialect.name == "sqlite":
        return time.time_ns() // 1000
    now = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
    return int(connection.execute(text(now)).scalar_one())


def _engine(url: URL) -> Engine:
    if url.get_backend_name() == "sqlite":
        engine = create_engine(url, **_POOL)
        event.listen(engine, "connect", _connect_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    try:
        engine = create_engine(url, pool_pre_ping=True, **_POOL)
    except ImportError:
        raise MissingExtraError.of("PostgreSQL needs psycopg", "reelscore[web]") from None
    event.listen(engine, "connect", _connect_postgresql)
    return engine


def _execute_patiently(connection: Connection, statement: str) -> None:
    """Execute a statement when no other process of SQLite is in its way.

    SQLite by itself waits in ever longer naps, through which the file is often free, or not at all.
    """
    driver: Any = connection.connection.dbapi_connection
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            driver.execute(statement)
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                break
            time.sleep(random.uniform(*_NAP))
    connection.exec_driver_sql(statement)  # the last try, and its error


def _connect_sqlite(driver: sqlite3.Connection, _: object) -> None:
    driver.isolation_level = None  # transactions begin where `_begin_sqlite` says, not later
    _wait(driver, PATIENCE)
    for pragma in ("foreign_keys = ON", "synchronous = FULL", f"cache_size = -{_CACHE}"):
        driver.execute(f"PRAGMA {pragma}")


def _wait(driver: sqlite3.Connection, seconds: float) -> None:
    driver.execute(f"PRAGMA busy_timeout = {int(seconds * 1000)}")


def _begin_sqlite(connection: Connection) -> None:
    if not connection.get_execution_options().get("writing", False):
        connection.exec_driver_sql("BEGIN")
        return
    driver: Any = connection.connection.dbapi_connection
    _wait(driver, 0)
    try:
        _execute_patiently(connection, "BEGIN IMMEDIATE")
    finally:
        _wait(driver, PATIENCE)


def _connect_postgresql(connection: Any, _: object) -> None:
    # A server may acknowledge before the disk has it; a campaign must not.
    connection.execute(
        "SELECT set_config('synchronous_commit', 'on', false) "
        "WHERE current_setting('synchronous_commit') = 'off'"
    )
    connection.commit()


def _explained(error: DBAPIError, place: str) -> Exception:
    """Turn what an operator can fix into a message; anything else stays what it is."""
    said = " ".join(str(error.orig).split())
    if "file is not a database" in said:
        return DataError(f"{place}: not a SQLite file; name another.")
    if not isinstance(error, OperationalError):
        return error
    if "database is locked" in said:
        return _busy(place)
    if any(words in said for words in _FULL):
        return FullError(f"{place}: the disk is full; make room, then try again.")
    if any(words in said for words in _FIXABLE):
        return DataError(f"{place}: cannot be used: {said}.")
    return error


def _busy(place: str) -> DataError:
    return DataError(f"{place}: another process kept it busy too long; try again.")
