"""The tables of challenges: made by the migrations, the same in both databases, and guarded."""

from __future__ import annotations

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import inspect, text
from sqlalchemy.exc import DBAPIError

from reelscore.challenge.store.migrations import MIGRATIONS
from reelscore.challenge.store.tables import APPEND_ONLY, blob, metadata, open_challenges


def test_the_migrations_lead_to_the_tables(where):
    with open_challenges(where, create=True) as database, database.reading() as connection:
        options = {
            "version_table": MIGRATIONS.version_table,
            "compare_type": True,
            "include_name": lambda name, kind, _: kind != "table" or "challenge" in name,
        }
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, metadata) == []
        for table in metadata.sorted_tables:
            checks = {
                each["name"] for each in inspect(connection).get_check_constraints(table.name)
            }
            wanted = {
                each.name for each in table.constraints if type(each).__name__ == "CheckConstraint"
            }
            assert checks == wanted


@pytest.mark.parametrize(
    "change", ["UPDATE challenge_blob SET size = 7", "DELETE FROM challenge_blob"]
)
def test_blobs_are_never_changed(where, change):
    with open_challenges(where, create=True) as database:
        with database.writing() as connection:
            connection.execute(blob.insert().values(digest="d", size=1, bytes=b"x"))
        said = "rows of challenge_blob are never changed or removed"
        with pytest.raises(DBAPIError, match=said), database.writing() as connection:
            connection.execute(text(change))
        with database.reading() as connection:
            assert connection.execute(blob.select()).all() == [("d", 1, b"x")]


def test_every_append_only_table_has_its_triggers(tmp_path):
    with (
        open_challenges(tmp_path / "c.db", create=True) as database,
        database.reading() as connection,
    ):
        names = set(
            connection.scalars(text("SELECT name FROM sqlite_master WHERE type = 'trigger'"))
        )
    wanted = {f"{table}_no_{change}" for table in APPEND_ONLY for change in ("update", "delete")}
    assert wanted <= names
