"""Logging out ends the session of one browser, whoever may have copied its cookie."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "5"
down_revision = "4"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "web_ended_session",
        sa.Column("digest", sa.Text, primary_key=True),
        sa.Column("ended", sa.BigInteger, nullable=False),
    )
