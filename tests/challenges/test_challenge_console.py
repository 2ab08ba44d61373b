"""The organisers' console: decisions with reasons, dates, scoring again; nothing for others."""

from __future__ import annotations

import re

import pytest

from reelscore.challenges.pages import console
from reelscore.challenges.queue.workers import Workers
from reelscore.challenges.updates import make_challenge
from reelscore.web.requests import API
from support.challenge_data import captions
from support.challenge_server import HERE, At, Program, challenge_app, on_both
from support.visits import Visitor

CONSOLE = f"{HERE}/console"


@pytest.fixture
def app(mostly_sqlite, tmp_path):
    with challenge_app(tmp_path, At(), mostly_sqlite) as app:
        yield app


def test_the_console_is_for_organisers_and_its_decisions_for_owners(app, member, assistant):
    routers = (console.router, console.decisions)
    paths = {route.path for router in routers for route in router.routes}
    paths = {path for path in paths if not path.startswith(API)}
    assert len(paths) == 21
    for path in sorted(paths):
        filled = re.sub(r"\{(\w+)\}", lambda m: "dogs" if m[1] == "challenge" else "x", path)
        if path.endswith(("/console", "/live", "/definition.toml")):
            assert assistant.get(filled).status_code == 200
            assert member.get(filled).status_code == Visitor(app).get(filled).status_code == 404
        elif path.endswith("/archive"):
            assert assistant.press(filled).status_code == 200
            assert member.press(filled).status_code == 404
        else:
            assert assistant.press(filled).status_code == 403
            assert member.press(filled).status_code == 404


@on_both
def test_teams_and_submissions_are_decided_about_and_it_is_undone(app, member, owner):
    team = Program(app, "pat", "read").team.id
    member.hand_in(captions())
    Workers(app.state.challenges.challenges, 1).run_until_idle()
    page = owner.get(CONSOLE).text
    id = re.search(r"submissions/(\w{10})/status", page)[1]
    board = f"{HERE}/boards/test"

    def on_board():
        return "Ours" in Visitor(app).get(board).text

    assert on_board()
    place = f"{CONSOLE}/submissions/{id}/status"
    assert owner.press(place, status="disqualified", reason="").status_code == 422
    owner.press(place, status="disqualified", reason="copied")
    assert not on_board()
    assert member.press(f"{HERE}/submissions/{id}/restore").status_code == 403
    owner.press(place, status="active", reason="it was not")
    assert on_board()
    owner.press(f"{CONSOLE}/teams/{team}/decide", what="disqualify", reason="two accounts")
    assert not on_board()
    assert "Your team is disqualified" in member.get(HERE).text
    owner.press(f"{CONSOLE}/teams/{team}/decide", what="reinstate", reason="one account")
    assert on_board()
    done = owner.press(f"{CONSOLE}/teams/{team}/grant", phase="main", amount="2", reason="ours")
    assert "Ours may submit 2 more in main" in done.text
    assert "left today 6 of 5" in member.get(f"{HERE}/submit").text
    log = member.get(f"{HERE}/log").text
    assert "two accounts" in log
    assert not re.search(r"\bada\b", log)  # who decided is the organisers' to know


def test_dates_change_for_everybody_to_read(app, owner):
    dates = {"phase": "main", "closes": "2026-07-01T00:00:00Z", "reason": "a holiday"}
    assert owner.press(f"{CONSOLE}/dates", **dates).status_code == 200
    page = Visitor(app).get(HERE).text
    assert "a holiday" in page
    assert "2026-07-01" in page
    assert owner.press(f"{CONSOLE}/dates", **{**dates, "closes": "soon"}).status_code == 422


def test_dates_of_the_definition_change_for_everybody_to_read(app, tmp_path):
    path = tmp_path / "dogs.toml"
    path.write_text(path.read_text().replace("closes = 2026-06-11", "closes = 2026-07-02"))
    make_challenge(app.state.challenges.challenges, path)
    page = Visitor(app).get(HERE).text
    assert "main: closes 2026-06-11T00:00:00Z → closes 2026-07-02T00:00:00Z" in page


def test_all_is_scored_again_as_the_next_generation(app, member, owner):
    member.hand_in(captions())
    workers = Workers(app.state.challenges.challenges, 1)
    workers.run_until_idle()
    assert owner.press(f"{CONSOLE}/rescore", phase="main", reason="").status_code == 422
    done = owner.press(f"{CONSOLE}/rescore", phase="main", reason="a new version")
    assert "1 submission of main is scored again" in done.text
    Workers(app.state.challenges.challenges, 1).run_until_idle()
    assert "(generation 2)" in Visitor(app).get(f"{HERE}/boards/test").text


def test_links_to_register_and_to_a_new_password(app, member, owner):
    page = owner.press(f"{CONSOLE}/invite").text
    assert re.search(r"/challenges/dogs/register\?invitation=[\w.-]+", page)
    page = owner.press(f"{CONSOLE}/password", name="pat").text
    link = re.search(r"(/account/reset/[\w.-]+)", page)[1]
    assert "New password for pat" in Visitor(app).get(link).text
    assert owner.press(f"{CONSOLE}/password", name="ada").status_code == 422  # no participant
    assert "closed now" in owner.press(f"{CONSOLE}/state", state="closed", reason="over").text
