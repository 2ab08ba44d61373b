"""The tables of challenges: made by the migrations, the same in both databases, and guarded."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import create_engine, inspect, text
from sqlalchemy.exc import DBAPIError

from reelscore.campaigns.store.schema import MIGRATIONS as CAMPAIGNS
from reelscore.challenges.store.blobs import blob_digest, get_blob, has_blob, put_blob
from reelscore.challenges.store.tables import (
    APPEND_ONLY,
    MIGRATIONS,
    blob,
    member,
    metadata,
    open_challenges,
    submission,
)
from reelscore.store.database import writing
from reelscore.store.locations import database_url
from support.postgres_server import new_schema

GOLDEN = Path(__file__).resolve().parents[1] / "golden"


def make_version_1(where, rows=()):
    """Make a database as version 1 did: what it told the database, in tests/golden."""
    engine = create_engine(database_url(where))
    with engine.connect() as connection, writing(connection):
        CAMPAIGNS.upgrade(connection)
        told = (GOLDEN / f"challenge_v1.{engine.dialect.name}.sql").read_text().splitlines()
        for statement in [*told, *(f"INSERT INTO {row}" for row in rows)]:
            connection.exec_driver_sql(statement)
    engine.dispose()
    return where


def triggers(connection):
    """Return the triggers of challenges, and when each fires."""
    sql = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
    if connection.dialect.name != "sqlite":
        sql = "SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal"
        sql += " AND tgrelid IN (SELECT oid FROM pg_class WHERE relnamespace = "
        sql += "current_schema::regnamespace)"
    rows = connection.execute(text(sql)).all()
    return {
        name: re.sub(r"test_\w+\.|[()]", "", said).upper().split()
        for name, said in rows
        if name.startswith("challenge")
    }


def test_older_databases_come_to_be_as_new_ones(where):
    make_version_1(where)
    with open_challenges(where) as database, database.reading() as connection:
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
        upgraded = triggers(connection)
    server, is_postgresql, _ = where.partition("&options")
    other = new_schema(server) if is_postgresql else f"{where}.new"
    with open_challenges(other, create=True) as made, made.reading() as connection:
        assert triggers(connection) == upgraded


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


def test_content_that_was_left_out_is_added_once(where):
    digest = blob_digest(b"references")
    with open_challenges(where, create=True) as database:
        with database.writing() as connection:
            connection.execute(blob.insert().values(digest=digest, size=0, bytes=b""))
            assert not has_blob(connection, digest)
        with pytest.raises(DBAPIError, match="never changed"), database.writing() as connection:
            connection.execute(text("UPDATE challenge_blob SET digest = 'other'"))
        with pytest.raises(DBAPIError, match="never changed"), database.writing() as connection:
            connection.execute(text("DELETE FROM challenge_blob"))
        with database.writing() as connection:
            put_blob(connection, b"references")
            assert has_blob(connection, digest)
            assert get_blob(connection, digest) == b"references"
        with pytest.raises(DBAPIError, match="never changed"), database.writing() as connection:
            connection.execute(text("UPDATE challenge_blob SET size = 0"))


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


def test_a_database_of_version_1_is_brought_up_to_date(where):
    rows = (
        "challenge VALUES (1, 'dogs', 'Dogs', 'open', '', '', '{}', 5)",
        "challenge_team VALUES (1, 1, 't', 'Ours', 'ours', 'team', 'active', NULL, true, true, 5)",
        "challenge_member VALUES (1, 1, 1, 7, 'captain', 'active', '', 5)",
        "challenge_phase VALUES (1, 1, 'main', 0, 5, 9, NULL, 0, '{}', 1)",
        "challenge_blob VALUES ('d', 0, '')",
        *(
            f"challenge_submission VALUES ({key}, '{id}', 1, 1, NULL, {key}, 6, 6, 'a', 'd', 'd', "
            f"'', '', '', '', '', false, '{status}', false)"
            for key, id, status in ((1, "kept", "active"), (2, "gone", "withdrawn"))
        ),
        *(
            f"challenge_event VALUES ({key}, 1, {time}, '', 'status', '{id}', '', '', "
            f"'{after}', '')"
            for key, time, id, after in (
                (1, 6, "gone", "withdrawn"),
                (2, 7, "gone", "active"),
                (3, 8, "gone", "withdrawn"),
                (4, 9, "kept", "withdrawn"),
                (5, 9, "kept", "active"),
            )
        ),
    )
    make_version_1(where, rows)
    with open_challenges(where) as database, database.reading() as connection:
        row = connection.execute(member.select()).one()
        assert (row.account, row.role, row.contact) == (7, "captain", "")
        rows = connection.execute(submission.select().order_by(submission.c.key))
        assert [row.withdrawn for row in rows] == [None, 8]  # the log knows when
