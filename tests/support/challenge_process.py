"""A server or a worker of a challenge that dies: of itself at the worst moments, or when killed.

    python challenge_process.py serve WHERE SOCKET SEED DEATHS
    python challenge_process.py work WHERE SEED DEATHS

A server takes submissions from a socket, a line of JSON each, and acknowledges each with a line.
With SQLite it scores as well. SEED decides when it dies, DEATHS is how likely that is at one of the
named points: after a claim, before a commit, after a commit and before the answer, during a sweep.
With QUICK in the environment, readers and scorers are no processes of their own, which is quicker
to start; leases are short in any case.
"""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import sys
import threading
import time

from sqlalchemy import event

from reelscore.challenge import jobs, scorers, uploads, workers
from reelscore.challenge.arena import Arena
from reelscore.challenge.challenges import find_challenge
from reelscore.challenge.store.tables import open_challenges
from reelscore.challenge.submissions import Upload, hand_in
from reelscore.challenge.teams import find_team
from reelscore.errors import DataError
from support.challenge_data import captions

LEASE = 5.0  # seconds
RENEWAL, SWEEP = 1.0, 0.5


class Here:
    """Stands for a process: answers in this one."""

    def __init__(self, target, uses=0):
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


def serve(where, path, fate):
    database = open_challenges(where)
    arena = Arena(database)
    known = find_challenge(arena)
    team = find_team(arena, known, "Ours")
    readers = uploads.Readers(2)
    listening = socket.socket(socket.AF_UNIX)
    if os.path.exists(path):  # noqa: PTH110
        os.unlink(path)  # noqa: PTH108
    with held(database), workers.Workers(arena, 2 if database.is_sqlite else 0) as scoring:
        fate.watch(database.engine)
        listening.bind(path)
        listening.listen(50)

        def answer(connection):
            with connection, connection.makefile("rw") as lines:
                for line in lines:
                    asked = json.loads(line)
                    upload = Upload("run.json", captions(asked["number"]), idempotency=asked["key"])
                    receipt = hand_in(arena, readers, known, "main", team, upload)
                    scoring.wake()
                    fate.may_strike()
                    lines.write(json.dumps({"id": receipt.id}) + "\n")
                    lines.flush()

        while True:
            connection, _ = listening.accept()
            threading.Thread(target=answer, args=(connection,), daemon=True).start()


def work(where, fate):
    database = open_challenges(where)
    with workers.Workers(Arena(database), 1):
        fate.watch(database.engine)
        while True:
            time.sleep(60)


def held(database):
    """Wait for the lock of a server that was killed a moment ago."""
    while True:
        lock = workers.alone_on(database)
        try:
            lock.__enter__()
        except DataError:
            time.sleep(0.05)
            continue
        lock.__exit__(None, None, None)
        return workers.alone_on(database)


def main():
    role, where, *rest = sys.argv[1:]
    jobs.LEASE, jobs.RENEWAL, workers.SWEEP = int(LEASE * 1e6), RENEWAL, SWEEP
    jobs._PAUSES = (500_000, 1_000_000)
    if os.environ.get("QUICK"):
        uploads.Helper = workers.Helper = Here
    fate = Fate(rest[-2], float(rest[-1]))
    if role == "serve":
        serve(where, rest[0], fate)
    else:
        work(where, fate)


if __name__ == "__main__":
    main()
