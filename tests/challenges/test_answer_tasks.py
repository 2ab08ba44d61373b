"""Challenges whose captions are answers: multiple choice, retrieval, characters."""

from __future__ import annotations

import json

import pytest

from reelscore.challenges.challenge import Challenges
from reelscore.challenges.queue.workers import Workers
from reelscore.challenges.submissions import Upload, hand_in
from reelscore.challenges.updates import make_challenge
from support.challenge_data import SECOND, START, SetClock, a_team, open_view, write_definition

TASKS = {
    "right_answers": (
        "accuracy",
        {f"q{k}": str(k % 5 + 1) for k in range(20)},
        {f"q{k}": str(k % 4 + 1) for k in range(20)},
        0.2,
    ),
    "right_answers|task:ranking|clips:20": (
        "recall_5",
        {f"q{k}": str(k + 1) for k in range(20)},
        {f"q{k}": " ".join(map(str, range(1, 21))) for k in range(20)},
        0.25,
    ),
    "right_answers|task:identities": (
        "instance_accuracy",
        {f"s{k}": "ann ann bob" for k in range(20)},
        {f"s{k}": "0 0 1" if k % 2 else "0 1 1" for k in range(20)},
        (1 + 1 / 3) / 2,
    ),
}


@pytest.mark.parametrize("metric", TASKS)
def test_answers_are_handed_in_scored_and_ranked(tmp_path, readers, metric):
    primary, references, answers, expected = TASKS[metric]
    path = write_definition(tmp_path, metrics=json.dumps([metric]))
    path.write_text(path.read_text().replace("cider", primary))
    (tmp_path / "references.json").write_text(
        json.dumps({item: [text] for item, text in references.items()})
    )
    with Challenges.opened(tmp_path / "c.db", create=True) as opened:
        challenges = Challenges(opened.database, SetClock(START + SECOND))
        make_challenge(challenges, path)
        challenge = challenges.find()
        for name, sent in (("Ours", answers), ("Perfect", references)):
            upload = Upload("run.json", json.dumps(sent).encode())
            hand_in(challenge, readers, "main", a_team(challenge, name), upload)
        assert Workers(challenges, 1).run_until_idle() == 2
        board = open_view(opened.database, "dogs", now=START + 2 * SECOND).board("test")
    assert [row.team for row in board.rows] == ["Perfect", "Ours"]
    [_, ours] = board.rows
    score = board.table[ours.id][primary]
    low, high = score.interval
    assert score.score == pytest.approx(expected)
    assert low < score.score < high
    assert [row.cluster for row in board.rows] == [1, 2]
