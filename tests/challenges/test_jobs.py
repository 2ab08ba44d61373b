"""The queue: leases, faults, claims, generations; whoever dies, each job is scored once."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import select, update

import support
from reelscore._version import __version__
from reelscore.challenges import submissions
from reelscore.challenges.people import teams
from reelscore.challenges.permissions import Who
from reelscore.challenges.queue import jobs, workers
from reelscore.challenges.queue.processes import Helper, harmless_environment
from reelscore.challenges.queue.queue_state import (
    capabilities,
    is_able,
    needs_of,
    queue_state,
    seen,
    waits_for,
)
from reelscore.challenges.queue.workers import Workers, alone_on
from reelscore.challenges.store import tables
from reelscore.challenges.submissions import Upload, keep
from reelscore.challenges.uploads.uploads import Accepted
from reelscore.challenges.views import View
from reelscore.errors import DataError, RefusedError
from support.challenge_data import SECOND, a_team, list_submissions, new_challenge, scores_of
from support.results import made_result, split_of

MINUTE = 60 * SECOND

_SESSION = Path("/proc/self/autogroup")


@pytest.fixture
def made(mostly_sqlite, tmp_path):
    challenge = new_challenge(mostly_sqlite, tmp_path, limits="total = 100")
    yield challenge, a_team(challenge)
    challenge.database.close()


def put(challenge, team, number=1, text="a man"):
    accepted = Accepted(json.dumps({"test": [f"{text} {number}"] * 10}).encode())
    upload = Upload("run.json", b"{}")
    return keep(challenge, "main", team, upload, accepted, arrived=challenge.store.clock(None))


def scored(value=0.5, version="1"):
    own = {"signature": f"cider|n:4|v:{version}", "drawn": np.array([value, value])}
    return {"test": split_of(made_result("cider", value, **own))}


def row_of(challenges, id):
    [row] = [each for each in list_submissions(challenges) if each.id == id]
    return row


def refunds(challenges):
    with challenges.reading() as connection:
        rows = connection.execute(select(tables.charge).order_by(tables.charge.c.key))
        return [row.refunded is not None for row in rows]


@pytest.mark.parametrize("mostly_sqlite", ["sqlite", "postgresql"], indirect=True)
def test_a_lease_that_is_over_is_taken_back_and_its_result_discarded(made):
    challenge, team = made
    id = put(challenge, team).id
    slow = jobs.claim(challenge.store, "slow")
    assert jobs.claim(challenge.store, "quick") is None
    challenge.store.clock.moment += MINUTE
    assert jobs.sweep(challenge.store) == 0  # to the microsecond
    challenge.store.clock.moment += 1
    assert jobs.sweep(challenge.store) == 1
    quick = jobs.claim(challenge.store, "quick")
    assert not jobs.renew(challenge.store, slow)
    assert not jobs.finish(challenge.store, slow, scored(0.1))
    assert jobs.fault(challenge.store, slow, "late") == ""
    assert jobs.finish(challenge.store, quick, scored(0.9))
    assert not jobs.finish(challenge.store, quick, scored(0.8))
    assert row_of(challenge.store, id).state == "scored"
    [of_split] = scores_of(challenge.store, row_of(challenge.store, id).key).values()
    assert of_split["cider"].score == 0.9


def test_a_lease_that_is_renewed_holds(made):
    challenge, team = made
    put(challenge, team)
    own = jobs.claim(challenge.store, "w")
    for _ in range(4):
        challenge.store.clock.moment += MINUTE - 1
        assert jobs.renew(challenge.store, own)
        assert jobs.sweep(challenge.store) == 0


def test_faults_wait_and_the_third_fails_and_is_refunded(made):
    challenge, team = made
    id = put(challenge, team).id
    for pause, state in ((10, "queued"), (60, "queued"), (0, "failed")):
        own = jobs.claim(challenge.store, "w")
        assert jobs.fault(challenge.store, own, "it was ended by SIGKILL") == state
        if pause:
            challenge.store.clock.moment += pause * SECOND - 1
            assert jobs.claim(challenge.store, "w") is None
            challenge.store.clock.moment += 1
    row = row_of(challenge.store, id)
    assert (row.state, row.faults, row.reason) == ("failed", 3, "it was ended by SIGKILL")
    assert refunds(challenge.store) == [True]
    jobs.rerun(challenge, id, actor="ada", reason="fixed")
    assert refunds(challenge.store) == [False]
    assert jobs.finish(challenge.store, jobs.claim(challenge.store, "w"), scored())
    with pytest.raises(RefusedError, match="It is scored"):
        jobs.rerun(challenge, id, actor="ada", reason="again")


def test_a_job_that_takes_workers_down_fails_at_the_tenth_claim(made):
    challenge, team = made
    id = put(challenge, team).id
    for _ in range(10):
        assert row_of(challenge.store, id).state == "queued"
        assert jobs.claim(challenge.store, "w") is not None
        challenge.store.clock.moment += MINUTE + 1
        jobs.sweep(challenge.store)
    row = row_of(challenge.store, id)
    assert (row.state, row.faults) == ("failed", 0)
    assert "10 workers" in row.reason
    assert refunds(challenge.store) == [True]


def test_a_new_server_voids_all_leases_of_a_file(made):
    challenge, team = made
    put(challenge, team)
    assert jobs.claim(challenge.store, "dead") is not None
    assert jobs.sweep(challenge.store, all_leases=True) == 1
    assert jobs.claim(challenge.store, "w") is not None


def test_one_process_scores_for_a_file(made):
    challenge, _ = made
    with alone_on(challenge.database):
        if challenge.database.is_sqlite:
            with (
                pytest.raises(DataError, match="another process serves"),
                alone_on(challenge.database),
            ):
                pass
        else:
            with alone_on(challenge.database):
                pass
    with alone_on(challenge.database):
        pass


@pytest.mark.parametrize("mostly_sqlite", ["sqlite", "postgresql"], indirect=True)
def test_the_order_of_the_queue(made):
    challenge, team = made
    other = a_team(challenge, "Others")
    ids = [put(challenge, team, number).id for number in range(3)]
    ids.append(put(challenge, other, 9).id)
    order = [jobs.claim(challenge.store, "w").submission for _ in range(4)]
    assert order == [ids[0], ids[3], ids[1], ids[2]]  # nobody waits behind one team


def test_only_the_able_claim(made):
    challenge, team = made
    id = put(challenge, team).id
    with challenge.writing() as connection:
        connection.execute(update(tables.job).values(needs="bertha cuda"))
    assert waits_for(challenge.store, id)[0] == "no scorer with bertha cuda is running"
    assert jobs.claim(challenge.store, "w", ["bertha"]) is None
    seen(challenge.store, "w", ["bertha", "cuda"], 2)
    assert waits_for(challenge.store, id)[0] == "place 1 in the queue"
    assert (queue_state(challenge.store).waiting, queue_state(challenge.store).scorers) == (1, 2)
    assert jobs.claim(challenge.store, "w", ["bertha", "cuda"]) is not None
    assert waits_for(challenge.store, id)[0] == ""


def test_all_jobs_of_a_generation_are_scored_by_one_version(made):
    challenge, team = made
    put(challenge, team, 1)
    waiting = put(challenge, team, 2).id
    first = jobs.claim(challenge.store, "w", version="1")
    seen(challenge.store, "w", [], 1)
    assert waits_for(challenge.store, waiting)[0] == "place 1 in the queue"
    assert jobs.finish(challenge.store, first, scored(version="1"))
    assert jobs.claim(challenge.store, "w", version="2") is None
    said = "no scorer of version 1, which scored the others, is running"
    assert waits_for(challenge.store, waiting)[0] == said
    [message] = Workers(challenge.store, 1).left_to_others()
    assert message.startswith("Submissions wait for version 1, which scored the others; this is")
    second = jobs.claim(challenge.store, "w", version="1")
    other = {"test": split_of(made_result("cider", 0.5, signature="cider|n:3|v:1"))}
    with pytest.raises(DataError, match=r"score all again: reelscore challenge rescore"):
        jobs.finish(challenge.store, second, other)
    assert jobs.put_aside(challenge.store, second, "they differ", version="2") == "queued"
    third = jobs.claim(challenge.store, "w", version="1")
    assert row_of(challenge.store, waiting).faults == 0  # it only waited for the right version
    assert jobs.finish(challenge.store, third, scored(version="1"))


def test_scores_that_differ_within_a_version_are_tried_three_times(made, monkeypatch):
    challenge, team = made
    put(challenge, team, 1)
    assert jobs.finish(
        challenge.store, jobs.claim(challenge.store, "w"), scored(version=__version__)
    )
    id = put(challenge, team, 2).id
    other = split_of(made_result("cider", 0.5, signature=f"cider|n:3|v:{__version__}"))
    scoring = Workers(challenge.store, 1)
    seen(challenge.store, "w", [], 1)
    monkeypatch.setattr(workers, "unpacked", lambda _: {"test": other})
    monkeypatch.setattr(scoring, "_ask", lambda *_: {})
    for said in ("tried again in 10 s: scored in another way", "tried again in 60 s", ""):
        with pytest.raises(DataError, match=r"cider has the signature cider\|n:3"):
            scoring.run_until_idle()
        assert waits_for(challenge.store, id)[0].startswith(said)
        challenge.store.clock.moment += MINUTE
    assert scoring.run_until_idle() == 0
    row = row_of(challenge.store, id)
    assert (row.state, row.faults) == ("failed", 3)
    assert refunds(challenge.store) == [False, True]
    assert "cider" not in row.reason  # what a blind split has to do with it is not the team's
    public = View(challenge.store.find(), Who("participant", team.id)).events()
    events = View(challenge.store.find(), Who("owner")).events()
    told = [(event.about, event.reason) for event in events if event.what == "signature"]
    assert [about for about, _ in told] == ["main"] * 3
    assert told[-1][1].startswith(f"Submission {id} (failed): cider has the signature")
    assert "signature" not in {event.what for event in public}


@pytest.mark.parametrize("reason", ["", " \n"])
def test_what_organisers_decide_needs_a_reason(made, reason):
    challenge, team = made
    id = put(challenge, team).id
    why = {"actor": "ada", "reason": reason}
    for decide in (
        lambda: challenge.set_state("closed", **why),
        lambda: jobs.rescore(challenge, "main", **why),
        lambda: jobs.rerun(challenge, id, **why),
        lambda: submissions.set_status(challenge, id, "disqualified", **why),
        lambda: submissions.set_status(challenge, id, "active", **why),
        lambda: teams.decide(challenge, team, "reinstate", **why),
    ):
        with pytest.raises(DataError, match="Say why"):
            decide()
    assert challenge.store.find().state == "open"


def test_a_generation_is_shown_when_all_of_it_is_done(made):
    challenge, team = made
    for number in range(2):
        put(challenge, team, number)
        assert jobs.finish(
            challenge.store, jobs.claim(challenge.store, "w", version="1"), scored(version="1")
        )
    assert jobs.rescore(challenge, "main", actor="ada", reason="a test") == 2
    with pytest.raises(RefusedError, match="Generation 2 is being scored"):
        jobs.rescore(challenge, "main", actor="ada", reason="a test")
    for shown in (1, 2):
        own = jobs.claim(challenge.store, "w", version="2")
        assert own.generation == 2
        assert challenge.find_phase("main").generation == 1
        assert jobs.finish(challenge.store, own, scored(version="2"))
        assert challenge.find_phase("main").generation == shown
    assert refunds(challenge.store) == [False, False]


def states(challenges):
    """What its team sees of each submission, and whether it is on the board."""
    view = View(challenges.find(), Who("owner"))
    return [(record.state, record.counts) for record in view.submissions("main")]


@pytest.mark.parametrize("mostly_sqlite", ["sqlite", "postgresql"], indirect=True)
def test_scoring_again_takes_over_what_waits_and_failed_but_not_what_was_cancelled(
    mostly_sqlite, tmp_path
):
    challenge = new_challenge(mostly_sqlite, tmp_path, limits="total = 100, concurrent = 2")
    team = a_team(challenge)
    ids = [put(challenge, team, 0).id]
    assert jobs.finish(challenge.store, jobs.claim(challenge.store, "w", version="1"), scored())
    ids.append(put(challenge, team, 1).id)
    assert jobs.defect(challenge.store, jobs.claim(challenge.store, "w", version="1"), "7")
    ids.append(put(challenge, team, 2).id)
    jobs.cancel(challenge, ids[2])
    ids += [put(challenge, team, number).id for number in (3, 4)]
    slow = jobs.claim(challenge.store, "w", version="1")
    assert refunds(challenge.store) == [False, True, True, False, False]
    assert jobs.rescore(challenge, "main", actor="ada", reason="a test") == 4
    assert not jobs.finish(challenge.store, slow, scored())  # it is scored with the others
    assert refunds(challenge.store) == [False, False, True, False, False]
    waits = ("queued", False)
    assert states(challenge.store) == [("scored", True), waits, ("cancelled", False), waits, waits]
    with pytest.raises(RefusedError, match="It is scored; withdraw it"):
        jobs.cancel(challenge, ids[0])  # it would leave the board, and stay charged
    for _ in range(3):
        assert jobs.finish(
            challenge.store, jobs.claim(challenge.store, "w", version="2"), scored(version="2")
        )
    put(challenge, team, 5)  # one of the two that may wait
    assert jobs.finish(
        challenge.store, jobs.claim(challenge.store, "w", version="2"), scored(version="2")
    )
    unseen = ("scoring", False)  # of a generation that boards do not show yet
    assert states(challenge.store)[1:] == [unseen, ("cancelled", False), unseen, unseen, waits]
    [last] = [row.id for row in list_submissions(challenge.store) if row.state == "queued"]
    jobs.cancel(challenge, last)  # it was the last one to wait for
    assert challenge.find_phase("main").generation == 2
    shown = [("scored", True)]
    assert states(challenge.store) == [
        *shown * 2,
        ("cancelled", False),
        *shown * 2,
        ("cancelled", False),
    ]
    challenge.database.close()


def test_what_is_scored_again_keeps_nobody_from_submitting(mostly_sqlite, tmp_path):
    challenge = new_challenge(mostly_sqlite, tmp_path, limits="concurrent = 1")
    team = a_team(challenge)
    put(challenge, team, 0)
    assert jobs.finish(challenge.store, jobs.claim(challenge.store, "w", version="1"), scored())
    jobs.rescore(challenge, "main", actor="ada", reason="a test")
    put(challenge, team, 1)
    with pytest.raises(RefusedError, match="Wait until"):
        put(challenge, team, 2)
    challenge.database.close()


def test_the_ladder_tells_what_beats_the_last(mostly_sqlite, tmp_path):
    choices = {"feedback": 'test = "ladder"', "more": "step = { test = 0.1 }"}
    challenge = new_challenge(mostly_sqlite, tmp_path, limits="concurrent = 1", **choices)
    team = a_team(challenge)
    told = []
    for number, value in enumerate((0.52, 0.55, 0.71)):
        put(challenge, team, number)
        assert jobs.finish(
            challenge.store, jobs.claim(challenge.store, "w", version="1"), scored(value)
        )
        with challenge.reading() as connection:
            last = connection.scalars(select(tables.shown.c.told).order_by(tables.shown.c.key))
            told.append(json.loads(last.all()[-1])["scores"]["cider"]["value"])
    assert told == [0.5, 0.5, 0.7]
    jobs.rescore(challenge, "main", actor="ada", reason="a test")
    first = jobs.claim(challenge.store, "w", version="1")
    assert (
        jobs.claim(challenge.store, "w", version="1") is None
    )  # one after the other, in their order
    assert jobs.finish(challenge.store, first, scored(0.52))
    assert jobs.claim(challenge.store, "w", version="1") is not None
    challenge.database.close()


@pytest.fixture
def with_support(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(support.__file__).parents[1]), prepend=os.pathsep)


@pytest.mark.usefixtures("with_support")
def test_what_a_scoring_process_may_die_of(tmp_path, monkeypatch):
    monkeypatch.setattr(jobs, "_PAUSES", (0, 0))
    scoring = "limits = { memory_gb = 0.5 }"
    challenge = new_challenge(tmp_path / "c.db", tmp_path, scoring=scoring)
    team = a_team(challenge)
    workers = Workers(challenge.store, 1, target="support.deadly_scorer:answer")
    ids = {text: put(challenge, team, 1, text).id for text in ("KILL", "EAT", "DEFECT")}
    with challenge.writing() as connection:  # the eater has had two faults already
        eater = select(tables.submission.c.key).filter_by(id=ids["EAT"]).scalar_subquery()
        connection.execute(update(tables.job).filter_by(submission=eater).values(faults=2))
    workers.run_until_idle()
    reasons = {text: row_of(challenge.store, id).reason for text, id in ids.items()}
    assert {row_of(challenge.store, id).state for id in ids.values()} == {"failed"}
    assert "SIGKILL" in reasons["KILL"]
    assert "GB of memory" in reasons["EAT"]
    assert "a defect of the server, number" in reasons["DEFECT"]
    assert row_of(challenge.store, ids["KILL"]).faults == 3
    assert refunds(challenge.store) == [True] * 3
    challenge.database.close()


def test_an_answer_that_nobody_waited_for_is_not_taken_for_the_next(monkeypatch):
    """The database does not answer while a submission is scored: its process must go, too."""
    monkeypatch.setenv("PYTHONPATH", str(Path(support.__file__).parents[1]), prepend=os.pathsep)
    helper = Helper("support.deadly_scorer:slow_echo")

    def broken():
        raise DataError("the database is busy")

    with pytest.raises(DataError, match="is busy"):
        helper.ask({"number": 1}, 60, 1 << 32, broken)
    assert helper._process is None
    assert helper.ask({"number": 2}, 60, 1 << 32) == {"number": 2}
    helper.close()


@pytest.mark.skipif(
    not os.access(_SESSION, os.W_OK) or not _SESSION.read_text(),
    reason="this system does not share processors among sessions",
)
def test_scorers_stand_back_for_pages(monkeypatch):
    """Among sessions Linux goes by the niceness of the session, not by that of its processes."""
    monkeypatch.setenv("PYTHONPATH", str(Path(support.__file__).parents[1]), prepend=os.pathsep)
    helper = Helper("support.deadly_scorer:niceness", niceness=10)
    own = min(19, os.nice(0) + 10)  # there is nothing above 19
    assert helper.ask({}, 60, 1 << 32) == {"own": own, "session": 10}
    helper.close()


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_learned_metrics_are_computed_where_the_challenge_says(monkeypatch, device):
    """A GPU that happens to be there changes no score: processes for the CPU do not see it."""
    monkeypatch.setenv("PYTHONPATH", str(Path(support.__file__).parents[1]), prepend=os.pathsep)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    needs = needs_of({"metrics": ["cider", "bertha"], "device": device})
    assert {word for word in ("cpu", "cuda") if is_able(capabilities(word), needs)} == {device}
    helper = Helper("support.deadly_scorer:gpus", device=device)
    assert helper.ask({}, 60, 1 << 32) == {"hidden": device == "cpu"}
    helper.close()


@pytest.mark.parametrize("mostly_sqlite", ["sqlite", "postgresql"], indirect=True)
def test_a_generation_changes_over_when_its_last_jobs_end_at_once(made, monkeypatch):
    challenge, team = made
    for number, own in enumerate((team, a_team(challenge, "Others"))):
        put(challenge, own, number)
        assert jobs.finish(
            challenge.store, jobs.claim(challenge.store, "w", version="1"), scored(version="1")
        )
    jobs.rescore(challenge, "main", actor="ada", reason="a test")
    first, second = (jobs.claim(challenge.store, "w", version="2") for _ in range(2))
    log, ended, names = jobs.log, threading.Event(), {}

    def slow(*arguments, **more):
        """The first one is about to commit, while the second one begins and ends."""
        if threading.current_thread().name == "first":
            names["second"].start()
            ended.wait(0.5)  # with the right lock, the second one waits for the first
        log(*arguments, **more)

    def finish_second():
        assert jobs.finish(challenge.store, second, scored(version="2"))
        ended.set()

    monkeypatch.setattr(jobs, "log", slow)
    names["second"] = threading.Thread(target=finish_second)
    begin = {"target": jobs.finish, "args": (challenge.store, first, scored(version="2"))}
    names["first"] = threading.Thread(name="first", **begin)
    names["first"].start()
    for name in ("first", "second"):
        names[name].join()
    assert challenge.find_phase("main").generation == 2


def test_helpers_know_no_secrets(monkeypatch):
    for name in ("REELSCORE_SECRET", "REELSCORE_TOKEN", "PGPASSWORD", "DATABASE_URL"):
        monkeypatch.setenv(name, "canary")
    monkeypatch.setenv("REELSCORE_CACHE", "here")
    assert "canary" not in harmless_environment().values()
    assert harmless_environment()["REELSCORE_CACHE"] == "here"
