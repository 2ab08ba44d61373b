"""Servers and workers of a challenge are killed with -9: nothing is lost, nothing doubled.

Programs hand in over HTTP, and send again with their keys what was not answered.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import queue
import random
import signal
import threading
import time
from pathlib import Path

import httpx
import pytest
from sqlalchemy import func, select

from reelscore.challenges.challenge import Challenges, server_clock
from reelscore.challenges.people.tokens import make_token
from reelscore.challenges.queue import scorers
from reelscore.challenges.queue.jobs import FAULTS
from reelscore.challenges.store import tables
from reelscore.challenges.store.events import broken_link
from reelscore.challenges.updates import make_challenge
from reelscore.web.store.accounts import add_account
from reelscore.web.store.schema import open_database
from support import challenge_process
from support.challenge_data import a_team, captions, list_submissions, new_challenge
from support.server import PASSWORD, free_port

PAST = 15_000_000  # microseconds that a lease may be past its end
SOON = 2_000_000


class Killers:
    """Processes that are killed and begin again, and those that send to them."""

    def __init__(self, where, workers, deaths, *, quick):
        self.where, self.deaths, self.quick = where, deaths, quick
        self.port = free_port()
        # a process that has imported everything is copied, which is quicker than a new one
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload([challenge_process.__name__])
        self.seeds = iter(range(10**6))
        self.running = {}
        self.killed = {"serve": 0, "work": 0}
        self.names = ["serve", *(f"work {k}" for k in range(workers))]
        self.ready = None  # since when the server answers
        self._client = client(self.port)

    def begin(self, name, deaths):
        role = name.partition(" ")[0]
        if role == "serve":
            self.ready = None
        arguments = (role, self.where, self.port, next(self.seeds), deaths, self.quick)
        process = self._context.Process(target=challenge_process.run, args=arguments)
        process.start()
        self.running[name] = process

    def look(self, deaths):
        """Begin again whatever has died."""
        for name in self.names:
            process = self.running.get(name)
            is_alive = process is not None and process.is_alive()
            if process is not None and not is_alive:
                assert process.exitcode == -signal.SIGKILL, f"{name} failed"
                self.killed[name.partition(" ")[0]] += 1
            if not is_alive:
                self.begin(name, deaths)

    def past_lease(self, challenges):
        """How long an overdue lease was left by a server that answers, in microseconds."""
        with challenges.reading() as connection:
            held = select(func.min(tables.job.c.leased_until)).filter_by(state="scoring")
            oldest, now = connection.scalar(held), server_clock(connection)
        if self.ready is None:
            with contextlib.suppress(httpx.TransportError):
                self._client.get("/health")
                self.ready = now
        if oldest is None or self.ready is None:
            return 0
        return now - max(oldest, self.ready)

    def kill(self, name):
        self.running[name].kill()
        self.running[name].join()

    def kill_scorer(self, challenges):
        """Kill a process that scores for the server, if there is one.

        A file whose scorer dies three times fails, by the rule: two times are enough for each.
        """
        with challenges.reading() as connection:
            held = select(func.max(tables.job.c.faults)).where(
                tables.job.c.state.in_(("queued", "scoring")),
                tables.job.c.not_before <= server_clock(connection) + SOON,
            )
            if (connection.scalar(held) or 0) >= FAULTS - 1:
                return
        server = self.running["serve"].pid
        for place in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError, ValueError):
                parent = int((place / "stat").read_text().rpartition(")")[2].split()[1])
                if parent == server and b"scorers:answer" in (place / "cmdline").read_bytes():
                    os.kill(int(place.name), signal.SIGKILL)
                    self.killed["work"] += 1
                    return

    def end(self):
        self._client.close()
        for process in self.running.values():
            process.kill()
            process.join()


def client(port):
    """Give what talks to the server; it has no https, whose set-up takes longer than the rest."""
    return httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=120, verify=False)


class Programs:
    """Those who hand in: what each is answered, until it is acknowledged."""

    def __init__(self, port, token, submissions):
        self.acknowledged, self.refused = {}, []
        self._port, self._token = port, token
        self._numbers = queue.SimpleQueue()
        for number in range(submissions):
            self._numbers.put(number)
        self._threads = [threading.Thread(target=self._send_all, daemon=True) for _ in range(4)]

    def start(self):
        for thread in self._threads:
            thread.start()

    def join(self):
        for thread in self._threads:
            thread.join()

    def _send_all(self):
        with client(self._port) as server:
            while True:
                try:
                    number = self._numbers.get_nowait()
                except queue.Empty:
                    return
                while number not in self.acknowledged:
                    with contextlib.suppress(httpx.TransportError):
                        self._send(server, number)
                    if number not in self.acknowledged:
                        time.sleep(0.1)

    def _send(self, server, number):
        answer = server.post(
            "/api/v1/challenges/dogs/phases/main/submissions",
            files={"file": ("run.json", captions(number))},
            headers={"authorization": f"Bearer {self._token}", "idempotency-key": f"k{number}"},
        )
        if answer.status_code == 201:
            self.acknowledged[number] = answer.json()["id"]
        else:
            self.refused.append((answer.status_code, answer.text))


def states(challenges):
    with challenges.reading() as connection:
        by_state = select(tables.job.c.state, func.count()).group_by(tables.job.c.state)
        return {row[0]: row[1] for row in connection.execute(by_state)}


def run(where, token, *, submissions, workers, server_kills, worker_kills, quick):
    """Send submissions through all the killing; give what was acknowledged, and who was killed."""
    chance = random.Random(7)
    killers = Killers(where, workers, 0.03, quick=quick)
    challenges = Challenges(tables.open_challenges(where))
    programs = Programs(killers.port, token, submissions)
    acknowledged = programs.acknowledged
    killers.look(killers.deaths)
    programs.start()
    longest, last_kill, begun = 0, time.monotonic(), time.monotonic()
    try:
        while True:
            time.sleep(0.05)
            longest = max(longest, killers.past_lease(challenges))
            enough = (
                killers.killed["serve"] >= server_kills and killers.killed["work"] >= worker_kills
            )
            before = dict(killers.killed)
            killers.look(0.0 if enough else killers.deaths)
            if killers.killed != before:
                last_kill = time.monotonic()
            now = states(challenges)
            done = now.get("scored", 0) + now.get("failed", 0)
            if done == submissions and len(acknowledged) == submissions:
                break
            assert time.monotonic() - last_kill < 300, now
            # a kill at random whenever some more are done, so that there is progress on any machine
            share = done / submissions
            if share >= killers.killed["serve"] / (server_kills + 1) and now and not enough:
                killers.kill("serve")
            if share >= killers.killed["work"] / (worker_kills + 1) and now and not enough:
                if workers:
                    killers.kill(chance.choice(killers.names[1:]))
                elif worker_kills:
                    killers.kill_scorer(challenges)
        if quick:
            assert time.monotonic() - begun < 300
    finally:
        killers.end()
    programs.join()
    challenges.database.close()
    assert programs.refused == []
    return acknowledged, killers.killed, longest


def check(where, acknowledged, quiet):
    """Compare what is in the database with what was acknowledged and with a quiet run."""
    challenges = Challenges(tables.open_challenges(where))
    rows = list_submissions(challenges)
    assert {row.id for row in rows} == set(acknowledged.values())
    assert len(rows) == len(acknowledged)
    assert sorted(row.number for row in rows) == list(range(1, len(rows) + 1))
    assert {row.state for row in rows} == {"scored"}
    by_id = {id: number for number, id in acknowledged.items()}
    with challenges.reading() as connection:
        charged = select(func.count()).select_from(tables.charge).filter_by(refunded=None)
        assert connection.execute(charged).scalar_one() == len(rows)
        assert connection.execute(select(func.count(tables.job.c.key))).scalar_one() == len(rows)
        results = connection.execute(
            select(tables.submission.c.id, tables.result)
            .join(tables.job, tables.job.c.key == tables.result.c.job)
            .join(tables.submission, tables.submission.c.key == tables.job.c.submission)
            .order_by(tables.result.c.key)
        ).all()
        arrays = connection.execute(select(func.count(tables.array.c.key))).scalar_one()
        challenge = connection.execute(select(tables.challenge.c.key)).scalar_one()
        assert broken_link(connection, challenge) is None
    assert arrays == 3 * len(rows)
    scores = {}
    for row in results:
        scores.setdefault(by_id[row.id], []).append((row.score, row.value, row.low, row.high))
    assert set(scores) == set(acknowledged)
    for number, own in scores.items():
        assert own == quiet(number), number
    challenges.database.close()


@pytest.fixture
def quiet(where, tmp_path):
    """A challenge that is open now, what each of its submissions scores in a quiet run, a token."""
    challenge = new_challenge(where, tmp_path, clock=server_clock, limits="total = 100000")
    text = (tmp_path / "dogs.toml").read_text()
    (tmp_path / "dogs.toml").write_text(text.replace("closes = 2026", "closes = 2999"))
    from reelscore.challenges.queue.jobs import references_of

    make_challenge(challenge.store, tmp_path / "dogs.toml")
    with open_database(where) as database:
        account = add_account(database, "pat", PASSWORD, "participant")
    a_team(challenge, account=account.id)
    token = make_token(challenge.store, account.id, "", ["submit"])
    settings = challenge.find_phase("main").settings
    with challenge.reading() as connection:
        key = connection.execute(select(tables.split.c.key)).scalar_one()
    score, items = scorers.prepare(settings, *references_of(challenge.store, key), 1)
    challenge.database.close()

    def scored(number):
        own = list(json.loads(captions(number)).values())
        split = scorers.score_split(score, items, own, settings)
        return [(name, own.score, *own.interval) for name, own in split.scores.items()]

    return scored, token


@pytest.mark.parametrize("where", ["sqlite"], indirect=True)
def test_a_killed_server_loses_and_doubles_nothing(where, quiet):
    scored, token = quiet
    acknowledged, killed, longest = run(
        *(where, token),
        **{"submissions": 10, "workers": 0, "server_kills": 2, "worker_kills": 0, "quick": True},
    )
    check(where, acknowledged, scored)
    assert killed["serve"] >= 2
    assert longest < PAST


@pytest.mark.full
def test_killed_servers_and_workers_lose_and_double_nothing(where, quiet):
    scored, token = quiet
    is_sqlite = "://" not in where
    sizes = {"submissions": 500, "server_kills": 20, "worker_kills": 50}
    acknowledged, killed, longest = run(
        where, token, workers=0 if is_sqlite else 4, quick=False, **sizes
    )
    check(where, acknowledged, scored)
    assert killed["serve"] >= 20
    assert killed["work"] >= 50
    print(f"{killed} killed; a lease was at most {longest / 1e6:.1f} s past its end")
    assert longest < PAST
