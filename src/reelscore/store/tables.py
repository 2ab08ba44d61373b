"""Types of columns that mean the same in both databases, and upgrades of tables by Alembic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from alembic import op
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.script.revision import ResolutionError
from alembic.util import CommandError
from sqlalchemy import BigInteger, Column, Connection, Integer, Text
from sqlalchemy.types import TypeEngine

from reelscore.errors import DataError

# SQLite numbers rows by itself only where the type is INTEGER, which has 64 bits there.
Number = BigInteger().with_variant(Integer(), "sqlite")
Time = BigInteger  # whole microseconds since 1970


def required(*names: str, type: type[TypeEngine[Any]] = Text) -> list[Column[Any]]:
    """Make columns that always have a value.

    >>> [column.name for column in required("name", "protocol")]
    ['name', 'protocol']
    """
    return [Column(name, type, nullable=False) for name in names]


def forbid_changes(table: str) -> None:
    """Let nobody change or remove rows of a table; for migrations."""
    said = f"rows of {table} are never changed or removed"
    if op.get_bind().dialect.name == "sqlite":
        for change in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER {table}_no_{change.lower()} BEFORE {change} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{said}'); END"
            )
        return
    op.execute(
        f"CREATE FUNCTION {table}_is_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{said}'; END $$"
    )
    op.execute(
        f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
        f"FOR EACH STATEMENT EXECUTE FUNCTION {table}_is_append_only()"
    )


@dataclass(frozen=True)
class Migrations:
    """The changes of a family of tables, one file each; a database may hold several families."""

    # where the database notes how far it is; its own for each family, so that a database may serve
    # other programs too
    version_table: str
    scripts: Path  # the folder with the changes
    what: str  # what the tables hold, for messages
    # makes the newest tables where there are none; without it, all changes are applied
    make: Callable[[Connection], None] | None = None

    def is_current(self, connection: Connection, place: str) -> bool:
        """Return whether the tables are as this version wants them.

        Args:
            connection: The database.
            place: Its name, for messages.

        Raises:
            DataError: If a newer version has made them.
        """
        scripts = _changes(self.scripts)
        options = {"version_table": self.version_table}
        revision = MigrationContext.configure(connection, opts=options).get_current_revision()
        newest = scripts.get_current_head()
        if revision is not None:
            try:
                scripts.get_revision(revision)
            except (ResolutionError, CommandError):
                raise DataError(
                    f"{place}: made by a newer version of reelscore (its tables of {self.what} "
                    f"have version {revision}, this one knows them up to {newest}). "
                    "Upgrade reelscore."
                ) from None
        return revision == newest

    def upgrade(self, connection: Connection, to: str = "head") -> None:
        """Apply the changes that are missing; the caller's transaction makes it all or nothing."""
        scripts = _changes(self.scripts)
        options = {
            "version_table": self.version_table,
            "fn": lambda revision, _: scripts._upgrade_revs(to, revision),
        }
        context = MigrationContext.configure(connection, opts=options)
        if self.make is not None and context.get_current_revision() is None:
            self.make(connection)
            context.stamp(scripts, to)
            return
        with Operations.context(context):
            context.run_migrations()


@cache
def _changes(folder: Path) -> ScriptDirectory:
    """Read the changes of a folder, once: a third of the time that a database takes to open."""
    scripts = ScriptDirectory(folder)
    scripts.get_current_head()  # which reads the files, before threads share what they say
    return scripts
