"""The first tables: campaigns, what they show, who judges it, and what was said."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from reelscore.store.tables import Number, forbid_changes, required

revision = "1"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    _plan_tables()
    _rater_tables()
    for table in ("judgment", "event"):
        forbid_changes(table)


def _plan_tables() -> None:
    op.create_table(
        "campaign",
        sa.Column("id", sa.Text, primary_key=True),
        *required("name", "systems", "protocol", "layout"),
        sa.Column("seed", sa.BigInteger, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("raters_per_hit", sa.Integer, nullable=False),
        sa.Column("hold", sa.Double, nullable=False),
        sa.Column("settings", sa.Text, nullable=False),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.CheckConstraint("state IN ('draft', 'open', 'paused', 'closed')", name="campaign_state"),
    )
    op.create_table(
        "hit",
        sa.Column("key", Number, primary_key=True),
        _campaign(),
        sa.Column("id", sa.Text, nullable=False),
        sa.UniqueConstraint("campaign", "id", name="hit_once"),
    )
    op.create_table(
        "task",
        sa.Column("key", Number, primary_key=True),
        sa.Column("campaign", sa.Text, nullable=False),
        _reference("hit", "hit.key"),
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("item", sa.Text, nullable=False),
        sa.Column("expected", sa.Double),
        sa.UniqueConstraint("hit", "id", name="task_once"),
    )
    op.create_index("task_by_item", "task", ["campaign", "item"])
    op.create_table(
        "shown",
        sa.Column("task", Number, sa.ForeignKey("task.key"), primary_key=True),
        sa.Column("slot", sa.Integer, primary_key=True, autoincrement=False),
        *required("system", "text", "kind"),
    )


def _rater_tables() -> None:
    op.create_table(
        "assignment",
        sa.Column("id", Number, primary_key=True),
        sa.Column("campaign", sa.Text, nullable=False),
        _reference("hit", "hit.key"),
        *required("slot", "turn", type=sa.Integer),
        *required("state", "rater"),
        *map(_time, ("claimed", "active", "finished")),
        sa.Column("client", sa.Text, nullable=False),
        sa.Column("seconds", sa.Double),
        sa.Column("status", sa.Text, nullable=False),
        sa.UniqueConstraint("hit", "slot", "turn", name="assignment_turn"),
        sa.CheckConstraint(
            "state IN ('open', 'held', 'done', 'abandoned')", name="assignment_state"
        ),
        sa.CheckConstraint("(state = 'open') = (rater = '')", name="assignment_rater"),
    )
    op.create_index("assignment_next", "assignment", ["campaign", "state", "slot", "hit"])
    op.create_index("assignment_by_rater", "assignment", ["campaign", "rater"])
    _once("assignment_slot_once", ["hit", "slot"], "state <> 'abandoned'")
    _once("assignment_rater_once", ["hit", "rater"], "rater <> ''")
    _once("assignment_one_held", ["campaign", "rater"], "state = 'held'")
    op.create_table(
        "judgment",
        sa.Column("id", Number, primary_key=True),
        _reference("assignment", "assignment.id"),
        sa.Column("task", Number, nullable=False),
        sa.Column("slot", sa.Integer, nullable=False),
        sa.Column("criterion", sa.Text, nullable=False),
        sa.Column("score", sa.Double, nullable=False),
        sa.Column("z", sa.Double),
        sa.Column("position", sa.Integer, nullable=False),
        *map(_time, ("started", "submitted")),
        sa.Column("received", sa.BigInteger, nullable=False),
        sa.Column("client", sa.Text, nullable=False),
        sa.ForeignKeyConstraint(["task", "slot"], ["shown.task", "shown.slot"]),
        sa.UniqueConstraint("assignment", "task", "slot", "criterion", name="judgment_once"),
    )
    op.create_table(
        "event",
        sa.Column("id", Number, primary_key=True),
        _campaign(),
        sa.Column("time", sa.BigInteger, nullable=False),
        *required("actor", "what", "about", "reason"),
    )
    op.create_index("event_about", "event", ["campaign", "about"])


def _time(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger)


def _reference(name: str, target: str) -> sa.Column[int]:
    return sa.Column(name, Number, sa.ForeignKey(target), nullable=False)


def _campaign() -> sa.Column[str]:
    return sa.Column("campaign", sa.Text, sa.ForeignKey("campaign.id"), nullable=False)


def _once(name: str, columns: list[str], where: str) -> None:
    condition = sa.text(where)
    op.create_index(
        name,
        "assignment",
        columns,
        unique=True,
        sqlite_where=condition,
        postgresql_where=condition,
    )
