"""Types of columns that mean the same in both databases, and upgrades of tables by Alembic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.script.revision import ResolutionError
from alembic.util import CommandError
from sqlalchemy import BigInteger, Column, Connection, Integer, MetaData, Text
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


def forbid_changes(connection: Connection, table: str, unless: str = "") -> None:
    """Let nobody change or remove rows of a table, but for changes that a condition allows."""
    said = f"rows of {table} are never changed or removed"
    when = f"WHEN ({unless})" if unless else ""
    tell = connection.exec_driver_sql
    if connection.dialect.name == "sqlite":
        for change, condition in (("update", when), ("delete", "")):
            tell(
                f"CREATE TRIGGER {table}_no_{change} BEFORE {change} ON {table} {condition} "
                f"BEGIN SELECT RAISE(ABORT, '{said}'); END"
            )
        return
    tell(
        f"CREATE FUNCTION {table}_is_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{said}'; END $$"
    )
    triggers = {"append_only": "UPDATE OR DELETE OR TRUNCATE"}
    if when:
        triggers = {"not_removed": "DELETE OR TRUNCATE", "not_changed": "UPDATE"}
    for name, changes in triggers.items():
        rows = f"ROW {when}" if changes == "UPDATE" else "STATEMENT"
        tell(
            f"CREATE TRIGGER {table}_{name} BEFORE {changes} ON {table} FOR EACH {rows} "
            f"EXECUTE FUNCTION {table}_is_append_only()"
        )


@dataclass(frozen=True)
class Migrations:
    """The tables of a family, and how older ones become them; a database may hold several families.

    A new database is made of `tables` at once. A change to them is a file more in `versions` of
    `scripts`, which Alembic applies to older databases: it has the next ``revision``, and the last
    one as ``down_revision``. A test compares what both lead to.
    """

    # where the database notes how far it is; its own for each family, so that a database may serve
    # other programs too
    version_table: str
    scripts: Path
    what: str  # what the tables hold, for messages
    tables: MetaData
    # tables whose rows are never changed or removed, each with the changes that are none
    append_only: Mapping[str, str]

    def is_current(self, connection: Connection, place: str) -> bool:
        """Return whether the tables are as this version wants them, which knows no newer ones."""
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

    def upgrade(self, connection: Connection) -> None:
        """Make the tables, or apply what is missing; a transaction makes it all or nothing."""
        scripts = _changes(self.scripts)
        options = {
            "version_table": self.version_table,
            "fn": lambda revision, _: scripts._upgrade_revs("head", revision),
        }
        context = MigrationContext.configure(connection, opts=options)
        if context.get_current_revision() is None:
            self.tables.create_all(connection)
            for table, unless in self.append_only.items():
                forbid_changes(connection, table, unless)
            context.stamp(scripts, "head")
            return
        with Operations.context(context):
            context.run_migrations()


@cache
def _changes(folder: Path) -> ScriptDirectory:
    """Read the changes of a folder, once: a third of the time that a database takes to open."""
    scripts = ScriptDirectory(folder)
    scripts.get_current_head()  # which reads the files, before threads share what they say
    return scripts
