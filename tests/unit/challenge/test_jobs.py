"""The queue: leases, faults, claims, generations; whoever dies, each job is scored once."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import select, update

import support
from reelscore.challenge import jobs
from reelscore.challenge.challenges import find_phase
from reelscore.challenge.draws import Draws, ScoredSplit
from reelscore.challenge.job_results import scores_of
from reelscore.challenge.processes import harmless_environment
from reelscore.challenge.queue_state import queue_state, seen, why_waiting
from reelscore.challenge.store import tables
from reelscore.challenge.submissions import Upload, keep, list_submissions
from reelscore.challenge.uploads import Accepted
from reelscore.challenge.workers import Workers, alone_on
from reelscore.errors import DataError, RefusedError
from support.challenge_data import SECOND, a_team, new_arena

MINUTE = 60 * SECOND


@pytest.fixture
def made(mostly_sqlite, tmp_path):
    arena, known = new_arena(mostly_sqlite, tmp_path, limits="total = 100")
    yield arena, known, a_team(arena, known)
    arena.database.close()


def put(arena, known, team, number=1, text="a man"):
    accepted = Accepted(json.dumps({"test": [f"{text} {number}"] * 10}).encode())
    upload = Upload("run.json", b"{}")
    return keep(arena, known, "main", team, upload, accepted, arrived=arena.clock(None))


def scored(value=0.5, version="1"):
    scores = [("cider", value, f"cider|n:4|v:{version}")]
    return {"test": ScoredSplit(scores, Draws({"cider": np.array([value, value])}))}


def row_of(arena, id):
    [row] = [each for each in list_submissions(arena) if each.id == id]
    return row


def refunds(arena):
    with arena.database.reading() as connection:
        return [row.refunded is not None for row in connection.execute(select(tables.charge))]


@pytest.mark.parametrize("mostly_sqlite", ["sqlite", "postgresql"], indirect=True)
def test_a_lease_that_is_over_is_taken_back_and_its_result_discarded(made):
    arena, known, team = made
    id = put(arena, known, team).id
    slow = jobs.claim(arena, "slow")
    assert jobs.claim(arena, "quick") is None
    arena.clock.moment += MINUTE
    assert jobs.sweep(arena) == 0  # to the microsecond
    arena.clock.moment += 1
    assert jobs.sweep(arena) == 1
    quick = jobs.claim(arena, "quick")
    assert not jobs.renew(arena, slow)
    assert not jobs.finish(arena, slow, scored(0.1))
    assert jobs.fault(arena, slow, "late") == ""
    assert jobs.finish(arena, quick, scored(0.9))
    assert not jobs.finish(arena, quick, scored(0.8))
    assert row_of(arena, id).state == "scored"
    [of_split] = scores_of(arena, row_of(arena, id).key).values()
    assert of_split["cider"].value == 0.9


def test_a_lease_that_is_renewed_holds(made):
    arena, known, team = made
    put(arena, known, team)
    own = jobs.claim(arena, "w")
    for _ in range(4):
        arena.clock.moment += MINUTE - 1
        assert jobs.renew(arena, own)
        assert jobs.sweep(arena) == 0


def test_faults_wait_and_the_third_fails_and_is_refunded(made):
    arena, known, team = made
    id = put(arena, known, team).id
    for pause, state in ((10, "queued"), (60, "queued"), (0, "failed")):
        own = jobs.claim(arena, "w")
        assert jobs.fault(arena, own, "it was ended by SIGKILL") == state
        if pause:
            arena.clock.moment += pause * SECOND - 1
            assert jobs.claim(arena, "w") is None
            arena.clock.moment += 1
    row = row_of(arena, id)
    assert (row.state, row.faults, row.reason) == ("failed", 3, "it was ended by SIGKILL")
    assert refunds(arena) == [True]
    jobs.rerun(arena, known, id, actor="ada", reason="fixed")
    assert refunds(arena) == [False]
    assert jobs.finish(arena, jobs.claim(arena, "w"), scored())
    with pytest.raises(RefusedError, match="It is scored"):
        jobs.rerun(arena, known, id, actor="ada", reason="again")


def test_a_job_that_takes_workers_down_fails_at_the_tenth_claim(made):
    arena, known, team = made
    id = put(arena, known, team).id
    for _ in range(10):
        assert row_of(arena, id).state == "queued"
        assert jobs.claim(arena, "w") is not None
        arena.clock.moment += MINUTE + 1
        jobs.sweep(arena)
    row = row_of(arena, id)
    assert (row.state, row.faults) == ("failed", 0)
    assert "10 workers" in row.reason
    assert refunds(arena) == [True]


def test_a_new_server_voids_all_leases_of_a_file(made):
    arena, known, team = made
    put(arena, known, team)
    assert jobs.claim(arena, "dead") is not None
    assert jobs.sweep(arena, all_leases=True) == 1
    assert jobs.claim(arena, "w") is not None


def test_one_process_scores_for_a_file(made):
    arena, _, _ = made
    with alone_on(arena.database):
        if arena.database.is_sqlite:
            with pytest.raises(DataError, match="another process serves"), alone_on(arena.database):
                pass
        else:
            with alone_on(arena.database):
                pass
    with alone_on(arena.database):
        pass


@pytest.mark.parametrize("mostly_sqlite", ["sqlite", "postgresql"], indirect=True)
def test_the_order_of_the_queue(made):
    arena, known, team = made
    other = a_team(arena, known, "Others")
    ids = [put(arena, known, team, number).id for number in range(3)]
    ids.append(put(arena, known, other, 9).id)
    order = [jobs.claim(arena, "w").submission for _ in range(4)]
    assert order == [ids[0], ids[3], ids[1], ids[2]]  # nobody waits behind one team


def test_only_the_able_claim(made):
    arena, known, team = made
    id = put(arena, known, team).id
    with arena.database.writing() as connection:
        connection.execute(update(tables.job).values(needs="bertha cuda"))
    assert why_waiting(arena, id) == "no scorer with bertha cuda is running"
    assert jobs.claim(arena, "w", ["bertha"]) is None
    seen(arena, "w", ["bertha", "cuda"], 2)
    assert why_waiting(arena, id) == "place 1 in the queue"
    assert (queue_state(arena).waiting, queue_state(arena).scorers) == (1, 2)
    assert jobs.claim(arena, "w", ["bertha", "cuda"]) is not None
    assert why_waiting(arena, id) == ""


def test_all_jobs_of_a_generation_are_scored_by_one_version(made):
    arena, known, team = made
    put(arena, known, team, 1)
    put(arena, known, team, 2)
    first = jobs.claim(arena, "w", version="1")
    assert jobs.finish(arena, first, scored(version="1"))
    assert jobs.claim(arena, "w", version="2") is None
    second = jobs.claim(arena, "w", version="1")
    other = {"test": ScoredSplit([("cider", 0.5, "cider|n:3|v:1")], Draws({}))}
    with pytest.raises(DataError, match=r"score all again: reelscore challenge rescore"):
        jobs.finish(arena, second, other)
    assert jobs.give_back(arena, second, "other")
    assert jobs.finish(arena, jobs.claim(arena, "w", version="1"), scored(version="1"))


def test_a_generation_is_shown_when_all_of_it_is_done(made):
    arena, known, team = made
    for number in range(2):
        put(arena, known, team, number)
        assert jobs.finish(arena, jobs.claim(arena, "w", version="1"), scored(version="1"))
    assert jobs.rescore(arena, known, "main", actor="ada") == 2
    with pytest.raises(RefusedError, match="Generation 2 is being scored"):
        jobs.rescore(arena, known, "main", actor="ada")
    for shown in (1, 2):
        own = jobs.claim(arena, "w", version="2")
        assert own.generation == 2
        assert find_phase(arena, known, "main").generation == 1
        assert jobs.finish(arena, own, scored(version="2"))
        assert find_phase(arena, known, "main").generation == shown
    assert refunds(arena) == [False, False]


def test_the_ladder_tells_what_beats_the_last(mostly_sqlite, tmp_path):
    choices = {"feedback": 'test = "ladder"', "more": "step = { test = 0.1 }"}
    arena, known = new_arena(mostly_sqlite, tmp_path, limits="concurrent = 1", **choices)
    team = a_team(arena, known)
    told = []
    for number, value in enumerate((0.52, 0.55, 0.71)):
        put(arena, known, team, number)
        assert jobs.finish(arena, jobs.claim(arena, "w", version="1"), scored(value))
        with arena.database.reading() as connection:
            last = connection.scalars(select(tables.shown.c.told).order_by(tables.shown.c.key))
            told.append(json.loads(last.all()[-1])["scores"]["cider"]["value"])
    assert told == [0.5, 0.5, 0.7]
    jobs.rescore(arena, known, "main", actor="ada")
    first = jobs.claim(arena, "w", version="1")
    assert jobs.claim(arena, "w", version="1") is None  # one after the other, in their order
    assert jobs.finish(arena, first, scored(0.52))
    assert jobs.claim(arena, "w", version="1") is not None
    arena.database.close()


@pytest.fixture
def with_support(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(support.__file__).parents[1]))


@pytest.mark.usefixtures("with_support")
def test_what_a_scoring_process_may_die_of(tmp_path, monkeypatch):
    monkeypatch.setattr(jobs, "_PAUSES", (0, 0))
    scoring = "limits = { memory_gb = 0.5 }"
    arena, known = new_arena(tmp_path / "c.db", tmp_path, scoring=scoring)
    team = a_team(arena, known)
    workers = Workers(arena, 1, target="support.deadly_scorer:answer")
    ids = {text: put(arena, known, team, 1, text).id for text in ("KILL", "EAT", "DEFECT")}
    with arena.database.writing() as connection:  # the eater has had two faults already
        eater = select(tables.submission.c.key).filter_by(id=ids["EAT"]).scalar_subquery()
        connection.execute(update(tables.job).filter_by(submission=eater).values(faults=2))
    workers.run_until_idle()
    reasons = {text: row_of(arena, id).reason for text, id in ids.items()}
    assert {row_of(arena, id).state for id in ids.values()} == {"failed"}
    assert "SIGKILL" in reasons["KILL"]
    assert "GB of memory" in reasons["EAT"]
    assert "a defect of the server, number" in reasons["DEFECT"]
    assert row_of(arena, ids["KILL"]).faults == 3
    assert refunds(arena) == [True] * 3
    arena.database.close()


@pytest.mark.parametrize("mostly_sqlite", ["sqlite", "postgresql"], indirect=True)
def test_a_generation_changes_over_when_its_last_jobs_end_at_once(made, monkeypatch):
    arena, known, team = made
    for number, own in enumerate((team, a_team(arena, known, "Others"))):
        put(arena, known, own, number)
        assert jobs.finish(arena, jobs.claim(arena, "w", version="1"), scored(version="1"))
    jobs.rescore(arena, known, "main", actor="ada")
    first, second = (jobs.claim(arena, "w", version="2") for _ in range(2))
    log, ended, names = jobs.log, threading.Event(), {}

    def slow(*arguments, **more):
        """The first one is about to commit, while the second one begins and ends."""
        if threading.current_thread().name == "first":
            names["second"].start()
            ended.wait(0.5)  # with the right lock, the second one waits for the first
        log(*arguments, **more)

    def finish_second():
        assert jobs.finish(arena, second, scored(version="2"))
        ended.set()

    monkeypatch.setattr(jobs, "log", slow)
    names["second"] = threading.Thread(target=finish_second)
    begin = {"target": jobs.finish, "args": (arena, first, scored(version="2"))}
    names["first"] = threading.Thread(name="first", **begin)
    names["first"].start()
    for name in ("first", "second"):
        names[name].join()
    assert find_phase(arena, known, "main").generation == 2


def test_helpers_know_no_secrets(monkeypatch):
    for name in ("REELSCORE_SECRET", "REELSCORE_TOKEN", "PGPASSWORD", "DATABASE_URL"):
        monkeypatch.setenv(name, "canary")
    monkeypatch.setenv("REELSCORE_CACHE", "here")
    assert "canary" not in harmless_environment().values()
    assert harmless_environment()["REELSCORE_CACHE"] == "here"
