"""A challenge that is changed: what is free, what needs a new generation, what cannot be."""

from __future__ import annotations

import json

import pytest

from reelscore import score
from reelscore.challenges.challenge import Challenges
from reelscore.challenges.exchange.exports import Contents, export_challenge
from reelscore.challenges.exchange.imports import import_challenge
from reelscore.challenges.exchange.verification import verify_export
from reelscore.challenges.people.teams import find_team
from reelscore.challenges.permissions import Who
from reelscore.challenges.queue import jobs
from reelscore.challenges.queue.workers import Workers
from reelscore.challenges.store.events import read_events
from reelscore.challenges.store.tables import open_challenges
from reelscore.challenges.updates import make_challenge
from reelscore.challenges.views import View
from reelscore.errors import DataError
from reelscore.store.values import from_iso
from support.challenge_data import (
    a_team,
    captions,
    list_submissions,
    new_challenge,
    submit,
    write_definition,
)


@pytest.fixture
def challenges(tmp_path, readers):
    """A challenge with one score."""
    made = new_challenge(tmp_path / "c.db", tmp_path)
    submit(made, readers, a_team(made))
    assert Workers(made.store, 1).run_until_idle() == 1
    yield made.store
    made.database.close()


def changed(challenges, folder, *replaced, rescore=False, **choices):
    path = write_definition(folder, **choices)
    text = path.read_text()
    for right, other in replaced:
        assert right in text
        text = text.replace(right, other)
    path.write_text(text)
    return make_challenge(challenges, path, rescore=rescore)


def scores(challenges, **seen):
    view = View(challenges.find(), Who("owner"), **seen)
    [row] = view.board("test").rows
    record = next(r for r in view.submissions("main") if r.id == row.id)
    return {name: s.score for name, s in view.scores("main", "test", record).items()}


def test_dates_texts_and_limits_change_freely_and_are_logged(challenges, tmp_path):
    replaced = [
        ('name = "Dogs of 2026"', 'name = "Dogs"\nregistration = "approve"'),
        ("closes = 2026-06-11", "closes = 2026-06-21"),
    ]
    choices = {"limits": "per_day = 9", "more": 'final = "best"'}
    said = changed(challenges, tmp_path, *replaced, scoring="limits = { seconds = 60 }", **choices)
    assert said == [
        "The name is changed.",
        "Registration is changed.",
        "Limits of scoring are changed.",
        "Phase 'main': limits is per_day 9; was per_day 5, total 20.",
        "Phase 'main': final is best; was last.",
        "Phase 'main' closes 2026-06-21T00:00:00.000000Z, was 2026-06-11T00:00:00.000000Z.",
    ]
    with challenges.reading() as connection:
        assert read_events(connection, challenges.find().key)[-1].reason == " ".join(said)
    assert challenges.find().find_phase("main").settings["limits"]["seconds"] == 60
    again = changed(challenges, tmp_path, *replaced, scoring="limits = { seconds = 60 }", **choices)
    assert again == []


@pytest.mark.parametrize(
    "choices",
    [
        {"metrics": '["cider", "rouge_l", "bleu"]'},
        {"scoring": "seed = 5"},
        {"feedback": 'test = "reveal"'},
        {"feedback": 'test = "rounded"', "more": "step = { test = 0.01 }"},
    ],
)
def test_rules_of_scoring_change_with_a_new_generation(challenges, tmp_path, choices):
    before = scores(challenges)
    with pytest.raises(DataError, match="Phase 'main' has scores"):
        changed(challenges, tmp_path, **choices)
    assert challenges.find().find_phase("main").settings["seed"] == 12345
    said = changed(challenges, tmp_path, rescore=True, **choices)
    assert said[-1] == "Phase 'main' is scored in another way: 1 submissions wait."
    assert scores(challenges) == before  # those of the old generation, until the new one is there
    assert Workers(challenges, 1).run_until_idle() == 1
    assert challenges.find().find_phase("main").generation == 2
    assert scores(challenges).items() >= before.items()
    assert ("bleu_4" in scores(challenges)) == ("bleu" in choices.get("metrics", ""))
    path = tmp_path / "dogs.zip"
    export_challenge(challenges.find(), path, Contents(references=True))
    assert verify_export(path).differences == []


def test_references_are_corrected_with_a_new_generation(challenges, tmp_path):
    path = write_definition(tmp_path)
    references = json.loads((tmp_path / "references.json").read_text())
    before = scores(challenges)
    references["v3"] = ["someone cooks nothing"]
    (tmp_path / "references.json").write_text(json.dumps(references))
    with pytest.raises(DataError, match="score all its submissions again: --rescore"):
        make_challenge(challenges, path)
    make_challenge(challenges, path, rescore=True)
    Workers(challenges, 1).run_until_idle()
    wanted = score(json.loads(captions()), references, "cider,rouge_l")
    assert scores(challenges) == {name: result.score for name, result in wanted.items()}
    assert scores(challenges, generation=1) == before  # both results are kept


