"""Bring a database to the tables this version knows, by the files in `migrations`."""

from __future__ import annotations

from pathlib import Path

from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.script.revision import ResolutionError
from alembic.util import CommandError
from sqlalchemy import Connection

from reelscore.errors import DataError

VERSION_TABLE = "campaign_schema"  # its own, so that a database may serve other programs too
_SCRIPTS = Path(__file__).parent / "migrations"


def is_current(connection: Connection, place: str) -> bool:
    """Tell whether the tables are as this version wants them.

    Args:
        connection: The database.
        place: Its name, for messages.

    Raises:
        DataError: If a newer version has made them.
    """
    scripts = ScriptDirectory(_SCRIPTS)
    found = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
    revision = found.get_current_revision()
    newest = scripts.get_current_head()
    if revision is not None:
        try:
            scripts.get_revision(revision)
        except (ResolutionError, CommandError):
            raise DataError(
                f"{place}: made by a newer version of reelscore (its tables have version "
                f"{revision}, this one knows them up to {newest}). Upgrade reelscore."
            ) from None
    return revision == newest


def upgrade(connection: Connection, to: str = "head") -> None:
    """Apply the changes that are missing; the caller's transaction makes it all or nothing."""
    scripts = ScriptDirectory(_SCRIPTS)
    context = MigrationContext.configure(
        connection,
        opts={
            "version_table": VERSION_TABLE,
            "fn": lambda revision, _: scripts._upgrade_revs(to, revision),
        },
    )
    with Operations.context(context):
        context.run_migrations()
