"""Under which submission of a crowd service a HIT was done: a rater may come several times."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "2"
down_revision = "1"

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the table, with what is known of each rater's last HIT."""
    op.create_table(
        "web_submission",
        sa.Column("assignment", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("rater", _NUMBER, sa.ForeignKey("web_rater.id"), nullable=False),
        sa.Column("study", sa.Text, nullable=False),
        sa.Column("session", sa.Text, nullable=False),
    )
    op.execute(
        "INSERT INTO web_submission (assignment, rater, study, session) "
        "SELECT assignment, min(id), min(study), min(session) FROM web_rater "
        "WHERE assignment IS NOT NULL GROUP BY assignment"
    )
