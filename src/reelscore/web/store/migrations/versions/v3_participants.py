"""Accounts may be those of participants of challenges, and no number is given twice."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "3"
down_revision = "2"

_ROLES = "role IN ('owner', 'assistant', 'participant')"
_COLUMNS = "id, name, password, role, sessions"


def upgrade() -> None:
    """Allow the role; SQLite cannot change a check, so its table is made anew."""
    if op.get_bind().dialect.name != "sqlite":
        op.drop_constraint("web_account_role", "web_account", type_="check")
        op.create_check_constraint("web_account_role", "web_account", _ROLES)
        return
    op.rename_table("web_account", "web_account_before")
    op.create_table(
        "web_account",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("password", sa.Text, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("sessions", sa.Integer, nullable=False),
        sa.CheckConstraint(_ROLES, name="web_account_role"),
        sqlite_autoincrement=True,  # teams know accounts by their numbers
    )
    op.execute(f"INSERT INTO web_account ({_COLUMNS}) SELECT {_COLUMNS} FROM web_account_before")
    op.drop_table("web_account_before")
