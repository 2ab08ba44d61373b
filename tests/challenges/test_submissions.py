"""From upload to score: one transaction for each step, on both databases."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import func, select

from reelscore import score
from reelscore.challenges import quota, submissions
from reelscore.challenges.challenge import find_phase, set_state
from reelscore.challenges.queue import jobs, workers
from reelscore.challenges.queue.workers import Workers
from reelscore.challenges.showing import Who
from reelscore.challenges.store import tables
from reelscore.challenges.store.events import broken_link, read_events
from reelscore.challenges.views import View
from reelscore.errors import DataError, RefusedError
from support.challenge_data import a_team, captions, new_arena, submit
from support.challenge_process import Here


@pytest.fixture
def made(mostly_sqlite, tmp_path):
    arena, known = new_arena(mostly_sqlite, tmp_path)
    yield arena, known
    arena.database.close()


def count(arena, table, **conditions):
    with arena.database.reading() as connection:
        rows = select(func.count()).select_from(table).filter_by(**conditions)
        return connection.execute(rows).scalar_one()


@pytest.mark.parametrize("mostly_sqlite", ["sqlite", "postgresql"], indirect=True)
def test_from_upload_to_score(made, readers):
    arena, known = made
    team = a_team(arena, known)
    receipt = submit(arena, readers, known, team)
    assert (receipt.number, receipt.state, receipt.left.today) == (1, "queued", 4)
    assert Workers(arena, 1).run_until_idle() == 1
    [row] = submissions.list_submissions(arena, team_key=team.key)
    assert (row.state, row.id, row.late) == ("scored", receipt.id, False)
    with arena.database.reading() as connection:
        results = connection.execute(select(tables.result)).all()
        kinds = set(connection.scalars(select(tables.array.c.kind)))
        [told] = connection.scalars(select(tables.shown.c.told))
        events = read_events(connection, known.key)
        assert broken_link(connection, known.key) is None
    references = {f"v{k}": r for k, r in enumerate(json.loads(known_references(arena)))}
    wanted = score(json.loads(captions()), references, "cider,rouge_l")
    assert {row.score: row.value for row in results} == {k: v.score for k, v in wanted.items()}
    assert all(row.low <= row.value <= row.high for row in results)
    assert "resamples:100" in results[0].signature
    assert kinds == {"items", "statistics", "draws"}
    assert json.loads(told)["scores"]["cider"]["value"] == results[0].value
    assert [event.what for event in events] == ["definition", "team", "submission", "scored"]


def test_a_challenge_that_is_not_open_takes_nothing(made, readers):
    arena, known = made
    strangers, baseline = a_team(arena, known), a_team(arena, known, "Baseline", kind="baseline")
    for state, said in (
        ("closed", "is closed"),
        ("archived", "is archived"),
        ("draft", "not open"),
    ):
        set_state(arena, known, state, actor="anna", reason="a test")
        with pytest.raises(RefusedError, match=said):
            submit(arena, readers, known, strangers)
    assert submit(arena, readers, known, baseline).state == "queued"  # organisers try a draft
    set_state(arena, known, "open", actor="anna", reason="a test")
    assert submit(arena, readers, known, strangers).state == "queued"


def known_references(arena):
    with arena.database.reading() as connection:
        key = connection.execute(select(tables.split.c.key)).scalar_one()
    return json.dumps(json.loads(jobs.references_of(arena, key)[1])["references"])


def test_changed_history_is_found(made):
    arena, known = made
    with arena.database.writing() as connection:
        for what in ("a", "b", "c"):
            jobs.log(connection, 7, known.key, what, "x")
    if not arena.database.is_sqlite:
        return
    with arena.database.writing() as connection:
        connection.exec_driver_sql("DROP TRIGGER challenge_event_no_update")
        connection.exec_driver_sql("UPDATE challenge_event SET what = 'd' WHERE what = 'b'")
    with arena.database.reading() as connection:
        assert broken_link(connection, known.key) == 3  # after the definition and a


def test_the_same_request_is_answered_once(made, readers):
    arena, known = made
    team = a_team(arena, known)
    first = submit(arena, readers, known, team, idempotency="k1")
    again = submit(arena, readers, known, team, idempotency="k1")
    assert (again.id, again.repeated) == (first.id, True)
    assert count(arena, tables.charge) == count(arena, tables.submission) == 1


def test_the_same_captions_are_refused_unless_forced(made, readers):
    arena, known = made
    team = a_team(arena, known)
    submit(arena, readers, known, team)
    with pytest.raises(RefusedError, match="captions of your submission 1") as caught:
        submit(arena, readers, known, team)
    assert caught.value.reason == "same"
    assert submit(arena, readers, known, team, force=True).number == 2


def test_a_bad_file_costs_nothing(made, readers):
    arena, known = made
    team = a_team(arena, known)
    bad = submissions.Upload("run.json", b'{"v0": "", "v99": "a man"}')
    with pytest.raises(submissions.RefusedUpload) as caught:
        submissions.hand_in(arena, readers, known, "main", team, bad)
    report = caught.value.report
    assert report.count == 3
    assert "item 'v99' is not in the test set" in " ".join(report.problems)
    assert count(arena, tables.refusal) == 1
    assert count(arena, tables.charge) == count(arena, tables.blob) - 2 == 0  # those of the split


def test_too_many_bad_files(made, readers, monkeypatch):
    arena, known = made
    monkeypatch.setattr(quota, "REFUSALS_AN_HOUR", 1)
    team, other = a_team(arena, known), a_team(arena, known, "Others")
    bad = submissions.Upload("run.json", b"{}")
    for reason in ("invalid", "often"):
        with pytest.raises(RefusedError) as caught:
            submissions.hand_in(arena, readers, known, "main", team, bad)
        assert caught.value.reason == reason
    said = str(caught.value)
    assert "the next one is read at 2026-06-01T01:00:01.000000Z" in said
    assert "challenge check" not in said  # a server that checks has the same limit
    with arena.database.reading() as connection:
        quota.check_refusals(connection, other, arena.now())
        # they count in whatever phase they were
        with pytest.raises(RefusedError):
            quota.check_refusals(connection, team, arena.now())
        quota.check_refusals(connection, team, arena.now() + 3_600_000_000)


def test_the_final_entry_is_chosen_until_the_close(made, readers):
    arena, known = made
    team = a_team(arena, known)
    ids = [submit(arena, readers, known, team, k).id for k in range(2)]
    for id in ids:
        submissions.choose(arena, known, id)
    rows = submissions.list_submissions(arena, team_key=team.key)
    assert [bool(row.chosen) for row in rows] == [False, True]
    arena.clock.moment = find_phase(arena, known, "main").closes
    with pytest.raises(RefusedError, match="closed at 2026-06-11T00:00:00"):
        submissions.choose(arena, known, ids[0])


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
    arena, known = new_arena(mostly_sqlite, tmp_path, feedback='test = "reveal"', more=rules)
    team, phase = a_team(arena, known), find_phase(arena, known, "main")
    uploads = [captions(number) for number in (2, 1, 0)]
    ids = []
    for upload in uploads:
        arena.clock.moment += 1
        content = submissions.Upload("run.json", upload)
        ids.append(submissions.hand_in(arena, readers, known, "main", team, content).id)
    submissions.choose(arena, known, ids[1])
    Workers(arena, 1).run_until_idle()

    def shown():
        """The entry on the board, and those whose scores the team sees."""
        view = View(arena.database, "dogs", Who("participant", team.id), now=arena.now())
        records = view.submissions("main")
        board = [row.entry.id for row in view.board("test").all_rows]
        return board, [r.id for r in records if view.scores("main", "test", r) is not None]

    yield arena, known, ids, phase, shown, FINAL[request.param]
    arena.database.close()


@pytest.mark.parametrize("hidden", FINAL, indirect=True)
@pytest.mark.parametrize("when", ["closes", "reveals"])
def test_after_the_close_nothing_takes_the_place_of_what_is_withdrawn(hidden, when):
    arena, known, ids, phase, shown, final = hidden
    arena.clock.moment = phase.reveals
    assert shown() == ([ids[final]], [ids[final]])
    arena.clock.moment = getattr(phase, when)
    submissions.withdraw(arena, known, ids[0])  # it did not count
    arena.clock.moment = phase.reveals
    assert shown() == ([ids[final]], [ids[final]])
    submissions.withdraw(arena, known, ids[final])
    assert shown() == ([], [])  # not an entry that would be uncovered by it
    for id in ids:
        with pytest.raises(RefusedError, match="which entry counts is settled"):
            submissions.restore(arena, known, id)
        submissions.withdraw(arena, known, id)
    assert shown() == ([], [])


@pytest.mark.parametrize("hidden", FINAL, indirect=True)
def test_before_the_close_another_entry_takes_the_place_of_what_is_withdrawn(hidden):
    arena, known, ids, phase, shown, final = hidden
    arena.clock.moment = phase.closes - 1
    submissions.withdraw(arena, known, ids[final])
    arena.clock.moment = phase.reveals
    [rest], seen = shown()
    assert rest in ids
    assert rest != ids[final]
    assert seen == [rest]
    submissions.withdraw(arena, known, ids[final])  # once more changes nothing
    assert shown() == ([rest], [rest])
    arena.clock.moment = phase.closes - 1
    submissions.restore(arena, known, ids[final])
    arena.clock.moment = phase.reveals
    assert shown() == ([ids[final]], [ids[final]])


@pytest.mark.parametrize("hidden", ['final = "last"'], indirect=True)
def test_organisers_put_back_what_was_withdrawn_after_the_close(hidden):
    arena, known, ids, phase, shown, _ = hidden
    arena.clock.moment = phase.reveals
    submissions.withdraw(arena, known, ids[2], actor="pat")
    for reason in ("", " "):
        with pytest.raises(DataError, match="Say why"):
            submissions.set_status(arena, known, ids[2], "active", actor="ada", reason=reason)
    submissions.set_status(arena, known, ids[2], "active", actor="ada", reason="by mistake")
    assert shown() == ([ids[2]], [ids[2]])
    submissions.set_status(arena, known, ids[2], "disqualified", actor="ada", reason="copied")
    for change in (submissions.withdraw, submissions.restore):
        with pytest.raises(RefusedError, match="have disqualified it"):
            change(arena, known, ids[2])
    with arena.database.reading() as connection:
        events = [event for event in read_events(connection, known.key) if event.what == "status"]
    steps = [(event.before, event.after, event.actor) for event in events]
    assert steps == [
        ("active", "withdrawn", "pat"),
        ("withdrawn", "active", "ada"),
        ("active", "disqualified", "ada"),
    ]
