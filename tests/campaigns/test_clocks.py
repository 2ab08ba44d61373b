"""Clocks that jump by hours, machines that sleep: no session and no HIT is lost."""

from __future__ import annotations

import logging

import pytest

from support.visits import Visitor, app_over

HOUR = 3600.0


class Machine:
    """A clock that can be set, and one that cannot."""

    def __init__(self):
        self.now, self.ticks = 1_800_000_000.0, 50.0

    def work(self, seconds):
        self.now += seconds
        self.ticks += seconds

    def jump(self, seconds):
        """Set the clock, or sleep."""
        self.now += seconds


@pytest.fixture
def machine():
    return Machine()


@pytest.fixture
def app(tmp_path, machine):
    return app_over(tmp_path, hits=1, clock=lambda: machine.now, steady=lambda: machine.ticks)


JUMPS = [5 * HOUR, 30 * HOUR, -5 * HOUR, -30 * HOUR, -400 * 24 * HOUR, 400 * 24 * HOUR]


def answer(visitor, machine, task):
    return visitor.answer(task, started=machine.now - 5, submitted=machine.now)


@pytest.mark.parametrize("seconds", JUMPS)
def test_no_session_ends_by_a_jump(app, machine, seconds):
    owner, rater = Visitor(app), Visitor(app)
    owner.log_in()
    rater.begin()
    machine.work(HOUR)
    machine.jump(seconds)
    assert owner.get("/organise").url.path == "/organise"
    assert owner.get("/organise/c/dogs").status_code == 200
    assert rater.get("/c/dogs/work").url.path == "/c/dogs/task/1"
    assert answer(rater, machine, 1).json()["new"]
    machine.work(11 * HOUR + 60)  # sessions still end
    assert owner.get("/organise").url.path == "/organise/login"


@pytest.mark.parametrize("seconds", JUMPS)
def test_no_hit_is_lost_by_a_jump(app, machine, seconds, caplog):
    rater, other = Visitor(app), Visitor(app)
    rater.begin()
    hold = app.state.campaigns.get("dogs").terms.hold
    machine.work(hold - 60)
    answer(rater, machine, 1)
    machine.jump(seconds)
    with caplog.at_level(logging.WARNING, "reelscore.web"):
        assert "no tasks for you" in other.begin().text  # the one HIT is held
    assert [record.getMessage() for record in caplog.records] == ["clock jumped"]
    machine.work(hold - 60)
    assert "no tasks for you" in other.get("/c/dogs/work").text
    assert answer(rater, machine, 2).json()["new"]
    machine.work(hold + 60)  # who stays away loses it, as ever
    assert other.get("/c/dogs/work").url.path == "/c/dogs/task/1"


def test_a_restart_gives_raters_time_to_show_that_they_are_there(tmp_path, machine):
    clocks = {"clock": lambda: machine.now, "steady": lambda: machine.ticks}
    app = app_over(tmp_path, hits=1, **clocks)
    rater, other = Visitor(app), Visitor(app)
    rater.begin()
    app.state.site.database.close()
    machine.work(48 * HOUR)  # the server is down for a weekend
    app = app_over(tmp_path, made=False, **clocks)
    again, other = Visitor(app), Visitor(app)
    again.cookies = rater.cookies
    machine.work(HOUR / 2)
    assert "no tasks for you" in other.begin().text
    assert answer(again, machine, 1).json()["new"]
    machine.work(HOUR)
    assert "no tasks for you" in other.get("/c/dogs/work").text


def test_small_differences_are_none(app, machine, caplog):
    Visitor(app).begin()
    for _ in range(10):
        machine.work(HOUR)
        machine.jump(60)  # clocks are set a little all the time
        with caplog.at_level(logging.WARNING, "reelscore.web"):
            Visitor(app).begin()
    assert caplog.records == []
    assert app.state.site.uptime.lasts(5 * HOUR)
