"""Databases and exports of the first version: opened and read by this one, nothing lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from reelscore.campaigns.campaign import Campaign
from reelscore.store.database import writing
from reelscore.store.locations import database_url
from support.made_hits import Clock

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
LATER = 1_700_000_130.0


@pytest.fixture
def old_database(where):
    """A database as version 1 made and filled it: what it told the database, in tests/golden."""
    engine = create_engine(database_url(where))
    with engine.connect() as connection, writing(connection):
        for statement in (
            (GOLDEN / f"campaign_v1.{engine.dialect.name}.sql").read_text().splitlines()
        ):
            connection.exec_driver_sql(statement)
        for statement in (GOLDEN / "campaign_v1.sql").read_text().splitlines():
            connection.execute(text(statement.replace(":", "\\:")))
        if engine.dialect.name == "postgresql":
            for table in ("assignment", "judgment", "event"):  # their numbers go on from there
                sequence = f"pg_get_serial_sequence('{table}', 'id')"
                connection.execute(text(f"SELECT setval({sequence}, 100)"))
    engine.dispose()
    return where


def check(campaign):
    """What version 1 had stored, in this version's terms; then the campaign goes on."""
    assert (campaign.systems, campaign.humans) == (("mine", "human"), ("human",))
    assert campaign.settings == {"pages": {"title": "Hünde"}}
    rows = list(campaign.rows())
    assert [row.score for row in rows] == [33, 71, 71]
    assert [row.watched for row in rows] == [None, 0.95, 0.95]
    assert [row.client for row in rows] == ["", "web 1280x800", "web 1280x800"]
    assert {row.opened for row in rows} == {row.received for row in rows} == {None}
    assert rows[1].submitted - rows[1].started == 5
    status = campaign.status()
    assert (status.done, status.held, status.open, status.abandoned) == (1, 1, 2, 1)
    assert (status.skipped, campaign.skips()) == (0, [])
    assert campaign.excluded() == {"gone"}
    assert [event.what for event in campaign.events()] == ["open", "release", "exclude"]
    held = campaign.claim("held")
    first, second = held.tasks
    assert campaign.open_task(held.id, "held", first.id)
    campaign.submit(held.id, "held", first.id, {"adequacy": [5]}, watched=0.5)
    assert campaign.skip(held.id, "held", second.id, "no picture").done
    last = list(campaign.rows())[-1]
    assert (last.opened, last.received, last.watched) == (LATER, LATER, 0.5)


def test_a_database_of_version_1_is_brought_up_to_date(old_database):
    with Campaign.open(old_database, clock=Clock(LATER)) as campaign:
        check(campaign)
    with Campaign.open(old_database) as campaign:  # a second time there is nothing to do
        assert campaign.status().done == 2


def test_an_upgraded_database_still_forbids_changes(old_database):
    with Campaign.open(old_database) as campaign:
        for change in ("UPDATE judgment SET score = 1", "DELETE FROM judgment"):
            said = pytest.raises(Exception, match="never changed or removed")
            with said, campaign.database.writing() as connection:
                connection.execute(text(change))
        assert campaign.judgments().score.tolist() == [33, 71, 71]


@pytest.mark.parametrize("form", ["campaign_v1.jsonl", "campaign_v1"])
def test_an_export_of_version_1_is_read(where, form):
    with Campaign.restore(where, GOLDEN / form, clock=Clock(LATER)) as campaign:
        check(campaign)


def test_both_ways_of_an_old_campaign_lead_to_the_same(old_database, tmp_path):
    with Campaign.open(old_database) as campaign:
        campaign.export(tmp_path / "upgraded.jsonl")
    with Campaign.restore(tmp_path / "b.db", GOLDEN / "campaign_v1.jsonl") as campaign:
        campaign.export(tmp_path / "restored.jsonl")
    upgraded = (tmp_path / "upgraded.jsonl").read_bytes()
    assert upgraded == (tmp_path / "restored.jsonl").read_bytes()
    assert upgraded.startswith(b'{"type":"campaign","format":"reelscore campaign 2"')
