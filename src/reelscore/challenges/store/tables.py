"""The tables of challenges, as the newest migration leaves them.

As with campaigns, times are whole microseconds since 1970, `id` is what people and files know, and
`key` is the database's own number, which never leaves it. Missing text is empty, missing numbers
are null. `account` is the number of an account of the web pages; null stands for the command line.
Columns called `blob`, or ending in it, hold the digest of a row of `challenge_blob`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Row,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from reelscore.campaigns.store.schema import MIGRATIONS as CAMPAIGNS
from reelscore.store.database import Database, building
from reelscore.store.locations import Where
from reelscore.store.tables import Migrations, Number, Time

metadata = MetaData()
TableRow = Row[tuple[object, ...]]  # what was selected: its columns are attributes

# Rows of these are added and never changed or removed: triggers forbid it.
APPEND_ONLY = (
    *("challenge_grant", "challenge_refusal", "challenge_result", "challenge_array"),
    *("challenge_shown", "challenge_event", "challenge_blob"),
)


def _key() -> Column[int]:
    return Column("key", Number, primary_key=True)


def _text(name: str) -> Column[str]:
    return Column(name, Text, nullable=False)


def _texts(names: str) -> Iterator[Column[str]]:
    return map(_text, names.split())


def _integer(name: str) -> Column[int]:
    return Column(name, Integer, nullable=False)


def _to(name: str, target: str, *, nullable: bool = False) -> Column[int]:
    return Column(name, Number, ForeignKey(f"challenge{target}.key"), nullable=nullable)


def _blob(name: str) -> Column[str]:
    return Column(name, Text, ForeignKey("challenge_blob.digest"), nullable=False)


def _time(name: str, *, nullable: bool = False) -> Column[int]:
    return Column(name, Time, nullable=nullable)


def _one_of(table: str, column: str, words: str) -> CheckConstraint:
    choices = ", ".join(f"'{word}'" for word in words.split())
    return CheckConstraint(f"{column} IN ({choices})", name=f"{table}_{column}")


challenge = Table(
    "challenge",
    metadata,
    _key(),
    Column("id", Text, nullable=False, unique=True),
    *_texts("name state"),
    _text("definition"),  # the TOML file as it was written
    _text("digest"),  # SHA-256 of the definition
    _text("pages"),  # JSON: Markdown by page, and whatever else the definition names by file
    _time("created"),
    _one_of("challenge", "state", "draft open closed archived"),
)

split = Table(
    "challenge_split",
    metadata,
    _key(),
    _to("challenge", ""),
    *_texts("id visibility kind"),
    _blob("items_blob"),
    _blob("references_blob"),
    _text("digest"),  # of items and references: what signatures and draws depend on
    _integer("count"),
    UniqueConstraint("challenge", "id", name="challenge_split_once"),
    _one_of("challenge_split", "visibility", "public blind"),
    _one_of("challenge_split", "kind", "captions stories"),
)

phase = Table(
    "challenge_phase",
    metadata,
    _key(),
    _to("challenge", ""),
    _text("id"),
    _integer("position"),
    _time("opens"),
    _time("closes"),
    _time("reveals", nullable=True),  # null: by hand
    _integer("priority"),
    _text("settings"),  # JSON: how its submissions are scored; see `challenges.scoring_settings`
    _integer("generation"),  # the one that boards show
    UniqueConstraint("challenge", "id", name="challenge_phase_once"),
)

phase_split = Table(
    "challenge_phase_split",
    metadata,
    Column("phase", Number, ForeignKey("challenge_phase.key"), primary_key=True),
    Column("split", Number, ForeignKey("challenge_split.key"), primary_key=True),
    _integer("position"),
    _text("feedback"),
    _text("step"),  # a number, 'auto', or empty
    _one_of("challenge_phase_split", "feedback", "full rounded ladder reveal"),
)

team = Table(
    "challenge_team",
    metadata,
    _key(),
    _to("challenge", ""),
    Column("id", Text, nullable=False, unique=True),
    _text("name"),
    _text("skeleton"),  # what two names that look alike have in common
    *_texts("kind state"),
    _to("merged_into", "_team", nullable=True),
    Column("approved", Boolean, nullable=False),
    Column("members_shown", Boolean, nullable=False),  # whether visitors may read who is in it
    _time("created"),
    UniqueConstraint("challenge", "skeleton", name="challenge_team_once"),
    _one_of("challenge_team", "kind", "team organisers baseline"),
    _one_of("challenge_team", "state", "active merged disqualified"),
)

member = Table(
    "challenge_member",
    metadata,
    _key(),
    _to("challenge", ""),
    _to("team", "_team"),
    Column("account", Number),  # null until somebody has followed the invitation
    *_texts("role state"),
    _text("invitation"),  # digest of the link's token; empty once it is used
    _time("since"),
    Column("contact", Text, nullable=False, server_default=""),  # for organisers alone
    _one_of("challenge_member", "role", "captain member"),
    _one_of("challenge_member", "state", "invited active left"),
)
_ACTIVE = text("state = 'active'")
Index(
    "challenge_member_one_team",
    member.c.challenge,
    member.c.account,
    unique=True,
    sqlite_where=_ACTIVE,
    postgresql_where=_ACTIVE,
)

# Teams that are invited to a phase which is not listed.
phase_team = Table(
    "challenge_phase_team",
    metadata,
    Column("phase", Number, ForeignKey("challenge_phase.key"), primary_key=True),
    Column("team", Number, ForeignKey("challenge_team.key"), primary_key=True),
    _time("invited"),
)

submission = Table(
    "challenge_submission",
    metadata,
    _key(),
    Column("id", Text, nullable=False, unique=True),
    _to("phase", "_phase"),
    _to("team", "_team"),
    Column("account", Number),
    _integer("number"),  # within team and phase, from 1
    _time("arrived"),  # when the request's headers came
    _time("received"),  # when it was stored
    _text("file_name"),
    _blob("upload_blob"),
    _blob("captions_blob"),  # what the reader made of it: see `challenge.uploads`
    _text("content"),  # digest of the captions, whatever the file looks like
    *_texts("method description link"),
    _text("idempotency"),  # the client's key for this request; empty: none
    Column("late", Boolean, nullable=False),
    _text("status"),
    Column("chosen", Boolean, nullable=False),
    _time("withdrawn", nullable=True),  # when its team withdrew it; null: it did not
    UniqueConstraint("team", "phase", "number", name="challenge_submission_once"),
    Index("challenge_submission_content", "phase", "content"),
    _one_of("challenge_submission", "status", "active withdrawn disqualified"),
)
_KEYED = text("idempotency <> ''")
Index(
    "challenge_submission_idempotency",
    submission.c.team,
    submission.c.idempotency,
    unique=True,
    sqlite_where=_KEYED,
    postgresql_where=_KEYED,
)

job = Table(
    "challenge_job",
    metadata,
    _key(),
    _to("submission", "_submission"),
    _integer("generation"),
    _text("state"),
    _integer("claims"),
    _integer("faults"),
    _text("needs"),  # capabilities that a worker must have, separated by spaces
    _time("not_before"),
    _text("lease"),  # token of who scores it; empty: nobody
    _time("leased_until", nullable=True),
    *_texts("worker reason"),
    _time("queued"),
    _time("finished", nullable=True),
    UniqueConstraint("submission", "generation", name="challenge_job_once"),
    Index("challenge_job_next", "state", "not_before"),
    _one_of("challenge_job", "state", "queued scoring scored failed cancelled"),
)

charge = Table(
    "challenge_charge",
    metadata,
    _key(),
    Column(
        "submission", Number, ForeignKey("challenge_submission.key"), unique=True, nullable=False
    ),
    _to("team", "_team"),
    _to("phase", "_phase"),
    _text("day"),  # of UTC, as 2026-09-01
    _time("refunded", nullable=True),
    _text("reason"),
    Index("challenge_charge_by_team", "team", "phase"),
)

grant = Table(
    "challenge_grant",
    metadata,
    _key(),
    _to("team", "_team"),
    _to("phase", "_phase"),
    _time("time"),
    _text("day"),
    _integer("amount"),
    *_texts("actor reason"),
    Index("challenge_grant_by_team", "team", "phase"),
)

refusal = Table(
    "challenge_refusal",
    metadata,
    _key(),
    _to("team", "_team"),
    _to("phase", "_phase"),
    _time("time"),
    _text("digest"),  # SHA-256 of the upload
    _text("report"),  # JSON
    Index("challenge_refusal_by_team", "team", "phase", "time"),
)

result = Table(
    "challenge_result",
    metadata,
    _key(),
    _to("job", "_job"),
    _to("split", "_split"),
    _text("score"),
    _integer("position"),
    Column("value", Double, nullable=False),
    Column("low", Double),
    Column("high", Double),
    _text("signature"),
    UniqueConstraint("job", "split", "score", name="challenge_result_once"),
)

array = Table(
    "challenge_array",
    metadata,
    _key(),
    _to("job", "_job"),
    _to("split", "_split"),
    _text("kind"),
    _text("names"),  # JSON: what the columns are
    _blob("blob"),  # npy
    UniqueConstraint("job", "split", "kind", name="challenge_array_once"),
    _one_of("challenge_array", "kind", "items statistics draws"),
)

shown = Table(
    "challenge_shown",
    metadata,
    _key(),
    _to("team", "_team"),
    _to("phase", "_phase"),
    _to("split", "_split"),
    _to("submission", "_submission"),
    _integer("generation"),
    _time("time"),
    _text("told"),  # JSON: what the team was told
    UniqueConstraint("submission", "split", "generation", name="challenge_shown_once"),
)

board = Table(
    "challenge_board",
    metadata,
    _key(),
    _to("challenge", ""),
    _text("board"),
    _integer("generation"),
    _text("digest"),  # of what it was made from
    _text("content"),  # JSON
    _time("made"),
    UniqueConstraint("challenge", "board", "generation", "digest", name="challenge_board_once"),
)

human = Table(
    "challenge_human",
    metadata,
    _key(),
    _to("phase", "_phase"),
    *_texts("id campaign"),
    _text("entries"),  # JSON: the frozen submissions
    _text("disclosed"),  # JSON: items whose references raters see
    _text("results"),  # JSON: the column, once it is published
    _time("made"),
    _time("published", nullable=True),
    UniqueConstraint("phase", "id", name="challenge_human_once"),
)

token = Table(
    "challenge_token",
    metadata,
    _key(),
    Column("account", Number, nullable=False),
    Column("digest", Text, nullable=False, unique=True),
    _text("name"),
    _text("scopes"),  # separated by spaces
    _time("created"),
    _time("expires"),
    _text("used"),  # the last day; empty: never
    _time("revoked", nullable=True),
    Index("challenge_token_by_account", "account"),
)

worker = Table(
    "challenge_worker",
    metadata,
    Column("id", Text, primary_key=True),
    _text("version"),
    _text("capabilities"),  # separated by spaces
    _integer("scorers"),
    _time("seen"),
)

event = Table(
    "challenge_event",
    metadata,
    _key(),
    _to("challenge", "", nullable=True),  # null: about the whole server
    _time("time"),
    *_texts("actor what about reason before after"),
    _text("chain"),  # SHA-256 of the row and of the chain before it
    Index("challenge_event_about", "challenge", "about"),
)

# The newest event of a challenge that people were written about; see `challenges.notices`.
notice = Table(
    "challenge_notice",
    metadata,
    Column("challenge", Number, ForeignKey("challenge.key"), primary_key=True, autoincrement=False),
    Column("event", Number, nullable=False),
)

blob = Table(
    "challenge_blob",
    metadata,
    Column("digest", Text, primary_key=True),  # SHA-256 of the content
    _integer("size"),  # of the content
    Column("bytes", LargeBinary, nullable=False),  # the content, compressed
)


# Content of a blob that an export has left out can be added later.
_APPEND_ONLY = dict.fromkeys(APPEND_ONLY, "") | {
    blob.name: "OLD.size > 0 OR NEW.digest <> OLD.digest"
}
MIGRATIONS = Migrations(
    "challenge_schema", Path(__file__).parent / "migrations", "challenges", metadata, _APPEND_ONLY
)


def open_challenges(where: Where, *, create: bool = False) -> Database:
    """Open a database of challenges; its tables, and those of campaigns, are brought up to date.

    Args:
        where: A SQLite file, or the URL of a PostgreSQL database.
        create: Whether a SQLite file may be made.

    Raises:
        DataError: If it cannot be used, or is of a newer version.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, open_challenges(f"{folder}/c.db", create=True) as made:
    ...     made.is_sqlite
    True
    """
    return Database(where, CAMPAIGNS, MIGRATIONS, create=create)


def building_challenges(where: Where) -> AbstractContextManager[Database]:
    """Open a database to put a whole challenge in; a new SQLite file appears when it is whole."""
    return building(where, CAMPAIGNS, MIGRATIONS)
