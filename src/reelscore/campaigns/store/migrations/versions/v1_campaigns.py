"""The first tables: campaigns, what they show, who judges it, and what was said."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "1"
down_revision = None

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_APPEND_ONLY = ("judgment", "event")


def upgrade() -> None:
    """Make the tables."""
    _plan_tables()
    _rater_tables()
    forbid = {"sqlite": _forbid_in_sqlite, "postgresql": _forbid_in_postgresql}
    for table in _APPEND_ONLY:
        forbid[op.get_bind().dialect.name](table)


def _plan_tables() -> None:
    op.create_table(
        "campaign",
        sa.Column("id", sa.Text, primary_key=True),
        _text("name"),
        _text("systems"),
        _text("protocol"),
        _text("layout"),
        sa.Column("seed", sa.BigInteger, nullable=False),
        _text("state"),
        _integer("raters_per_hit"),
        sa.Column("hold", sa.Double, nullable=False),
        _text("settings"),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.CheckConstraint("state IN ('draft', 'open', 'paused', 'closed')", name="campaign_state"),
    )
    op.create_table(
        "hit",
        sa.Column("key", _NUMBER, primary_key=True),
        _campaign(),
        _text("id"),
        sa.UniqueConstraint("campaign", "id", name="hit_once"),
    )
    op.create_table(
        "task",
        sa.Column("key", _NUMBER, primary_key=True),
        _text("campaign"),
        _reference("hit", "hit.key"),
        _text("id"),
        _integer("position"),
        _text("item"),
        sa.Column("expected", sa.Double),
        sa.UniqueConstraint("hit", "id", name="task_once"),
    )
    op.create_index("task_by_item", "task", ["campaign", "item"])
    op.create_table(
        "shown",
        sa.Column("task", _NUMBER, sa.ForeignKey("task.key"), primary_key=True),
        sa.Column("slot", sa.Integer, primary_key=True, autoincrement=False),
        _text("system"),
        _text("text"),
        _text("kind"),
    )


def _rater_tables() -> None:
    op.create_table(
        "assignment",
        sa.Column("id", _NUMBER, primary_key=True),
        _text("campaign"),
        _reference("hit", "hit.key"),
        _integer("slot"),
        _integer("turn"),
        _text("state"),
        _text("rater"),
        _time("claimed"),
        _time("active"),
        _time("finished"),
        _text("client"),
        sa.Column("seconds", sa.Double),
        _text("status"),
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
        sa.Column("id", _NUMBER, primary_key=True),
        _reference("assignment", "assignment.id"),
        sa.Column("task", _NUMBER, nullable=False),
        _integer("slot"),
        _text("criterion"),
        sa.Column("score", sa.Double, nullable=False),
        sa.Column("z", sa.Double),
        _integer("position"),
        _time("started"),
        _time("submitted"),
        sa.Column("received", sa.BigInteger, nullable=False),
        _text("client"),
        sa.ForeignKeyConstraint(["task", "slot"], ["shown.task", "shown.slot"]),
        sa.UniqueConstraint("assignment", "task", "slot", "criterion", name="judgment_once"),
    )
    op.create_table(
        "event",
        sa.Column("id", _NUMBER, primary_key=True),
        _campaign(),
        sa.Column("time", sa.BigInteger, nullable=False),
        _text("actor"),
        _text("what"),
        _text("about"),
        _text("reason"),
    )
    op.create_index("event_about", "event", ["campaign", "about"])


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=False)


def _integer(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer, nullable=False)


def _time(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger)


def _reference(name: str, target: str) -> sa.Column[int]:
    return sa.Column(name, _NUMBER, sa.ForeignKey(target), nullable=False)


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


def _forbid_in_sqlite(table: str) -> None:
    for change in ("UPDATE", "DELETE"):
        op.execute(
            f"CREATE TRIGGER {table}_no_{change.lower()} BEFORE {change} ON {table} "
            f"BEGIN SELECT RAISE(ABORT, 'rows of {table} are never changed or removed'); END"
        )


def _forbid_in_postgresql(table: str) -> None:
    op.execute(
        f"CREATE FUNCTION {table}_is_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION 'rows of {table} are never changed or removed'; END $$"
    )
    op.execute(
        f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
        f"FOR EACH STATEMENT EXECUTE FUNCTION {table}_is_append_only()"
    )
