"""The tables: made by the migrations, the same in both databases, and guarding themselves."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import threading
from dataclasses import replace

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import inspect, text
from sqlalchemy.exc import DBAPIError, IntegrityError

from reelscore import DataError
from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.store import schema
from reelscore.campaigns.store.schema import metadata
from reelscore.errors import MissingExtraError
from reelscore.store import database
from reelscore.store.database import Database
from support.made_hits import begun_campaign, rating_hits


@pytest.fixture
def filled(where):
    """A database with one judgment in it, and a campaign over it."""
    with begun_campaign(where) as (campaign, _):
        campaign.skip(campaign.claim("r2").id, "r2", "t1-0", "no picture")
        yield campaign


def test_the_migrations_lead_to_the_schema(where):
    with (
        Database(where, schema.MIGRATIONS, create=True) as database,
        database.reading() as connection,
    ):
        options = {"version_table": schema.MIGRATIONS.version_table, "compare_type": True}
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, metadata) == []
        for table in metadata.sorted_tables:
            inspector = inspect(connection)
            checks = {each["name"] for each in inspector.get_check_constraints(table.name)}
            wanted = {
                each.name for each in table.constraints if type(each).__name__ == "CheckConstraint"
            }
            assert checks == wanted


@pytest.mark.parametrize("table", ["judgment", "skip", "event"])
@pytest.mark.parametrize("change", ["UPDATE {} SET {} = {} + 100", "DELETE FROM {}"])
def test_judgments_reports_and_the_log_are_never_changed(filled, table, change):
    said = f"rows of {table} are never changed or removed"
    number = "time" if table == "skip" else "id"
    with pytest.raises(DBAPIError, match=said), filled.database.writing() as connection:
        connection.execute(text(change.format(table, number, number)))
    assert filled.judgments().score.tolist() == [71.0]
    assert len(filled.events()) == 1


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("INSERT INTO judgment (assignment, task, slot, criterion, score, position, received, "
         "client) SELECT assignment, task, slot, criterion, 3, position, received, client "
         "FROM judgment", "an answer twice"),
        ("INSERT INTO judgment (assignment, task, slot, criterion, score, position, received, "
         "client) SELECT assignment, task, 7, criterion, 3, position, received, client "
         "FROM judgment", "of no caption"),
        ("INSERT INTO assignment (campaign, hit, slot, turn, state, rater, client, status) SELECT "
         "campaign, hit, slot, 9, 'held', 'r2', '', '' FROM assignment WHERE rater = 'r1'",
         "two raters in one place"),
        ("INSERT INTO assignment (campaign, hit, slot, turn, state, rater, client, status) SELECT "
         "campaign, hit, 5, 0, 'done', 'r1', '', '' FROM assignment WHERE rater = 'r1'",
         "a HIT twice for one rater"),
        ("UPDATE assignment SET state = 'held', rater = 'r1' WHERE state = 'open'",
         "two HITs at a time"),
        ("UPDATE assignment SET rater = 'r3' WHERE state = 'open'", "a rater without a claim"),
        ("UPDATE assignment SET state = 'lost'", "no such state"),
        ("INSERT INTO hit (campaign, id) SELECT campaign, id FROM hit", "a HIT twice"),
        ("INSERT INTO hit (campaign, id) VALUES ('nothing', 'h')", "of no campaign"),
    ],
)  # fmt: skip
def test_the_database_itself_refuses(filled, statement, why):
    with pytest.raises(IntegrityError), filled.database.writing() as connection:
        connection.execute(text(statement))


def test_sqlite_keeps_what_it_acknowledges(tmp_path):
    with Database(tmp_path / "c.db", create=True) as database, database.reading() as connection:
        wanted = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 60000}
        for name, value in wanted.items():
            assert connection.execute(text(f"PRAGMA {name}")).scalar() == value


def test_postgresql_keeps_what_it_acknowledges(postgres_url):
    from support.postgres_server import new_database

    url = new_database(postgres_url)
    name = url.partition("?")[0].rpartition("/")[2]
    with Database(url, create=True) as database:
        with database.writing() as connection:
            connection.execute(text(f"ALTER DATABASE {name} SET synchronous_commit = off"))
        database.engine.dispose()
        with database.reading() as connection:
            assert connection.execute(text("SHOW synchronous_commit")).scalar() == "on"


def test_readers_see_one_moment(filled):
    with filled.database.reading() as connection:
        count = text("SELECT count(*) FROM judgment")
        before = connection.execute(count).scalar()
        held = filled.claim("r1")
        filled.submit(held.id, "r1", "t0-1", {"adequacy": [1]})
        assert connection.execute(count).scalar() == before == 1
    assert filled.status().judgments == 2


# Older, newer, foreign


@pytest.fixture
def migrate_by(tmp_path, monkeypatch):
    """Give the schema a version 3, made by statements."""

    def migrate_by(*statements):
        scripts = tmp_path / "migrations"
        shutil.copytree(schema.MIGRATIONS.scripts, scripts)
        (scripts / "versions" / "v3_more.py").write_text(
            "import sqlalchemy as sa\nfrom alembic import op\nrevision = '3'\ndown_revision = '2'\n"
            "def upgrade():\n" + "".join(f"    {each}\n" for each in statements)
        )
        monkeypatch.setattr(schema, "MIGRATIONS", replace(schema.MIGRATIONS, scripts=scripts))

    return migrate_by


def test_an_older_database_is_brought_up_to_date(where, monkeypatch, migrate_by):
    with Campaign.create(where, "Dogs", systems=["mine"]):
        pass
    migrate_by("op.add_column('campaign', sa.Column('note', sa.Text))")
    with Campaign.open(where) as campaign, campaign.database.reading() as connection:
        assert "note" in [each["name"] for each in inspect(connection).get_columns("campaign")]
    monkeypatch.undo()
    with pytest.raises(DataError, match=r"newer version .*have version 3, .*knows them up to 2"):
        Campaign.open(where)
    with pytest.raises(DataError, match="newer version"):
        Campaign.create(where, "Cats", systems=["mine"])


def test_a_failed_upgrade_changes_nothing(where, monkeypatch, migrate_by):
    with Campaign.create(where, "Dogs", systems=["mine"]):
        pass
    migrate_by("op.drop_table('event')", "raise RuntimeError('no')")
    with pytest.raises(RuntimeError, match="no"):
        Campaign.open(where)
    monkeypatch.undo()
    with Campaign.open(where) as campaign:
        assert campaign.events() == []


OPENING = """
import sys
from reelscore.campaigns.campaign import Campaign
with Campaign.create(sys.argv[1], sys.argv[2], systems=["mine"]) as campaign:
    print(campaign.id)
