"""Charges, grants and refunds; days and windows to the microsecond; many requests at once."""

from __future__ import annotations

import threading

import pytest
from sqlalchemy import func, select

from reelscore.challenges import quota, submissions
from reelscore.challenges.challenge import DAY
from reelscore.challenges.people.teams import accept, add_team, invite, leave, merge, team_of
from reelscore.challenges.queue import jobs
from reelscore.challenges.store import tables
from reelscore.challenges.uploads.uploads import Accepted
from reelscore.errors import DataError, RefusedError
from support.challenge_data import START, a_team, new_challenge, open_view
from support.results import made_result, split_of

ONE = b'{"test": []}'


@pytest.fixture
def made(mostly_sqlite, tmp_path):
    limits = "per_day = 2, total = 5"
    challenge = new_challenge(mostly_sqlite, tmp_path, limits=limits, more='late = "mark"')
    yield challenge
    challenge.database.close()


def put(challenge, team, number, arrived=None, **fields):
    """Keep a submission that was read already."""
    upload = submissions.Upload("run.json", b"{}", **fields)
    accepted = Accepted(b'{"test": [%d]}' % number)
    moment = challenge.store.clock(None) if arrived is None else arrived
    return submissions.keep(challenge, "main", team, upload, accepted, arrived=moment)


def left(challenge, team):
    now = quota.quota_left(challenge, challenge.find_phase("main"), team)
    return now.today, now.total


def test_days_change_at_midnight_to_the_microsecond(made):
    challenge = made
    team = a_team(challenge)
    challenge.store.clock.moment = START + DAY - 1
    put(challenge, team, 1)
    put(challenge, team, 2)
    with pytest.raises(RefusedError, match="left for today") as caught:
        put(challenge, team, 3)
    assert caught.value.reason == "quota"
    assert left(challenge, team) == (0, 3)
    challenge.store.clock.moment = START + DAY
    assert left(challenge, team) == (2, 3)
    assert put(challenge, team, 3).left.today == 1


def test_the_window_is_half_open_to_the_microsecond(made):
    challenge = made
    team = a_team(challenge)
    closes = challenge.find_phase("main").closes
    challenge.store.clock.moment = START - 1
    with pytest.raises(RefusedError, match="opens at 2026-06-01T00:00:00") as caught:
        put(challenge, team, 1)
    assert caught.value.reason == "closed"
    challenge.store.clock.moment = START
    assert not put(challenge, team, 1).late
    challenge.store.clock.moment = closes
    assert not put(challenge, team, 2, arrived=closes - 1).late  # its body came later
    assert put(challenge, team, 3).late  # this phase marks what is late
    challenge.store.clock.moment = closes + 601_000_000
    with pytest.raises(RefusedError, match="took too long to arrive"):
        put(challenge, team, 4, arrived=closes - 1)


def test_late_entries_are_refused_unless_the_phase_takes_them(mostly_sqlite, tmp_path):
    challenge = new_challenge(mostly_sqlite, tmp_path)
    team = a_team(challenge)
    challenge.store.clock.moment = closes = challenge.find_phase("main").closes
    with pytest.raises(RefusedError, match="closed at 2026-06-11"):
        put(challenge, team, 1)
    challenge.change_dates("main", actor="ada", reason="the server was down", closes=closes + 1)
    assert not put(challenge, team, 1).late
    with pytest.raises(DataError, match="opens, then closes"):
        challenge.change_dates("main", actor="ada", reason="oh", closes=START - 1)
    challenge.database.close()


@pytest.mark.parametrize(
    ("rules", "places"),
    [
        ('late = "mark"', ["late", "late"]),
        ('after = "open"', ["after", "after"]),
        ('late = "mark"\nafter = "open"', ["late", "after"]),  # after the reveal, nobody is late
    ],
)
def test_late_entries_and_those_after_the_end_are_listed_apart(tmp_path, rules, places):
    more = f"reveals = 2026-06-15T00:00:00Z\n{rules}"
    challenge = new_challenge(tmp_path / "c.db", tmp_path, more=more)
    phase = challenge.find_phase("main")
    for number, moment in enumerate((phase.closes - 1, phase.closes, phase.reveals)):
        if places == ["late", "late"] and moment == phase.reveals:
            moment -= 1
        challenge.store.clock.moment = moment
        assert put(challenge, a_team(challenge, f"T{number}"), number).late is (number > 0)
        jobs.finish(
            challenge.store,
            jobs.claim(challenge.store, "w", version="1"),
            {"test": split_of(made_result("cider", 0.5, signature="cider|v:1"))},
        )
    board = open_view(challenge.database, "dogs", now=phase.reveals).board("test")
    assert [(row.team, row.rank) for row in board.rows] == [("T0", "1")]
    assert [(row.team, row.place) for row in board.below] == [
        ("T1", places[0]),
        ("T2", places[1]),
    ]
    # the deadline is moved, and what came before it is not late any more
    challenge.change_dates(
        "main", actor="ada", reason="the server was down", closes=phase.closes + 1
    )
    board = open_view(challenge.database, "dogs", now=phase.reveals).board("test")
    assert [row.team for row in board.rows] == ["T0", "T1"]
    challenge.database.close()