@pytest.mark.parametrize("rescore", [False, True])
def test_items_and_splits_of_submissions_stay(challenges, tmp_path, rescore):
    with pytest.raises(DataError, match="has submissions, which were read for its splits"):
        changed(challenges, tmp_path, items=9, rescore=rescore)
    with pytest.raises(DataError, match="Split 'test' is gone"):
        changed(challenges, tmp_path, ('"test"', '"other"'), ("test =", "other ="), rescore=rescore)
    with pytest.raises(DataError, match="Phase 'main' is gone"):
        changed(challenges, tmp_path, ('"main"', '"other"'), rescore=rescore)


def test_what_only_waits_is_scored_by_the_new_rules(tmp_path, readers):
    challenge = new_challenge(tmp_path / "c.db", tmp_path)
    submit(challenge, readers, a_team(challenge))
    assert changed(challenge.store, tmp_path, metrics='["cider"]')[-1].endswith(
        "1 submissions wait."
    )
    assert Workers(challenge.store, 1).run_until_idle() == 1
    assert list(scores(challenge.store)) == ["cider"]
    challenge.database.close()


def test_an_import_without_references_gets_them_from_the_definition(challenges, tmp_path, readers):
    bare = tmp_path / "bare.zip"
    export_challenge(challenges.find(), bare)
    other = Challenges(open_challenges(tmp_path / "other.db", create=True), challenges.clock)
    import_challenge(other.database, bare)
    challenge = other.find()
    team = find_team(challenge, "Ours")
    id = submit(challenge, readers, team, 1).id
    Workers(other, 1).run_until_idle()
    [row] = [row for row in list_submissions(other) if row.id == id]
    assert (row.state, "defect" in row.reason) == ("failed", True)  # and it is refunded
    path = write_definition(tmp_path)
    assert make_challenge(other, path) == ["Split 'test' has its references again."]
    assert make_challenge(other, path) == []
    jobs.rerun(challenge, id, actor="ada", reason="the references are there")
    assert Workers(other, 1).run_until_idle() == 1
    [row] = [row for row in list_submissions(other) if row.id == id]
    assert row.state == "scored"
    other.database.close()


def test_one_damaged_file_does_not_stop_the_queue(challenges, readers):
    challenge = challenges.find()
    team = find_team(challenge, "Ours")
    ids = [submit(challenge, readers, team, number).id for number in (1, 2)]
    with challenge.writing() as connection:
        connection.exec_driver_sql("DROP TRIGGER challenge_blob_no_update")
        connection.exec_driver_sql(
            "UPDATE challenge_blob SET bytes = x'00' WHERE digest = "
            f"(SELECT captions_blob FROM challenge_submission WHERE id = '{ids[0]}')"
        )
    Workers(challenges, 1).run_until_idle()
    states = {row.id: row.state for row in list_submissions(challenges)}
    assert [states[id] for id in ids] == ["failed", "scored"]


def test_dates_that_organisers_moved_stay_unless_the_definition_moves_them(challenges, tmp_path):
    challenge = challenges.find()
    moved, revealed = from_iso("2026-06-20T00:00:00Z"), from_iso("2026-06-21T00:00:00Z")
    challenge.change_dates("main", actor="ada", reason="down", closes=moved, reveals=revealed)
    changed(challenges, tmp_path, ("Dogs of", "Cats of"))
    phase = challenges.find().find_phase("main")
    assert (phase.closes, phase.reveals) == (moved, revealed)
    changed(challenges, tmp_path, ("closes = 2026-06-11", "closes = 2026-06-12"))
    phase = challenges.find().find_phase("main")
    assert (phase.closes, phase.reveals) == (from_iso("2026-06-12T00:00:00Z"), revealed)


def test_dates_that_the_definition_moves_stand_in_the_log_as_those_of_the_console(
    challenges, tmp_path
):
    changed(challenges, tmp_path, ("closes = 2026-06-11", "closes = 2026-06-12"))
    opens = ("opens = 2026-06-01", "opens = 2026-05-01")
    changed(challenges, tmp_path, opens, more="reveals = 2026-06-14T00:00:00Z")
    changed(
        challenges, tmp_path, ("Dogs of", "Cats of"), opens, more="reveals = 2026-06-14T00:00:00Z"
    )
    view = View(challenges.find())
    events = [event for event in view.events() if event.what == "dates"]
    assert [(event.about, event.before, event.after) for event in events] == [
        ("main", "closes 2026-06-11T00:00:00Z", "closes 2026-06-12T00:00:00Z"),
        (
            "main",
            "opens 2026-06-01T00:00:00Z, closes 2026-06-12T00:00:00Z, reveals by hand",
            "opens 2026-05-01T00:00:00Z, closes 2026-06-11T00:00:00Z, reveals 2026-06-14T00:00:00Z",
        ),
    ]


def test_a_baseline_does_not_take_a_team_over(challenges, tmp_path):
    (tmp_path / "nn.json").write_bytes(captions(3))
    more = '\n[[baseline]]\nname = "OURS"\nfile = "nn.json"\nphase = "main"\n[[board]]'
    with pytest.raises(DataError, match="the name of a team that takes part, 'Ours'") as caught:
        changed(challenges, tmp_path, ("Dogs of", "Cats of"), ("[[board]]", more))
    assert "dogs.toml: [[baseline]] 'OURS'" in str(caught.value)
    assert "Choose another name" in str(caught.value)
    challenge = challenges.find()
    assert (challenge.definition.name, challenge.definition.baselines) == ("Dogs of 2026", ())
