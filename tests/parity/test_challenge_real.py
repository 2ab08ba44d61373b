"""Real data as challenges, from upload to score: the numbers of the official tools."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reelscore.challenge.arena import Arena
from reelscore.challenge.challenges import find_challenge, make_challenge
from reelscore.challenge.job_results import scores_of
from reelscore.challenge.store.tables import open_challenges
from reelscore.challenge.submissions import Upload, hand_in, list_submissions
from reelscore.challenge.teams import add_team
from reelscore.challenge.uploads import Readers
from reelscore.challenge.workers import Workers
from reelscore.data.datasets.trecvid_ha import load

pytestmark = pytest.mark.shared

DEFINITION = """
[challenge]
id = "real"
name = "Real"
[[split]]
id = "test"
visibility = "blind"
{split}
[scoring]
{scoring}
resamples = 100
[[phase]]
id = "main"
splits = ["test"]
opens = 2026-01-01T00:00:00Z
closes = 2999-01-01T00:00:00Z
[[board]]
id = "test"
phase = "main"
primary = "{primary}"
columns = [{{ scores = ["{primary}"] }}]
"""


def scored(folder, name, content, **choices):
    """Make a challenge, hand one file in, and give its scores."""
    (folder / "real.toml").write_text(DEFINITION.format(**choices))
    arena = Arena(open_challenges(folder / "real.db", create=True))
    make_challenge(arena, folder / "real.toml")
    known, readers = find_challenge(arena), Readers(1)
    team = add_team(arena, known, "Ours")
    hand_in(arena, readers, known, "main", team, Upload(name, content))
    readers.close()
    Workers(arena, 1).run_until_idle()
    [row] = list_submissions(arena)
    assert row.state == "scored", row.reason
    scores = scores_of(arena, row.key)["test"]
    arena.database.close()
    return {name: score.value for name, score in scores.items()}


def test_trecvid_2020(trecvid_folder: Path, tmp_path: Path) -> None:
    data = load(trecvid_folder, "SA-2020")
    (tmp_path / "references.json").write_text(json.dumps(data.references()))
    scores = scored(
        *(tmp_path, "RUC_AIM3.json", json.dumps(data.candidates["RUC_AIM3"]).encode()),
        split='references = "references.json"',
        scoring='metrics = ["bleu_4", "meteor", "rouge_l", "cider"]',
        primary="cider",
    )
    assert {name: round(value, 6) for name, value in scores.items()} == {
        "bleu_4": 0.174429,
        "meteor": 0.172660,
        "rouge_l": 0.398206,
        "cider": 0.303038,
    }


def test_youcook2_with_timechat(dense: Path, tmp_path: Path) -> None:
    (tmp_path / "yc2_val.json.gz").symlink_to(dense / "yc2_val.json.gz")
    name = "timechat_yc2_pred_anet_format.json.gz"
    scores = scored(
        *(tmp_path, name, (dense / name).read_bytes()),
        split='kind = "stories"\nreferences = "yc2_val.json.gz"',
        scoring='scores = ["activitynet"]\nprotocol = { reversed_segments = "zero", '
        'negative = "keep", empty = "zero", beyond = "keep" }',
        primary="anet_meteor",
    )
    assert scores["anet_meteor"] == pytest.approx(0.009479686134345128, abs=1e-12)
