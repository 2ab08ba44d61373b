"""Announcements: on the overview, in the feed and in the log, to everybody and by programs."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from support.challenge_server import HERE, At, Program, challenge_app
from support.visits import Visitor

ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture
def app(tmp_path):
    with challenge_app(tmp_path, At()) as app:
        yield app


def feed(app):
    """Give the entries of the feed: their titles and texts."""
    answer = Visitor(app).get(f"{HERE}/news.atom")
    assert answer.headers["content-type"].startswith("application/atom+xml")
    entries = ElementTree.fromstring(answer.text).findall(f"{ATOM}entry")
    return [tuple(each.find(ATOM + part).text for part in ("title", "content")) for each in entries]


def test_announcements_reach_everybody(app, member, owner):
    assert feed(app) == []
    text = "The test set has <two> new clips & a rule.\nSee the data."
    assert "Announced." in owner.press(f"{HERE}/console/announcements", text=text).text
    page = Visitor(app).get(HERE).text
    assert "The test set has &lt;two&gt; new clips &amp; a rule." in page
    assert "announced" in Visitor(app).get(f"{HERE}/log").text
    program = Program(app, "ada", "organise")
    dates = {"closes": "2026-07-01T00:00:00Z", "reason": "more time"}
    api = "/api/v1/challenges/dogs"
    assert program.post(f"{api}/phases/main/extend", json=dates).status_code == 200
    assert program.post(f"{api}/announcements", json={"text": " "}).status_code == 422
    assert program.post(f"{api}/announcements", json={"text": "Second"}).status_code == 200
    first, moved, second = reversed(feed(app))
    assert first == ("Announcement", text)
    assert moved[0] == "Dates of main"
    assert "2026-07-01" in moved[1]
    assert second == ("Announcement", "Second")
    assert member.press(f"{HERE}/console/announcements", text="x").status_code == 404
