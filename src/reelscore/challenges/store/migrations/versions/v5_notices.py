"""Up to which event of a challenge people were written about, by e-mail."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "5"
down_revision = "4"

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the table; what happened before it was made is not written about."""
    op.create_table(
        "challenge_notice",
        sa.Column(
            "challenge",
            _NUMBER,
            sa.ForeignKey("challenge.key"),
            primary_key=True,
            autoincrement=False,
        ),
        sa.Column("event", _NUMBER, nullable=False),
    )
