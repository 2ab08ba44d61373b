"""Score tables of the first commit, as files: they open, and scoring gives the same numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reelscore import ScoreTable, score_systems

FIRST = Path(__file__).parents[2] / "golden" / "scores_first"


@pytest.fixture(scope="module")
def now():
    """What this version says of the same captions."""
    captions = {
        name: json.loads((FIRST / f"{name}.json").read_text()) for name in ("ours", "theirs")
    }
    references = json.loads((FIRST / "refs.json").read_text())
    return score_systems(captions, references, metrics="bleu|n:2,meteor,rouge_l,cider,diversity")


@pytest.mark.parametrize("form", ["csv", "json"])
def test_a_table_of_the_first_version_opens(form, now):
    first = ScoreTable.read(FIRST / f"scores.{form}")
    assert first.systems == now.systems == ["ours", "theirs"]
    assert first.metrics == now.metrics
    for system in first.systems:
        for metric in first.metrics:
            old, new = first[system][metric], now[system][metric]
            assert (old.score, dict(old.items)) == (new.score, dict(new.items))
            assert old.scale == new.scale


def test_a_json_table_of_the_first_version_keeps_intervals_and_signatures():
    result = ScoreTable.read(FIRST / "scores.json")["ours"]["meteor"]
    assert result.interval == (0.346747781631338, 1.0)
    assert result.signature.startswith("meteor|alpha:0.85|")
    assert result.signature.endswith("|v:0.1.0|resamples:100|seed:12345")


@pytest.mark.parametrize("form", ["csv", "json"])
def test_a_table_of_the_first_version_is_written_and_read_again(form, tmp_path):
    first = ScoreTable.read(FIRST / f"scores.{form}")
    first.write(tmp_path / "again.json")
    assert ScoreTable.read(tmp_path / "again.json").to_dict() == first.to_dict()


@pytest.mark.parametrize("form", ["csv", "json"])
def test_a_table_of_the_first_version_is_printed_as_a_new_one(form, now):
    first = ScoreTable.read(FIRST / f"scores.{form}")
    assert list(first.labels.values())[:5] == ["BLEU-1", "BLEU-2", "METEOR", "ROUGE-L", "CIDEr"]
    assert first.labels == now.labels
    layout = {"scale": 100, "digits": 1, "columns": "BLEU-2,METEOR,Length", "sort": "METEOR"}
    head, _, *rows = first.to_markdown(**layout).splitlines()
    assert head == "| system | BLEU-2 | METEOR | Length |"
    assert [row.split("|")[1].strip() for row in rows[:2]] == ["ours", "theirs"]
    assert f"{100 * first['ours']['meteor'].score:.1f}" in rows[0]


def test_tables_can_be_compared(now):
    first = ScoreTable.read(FIRST / "scores.json")
    assert first == ScoreTable.read(FIRST / "scores.json")
    assert first != now
    scores = now["ours"]["meteor"].items
    assert scores == scores.to_dict()
    assert scores != {**scores, "another": 0.5}
