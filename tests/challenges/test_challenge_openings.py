"""How often a request about a challenge opens the database: once for all that it reads."""

from __future__ import annotations

from collections import Counter

import pytest
from sqlalchemy import event

from reelscore.challenges.pages import (
    accounts,
    api,
    boards,
    console,
    context,
    overview,
    submissions,
    teams,
)
from reelscore.challenges.queue.workers import Workers
from support.challenge_data import captions
from support.challenge_server import HERE, At, Participant, Program, challenge_app
from support.server import PASSWORD

API = "/api/v1/challenges/dogs"


@pytest.fixture
def app(tmp_path):
    with challenge_app(tmp_path, At()) as app:
        member = Participant(app)
        member.register("pat")
        member.make_team("Ours")
        member.press(f"{HERE}/team/members", shown="1")
        yield app


@pytest.fixture
def openings(app):
    """Connections taken."""
    counts = Counter()
    count = lambda *_: counts.update(["checkout"])  # noqa: E731
    event.listen(app.state.site.database.engine, "checkout", count)
    return counts


def test_a_submission_opens_the_database_at_most_four_times(app, openings):
    member, program = Participant(app), Program(app, "pat", "read", "submit")
    member.press("/account/login", name="pat", password=PASSWORD)
    proof = member.proof
    openings.clear()
    files, data = {"file": ("run.json", captions())}, {"proof": proof, "phase": "main"}
    answer = member.post(f"{HERE}/submit", data=data, files=files, follow_redirects=False)
    assert answer.status_code == 303
    assert openings["checkout"] <= 3  # who asks; whether it may be; and it is kept
    openings.clear()
    assert program.submit(captions(1)).status_code == 201
    assert openings["checkout"] <= 4  # the day of the token's use is noted besides


def test_a_board_opens_it_at_most_twice(app, openings):
    member = Participant(app)
    member.press("/account/login", name="pat", password=PASSWORD)
    member.hand_in(captions())
    assert Workers(app.state.challenges.challenges, 1).run_until_idle() == 1
    for visitor, most in ((Participant(app), 2), (member, 1)):  # first, a new board is kept
        openings.clear()
        assert "pat" in visitor.get(f"{HERE}/boards/test").text
        assert openings["checkout"] <= most
    openings.clear()
    assert member.get(f"{API}/boards/test").status_code == 200
    assert openings["checkout"] == 1


@pytest.mark.parametrize("path", ["", "/rules", "/data", "/submit", "/mine", "/team", "/log"])
def test_other_pages_open_it_once(app, openings, path):
    member = Participant(app)
    member.press("/account/login", name="pat", password=PASSWORD)
    openings.clear()
    assert member.get(f"{HERE}{path}").status_code == 200
    assert openings["checkout"] == 1


def test_all_pages_give_their_connection_back():
    for module in (accounts, api, boards, console, overview, submissions, teams):
        for route in module.router.routes:
            assert isinstance(route, context.PageRoute), route.path


def test_connections_are_given_back_whatever_happens(app):
    pool = app.state.site.database.engine.pool
    visitor = Participant(app)
    for path in (HERE, f"{HERE}/boards/none", f"{HERE}/team", "/challenges/none", f"{API}/queue"):
        visitor.get(path)
        assert pool.checkedout() == 0, path
    assert visitor.hand_in(b"{}").status_code == 401
    assert pool.checkedout() == 0
