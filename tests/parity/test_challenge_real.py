"""Real data as challenges, from upload to score: the numbers of the official tools."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.stories_challenge import METEOR, read, valid

from reelscore.challenges.challenge import Challenges
from reelscore.challenges.exchange.verification import verify_export
from reelscore.challenges.people.teams import add_team
from reelscore.challenges.queue.workers import Workers
from reelscore.challenges.store.tables import open_challenges
from reelscore.challenges.submissions import Upload, hand_in
from reelscore.challenges.updates import make_challenge
from reelscore.challenges.uploads.uploads import Readers
from reelscore.store.values import from_iso
from reelscore_studies.trecvid import trecvid_challenge
from support.challenge_data import challenge_text, export, list_submissions, open_view, scores_of
from support.results import scores_by_team

pytestmark = pytest.mark.shared


def scored(folder, name, content, **choices):
    """Make a challenge, hand one file in, and give its scores."""
    years = {"opens": "2026-01-01", "closes": "2999-01-01"}
    text = challenge_text("real", "Real", references=choices.pop("split"), **years, **choices)
    (folder / "real.toml").write_text(text)
    challenges = Challenges(open_challenges(folder / "real.db", create=True))
    make_challenge(challenges, folder / "real.toml")
    challenge, readers = challenges.find(), Readers(1)
    team = add_team(challenge, "Ours")
    hand_in(challenge, readers, "main", team, Upload(name, content))
    readers.close()
    Workers(challenges, 1).run_until_idle()
    [row] = list_submissions(challenges)
    assert row.state == "scored", row.reason
    scores = scores_of(challenges, row.key)["test"]
    challenges.database.close()
    return {name: score.score for name, score in scores.items()}


def test_trecvid_2020(trecvid_folder: Path, tmp_path: Path) -> None:
    where = trecvid_challenge(trecvid_folder, "SA-2020", tmp_path / "made")
    with open_challenges(where) as database:
        now = from_iso("2021-01-01T00:00:00Z")
        view = open_view(database, "trecvid-2020", now=now)
        board, verdict = view.board("test"), view.verdict()
        export(database, view.id, tmp_path / "all.zip", now=now, references=True)
    scores = scores_by_team(board)
    expected = {"bleu_4": 0.174429, "meteor": 0.172660, "rouge_l": 0.398206, "cider": 0.303038}
    own = scores["RUC_AIM3"]
    assert {name: round(own[name].score, 6) for name in expected} == expected
    assert round(own["human:da"].score, 3) == 0.057
    assert verdict.winners == ["RUC_AIM3"]
    checked = verify_export(tmp_path / "all.zip")
    assert (checked.submissions, checked.scores, checked.differences) == (6, 72, [])


def test_youcook2_with_timechat(dense: Path, tmp_path: Path) -> None:
    # a challenge repairs nothing: what it refuses is made valid first, without a change of score
    references, captions = read("yc2_val"), read("timechat_yc2_pred_anet_format")
    assert valid(captions["results"]) > 0
    for story in references.values():
        del story["duration"]
    (tmp_path / "yc2_val.json").write_text(json.dumps(references))
    scores = scored(
        *(tmp_path, "timechat.json", json.dumps(captions).encode()),
        split='kind = "stories"\nreferences = "yc2_val.json"',
        scoring='scores = ["activitynet"]',
        primary="anet_meteor",
    )
    assert scores["anet_meteor"] == pytest.approx(METEOR, abs=1e-12)
