"""A challenge on a server without a browser: its clock, and those who take part."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from reelscore.challenges.people.teams import team_of
from reelscore.challenges.people.tokens import make_token
from reelscore.web.app import create_app
from reelscore.web.settings import Settings
from reelscore.web.store.accounts import check_account
from support.challenge_data import SECOND, START, new_challenge
from support.server import PASSWORD, SECRET
from support.visits import Visitor

HERE = "/challenges/dogs"


class At:
    """A clock that tests set."""

    def __init__(self):
        self.moment = START + SECOND

    def __call__(self):
        return self.moment / 1e6


# for tests that touch what the two databases do differently; others run on PostgreSQL with --full
on_both = pytest.mark.parametrize("mostly_sqlite", ["sqlite", "postgresql"], indirect=True)


@contextmanager
def challenge_app(folder, clock, where=None, settings=None, **choices):
    """Make an app over a new database with a small challenge, whose captains choose."""
    choices = {"more": 'final = "chosen"', **choices}
    where = where or str(folder / "dogs.db")
    challenges = new_challenge(where, folder, **choices)
    challenges.database.close()
    settings = {"secret": SECRET, "clock": clock, "attempts": 10**6, "session": 1e9} | (
        settings or {}
    )
    app = create_app(Settings(where, **settings))
    yield app
    app.state.challenges.readers.close()
    app.state.site.database.close()


class Participant(Visitor):
    """Somebody with an account and perhaps a team."""

    def register(self, name, query=""):
        return self.press(f"{HERE}/register{query}", name=name, password=PASSWORD)

    def make_team(self, name, **fields):
        return self.press(f"{HERE}/team", name=name, accept="1", **fields)

    def hand_in(self, content, what="submit", **fields):
        files = {"file": ("run.json", content)}
        data = {"proof": self.proof, "phase": "main", "what": what, **fields}
        return self.post(f"{HERE}/submit", data=data, files=files)


class Program(Visitor):
    """A program with a token, and no cookies."""

    def __init__(self, app, name, *scopes):
        site = app.state.site
        challenges = app.state.challenges.challenges
        account = check_account(site.database, name, PASSWORD)
        token = make_token(challenges, account.id, "test", scopes)
        super().__init__(app, headers={"authorization": f"Bearer {token}", "accept": "*/*"})
        self.team = team_of(challenges.find(), account.id)

    def submit(self, content, key="", **fields):
        headers = {"idempotency-key": key} if key else {}
        files = {"file": ("run.json", content)}
        where = "/api/v1/challenges/dogs/phases/main/submissions"
        return self.post(where, files=files, data=fields, headers=headers)
