"""Teams that are merged: one quota, one choice, one Ladder, one line of the board; captains."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sqlalchemy import select

from reelscore.challenges import quota, submissions
from reelscore.challenges.people.teams import accept, add_team, invite, leave, merge
from reelscore.challenges.queue import jobs
from reelscore.challenges.store import tables
from reelscore.challenges.uploads.uploads import Accepted
from reelscore.challenges.views import View
from reelscore.errors import DataError, RefusedError
from support.challenge_data import new_challenge
from support.results import made_result, split_of

LADDER = {"feedback": 'test = "ladder"', "more": "step = { test = 0.1 }"}


@pytest.fixture
def challenge(mostly_sqlite, tmp_path):
    made = new_challenge(mostly_sqlite, tmp_path, limits="total = 9", more='final = "chosen"')
    yield made
    made.database.close()


def put(challenge, team, value):
    """Hand in captions that score some value, and score them."""
    challenge.store.clock.moment += 1_000_000
    upload, accepted = submissions.Upload("run.json", b"{}"), Accepted(b'{"test": [%f]}' % value)
    moment = challenge.store.clock(None)
    id = submissions.keep(challenge, "main", team, upload, accepted, arrived=moment).id
    drawn = np.array([value, value])
    scored = split_of(made_result("cider", value, signature="cider|n:4|v:1", drawn=drawn))
    assert jobs.finish(
        challenge.store,
        jobs.claim(challenge.store, "w", version="1"),
        {"test": scored},
    )
    return id


def teams_of(challenge, *names):
    return [add_team(challenge, name) for name in names]


def board(challenge):
    made = View(challenge).board("test")
    scores = {id: results["cider"].score for id, results in made.table.results.items()}
    return [(row.team, row.id, scores[row.id], row.entries) for row in made.rows]


def test_teams_merged_one_after_the_other_are_one(challenge):
    one, two, three = teams_of(challenge, "One", "Two", "Three")
    ids = [put(challenge, team, value) for team, value in ((one, 0.1), (two, 0.2), (three, 0.3))]
    for team, into in ((one, two), (two, three)):
        merge(challenge, team, into, actor="ada", reason="one lab")
    assert board(challenge) == [("Three", ids[2], 0.3, 3)]
    left = quota.quota_left(challenge, challenge.find_phase("main"), three)
    assert left.total == 6
    with pytest.raises(RefusedError, match="captions of your submission 1"):
        put(challenge, three, 0.1)  # those of the team that was merged first
    with pytest.raises(DataError, match="Say why"):
        merge(challenge, one, three, actor="ada", reason=" ")


@pytest.mark.parametrize("place", [0, 1, 2])
def test_merged_teams_have_one_choice(challenge, place):
    one, two = teams_of(challenge, "One", "Two")
    ids = [put(challenge, one, 0.1), put(challenge, two, 0.2)]
    for id in ids:
        submissions.choose(challenge, id)
    merge(challenge, two, one, actor="ada", reason="one lab")
    ids.append(put(challenge, one, 0.3))
    submissions.choose(challenge, ids[place])
    assert [row[1] for row in board(challenge)] == [ids[place]]


def test_the_ladder_goes_on_where_the_better_of_merged_teams_was(mostly_sqlite, tmp_path):
    made = new_challenge(mostly_sqlite, tmp_path, limits="concurrent = 1", **LADDER)
    one, two = teams_of(made, "One", "Two")
    best = put(made, one, 0.52)
    put(made, two, 0.31)
    put(made, one, 0.55)
    assert [row[2:] for row in board(made)] == [(0.5, 2), (0.3, 1)]  # all entries are counted
    merge(made, one, two, actor="ada", reason="one lab")
    assert board(made) == [("Two", best, 0.5, 3)]
    put(made, two, 0.45)  # better than what this team was told, not than what the other was
    assert board(made) == [("Two", best, 0.5, 4)]
    new = put(made, two, 0.71)
    assert board(made) == [("Two", new, 0.7, 5)]
    with made.database.reading() as connection:
        texts = connection.scalars(select(tables.shown.c.told).order_by(tables.shown.c.key)).all()
    told = [json.loads(text)["scores"]["cider"]["value"] for text in texts]
    assert told == [0.5, 0.3, 0.5, 0.5, 0.7]
    made.database.close()


def captains(challenge):
    with challenge.reading() as connection:
        rows = select(tables.member.c.account).filter_by(role="captain", state="active")
        return sorted(connection.scalars(rows))


def test_a_team_with_members_has_a_captain(challenge):
    team = add_team(challenge, "One", account=1)
    tokens = [invite(challenge, team) for _ in range(2)]
    leave(challenge, 1)
    assert captains(challenge) == []
    for account, token in zip((2, 3), tokens, strict=True):
        accept(challenge, token, account)
        assert captains(challenge) == [2]
    made_by_command = add_team(challenge, "Two")
    merge(challenge, team, made_by_command, actor="ada", reason="one lab")
    assert captains(challenge) == [2]
