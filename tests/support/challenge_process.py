"""A server or a worker of a challenge that dies: of itself at the worst moments, or when killed.

A server is the app of the pages and the programming interface; with SQLite it scores as well.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import threading
import time

import uvicorn
from sqlalchemy import event

from reelscore.challenges import submissions
from reelscore.challenges.challenge import Challenges
from reelscore.challenges.queue import jobs, scorers, workers
from reelscore.challenges.store.tables import open_challenges
from reelscore.challenges.uploads import uploads
from reelscore.errors import DataError
from reelscore.web.app import create_app
from reelscore.web.settings import Settings
from support.server import SECRET

LEASE = 5.0  # seconds
RENEWAL, SWEEP = 1.0, 0.5


class Here:
    """Stands for a process: answers in this one."""

    def __init__(self, target, *_, **__):
        self._answer = uploads.answer if "uploads" in target else scorers.answer

    def ask(self, request, *_):
        return self._answer({**request, "content": request["content"]})

    def close(self):
        pass


class Fate:
    """Ends the process at named points."""

    def __init__(self, seed, deaths):
        self._random = random.Random(seed)
        self._deaths = deaths
        self._sweeping = threading.local()

    def may_strike(self, factor=1.0):
        if self._random.random() < self._deaths * factor:
            os.kill(os.getpid(), signal.SIGKILL)

    def watch(self, engine):
        claim, sweep = jobs.claim, jobs.sweep

        def claimed(*arguments, **more):
            own = claim(*arguments, **more)
            if own is not None:
                self.may_strike()
            return own

        def swept(*arguments, **more):
            self._sweeping.now = True
            try:
                return sweep(*arguments, **more)
            finally:
                self._sweeping.now = False

        def before_commit(connection):
            if connection.get_execution_options().get("writing", False):
                # sweeps are many, and most find nothing
                self.may_strike(0.2 if getattr(self._sweeping, "now", False) else 0.5)

        jobs.claim, jobs.sweep = claimed, swept
        event.listen(engine, "commit", before_commit)


def serve(where, port, fate):
    scorers = 0 if "://" in where else 2
    settings = Settings(where, secret=SECRET, url=f"http://127.0.0.1:{port}", scorers=scorers)
    app = create_app(settings)
    database = app.state.site.database
    wait_for_lock(database)
    hand_in = submissions.hand_in

    def handed_in(*arguments, **more):
        receipt = hand_in(*arguments, **more)
        fate.may_strike()  # it is kept, and nobody was told
        return receipt

    submissions.hand_in = handed_in
    fate.watch(database.engine)
    uvicorn.run(app, port=port, log_config=None, access_log=False)


def work(where, fate):
    database = open_challenges(where)
    with workers.Workers(Challenges(database), 1):
        fate.watch(database.engine)
        while True:
            time.sleep(60)


def wait_for_lock(database):
    """Wait for the lock of a server that was killed a moment ago."""
    while True:
        with contextlib.suppress(DataError), workers.alone_on(database):
            return
        time.sleep(0.05)


def run(role, where, port, seed, deaths, quick):
    """Serve or work until killed.

    Args:
        role: ``serve`` or ``work``.
        where: The database.
        port: Of the server.
        seed: Decides when the process dies of itself.
        deaths: How likely that is at a named point: after a claim, before a commit, after a commit
            and before the answer, during a sweep.
        quick: Whether readers and scorers are no processes of their own, which start sooner.
    """
    jobs.LEASE, jobs.RENEWAL, workers.SWEEP = int(LEASE * 1e6), RENEWAL, SWEEP
    jobs._PAUSES = (500_000, 1_000_000)
    if quick:
        uploads.Helper = workers.Helper = Here
    fate = Fate(seed, deaths)
    if role == "serve":
        serve(where, port, fate)
    else:
        work(where, fate)
