"""Which crowd services there are, a wing says: the table of raters takes any."""

from __future__ import annotations

from alembic import op

revision = "4"
down_revision = "3"


def upgrade() -> None:
    """Drop the check; SQLite makes the table anew, without the rows that refer to it."""
    if op.get_bind().dialect.name != "sqlite":
        op.drop_constraint("web_rater_service", "web_rater", type_="check")
        return
    op.execute("CREATE TEMPORARY TABLE kept AS SELECT * FROM web_submission")
    op.execute("DELETE FROM web_submission")
    with op.batch_alter_table("web_rater", recreate="always"):
        pass  # checks are not copied
    op.execute("INSERT INTO web_submission SELECT * FROM kept")
    op.execute("DROP TABLE kept")
