"""How often a request opens the database: each opening is a transaction of its own."""

from __future__ import annotations

from collections import Counter

import pytest
from sqlalchemy import event

from reelscore.web.app import create_app
from reelscore.web.settings import Settings
from support.server import SECRET, small_campaign
from support.visits import URL, Visitor


@pytest.fixture
def visitor(where):
    small_campaign(where)
    visitor = Visitor(create_app(Settings(where, url=URL, secret=SECRET)))
    visitor.begin()
    yield visitor
    visitor.site.database.close()


@pytest.fixture
def openings(visitor):
    """Connections taken, and transactions begun and committed."""
    counts = Counter()
    engine = visitor.site.database.engine
    for name in ("checkout", "begin", "commit"):
        event.listen(engine, name, lambda *_, name=name: counts.update([name]))
    return counts


def test_an_answer_opens_the_database_once(visitor, openings):
    proof = visitor.proof
    openings.clear()
    assert visitor.answer(1, 71, proof=proof).json()["new"] is True
    assert openings == {"checkout": 1, "begin": 1, "commit": 1}
    openings.clear()
    assert visitor.answer(1, 71, proof=proof).json()["new"] is False
    assert openings == {"checkout": 1, "begin": 1, "commit": 1}


def test_a_refused_answer_opens_it_once_and_leaves_nothing(visitor, openings):
    proof = visitor.proof
    openings.clear()
    assert visitor.answer(1, 171, proof=proof).status_code == 422
    assert visitor.answer(7, 71, proof=proof).status_code == 404
    assert openings == {"checkout": 2, "begin": 2}
    assert len(visitor.app.state.campaigns.get("dogs").judgments()) == 0


def test_a_stranger_opens_nothing(visitor, openings):
    stranger = Visitor(visitor.app)
    proof = stranger.proof
    openings.clear()
    assert stranger.answer(1, 71, proof=proof).status_code == 403
    assert openings == {}
