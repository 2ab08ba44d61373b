"""The tables of a campaign's database, as the newest migration leaves them.

Times are whole microseconds since 1970: exact, and the same in every database. Names that raters
and files know are text in `id`; `key` is the database's own number and never leaves it. Missing
text is empty, missing numbers are null. Tasks and assignments repeat the campaign of their HIT, for
the sake of indexes.
"""

from __future__ import annotations

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

from reelscore.store.tables import Number, Time

metadata = MetaData()

campaign = Table(
    "campaign",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("protocol", Text, nullable=False),
    Column("layout", Text, nullable=False),
    Column("seed", BigInteger, nullable=False),
    Column("state", Text, nullable=False),
    Column("raters_per_hit", Integer, nullable=False),
    Column("hold", Double, nullable=False),
    Column("settings", Text, nullable=False),  # JSON
    Column("created", Time, nullable=False),
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
    Column("campaign", Text, nullable=False),
    Column("hit", Number, ForeignKey("hit.key"), nullable=False),
    Column("id", Text, nullable=False),
    Column("position", Integer, nullable=False),
    Column("item", Text, nullable=False),
    Column("expected", Double),
    UniqueConstraint("hit", "id", name="task_once"),
    Index("task_by_item", "campaign", "item"),
)

shown = Table(
    "shown",
    metadata,
    Column("task", Number, ForeignKey("task.key"), primary_key=True),
    Column("slot", Integer, primary_key=True, autoincrement=False),
    Column("system", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("kind", Text, nullable=False),
)

# A HIT has a slot for each rater it needs. A slot whose rater went away gets a new row, with the
# next turn; a slot is taken once, a rater takes a HIT once and holds one at a time. Work that
# cannot be used is made up for in a new slot, which names the rater whom it replaces.
assignment = Table(
    "assignment",
    metadata,
    Column("id", Number, primary_key=True),
    Column("campaign", Text, nullable=False),
    Column("hit", Number, ForeignKey("hit.key"), nullable=False),
    Column("slot", Integer, nullable=False),
    Column("turn", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("rater", Text, nullable=False),
    Column("claimed", Time),
    Column("active", Time),
    Column("finished", Time),
    Column("client", Text, nullable=False),
    Column("seconds", Double),
    Column("status", Text, nullable=False),
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
    Column("slot", Integer, nullable=False),
    Column("criterion", Text, nullable=False),
    Column("score", Double, nullable=False),
    Column("z", Double),
    Column("position", Integer, nullable=False),
    Column("started", Time),
    Column("submitted", Time),
    Column("received", Time, nullable=False),
    Column("client", Text, nullable=False),
    Column("opened", Time),
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
    Column("actor", Text, nullable=False),
    Column("what", Text, nullable=False),
    Column("about", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Index("event_about", "campaign", "about"),
)