def test_grants_refunds_and_cancelling(made):
    challenge = made
    team, phase = a_team(challenge), challenge.find_phase("main")
    first = put(challenge, team, 1)
    put(challenge, team, 2)
    assert left(challenge, team) == (0, 3)
    with pytest.raises(DataError, match="Say why"):
        quota.give(challenge, phase, team, 1, actor="ada", reason="")
    quota.give(challenge, phase, team, 3, actor="ada", reason="lost a day")
    assert left(challenge, team) == (3, 6)
    jobs.cancel(challenge, first.id)
    assert left(challenge, team) == (4, 7)
    with pytest.raises(RefusedError, match="It is cancelled"):
        jobs.cancel(challenge, first.id)
    challenge.store.clock.moment += DAY  # what was granted yesterday counts in all, not today
    assert left(challenge, team) == (2, 7)
    quota.give(challenge, phase, team, 1, actor="ada", reason="one more")
    assert left(challenge, team) == (3, 8)
    for amount, message in [(-5, "granted 4 in main; 5 cannot"), (0, "The amount is 0")]:
        with pytest.raises(DataError, match=message):
            quota.give(challenge, phase, team, amount, actor="ada", reason="a mistake")
    quota.give(challenge, phase, team, -3, actor="ada", reason="a mistake")
    assert left(challenge, team) == (2, 5)  # today's, then two of yesterday's
    quota.give(challenge, phase, team, -1, actor="ada", reason="a mistake")
    assert left(challenge, team) == (2, 4)


def test_what_is_being_scored_cannot_be_cancelled(made):
    challenge = made
    receipt = put(challenge, a_team(challenge), 1)
    assert jobs.claim(challenge.store, "w") is not None
    with pytest.raises(RefusedError, match="It is scoring"):
        jobs.cancel(challenge, receipt.id)


def test_concurrent(mostly_sqlite, tmp_path):
    challenge = new_challenge(mostly_sqlite, tmp_path, limits="concurrent = 1")
    team = a_team(challenge)
    put(challenge, team, 1)
    with pytest.raises(RefusedError) as caught:
        put(challenge, team, 2)
    assert caught.value.reason == "concurrent"
    own = jobs.claim(challenge.store, "w")
    jobs.finish(challenge.store, own, {})
    put(challenge, team, 2)
    challenge.database.close()


def test_baselines_are_not_charged(made):
    challenge = made
    team = add_team(challenge, "Nearest", kind="baseline")
    for number in range(4):
        put(challenge, team, number)
    with challenge.reading() as connection:
        assert connection.execute(select(func.count(tables.charge.c.key))).scalar_one() == 0


@pytest.mark.parametrize("mostly_sqlite", ["sqlite", "postgresql"], indirect=True)
def test_fifty_requests_for_the_last_unit(made):
    challenge = made
    team = a_team(challenge)
    put(challenge, team, 0)
    begin, outcomes = threading.Barrier(50), []

    def request(number):
        begin.wait()
        try:
            outcomes.append(put(challenge, team, number).id)
        except RefusedError as error:
            outcomes.append(error.reason)

    threads = [threading.Thread(target=request, args=(number,)) for number in range(1, 51)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes.count("quota") == 49
    with challenge.reading() as connection:
        charged = connection.execute(select(func.count(tables.charge.c.key))).scalar_one()
        numbers = sorted(connection.scalars(select(tables.submission.c.number)))
    assert (charged, numbers) == (2, [1, 2])


@pytest.mark.parametrize("mostly_sqlite", ["sqlite", "postgresql"], indirect=True)
def test_fifty_times_the_same_request(made):
    challenge = made
    team = a_team(challenge)
    begin, ids = threading.Barrier(20), []

    def request():
        begin.wait()
        ids.append(put(challenge, team, 1, idempotency="same").id)

    threads = [threading.Thread(target=request) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ids) == 20
    assert len(set(ids)) == 1


def test_merging_adds_up_what_both_have_used(made):
    challenge = made
    one = add_team(challenge, "One", account=1)
    two = add_team(challenge, "Two", account=2)
    put(challenge, one, 1)
    put(challenge, two, 2)
    merge(challenge, one, two, actor="ada", reason="one lab")
    assert left(challenge, two) == (0, 3)
    assert team_of(challenge, 1).id == two.id
    with pytest.raises(RefusedError, match="merged into another"):
        put(challenge, one, 3)


def test_members(made):
    challenge = made
    team = add_team(challenge, "One", account=1)
    token = invite(challenge, team)
    assert accept(challenge, token, 2).id == team.id
    for again in (token, "guess"):
        with pytest.raises(RefusedError, match="has been used"):
            accept(challenge, again, 3)
    with pytest.raises(RefusedError, match="in a team already"):
        add_team(challenge, "Mine", account=2)
    leave(challenge, 1)
    assert team_of(challenge, 1) is None
    with challenge.reading() as connection:
        rows = connection.execute(select(tables.member.c.account, tables.member.c.role)).all()
    assert sorted(rows) == [(1, "member"), (2, "captain")]


@pytest.mark.parametrize(
    ("taken", "name", "said"),
    [
        ("Team One", "team-0ne", "looks like"),
        ("Nice", "Nісе", "mixes letters"),
        ("Асе", "Ace", "looks like"),
        ("Dogs", "Do\u200bgs", "U+200B"),
        ("Dogs", "D\u202eogs", "U+202E"),
        ("Dogs", "d o g s !", "looks like"),
        ("Dogs", "x" * 61, "61 characters"),
        ("Dogs", "!!!", "no letter"),
    ],
)
def test_names_that_could_be_mistaken(tmp_path, taken, name, said):
    challenge = new_challenge(tmp_path / "c.db", tmp_path)
    add_team(challenge, taken)
    with pytest.raises(DataError) as caught:
        add_team(challenge, name)
    assert said in str(caught.value)
    challenge.database.close()
