"""The tables, as the newest migration leaves them; times are microseconds since 1970."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

from reelscore.store.database import Database, building
from reelscore.store.locations import Where
from reelscore.store.tables import Migrations, Number, required
from reelscore.wings import offers

metadata = MetaData()

account = Table(
    "web_account",
    metadata,
    Column("id", Number, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("password", Text, nullable=False),  # hashed
    Column("role", Text, nullable=False),
    Column("sessions", Integer, nullable=False),  # those that were begun with a lower number end
    CheckConstraint("role IN ('owner', 'assistant', 'participant')", name="web_account_role"),
    sqlite_autoincrement=True,  # teams know accounts by their numbers: none is given twice
)

# Sessions that were ended in their browser before their time; old ones are forgotten.
ended = Table(
    "web_ended_session",
    metadata,
    Column("digest", Text, primary_key=True),  # of the cookie
    Column("ended", BigInteger, nullable=False),
)

# A rater of a campaign: where from, how far through the preparation, at which assignment.
rater = Table(
    "web_rater",
    metadata,
    Column("id", Number, primary_key=True),
    Column("campaign", Text, nullable=False),
    Column("rater", Text, nullable=False),  # what judgments say; no name of a crowd service
    Column("service", Text, nullable=False),  # how they came in
    Column("worker", Text, nullable=False),  # what the service calls the rater
    Column("study", Text, nullable=False),
    Column("session", Text, nullable=False),
    Column("destination", Text, nullable=False),  # where the service wants the end reported
    Column("token", Text, unique=True),  # digest of the link's token
    Column("browser", Text, nullable=False),  # digest of the browser's cookie; empty: none yet
    Column("created", BigInteger, nullable=False),
    Column("consented", BigInteger),
    Column("practised", Integer, nullable=False),  # practice tasks done
    Column("attempts", Integer, nullable=False),  # at the comprehension check
    Column("passed", Boolean),
    Column("assignment", BigInteger),
    UniqueConstraint("campaign", "rater", name="web_rater_once"),
    UniqueConstraint("campaign", "service", "worker", name="web_rater_worker_once"),
)

# Under which submission of the crowd service a HIT was done: a rater may come several times.
submission = Table(
    "web_submission",
    metadata,
    Column("assignment", Number, primary_key=True, autoincrement=False),
    Column("rater", Number, ForeignKey("web_rater.id"), nullable=False),
    *required("study", "session"),
)

# Work that one server at a time does, of all that share the database; see `store.claims`.
claim = Table(
    "web_claim",
    metadata,
    Column("work", Text, primary_key=True),
    Column("holder", Text, nullable=False),
    Column("until", BigInteger, nullable=False),
)

MIGRATIONS = Migrations(
    "web_schema", Path(__file__).parent / "migrations", "the rating pages", metadata, {}
)


def open_database(where: Where) -> Database:
    """Open the campaigns' database with these tables; what is missing is made or upgraded."""
    return Database(where, *_families(), create=True)


def building_database(where: Where) -> AbstractContextManager[Database]:
    """Open a database to put a challenge with accounts in; a new file appears when it is whole."""
    return building(where, *_families())


def _families() -> tuple[Migrations, ...]:
    """Return the families of tables; campaigns come first, by which a database is known."""
    return (*offers("MIGRATIONS"), MIGRATIONS)
