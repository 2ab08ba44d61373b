"""From upload to score: one transaction for each step, on both databases."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import func, select

from reelscore import score
from reelscore.challenges import quota, submissions
from reelscore.challenges.permissions import Who
from reelscore.challenges.queue import jobs, workers
from reelscore.challenges.queue.workers import Workers
from reelscore.challenges.store import tables
from reelscore.challenges.store.events import broken_link, read_events
from reelscore.challenges.views import View
from reelscore.errors import DataError, RefusedError
from support.challenge_data import a_team, captions, list_submissions, new_challenge, submit
from support.challenge_process import Here


@pytest.fixture
def made(mostly_sqlite, tmp_path):
    challenge = new_challenge(mostly_sqlite, tmp_path)
    yield challenge
    challenge.database.close()


def count(challenges, table, **conditions):
    with challenges.reading() as connection:
        rows = select(func.count()).select_from(table).filter_by(**conditions)
        return connection.execute(rows).scalar_one()


@pytest.mark.parametrize("mostly_sqlite", ["sqlite", "postgresql"], indirect=True)
def test_from_upload_to_score(made, readers):
    challenge = made
    team = a_team(challenge)
    receipt = submit(challenge, readers, team)
    assert (receipt.number, receipt.state, receipt.left.today) == (1, "queued", 4)
    assert Workers(challenge.store, 1).run_until_idle() == 1
    [row] = list_submissions(challenge.store, team_key=team.key)
    assert (row.state, row.id, row.late) == ("scored", receipt.id, False)
    with challenge.reading() as connection:
        results = connection.execute(select(tables.result)).all()
        kinds = set(connection.scalars(select(tables.array.c.kind)))
        [told] = connection.scalars(select(tables.shown.c.told))
        events = read_events(connection, challenge.key)
        assert broken_link(connection, challenge.key) is None
    references = {f"v{k}": r for k, r in enumerate(json.loads(known_references(challenge.store)))}
    wanted = score(json.loads(captions()), references, "cider,rouge_l")
    assert {row.score: row.value for row in results} == {k: v.score for k, v in wanted.items()}
    assert all(row.low <= row.value <= row.high for row in results)
    assert "resamples:100" in results[0].signature
    assert kinds == {"items", "statistics", "draws"}
    assert json.loads(told)["scores"]["cider"]["value"] == results[0].value
    assert [event.what for event in events] == ["definition", "team", "submission", "scored"]


def test_a_challenge_that_is_not_open_takes_nothing(made, readers):
    challenge = made
    strangers, baseline = a_team(challenge), a_team(challenge, "Baseline", kind="baseline")
    for state, said in (
        ("closed", "is closed"),
        ("archived", "is archived"),
        ("draft", "not open"),
    ):
        challenge.set_state(state, actor="anna", reason="a test")
        with pytest.raises(RefusedError, match=said):
            submit(challenge, readers, strangers)
    assert submit(challenge, readers, baseline).state == "queued"  # organisers try a draft
    challenge.set_state("open", actor="anna", reason="a test")
    assert submit(challenge, readers, strangers).state == "queued"


def known_references(challenges):
    with challenges.reading() as connection:
        key = connection.execute(select(tables.split.c.key)).scalar_one()
    return json.dumps(json.loads(jobs.references_of(challenges, key)[1])["references"])


def test_changed_history_is_found(made):
    challenge = made
    with challenge.writing() as connection:
        for what in ("a", "b", "c"):
            jobs.log(connection, 7, challenge.key, what, "x")
    if not challenge.database.is_sqlite:
        return
    with challenge.writing() as connection:
        connection.exec_driver_sql("DROP TRIGGER challenge_event_no_update")
        connection.exec_driver_sql("UPDATE challenge_event SET what = 'd' WHERE what = 'b'")
    with challenge.reading() as connection:
        assert broken_link(connection, challenge.key) == 3  # after the definition and a


def test_the_same_request_is_answered_once(made, readers):
    challenge = made
    team = a_team(challenge)
    first = submit(challenge, readers, team, idempotency="k1")
    again = submit(challenge, readers, team, idempotency="k1")
    assert (again.id, again.repeated) == (first.id, True)
    assert count(challenge.store, tables.charge) == count(challenge.store, tables.submission) == 1


def test_the_same_captions_are_refused_unless_forced(made, readers):
    challenge = made
    team = a_team(challenge)
    submit(challenge, readers, team)
    with pytest.raises(RefusedError, match="captions of your submission 1") as caught:
        submit(challenge, readers, team)
    assert caught.value.reason == "same"
    assert submit(challenge, readers, team, force=True).number == 2


def test_a_bad_file_costs_nothing(made, readers):
    challenge = made
    team = a_team(challenge)
    bad = submissions.Upload("run.json", b'{"v0": "", "v99": "a man"}')
    with pytest.raises(submissions.RefusedUpload) as caught:
        submissions.hand_in(challenge, readers, "main", team, bad)
    report = caught.value.report
    assert report.count == 3
    assert "item 'v99' is not in the test set" in " ".join(report.problems)
    assert count(challenge.store, tables.refusal) == 1
    assert (
        count(challenge.store, tables.charge) == count(challenge.store, tables.blob) - 2 == 0
    )  # those of the split


def test_too_many_bad_files(made, readers, monkeypatch):
    challenge = made
    monkeypatch.setattr(quota, "REFUSALS_AN_HOUR", 1)
    team, other = a_team(challenge), a_team(challenge, "Others")
    bad = submissions.Upload("run.json", b"{}")
    for reason in ("invalid", "often"):
        with pytest.raises(RefusedError) as caught:
            submissions.hand_in(challenge, readers, "main", team, bad)
        assert caught.value.reason == reason
    said = str(caught.value)
    assert "the next one is read at 2026-06-01T01:00:01.000000Z" in said
    assert "challenge check" not in said  # a server that checks has the same limit
    with challenge.reading() as connection:
        quota.check_refusals(connection, other, challenge.store.now(None))
        # they count in whatever phase they were
        with pytest.raises(RefusedError):
            quota.check_refusals(connection, team, challenge.store.now(None))
        quota.check_refusals(connection, team, challenge.store.now(None) + 3_600_000_000)


def test_the_final_entry_is_chosen_until_the_close(made, readers):
    challenge = made
    team = a_team(challenge)
    ids = [submit(challenge, readers, team, k).id for k in range(2)]
    for id in ids:
        submissions.choose(challenge, id)
    rows = list_submissions(challenge.store, team_key=team.key)
    assert [bool(row.chosen) for row in rows] == [False, True]
    challenge.store.clock.moment = challenge.find_phase("main").closes
    with pytest.raises(RefusedError, match="closed at 2026-06-11T00:00:00"):
        submissions.choose(challenge, ids[0])


FINAL = {  # the entry that counts, of three whose captions are better and better
    'final = "chosen"': 1,
    'final = "last"': 2,
    'final = "best"': 2,
    'final = "chosen"\nlate = "mark"': 1,
}


@pytest.fixture
def hidden(request, mostly_sqlite, tmp_path, readers, monkeypatch):
    """A phase whose scores are hidden until the reveal, with three scored entries of a team."""
    monkeypatch.setattr(workers, "Helper", Here)
    rules = f"{request.param}\nreveals = 2026-06-15T00:00:00Z"
    challenge = new_challenge(mostly_sqlite, tmp_path, feedback='test = "reveal"', more=rules)
    team, phase = a_team(challenge), challenge.find_phase("main")
    uploads = [captions(number) for number in (2, 1, 0)]
    ids = []
    for upload in uploads:
        challenge.store.clock.moment += 1
        content = submissions.Upload("run.json", upload)
        ids.append(submissions.hand_in(challenge, readers, "main", team, content).id)
    submissions.choose(challenge, ids[1])
    Workers(challenge.store, 1).run_until_idle()

    def shown():
        """The entry on the board, and those whose scores the team sees."""
        view = View(challenge.store.find(), Who("participant", team.id))
        records = view.submissions("main")
        board = [row.id for row in view.board("test").all_rows]
        return board, [r.id for r in records if view.scores("main", "test", r) is not None]

    yield challenge, ids, phase, shown, FINAL[request.param]
    challenge.database.close()


@pytest.mark.parametrize("hidden", FINAL, indirect=True)
@pytest.mark.parametrize("when", ["closes", "reveals"])
def test_after_the_close_nothing_takes_the_place_of_what_is_withdrawn(hidden, when):
    challenge, ids, phase, shown, final = hidden
    challenge.store.clock.moment = phase.reveals
    assert shown() == ([ids[final]], [ids[final]])
    challenge.store.clock.moment = getattr(phase, when)
    submissions.withdraw(challenge, ids[0])  # it did not count
    challenge.store.clock.moment = phase.reveals
    assert shown() == ([ids[final]], [ids[final]])
    submissions.withdraw(challenge, ids[final])
    assert shown() == ([], [])  # not an entry that would be uncovered by it
    for id in ids:
        with pytest.raises(RefusedError, match="which entry counts is settled"):
            submissions.restore(challenge, id)
        submissions.withdraw(challenge, id)
    assert shown() == ([], [])


@pytest.mark.parametrize("hidden", FINAL, indirect=True)
def test_before_the_close_another_entry_takes_the_place_of_what_is_withdrawn(hidden):
    challenge, ids, phase, shown, final = hidden
    challenge.store.clock.moment = phase.closes - 1
    submissions.withdraw(challenge, ids[final])
    challenge.store.clock.moment = phase.reveals
    [rest], seen = shown()
    assert rest in ids
    assert rest != ids[final]
    assert seen == [rest]
    submissions.withdraw(challenge, ids[final])  # once more changes nothing
    assert shown() == ([rest], [rest])
    challenge.store.clock.moment = phase.closes - 1
    submissions.restore(challenge, ids[final])
    challenge.store.clock.moment = phase.reveals
    assert shown() == ([ids[final]], [ids[final]])


@pytest.mark.parametrize("hidden", ['final = "last"'], indirect=True)
def test_organisers_put_back_what_was_withdrawn_after_the_close(hidden):
    challenge, ids, phase, shown, _ = hidden
    challenge.store.clock.moment = phase.reveals
    submissions.withdraw(challenge, ids[2], actor="pat")
    for reason in ("", " "):
        with pytest.raises(DataError, match="Say why"):
            submissions.set_status(challenge, ids[2], "active", actor="ada", reason=reason)
    submissions.set_status(challenge, ids[2], "active", actor="ada", reason="by mistake")
    assert shown() == ([ids[2]], [ids[2]])
    submissions.set_status(challenge, ids[2], "disqualified", actor="ada", reason="copied")
    for change in (submissions.withdraw, submissions.restore):
        with pytest.raises(RefusedError, match="have disqualified it"):
            change(challenge, ids[2])
    with challenge.reading() as connection:
        events = [
            event for event in read_events(connection, challenge.key) if event.what == "status"
        ]
    steps = [(event.before, event.after, event.actor) for event in events]
    assert steps == [
        ("active", "withdrawn", "pat"),
        ("withdrawn", "active", "ada"),
        ("active", "disqualified", "ada"),
    ]
