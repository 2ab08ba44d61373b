"""What challenges add to a server: their pages, scorers at work, and the readers of uploads."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from urllib.parse import quote

from anyio import CapacityLimiter
from starlette.routing import BaseRoute

from reelscore.challenges.challenge import Challenges, Clock
from reelscore.challenges.notices import Notices
from reelscore.challenges.queue.queue_state import queue_state
from reelscore.challenges.queue.workers import Workers, alone_on, default_scorers
from reelscore.challenges.uploads.uploads import Readers
from reelscore.store.database import server_clock
from reelscore.store.values import microseconds
from reelscore.text.tokens import thread_count
from reelscore.web.requests import API, routes_of
from reelscore.web.security import Attempts
from reelscore.web.settings import Settings
from reelscore.web.site import HOUR, ORGANISE, Website, WingPages
from reelscore.web.store.accounts import Account

PATH = "/challenges"
_LETTERS = 3  # more than one, since a letter may be lost
_OWN_PAGE = re.compile(r"/challenges(/[\w./-]*(\?invitation=[\w.-]+)?)?")


class ChallengePages(WingPages):
    """The challenges of a server.

    Attributes:
        challenges: Those of the database, by its clock.
        readers: The processes that read uploads.
        uploads_at_once: How many uploads are in memory.
        registrations: Accounts that one address may make in a minute.
        letters: Those with links that an account may ask for in an hour.
        workers: The scorers, while the server runs.
    """

    name = "challenges"

    def __init__(self, site: Website) -> None:
        self.site = site
        self.challenges = Challenges(site.database, _clock(site.settings))
        number = thread_count(None)
        self.readers = Readers(number)
        self.uploads_at_once = CapacityLimiter(number)
        self.registrations = Attempts(site.settings.attempts)
        self.letters = Attempts(_LETTERS, seconds=HOUR)
        self.workers: list[Workers] = []
        self.routes = _routes()
        self.uploads = dict.fromkeys(
            (
                PATH + "/[^/]+/submit",
                API + "/challenges/[^/]+/phases/[^/]+/(check|submissions)",
            ),
            site.settings.largest_submission,
        ) | {ORGANISE + "/challenge": site.settings.largest_upload}

    @contextmanager
    def lifespan(self) -> Iterator[None]:
        """Run the scorers, where the server has any, and what sends notices.

        A server without them still takes back what dead workers held. A SQLite file has one
        process that does, the one that scores.
        """
        database, scorers = self.site.database, self.site.settings.scorers
        if scorers is None:  # one is enough for a challenge that may be made later
            scorers = default_scorers() if self.challenges.all() else 1
        with ExitStack() as running:
            running.callback(self.readers.close)
            if self.site.mail is not None:
                running.enter_context(Notices(self.site, self.challenges))
            if scorers or not database.is_sqlite:
                running.enter_context(alone_on(database))
                workers = Workers(self.challenges, scorers)
                self.workers.append(running.enter_context(workers))
            yield

    def health(self) -> dict[str, object]:
        """Return how long the queue of submissions is."""
        queue = queue_state(self.challenges)
        return {"waiting": queue.waiting, "oldest_s": queue.oldest_s, "scorers": queue.scorers}

    def home(self) -> str:
        """Return the list of challenges, if there are any."""
        return PATH if self.challenges.all() else ""

    def menu(self, account: Account) -> Sequence[tuple[str, str, str]]:
        """Return the list of challenges, if there are any, and for owners the form of a new one."""
        pages = [("challenges", PATH, "Challenges")] if self.home() else []
        new = ("challenge", f"{ORGANISE}/challenge", "New challenge")
        return [*pages, new] if account.is_owner else pages

    def open_pages(self) -> Sequence[tuple[str, str]]:
        """Return the challenges that are no drafts."""
        return [
            (f"{PATH}/{challenge.id}", challenge.definition.name)
            for challenge in self.challenges.all()
            if challenge.state != "draft"
        ]

    def login(self, path: str) -> str:
        """Return the page to log in on, which leads back to the page that was asked for."""
        return f"/account/login?to={quote(own_page(path))}" if path.startswith(PATH) else ""

    def onward(self, path: str) -> str:
        """Return the overview of the challenge that a page is about."""
        parts = path.split("/")
        if len(parts) < 4 or f"/{parts[1]}" != PATH:
            return ""
        return own_page(f"{PATH}/{parts[2]}")


def own_page(path: str) -> str:
    """Return a page of challenges to go on to; anything else is none.

    >>> own_page("/challenges/lsmdc/team"), own_page("//evil.example/challenges")
    ('/challenges/lsmdc/team', '/challenges')
    """
    return path if _OWN_PAGE.fullmatch(path) else PATH


@cache
def _routes() -> list[BaseRoute]:
    from reelscore.challenges.pages import (
        accounts,
        api,
        boards,
        console,
        overview,
        submissions,
        teams,
    )

    modules = (accounts, overview, boards, teams, submissions, console, api)
    deeds = (console.making, teams.own_deeds, submissions.own_deeds, console.decisions)
    return [*routes_of(*modules), *(route for each in deeds for route in each.routes)]


def _clock(settings: Settings) -> Clock:
    """Return the clock of challenges: the database's, unless somebody has set another."""
    if settings.clock is time.time:
        return server_clock
    return lambda _: microseconds(settings.clock())
