"""Presets of chapters and of harnesses, each on a file of its layout, with figures by hand."""

from __future__ import annotations

import json

import pytest

from reelscore import stories

# v1: both inner starts 4 s off or right; v2 has no chapter at 0; v3 has no candidates.
TRUTH = {
    "v1": {"duration": 100, "chapters": {"00:00:00": "Intro", "00:00:40": "cooking pasta",
                                         "00:01:20": "tasting"}},
    "v2": {"duration": 60, "chapters": {"00:00:10": "unboxing", "00:00:30": "verdict"}},
    "v3": {"duration": 60, "chapters": {"00:00:00": "hello"}},
}  # fmt: skip
OURS = {
    "v1": {"chapters": {"00:00:00": "Intro", "00:00:44": "feeding horses", "00:01:20": "tasting"}},
    "v2": {"chapters": {"00:00:00": "unboxing", "00:00:30": ""}},
}
# overlaps of v1: 40/44 and 36/40 (below .9, by the 1e-8 in the union), and 1
F1_OF_V1 = (8 * 1 + 2 / 3 + 1 / 3) / 10
# of v2, with a chapter 0–10 before the first: 10/30, 20/30 and 1, so P 1, R 2/3 up to .65
F1_OF_V2 = (4 * 0.8 + 6 * 0.4) / 10


@pytest.fixture
def files(tmp_path):
    """Files in Chapter-Llama's layout."""
    for name, content in (("truth", TRUTH), ("ours", OURS)):
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    return tmp_path / "ours.json", tmp_path / "truth.json"


def test_chapter_llama_by_hand(files):
    scores = stories.score(*files, preset="chapter-llama")
    assert scores["chapters_f1"].items.to_dict() == pytest.approx({"v1": F1_OF_V1, "v2": F1_OF_V2})
    assert scores["chapters_f1"].score == pytest.approx((F1_OF_V1 + F1_OF_V2) / 2)
    overlaps = (40 / 44 + 36 / 40 + 1) / 3, (20 / 30 + 1) / 2
    assert scores["chapters_tiou"].score == pytest.approx(sum(overlaps) / 2)
    # v1: two of three titles are the reference's, one has no word of it; METEOR 1, 0, 1. v2: the
    # first overlaps with IoU 20/30, the second is empty.
    assert scores["soda_c"].items["v1"] == pytest.approx((40 / 44 + 0 + 1) / 3)
    assert scores["soda_c"].items["v2"] == pytest.approx(20 / 30 / 2)
    # A title of one word has one n-gram of four: CIDEr 10 / 4. Of v1 at .3, .5, .7 all pairs; at .9
    # the second pair is replaced by nonsense, which scores 0 as well.
    assert scores["anet_cider"].items["v1"] == pytest.approx((2.5 + 0 + 2.5) / 3)
    assert "1 video has no candidates, of 3: left out." in scores.notes
    assert "1 caption has no text: kept." in scores.notes


def test_vidchapters_counts_starts(files):
    scores = stories.score(*files, preset="vidchapters")
    # v1: 0 and 80 are exact, 44 is 4 s off. v2: 30 is exact, 0 is 10 s from 10, which is not below.
    for seconds, v1, v2 in ((1, 2 / 3, 1 / 2), (5, 1, 1 / 2), (10, 1, 1 / 2), (30, 1, 1)):
        for part in ("precision", "recall"):
            assert scores[f"chapters_{part}_{seconds}s"].score == pytest.approx((v1 + v2) / 2)
    # without the chapter before the first of v2
    assert scores["chapters_f1"].items["v2"] == pytest.approx((4 * 1 + 6 * 0.5) / 10)


def test_videos_without_chapters_count_by_default(files):
    scores = stories.score(*files, "chapters", empty="zero")
    assert scores["chapters_f1"].score == pytest.approx((F1_OF_V1 + F1_OF_V2) / 3)
    assert scores["chapters_f1"].items["v3"] == 0
    signature = scores["chapters_f1"].signature
    assert "within:1/3/5/10/30/60|opening:add" in signature


def test_the_best_annotator_counts():
    ours = {
        "v": [{"timestamp": [0, 10], "sentence": "a"}, {"timestamp": [10, 20], "sentence": "b"}]
    }
    far = {"v": [{"timestamp": [0, 20], "sentence": "a"}]}
    scores = stories.score(ours, [far, ours], "chapters", within=(1,))
    assert scores["chapters_f1"].score == pytest.approx(1)
    assert scores["chapters_precision_1s"].score == scores["chapters_recall_1s"].score == 1


def test_lmms_eval_youcook2_by_hand(tmp_path):
    """Its samples, an answer to a given segment in a line."""
    answers = [
        ("a", [0, 10], "onions", "onions"),
        ("a", [10, 20], "garlic", "ginger"),
        ("b", [0, 30], "boil water", "boil water"),
    ]
    lines = [
        {"doc": {"youtube_id": video, "segment": segment, "sentence": truth}, "resps": [[answer]]}
        for video, segment, answer, truth in answers
    ]
    samples = tmp_path / "samples_youcook2_val.jsonl"
    samples.write_text("\n".join(map(json.dumps, lines)))
    truth = {}
    for video, segment, _, sentence in answers:
        truth.setdefault(video, []).append({"timestamp": segment, "sentence": sentence})
    scores = stories.score(samples, truth, preset="lmms-eval-youcook2")
    # a: one word of two is right, 10 / 4 for it. b: each of its words is in all of its one caption,
    # so nothing is rare and all is 0, though the caption is right.
    assert scores["anet_cider"].items.to_dict() == pytest.approx({"a": 2.5 / 2, "b": 0})
    assert scores["anet_cider"].score == pytest.approx(2.5 / 4)
    assert scores["anet_bleu_1"].items["a"] == pytest.approx(0.5)
    assert scores["anet_rouge_l"].score == pytest.approx((0.5 + 1) / 2)
