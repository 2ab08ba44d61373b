"""Nothing acknowledged is lost and nothing doubled, whoever is killed in the middle of whatever."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

from reelscore.campaigns.campaign import Campaign
from support import rater_process
from support.made_hits import rating_hits

PROGRESS = 15_000  # bytes that the logs must have grown before another is killed
RATER = Path(rater_process.__file__)


def test_killed_processes_lose_and_double_nothing(where, tmp_path, full):
    processes, hits, tasks = (8, 1000, 100) if full else (5, 40, 20)
    pause, hold = (3.0, 10.0) if full else (0.5, 2.0)
    with Campaign.create(where, "Durable", systems=["mine", "other"], hold=hold) as campaign:
        campaign.add_hits(rating_hits(hits, tasks))
        campaign.set_state("open", actor="me")
    start = time.perf_counter()
    killed = run_raters(where, tmp_path, processes, pause, random.Random(4))
    seconds = time.perf_counter() - start
    notes = [
        json.loads(line)
        for log in sorted(tmp_path.glob("*.log"))
        for line in log.read_text().splitlines()
    ]
    kept = {(note["rater"], note["task"]) for note in notes if note["event"] == "kept"}
    with Campaign.open(where) as campaign:
        check(campaign, notes, kept, hits, tasks)
        again = sum(note["event"] == "kept" and not note["new"] for note in notes)
        print(
            f"{hits * tasks:,} judgments by {processes} processes in {seconds:.0f} s; "
            f"{killed} killed, {campaign.status().abandoned} HITs abandoned, "
            f"{again} answers acknowledged again"
        )
    assert killed >= 3


def run_raters(where, folder, processes, pause, rng):
    """Run raters until all is done; every now and then one is killed and another begins."""
    names = iter(range(10**6))
    running: dict[str, subprocess.Popen[bytes]] = {}

    def begin(rater):
        command = [sys.executable, RATER, where, rater, folder / f"{rater}.log"]
        running[rater] = subprocess.Popen(command)

    for _ in range(processes):
        begin(f"r{next(names)}")
    killed, next_kill, noted = 0, time.monotonic() + pause, 0
    try:
        while running:
            time.sleep(0.05)
            for rater, process in list(running.items()):
                if process.poll() is not None:
                    assert process.returncode == 0, f"{rater} failed"
                    del running[rater]
            size = sum(log.stat().st_size for log in folder.glob("*.log"))
            # also by progress: on a busy machine all would be killed before they have begun
            if (
                time.monotonic() > next_kill
                and size > noted + PROGRESS
                and len(running) > processes // 2
            ):
                noted = size
                victim = rng.choice(sorted(running))
                process = running.pop(victim)
                process.send_signal(signal.SIGKILL)
                if process.wait() == -signal.SIGKILL:
                    killed += 1
                    # half come back, half are never seen again and somebody new begins
                    begin(victim if rng.random() < 0.5 else f"r{next(names)}")
                next_kill = time.monotonic() + pause * rng.uniform(0.5, 1.5)
    finally:
        for process in running.values():
            process.kill()
            process.wait()
    return killed


def check(campaign, notes, kept, hits, tasks):
    rows = list(campaign.rows())
    there = Counter((row.rater, row.task) for row in rows)
    assert set(there.values()) == {1}  # none doubled
    assert kept <= set(there)  # none lost
    sent = {(note["rater"], note["task"]) for note in notes}
    assert set(there) <= sent  # none made up
    assert all(row.score == rater_process.score_of(row.rater, row.task) for row in rows)
    raters = defaultdict(set)
    for note in notes:
        raters[note["assignment"]].add(note["rater"])
    assert all(len(names) == 1 for names in raters.values())
    status = campaign.status()
    assert (status.hits, status.finished, status.done) == (hits, hits, hits)
    assert (status.open, status.held) == (0, 0)
    finished = list(campaign.rows(finished=True))
    assert Counter(row.task for row in finished) == Counter(
        task.id for hit in campaign.hits() for task in hit.tasks
    )
    whole = Counter((row.rater, row.hit) for row in finished)
    assert set(whole.values()) == {tasks}  # each HIT by one rater, to the end
