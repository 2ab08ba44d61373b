"""Servers and workers of a challenge are killed with -9: nothing is lost, nothing doubled."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from sqlalchemy import func, select

from reelscore.challenge import scorers
from reelscore.challenge.arena import Arena, server_clock
from reelscore.challenge.challenges import find_phase
from reelscore.challenge.store import tables
from reelscore.challenge.store.events import broken_link
from reelscore.challenge.submissions import list_submissions
from support import challenge_process
from support.challenge_data import a_team, captions, new_arena

PROCESS = Path(challenge_process.__file__)
PAST = 15_000_000  # microseconds that a lease may be past its end


class Killers:
    """Processes that are killed and begin again, and those that send to them."""

    def __init__(self, where, folder, workers, deaths, *, quick):
        self.where, self.deaths = where, deaths
        self.path = str(folder / "socket")
        self.environment = {**os.environ, "PYTHONPATH": str(PROCESS.parents[1])}
        if quick:
            self.environment["QUICK"] = "1"
        self.seeds = iter(range(10**6))
        self.running = {}
        self.killed = {"serve": 0, "work": 0}
        self.names = ["serve", *(f"work {k}" for k in range(workers))]

    def begin(self, name, deaths):
        role = name.partition(" ")[0]
        place = [self.path] if role == "serve" else []
        command = [sys.executable, PROCESS, role, self.where, *place, str(next(self.seeds))]
        self.running[name] = subprocess.Popen([*command, str(deaths)], env=self.environment)

    def look(self, deaths):
        """Begin again whatever has died."""
        for name in self.names:
            process = self.running.get(name)
            if process is not None and process.poll() is not None:
                assert process.returncode == -signal.SIGKILL, f"{name} failed"
                self.killed[name.partition(" ")[0]] += 1
            if process is None or process.poll() is not None:
                self.begin(name, deaths)

    def kill(self, name):
        self.running[name].send_signal(signal.SIGKILL)
        self.running[name].wait()

    def kill_scorer(self):
        """Kill a process that scores for the server, if there is one."""
        server = self.running["serve"].pid
        for place in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError, ValueError):
                parent = int((place / "stat").read_text().rpartition(")")[2].split()[1])
                if parent == server and b"scorers:answer" in (place / "cmdline").read_bytes():
                    os.kill(int(place.name), signal.SIGKILL)
                    self.killed["work"] += 1
                    return

    def end(self):
        for process in self.running.values():
            process.kill()
            process.wait()


def send_all(path, numbers, acknowledged):
    """Send submissions until each is acknowledged; what is not is sent again with its key."""
    while True:
        try:
            number = numbers.get_nowait()
        except queue.Empty:
            return
        while number not in acknowledged:
            with contextlib.suppress(OSError, ValueError), socket.socket(socket.AF_UNIX) as line:
                line.connect(path)
                with line.makefile("rw") as file:
                    file.write(json.dumps({"key": f"k{number}", "number": number}) + "\n")
                    file.flush()
                    acknowledged[number] = json.loads(file.readline())["id"]
            if number not in acknowledged:
                time.sleep(0.02)


def states(arena):
    with arena.database.reading() as connection:
        by_state = select(tables.job.c.state, func.count()).group_by(tables.job.c.state)
        return {row[0]: row[1] for row in connection.execute(by_state)}


def past_lease(arena):
    """How far the oldest lease is past its end, in microseconds."""
    with arena.database.reading() as connection:
        held = select(func.min(tables.job.c.leased_until)).filter_by(state="scoring")
        oldest = connection.scalar(held)
        return 0 if oldest is None else server_clock(connection) - oldest


def run(where, folder, *, submissions, workers, server_kills, worker_kills, quick):
    """Send submissions through all the killing; give what was acknowledged, and who was killed."""
    numbers = queue.SimpleQueue()
    for number in range(submissions):
        numbers.put(number)
    acknowledged, chance = {}, random.Random(7)
    killers = Killers(where, folder, workers, 0.03, quick=quick)
    arena = Arena(tables.open_challenges(where))
    threads = [
        threading.Thread(target=send_all, args=(killers.path, numbers, acknowledged), daemon=True)
        for _ in range(4)
    ]
    killers.look(killers.deaths)
    for thread in threads:
        thread.start()
    longest, last_kill, begun = 0, time.monotonic(), time.monotonic()
    try:
        while True:
            time.sleep(0.05)
            longest = max(longest, past_lease(arena))
            enough = (
                killers.killed["serve"] >= server_kills and killers.killed["work"] >= worker_kills
            )
            before = dict(killers.killed)
            killers.look(0.0 if enough else killers.deaths)
            if killers.killed != before:
                last_kill = time.monotonic()
            now = states(arena)
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
                    killers.kill_scorer()
        if quick:
            assert time.monotonic() - begun < 300
    finally:
        killers.end()
    for thread in threads:
        thread.join()
    arena.database.close()
    return acknowledged, killers.killed, longest


def check(where, acknowledged, quiet):
    """Compare what is in the database with what was acknowledged and with a quiet run."""
    arena = Arena(tables.open_challenges(where))
    rows = list_submissions(arena)
    assert {row.id for row in rows} == set(acknowledged.values())
    assert len(rows) == len(acknowledged)
    assert sorted(row.number for row in rows) == list(range(1, len(rows) + 1))
    assert {row.state for row in rows} == {"scored"}
    by_id = {id: number for number, id in acknowledged.items()}
    with arena.database.reading() as connection:
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
    arena.database.close()


@pytest.fixture
def quiet(where, tmp_path):
    """A challenge that is open now, and what each of its submissions scores in a quiet run."""
    arena, known = new_arena(where, tmp_path, clock=server_clock, limits="total = 100000")
    text = (tmp_path / "dogs.toml").read_text()
    (tmp_path / "dogs.toml").write_text(text.replace("closes = 2026", "closes = 2999"))
    from reelscore.challenge.challenges import make_challenge
    from reelscore.challenge.jobs import references_of

    make_challenge(arena, tmp_path / "dogs.toml")
    a_team(arena, known)
    settings = find_phase(arena, known, "main").settings
    with arena.database.reading() as connection:
        key = connection.execute(select(tables.split.c.key)).scalar_one()
    score, items = scorers.prepare(settings, *references_of(arena, key), 1)
    arena.database.close()

    def scored(number):
        own = list(json.loads(captions(number)).values())
        split = scorers.score_split(score, items, own, settings)
        return [(name, value, *split.draws.interval(name)) for name, value, _ in split.scores]

    return scored


@pytest.mark.parametrize("where", ["sqlite"], indirect=True)
def test_a_killed_server_loses_and_doubles_nothing(where, tmp_path, quiet):
    acknowledged, killed, longest = run(
        *(where, tmp_path),
        **{"submissions": 16, "workers": 0, "server_kills": 3, "worker_kills": 0, "quick": True},
    )
    check(where, acknowledged, quiet)
    assert killed["serve"] >= 3
    assert longest < PAST


@pytest.mark.full
def test_killed_servers_and_workers_lose_and_double_nothing(where, tmp_path, quiet):
    is_sqlite = "://" not in where
    sizes = {"submissions": 500, "server_kills": 20, "worker_kills": 50}
    acknowledged, killed, longest = run(
        where, tmp_path, workers=0 if is_sqlite else 4, quick=False, **sizes
    )
    check(where, acknowledged, quiet)
    assert killed["serve"] >= 20
    assert killed["work"] >= 50
    print(f"{killed} killed; a lease was at most {longest / 1e6:.1f} s past its end")
    assert longest < PAST
