"""The server's own times, skipped tasks, places offered again, the captions that HITs are made of.

Systems become rows of their own, which say whether a system is people. The share of a video that
was watched leaves the name of the client and becomes a number.
"""

from __future__ import annotations

import json
import re

import sqlalchemy as sa
from alembic import op

from reelscore.store.tables import Number, forbid_changes

revision = "2"
down_revision = "1"

_SEEN = re.compile(r"(web \d+x\d+) seen (\d+)%")


def upgrade() -> None:
    """Add the tables and columns, and move the systems."""
    op.add_column("assignment", sa.Column("task", Number))
    op.add_column("assignment", sa.Column("opened", sa.BigInteger))
    for name in ("replaces", "flags"):
        column = sa.Column(name, sa.Text, nullable=False, server_default="")
        op.add_column("assignment", column)
    offered_again = sa.text("replaces <> ''")
    op.create_index(
        "assignment_replaces_once",
        "assignment",
        ["hit", "replaces"],
        unique=True,
        sqlite_where=offered_again,
        postgresql_where=offered_again,
    )
    op.add_column("judgment", sa.Column("opened", sa.BigInteger))
    op.add_column("judgment", sa.Column("watched", sa.Double))
    _move_watched()
    _make_skip()
    _make_caption()
    _move_systems()


def _move_watched() -> None:
    judgment = sa.table("judgment", sa.column("client", sa.Text), sa.column("watched", sa.Double))
    bind = op.get_bind()
    clients = sa.select(judgment.c.client).where(judgment.c.client.like("web % seen %")).distinct()
    said = {client: _SEEN.fullmatch(client) for client in bind.scalars(clients)}
    if not any(said.values()):
        return
    is_sqlite = bind.dialect.name == "sqlite"
    op.execute(
        "DROP TRIGGER judgment_no_update"
        if is_sqlite
        else "ALTER TABLE judgment DISABLE TRIGGER judgment_append_only"
    )
    for client, match in said.items():
        if match:
            values = {"client": match[1], "watched": int(match[2]) / 100}
            change = judgment.update().where(judgment.c.client == client).values(values)
            bind.execute(change)
    op.execute(
        "CREATE TRIGGER judgment_no_update BEFORE UPDATE ON judgment "
        "BEGIN SELECT RAISE(ABORT, 'rows of judgment are never changed or removed'); END"
        if is_sqlite
        else "ALTER TABLE judgment ENABLE TRIGGER judgment_append_only"
    )


def _make_skip() -> None:
    op.create_table(
        "skip",
        sa.Column("assignment", Number, sa.ForeignKey("assignment.id"), primary_key=True),
        sa.Column("task", Number, sa.ForeignKey("task.key"), primary_key=True),
        sa.Column("time", sa.BigInteger, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
    )
    forbid_changes(op.get_bind(), "skip")


def _make_caption() -> None:
    op.create_table(
        "caption",
        sa.Column("campaign", sa.Text, sa.ForeignKey("campaign.id"), primary_key=True),
        sa.Column("system", sa.Text, primary_key=True),
        sa.Column("item", sa.Text, primary_key=True),
        sa.Column("text", sa.Text, nullable=False),
    )


def _move_systems() -> None:
    system = op.create_table(
        "system",
        sa.Column("campaign", sa.Text, sa.ForeignKey("campaign.id"), primary_key=True),
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("human", sa.Boolean, nullable=False),
        sa.UniqueConstraint("campaign", "name", name="system_once"),
    )
    campaign = sa.table(
        "campaign", *(sa.column(name, sa.Text) for name in ("id", "systems", "settings"))
    )
    bind = op.get_bind()
    for row in bind.execute(sa.select(campaign)).all():
        settings = json.loads(row.settings)
        humans = settings.pop("humans", None) or []
        for position, name in enumerate(json.loads(row.systems)):
            values = {"position": position, "name": name, "human": name in humans}
            bind.execute(system.insert().values(campaign=row.id, **values))
        text = json.dumps(settings, ensure_ascii=False, separators=(",", ":"))
        bind.execute(campaign.update().where(campaign.c.id == row.id).values(settings=text))
    op.drop_column("campaign", "systems")
