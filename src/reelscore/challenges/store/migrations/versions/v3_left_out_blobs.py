"""Content that an export left out can be added later; content that is there stays as it is."""

from __future__ import annotations

from alembic import op

revision = "3"
down_revision = "2"

_OTHER = "OLD.size > 0 OR NEW.digest <> OLD.digest"


def upgrade() -> None:
    """Let a row without content get it, once."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute("DROP TRIGGER challenge_blob_no_update")
        op.execute(
            "CREATE TRIGGER challenge_blob_no_update BEFORE UPDATE ON challenge_blob "
            f"WHEN {_OTHER} BEGIN "
            "SELECT RAISE(ABORT, 'rows of challenge_blob are never changed or removed'); END"
        )
        return
    op.execute("DROP TRIGGER challenge_blob_append_only ON challenge_blob")
    for name, change in (
        ("removed", "BEFORE DELETE OR TRUNCATE ON challenge_blob FOR EACH STATEMENT"),
        ("changed", f"BEFORE UPDATE ON challenge_blob FOR EACH ROW WHEN ({_OTHER})"),
    ):
        op.execute(
            f"CREATE TRIGGER challenge_blob_not_{name} {change} "
            "EXECUTE FUNCTION challenge_blob_is_append_only()"
        )
