"""The first tables: accounts of organisers, and raters as they came in."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "1"
down_revision = None

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "web_account",
        sa.Column("id", _NUMBER, primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        _text("password"),
        _text("role"),
        sa.Column("sessions", sa.Integer, nullable=False),
        sa.CheckConstraint("role IN ('owner', 'assistant')", name="web_account_role"),
    )
    op.create_table(
        "web_rater",
        sa.Column("id", _NUMBER, primary_key=True),
        *map(_text, ("campaign", "rater", "service", "worker", "study", "session", "destination")),
        sa.Column("token", sa.Text, unique=True),
        _text("browser"),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.Column("consented", sa.BigInteger),
        sa.Column("practised", sa.Integer, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("passed", sa.Boolean),
        sa.Column("assignment", sa.BigInteger),
        sa.CheckConstraint(
            "service IN ('link', 'open', 'prolific', 'mturk')", name="web_rater_service"
        ),
        sa.UniqueConstraint("campaign", "rater", name="web_rater_once"),
        sa.UniqueConstraint("campaign", "service", "worker", name="web_rater_worker_once"),
    )


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=False)
