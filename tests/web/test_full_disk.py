"""A full disk is called one: to machines, in the log, to organisers and to raters."""

from __future__ import annotations

import errno
import json
import logging
from types import SimpleNamespace

import pytest
from sqlalchemy import event

from reelscore.store import database as connecting
from reelscore.web.requests import LogLines
from support.browser import at_task, begin, slide, watch
from support.server import serve, small_campaign
from support.visits import Visitor, app_over


class Disk:
    """The disk under a database: SQLite is told how much room it has, and needs some each time."""

    def __init__(self, database):
        self.engine, self.most = database.engine, 2**30
        with database.writing() as connection:
            connection.exec_driver_sql("CREATE TABLE ballast (x)")
            for table in ("judgment", "web_rater"):
                connection.exec_driver_sql(
                    f"CREATE TRIGGER {table}_ballast AFTER INSERT ON {table} "
                    "BEGIN INSERT INTO ballast VALUES (zeroblob(100000)); END"
                )
        event.listen(self.engine, "connect", self._limit)

    def _limit(self, driver, _):
        driver.execute(f"PRAGMA max_page_count = {self.most}")

    def fill(self):
        with self.engine.connect() as connection:
            self.most = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        self.engine.dispose()

    def make_room(self):
        self.most = 2**30
        self.engine.dispose()


@pytest.fixture
def app(tmp_path):
    return app_over(tmp_path)


@pytest.fixture
def log():
    lines, logger = [], logging.getLogger("reelscore.web")
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(json.loads(LogLines().format(record)))
    logger.addHandler(handler)
    yield lines
    logger.removeHandler(handler)


def test_a_full_disk_is_said_everywhere(app, log):
    campaign, database = app.state.campaigns.get("dogs"), app.state.site.database
    rater, owner = Visitor(app), Visitor(app)
    rater.begin()
    owner.log_in()
    assert owner.get("/health").json()["status"] == "ok"
    disk = Disk(database)
    disk.fill()
    refused = rater.answer(1)
    assert refused.status_code == 503
    assert "disk is full" in refused.json()["message"]
    health = rater.get("/health")
    assert (health.status_code, health.json()["status"]) == (503, "disk full")
    assert [line["event"] for line in log if line["level"] == "error"] == ["disk full"]
    for page in ("/organise", "/organise/c/dogs", "/organise/c/dogs/live"):
        text = owner.get(page).text
        assert text.count("The disk of the database is full") == 1, page
    page = owner.press("/organise/c/dogs/raters", number=5)
    assert (page.status_code, "<h1>No room left</h1>" in page.text) == (503, True)
    disk.make_room()
    assert rater.get("/health").json()["status"] == "ok"  # at once
    assert rater.answer(1).json()["new"]
    assert campaign.judgments().score.tolist() == [50]


def test_it_is_forgotten_when_nothing_fails_any_more(app):
    database = app.state.site.database
    rater = Visitor(app)
    rater.begin()
    Disk(database).fill()
    assert not database.is_full
    assert rater.answer(1).status_code == 503
    assert database.is_full
    database._full_at -= 61  # seconds
    assert not database.is_full


def test_no_room_is_seen_before_anything_fails(app, monkeypatch):
    visitor = Visitor(app)
    room = SimpleNamespace(free=1000)
    monkeypatch.setattr(connecting.shutil, "disk_usage", lambda _: room)
    assert visitor.get("/health").status_code == 503
    room.free = 1 << 30
    assert visitor.get("/health").status_code == 200


def test_uploads_need_room_too(app, monkeypatch):
    owner = Visitor(app)
    owner.log_in()

    def write(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(
        "reelscore.campaigns.pages.organisers.new_campaign.shutil.copyfileobj", write
    )
    files = {"systems": ("a.json", b"[]")}
    page = owner.post("/organise/new", data={"proof": owner.proof, "name": "x"}, files=files)
    assert (page.status_code, "<h1>No room left</h1>" in page.text) == (503, True)


def test_a_rater_is_told_that_the_answer_is_kept(tmp_path, videos, quiet_page):
    page = quiet_page
    small_campaign(tmp_path / "dogs.db")
    with serve(str(tmp_path / "dogs.db"), videos=videos) as served:
        campaign = served.campaign("dogs")
        begin(page, served.invite("dogs")[0])
        at_task(page, 1)
        watch(page)
        slide(page, 50)
        disk = Disk(served.site.database)
        disk.fill()
        page.click("#next")
        page.wait_for_selector("text=disk is full")
        page.wait_for_selector("text=Your answer is kept in this browser and will be sent again")
        disk.make_room()
        at_task(page, 2)
        assert campaign.judgments().score.tolist() == pytest.approx([50], abs=3)
