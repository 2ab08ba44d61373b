"""Teams that are merged: one quota, one choice, one Ladder, one line of the board; captains."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sqlalchemy import select

from reelscore.challenges import quota, submissions
from reelscore.challenges.boards.draws import Draws, ScoredSplit
from reelscore.challenges.challenge import find_challenge, find_phase
from reelscore.challenges.people.team_decisions import merge
from reelscore.challenges.people.teams import accept, add_team, invite, leave
from reelscore.challenges.queue import jobs
from reelscore.challenges.store import tables
from reelscore.challenges.uploads.uploads import Accepted
from reelscore.challenges.views import View
from reelscore.errors import DataError, RefusedError
from support.challenge_data import new_arena

LADDER = {"feedback": 'test = "ladder"', "more": "step = { test = 0.1 }"}


@pytest.fixture
def arena(mostly_sqlite, tmp_path):
    made, _ = new_arena(mostly_sqlite, tmp_path, limits="total = 9", more='final = "chosen"')
    yield made
    made.database.close()


def known(arena):
    return find_challenge(arena)


def put(arena, team, value):
    """Hand in captions that score some value, and score them."""
    own = known(arena)
    arena.clock.moment += 1_000_000
    upload, accepted = submissions.Upload("run.json", b"{}"), Accepted(b'{"test": [%f]}' % value)
    moment = arena.clock(None)
    id = submissions.keep(arena, own, "main", team, upload, accepted, arrived=moment).id
    scores = [("cider", value, "cider|n:4|v:1")]
    draws = Draws({"cider": np.array([value, value])})
    assert jobs.finish(
        arena, jobs.claim(arena, "w", version="1"), {"test": ScoredSplit(scores, draws)}
    )
    return id


def teams_of(arena, *names):
    return [add_team(arena, known(arena), name) for name in names]


def board(arena):
    made = View(arena.database, "dogs", now=arena.now()).board("test")
    return [
        (row.entry.team, row.entry.id, row.entry.scores["cider"].value, row.entries)
        for row in made.rows
    ]


def test_teams_merged_one_after_the_other_are_one(arena):
    one, two, three = teams_of(arena, "One", "Two", "Three")
    ids = [put(arena, team, value) for team, value in ((one, 0.1), (two, 0.2), (three, 0.3))]
    for team, into in ((one, two), (two, three)):
        merge(arena, known(arena), team, into, actor="ada", reason="one lab")
    assert board(arena) == [("Three", ids[2], 0.3, 3)]
    left = quota.quota_left(arena, find_phase(arena, known(arena), "main"), three)
    assert left.total == 6
    with pytest.raises(RefusedError, match="captions of your submission 1"):
        put(arena, three, 0.1)  # those of the team that was merged first
    with pytest.raises(DataError, match="Say why"):
        merge(arena, known(arena), one, three, actor="ada", reason=" ")


@pytest.mark.parametrize("place", [0, 1, 2])
def test_merged_teams_have_one_choice(arena, place):
    one, two = teams_of(arena, "One", "Two")
    ids = [put(arena, one, 0.1), put(arena, two, 0.2)]
    for id in ids:
        submissions.choose(arena, known(arena), id)
    merge(arena, known(arena), two, one, actor="ada", reason="one lab")
    ids.append(put(arena, one, 0.3))
    submissions.choose(arena, known(arena), ids[place])
    assert [row[1] for row in board(arena)] == [ids[place]]


def test_the_ladder_goes_on_where_the_better_of_merged_teams_was(mostly_sqlite, tmp_path):
    made, _ = new_arena(mostly_sqlite, tmp_path, limits="concurrent = 1", **LADDER)
    one, two = teams_of(made, "One", "Two")
    best = put(made, one, 0.52)
    put(made, two, 0.31)
    put(made, one, 0.55)
    assert [row[2:] for row in board(made)] == [(0.5, 2), (0.3, 1)]  # all entries are counted
    merge(made, known(made), one, two, actor="ada", reason="one lab")
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


def captains(arena):
    with arena.database.reading() as connection:
        rows = select(tables.member.c.account).filter_by(role="captain", state="active")
        return sorted(connection.scalars(rows))


def test_a_team_with_members_has_a_captain(arena):
    own = known(arena)
    team = add_team(arena, own, "One", account=1)
    tokens = [invite(arena, own, team) for _ in range(2)]
    leave(arena, own, 1)
    assert captains(arena) == []
    for account, token in zip((2, 3), tokens, strict=True):
        accept(arena, own, token, account)
        assert captains(arena) == [2]
    made_by_command = add_team(arena, own, "Two")
    merge(arena, own, team, made_by_command, actor="ada", reason="one lab")
    assert captains(arena) == [2]
