"""What a challenge says of captions is what the commands say of them, to the last bit."""

from __future__ import annotations

import json

import pytest

from reelscore import score_systems
from reelscore.challenges.challenge import Challenges
from reelscore.challenges.people.teams import add_team
from reelscore.challenges.permissions import Who
from reelscore.challenges.queue.workers import Workers
from reelscore.challenges.store.tables import open_challenges
from reelscore.challenges.submissions import Upload, hand_in
from reelscore.challenges.updates import make_challenge
from reelscore.challenges.uploads.uploads import Readers
from reelscore.challenges.views import View
from reelscore.examples import clips, stories
from reelscore.scoring.intervals import with_intervals
from reelscore.stories import score_systems as score_stories
from support.challenge_data import (
    SECOND,
    START,
    SetClock,
    challenge_text,
    list_submissions,
    scores_of,
)

METRICS = ("bleu|n:4", "meteor", "rouge_l", "cider", "diversity", "sent_bleu")


@pytest.fixture
def scored(tmp_path):
    """Gives the challenge's scores of some systems, as a function, and its notes and board."""
    opened = []

    def scores(systems, references, kind, **choices):
        for name, content in references.items():
            (tmp_path / name).write_text(json.dumps(content))
        said = f'kind = "{kind}"\nreferences = {json.dumps(list(references))}'
        text = challenge_text(references=said, resamples=200, **choices)
        (tmp_path / "dogs.toml").write_text(text)
        challenges = Challenges(
            open_challenges(tmp_path / "c.db", create=True), SetClock(START + SECOND)
        )
        opened.append(challenges.database)
        make_challenge(challenges, tmp_path / "dogs.toml")
        challenge, readers = challenges.find(), Readers(1)
        notes = {}
        for name, content in systems.items():
            upload = Upload(f"{name}.json", json.dumps(content).encode())
            team = add_team(challenge, name)
            notes[name] = hand_in(challenge, readers, "main", team, upload).notes
        readers.close()
        Workers(challenges, 1).run_until_idle()
        rows = list_submissions(challenges)
        made = {
            name: scores_of(challenges, row.key)["test"]
            for name, row in zip(systems, rows, strict=True)
        }
        board = View(challenges.find(), Who("owner")).board("test")
        return made, notes, board

    yield scores
    for database in opened:
        database.close()


def check_equal(made, table):
    """Values, intervals and signatures are the same bits."""
    wanted = with_intervals(table, resamples=200, seed=9)
    for system, scores in made.items():
        assert list(scores) == list(wanted[system])
        for name, score in scores.items():
            result = wanted[system][name]
            assert score.score == result.score, name
            assert score.interval == result.interval, name
            assert score.signature == result.signature, name


def test_captions(scored):
    systems, references = clips()
    scoring = f"metrics = {json.dumps(METRICS)}\nseed = 9"
    choices = {"kind": "captions", "scoring": scoring, "primary": "cider"}
    made, _, _ = scored(systems, {"refs.json": references}, **choices)
    check_equal(made, score_systems(systems, references, METRICS))


def test_stories(scored):
    systems, references = stories()
    names = list(references)
    short, *others = systems
    gone = next(iter(systems[short]["results"]))
    del systems[short]["results"][gone]
    files = {f"refs_{k}.json": references[name] for k, name in enumerate(names)}
    scoring = 'scores = ["soda_c", "activitynet"]\nseed = 9'
    choices = {"kind": "stories", "scoring": scoring, "primary": "soda_c"}
    made, notes, board = scored(systems, files, **choices)
    table = score_stories(systems, list(references.values()), ["soda_c", "activitynet"])
    check_equal(made, table)
    # a video without captions counts as zero, and that is said beside the score
    videos = len({video for story in references.values() for video in story})
    rest = f"1 of {videos} videos has no captions, and counts as zero."
    assert notes == {short: (f"Of test, {rest}",), **dict.fromkeys(others, ())}
    assert [note for note in board.notes if "zero" in note] == [f"In the entry of {short}, {rest}"]
