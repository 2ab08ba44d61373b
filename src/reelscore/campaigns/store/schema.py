"""The tables of a campaign's database, as the newest migration leaves them.

Times are whole microseconds since 1970: exact, and the same in every database. Names that raters
and files know are text in `id`; `key` is the database's own number and never leaves it. Missing
text is empty, missing numbers are null. Tasks and assignments repeat the campaign of their HIT, for
the sake of indexes.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from reelscore.store.tables import Migrations, Number, Time, required

metadata = MetaData()

campaign = Table(
    "campaign",
    metadata,
    Column("id", Text, primary_key=True),
    *required("name", "protocol", "layout", "state"),
    Column("settings", Text, nullable=False),  # JSON
    *required("seed", "created", type=BigInteger),
    Column("raters_per_hit", Integer, nullable=False),
    Column("hold", Double, nullable=False),
    CheckConstraint("state IN ('draft', 'open', 'paused', 'closed')", name="campaign_state"),
)

# The systems whose captions are judged, in order; some are people.
system = Table(
    "system",
    metadata,
    Column("campaign", Text, ForeignKey("campaign.id"), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False),
    Column("human", Boolean, nullable=False),
    UniqueConstraint("campaign", "name", name="system_once"),
)

# What HITs are made of, so that more can be made of the same; empty for imported campaigns.
caption = Table(
    "caption",
    metadata,
    Column("campaign", Text, ForeignKey("campaign.id"), primary_key=True),
    Column("system", Text, primary_key=True),
    Column("item", Text, primary_key=True),
    Column("text", Text, nullable=False),
)

hit = Table(
    "hit",
    metadata,
    Column("key", Number, primary_key=True),
    Column("campaign", Text, ForeignKey("campaign.id"), nullable=False),
    Column("id", Text, nullable=False),
    UniqueConstraint("campaign", "id", name="hit_once"),
)

task = Table(
    "task",
    metadata,
    Column("key", Number, primary_key=True),
    *required("campaign", "id", "item"),
    Column("hit", Number, ForeignKey("hit.key"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("expected", Double),
    UniqueConstraint("hit", "id", name="task_once"),
    Index("task_by_item", "campaign", "item"),
)

shown = Table(
    "shown",
    metadata,
    Column("task", Number, ForeignKey("task.key"), primary_key=True),
    Column("slot", Integer, primary_key=True, autoincrement=False),
    *required("system", "text", "kind"),
)

# A HIT has a slot for each rater it needs. A slot whose rater went away gets a new row, with the
# next turn; a slot is taken once, a rater takes a HIT once and holds one at a time. Work that
# cannot be used is made up for in a new slot, which names the rater whom it replaces.
assignment = Table(
    "assignment",
    metadata,
    Column("id", Number, primary_key=True),
    *required("campaign", "state", "rater", "client", "status"),
    Column("hit", Number, ForeignKey("hit.key"), nullable=False),
    *required("slot", "turn", type=Integer),
    *(Column(name, Time) for name in ("claimed", "active", "finished")),
    Column("seconds", Double),
    Column("task", Number),  # the one that the server sent last
    Column("opened", Time),  # when the server first sent that one
    Column("replaces", Text, nullable=False, server_default=""),  # a rater of the same HIT
    Column("flags", Text, nullable=False, server_default=""),  # what an organiser should look at
    UniqueConstraint("hit", "slot", "turn", name="assignment_turn"),
    CheckConstraint("state IN ('open', 'held', 'done', 'abandoned')", name="assignment_state"),
    CheckConstraint("(state = 'open') = (rater = '')", name="assignment_rater"),
    Index("assignment_next", "campaign", "state", "slot", "hit"),
    Index("assignment_by_rater", "campaign", "rater"),
)
for name, columns, where in (
    ("assignment_slot_once", ("hit", "slot"), "state <> 'abandoned'"),
    ("assignment_rater_once", ("hit", "rater"), "rater <> ''"),
    ("assignment_one_held", ("campaign", "rater"), "state = 'held'"),
    ("assignment_replaces_once", ("hit", "replaces"), "replaces <> ''"),
):
    Index(
        name,
        *(assignment.c[column] for column in columns),
        unique=True,
        sqlite_where=text(where),
        postgresql_where=text(where),
    )

# Rows of these three are added and never changed or removed: triggers forbid it. `started`,
# `submitted` and `watched` are what the rater's page says, `opened` and `received` what the server
# saw.
judgment = Table(
    "judgment",
    metadata,
    Column("id", Number, primary_key=True),
    Column("assignment", Number, ForeignKey("assignment.id"), nullable=False),
    Column("task", Number, nullable=False),
    *required("criterion", "client"),
    *required("slot", "position", type=Integer),
    Column("score", Double, nullable=False),
    Column("z", Double),
    *(Column(name, Time) for name in ("started", "submitted", "opened")),
    Column("received", Time, nullable=False),
    Column("watched", Double),  # share of the video, from 0 to 1
    ForeignKeyConstraint(["task", "slot"], ["shown.task", "shown.slot"]),
    UniqueConstraint("assignment", "task", "slot", "criterion", name="judgment_once"),
)

skip = Table(
    "skip",
    metadata,
    Column("assignment", Number, ForeignKey("assignment.id"), primary_key=True),
    Column("task", Number, ForeignKey("task.key"), primary_key=True),
    Column("time", Time, nullable=False),
    Column("reason", Text, nullable=False),
)

event = Table(
    "event",
    metadata,
    Column("id", Number, primary_key=True),
    Column("campaign", Text, ForeignKey("campaign.id"), nullable=False),
    Column("time", Time, nullable=False),
    *required("actor", "what", "about", "reason"),
    Index("event_about", "campaign", "about"),
)

MIGRATIONS = Migrations(
    "campaign_schema",
    Path(__file__).parent / "migrations",
    "campaigns",
    metadata,
    dict.fromkeys(("judgment", "skip", "event"), ""),
)
