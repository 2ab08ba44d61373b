"""Teams that are invited to phases which are not listed; contact addresses of members."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "2"
down_revision = "1"

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the table, and the column with nobody's address."""
    op.create_table(
        "challenge_phase_team",
        sa.Column("phase", _NUMBER, sa.ForeignKey("challenge_phase.key"), primary_key=True),
        sa.Column("team", _NUMBER, sa.ForeignKey("challenge_team.key"), primary_key=True),
        sa.Column("invited", sa.BigInteger, nullable=False),
    )
    op.add_column(
        "challenge_member", sa.Column("contact", sa.Text, nullable=False, server_default="")
    )
