"""Tables of new databases, made from memory: a worker runs the migrations to them once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, event

from reelscore.store.tables import Migrations

_CHANGES = ("CREATE", "ALTER", "DROP", "INSERT", "UPDATE", "DELETE")


@contextmanager
def remembered_tables() -> Iterator[None]:
    """Note what migrations tell an empty database, and tell the next ones the same.

    To work that out takes several times as long as to do it. Databases that have tables already
    are upgraded as always.
    """
    upgrade = Migrations.upgrade
    known: dict[tuple[str, str], list[tuple[str, Any]]] = {}

    def remembering(self: Migrations, connection: Connection) -> None:
        options = {"version_table": self.version_table}
        revision = MigrationContext.configure(connection, opts=options).get_current_revision()
        if revision is not None:
            return upgrade(self, connection)
        family = (self.version_table, connection.dialect.name)
        if family not in known:
            said: list[tuple[str, Any]] = []

            def note(_: Any, __: Any, statement: str, values: Any, *more: Any) -> None:
                if statement.lstrip().startswith(_CHANGES):
                    said.append((statement, values))

            event.listen(connection, "before_cursor_execute", note)
            try:
                upgrade(self, connection)
            finally:
                event.remove(connection, "before_cursor_execute", note)
            known[family] = said
            return None
        for statement, values in known[family]:
            connection.exec_driver_sql(statement, values).close()
        return None

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Migrations, "upgrade", remembering)
        yield