"""


def test_many_processes_may_make_the_first_campaigns_at_once(where):
    names = [f"c{k}" for k in range(4)]
    running = [
        subprocess.Popen([sys.executable, "-c", OPENING, where, name], stdout=subprocess.PIPE)
        for name in names
    ]
    assert [process.communicate()[0].decode().strip() for process in running] == names
    assert sorted(terms.id for terms in Campaign.list(where)) == names


def test_threads_may_share_a_campaign(where):
    with Campaign.create(where, "Dogs", systems=["mine"], raters_per_hit=4) as campaign:
        campaign.add_hits(rating_hits(4, 3, ["mine"]))
        campaign.set_state("open", actor="me")
        failures = []

        def work(rater):
            try:
                while held := campaign.claim(rater):
                    for task in held.remaining:
                        campaign.submit(held.id, rater, task.id, {"adequacy": [1]})
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(f"r{k}",)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        status = campaign.status()
        assert (status.judgments, status.done, status.finished) == (48, 16, 4)


def test_places_where_no_campaign_is(tmp_path, postgres_url):
    with pytest.raises(DataError, match="no such file; make a campaign or a challenge there first"):
        Campaign.open(tmp_path / "none.db")
    assert not (tmp_path / "none.db").exists()
    with pytest.raises(DataError, match="no folder"):
        Campaign.create(tmp_path / "no" / "c.db", "Dogs", systems=["mine"])
    with pytest.raises(DataError, match="is a folder"):
        Campaign.create(tmp_path, "Dogs", systems=["mine"])
    (tmp_path / "text.db").write_text("This is not a database. " * 50)
    with pytest.raises(DataError, match="not a SQLite file"):
        Campaign.create(tmp_path / "text.db", "Dogs", systems=["mine"])
    with pytest.raises(DataError, match="holds neither campaigns nor challenges"):
        Campaign.open(postgres_url)


def test_the_database_of_another_program_is_left_alone(tmp_path):
    connection = sqlite3.connect(tmp_path / "bookmarks.db")
    connection.execute("CREATE TABLE bookmark (url TEXT)")
    connection.close()
    before = (tmp_path / "bookmarks.db").read_bytes()
    with pytest.raises(DataError, match="a database of another program; name a new file"):
        Campaign.create(tmp_path / "bookmarks.db", "Dogs", systems=["mine"])
    assert (tmp_path / "bookmarks.db").read_bytes() == before


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("mysql://me:secret@lab/dogs", r"mysql://me:\*\*\*@lab/dogs: .* not mysql"),
        ("nonsense://", "not a database URL|not nonsense"),
        ("postgresql://me:secret@lab:x/dogs", "not a database URL"),
        ("sqlite://", "kept in a file"),
        ("sqlite:///:memory:", "kept in a file"),
    ],
)
def test_urls_that_cannot_be(url, said):
    with pytest.raises(DataError, match=said) as refused:
        Campaign.open(url)
    assert "secret" not in str(refused.value)


def test_a_server_that_does_not_answer_is_named_without_its_password(tmp_path):
    with pytest.raises(DataError, match="cannot be used") as refused:
        Campaign.open(f"postgresql://me:secret@/dogs?host={tmp_path}")
    assert "secret" not in str(refused.value)


def test_without_psycopg_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'reelscore\[web\]'"):
        Campaign.open("postgresql://lab/dogs")


def test_a_busy_database_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(database, "PATIENCE", 0.1)
    with Campaign.create(tmp_path / "c.db", "Dogs", systems=["mine"]) as campaign:
        other = Campaign.open(tmp_path / "c.db")
        busy = pytest.raises(DataError, match="busy too long; try again")
        with campaign.database.writing(), busy, other:
            other.set_state("open", actor="me")
        campaign.set_state("open", actor="me")
