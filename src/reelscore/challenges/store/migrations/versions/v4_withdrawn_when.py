"""When a team withdrew a submission: after the close, no other entry takes its place."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "4"
down_revision = "3"


def upgrade() -> None:
    """Make the column; of what is withdrawn already, the log knows when."""
    op.add_column("challenge_submission", sa.Column("withdrawn", sa.BigInteger))
    op.execute(
        "UPDATE challenge_submission SET withdrawn = ("
        "SELECT max(time) FROM challenge_event WHERE about = challenge_submission.id "
        "AND what = 'status' AND after = 'withdrawn') WHERE status = 'withdrawn'"
    )
