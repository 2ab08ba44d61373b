"""Bring the pages' own tables up to date."""

from __future__ import annotations

from pathlib import Path

from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.script.revision import ResolutionError
from alembic.util import CommandError

from reelscore.errors import DataError
from reelscore.human.store.connecting import Database

VERSION_TABLE = "web_schema"
_SCRIPTS = Path(__file__).parent / "migrations"


def upgrade(database: Database) -> None:
    """Make or change the tables, all or nothing; servers that start at once queue.

    Raises:
        DataError: If a newer version has made them.
    """
    scripts = ScriptDirectory(_SCRIPTS)
    with database.writing() as connection:
        database.alone(connection, VERSION_TABLE)
        context = MigrationContext.configure(
            connection,
            opts={
                "version_table": VERSION_TABLE,
                "fn": lambda revision, _: scripts._upgrade_revs("head", revision),
            },
        )
        revision = context.get_current_revision()
        try:
            scripts.get_revision(revision or "head")
        except (ResolutionError, CommandError):
            raise DataError(
                f"{database.place}: served by a newer version of reelscore before (its pages have "
                f"version {revision}). Upgrade reelscore."
            ) from None
        with Operations.context(context):
            context.run_migrations()
