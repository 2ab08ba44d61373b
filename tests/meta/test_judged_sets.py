"""The judged sets of metric papers: read in the files people have, and their tables come out."""

from __future__ import annotations

import gzip
import json

import pytest

from reelscore import DataError, UnknownNameError
from reelscore.data.datasets.judged_sets import ROWS, CaptionPair, JudgedSet, RatedCaption
from reelscore.data.datasets.judged_sets import read_judged_set as read
from reelscore.meta.judged_sets import (
    PROTOCOLS,
    SetProtocol,
    printed_rows,
    set_agreement,
    set_protocol,
)

REFERENCES = ["a dog is running", "a dog runs fast"]
RATED = RatedCaption("a dog runs", REFERENCES, [4.0])


def written(folder, name, content):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_the_form_of_pac_s(tmp_path):
    judged = [{"caption": "a dog runs", "rating": 4.0, "image_id": "x"}]
    picture = {"image_path": "x.jpg", "ground_truth": REFERENCES, "human_judgement": judged}
    path = written(tmp_path, "flickr8k.json", {"x": picture})
    for name in ("flickr8k-expert", "flickr8k-cf", "composite"):
        assert read(name, path) == JudgedSet(name, [RATED], [])


def test_rows_as_json_and_csv(tmp_path):
    row = {"imgid": "x", "mt": "a dog runs", "refs": REFERENCES, "score": 4.0}
    assert read("polaris", written(tmp_path, "p.json", [row])).rated == [RATED]
    lines = f'imgid,mt,refs,score\nx,a dog runs,"{REFERENCES}",4.0\n'
    assert read("nebula", written(tmp_path, "n.csv", lines)).rated == [RATED]


def test_pairs_by_kind(tmp_path):
    pair = {"image": "x", "captions": ["a", "b"], "references": ["c"], "label": 1}
    found = read("pascal-50s", written(tmp_path, "p.json", {"HC": [pair]}))
    assert found.pairs == [CaptionPair(("a", "b"), ["c"], -1.0, "HC")]


def test_lines_of_any_set(tmp_path):
    rows = [
        {"captions": ["a", "b"], "references": ["c"], "votes": [1, 1, -1], "kind": "HM"},
        {"captions": ["a", "b"], "references": ["c"], "better": 1},
    ]
    text = "\n".join(map(json.dumps, rows))
    path = tmp_path / "clotho.jsonl.gz"
    path.write_bytes(gzip.compress(text.encode()))
    found = read("clotho-eval", path)
    assert [(pair.votes, pair.kind) for pair in found.pairs] == [(1.0, "HM"), (-1.0, "")]


def test_factvc_in_its_folder(tmp_path):
    said = {"v1": {"COOT": {"paragraph_score": 2, "sentences": ["add [salt] .", "mix"]}}}
    written(tmp_path, "factuality_annotation.json", said)
    written(tmp_path, "captions/gt_ae_test_1_para.json", {"v1": "one."})
    written(tmp_path, "captions/gt_ae_test_2_para.json", {"v1": "two."})
    found = read("factvc-activitynet", tmp_path)
    assert found.rated == [RatedCaption("add salt. mix.", ["one.", "two."], [2.0])]


def test_thumb_in_its_folder(tmp_path):
    score = {"SYS": "s", "seg_id": "1", "hyp": "a dog runs", "human_score": 4.0, "P": 4.0}
    written(tmp_path, "mscoco_THumB-1.0.jsonl", json.dumps(score) + "\n")
    written(tmp_path, "mscoco_references.json", json.dumps({"seg_id": "1", "refs": REFERENCES}))
    assert read("thumb", tmp_path).rated == [RATED]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"caption": "a", "ratings": [1]}\n', "no references"),
        ('{"caption": "a", "references": ["b"]}\n', "neither a caption with ratings nor a pair"),
        ('{"caption": 1, "references": ["b"], "ratings": [1]}\n', "few.jsonl:1"),
        ("captions\n", "expected lines of JSON"),
    ],
)
def test_wrong_files_are_explained(tmp_path, content, said):
    with pytest.raises(DataError, match=said):
        read("vatex-eval", written(tmp_path, "few.jsonl", content))
    with pytest.raises(DataError, match="local copy"):
        read("vatex-eval", tmp_path / "missing.jsonl")


def pairs(*rows):
    return JudgedSet("clotho-eval", [], [CaptionPair(*row) for row in rows])


def test_ties_count_half_or_for_the_second():
    tied = pairs((("a dog", "a dog"), ["a dog"], 1.0, ""), (("a cat", "a cat"), ["x"], -1.0, ""))
    for ties, expected in (("half", 50.0), ("second", 50.0)):
        [row] = set_agreement(tied, "rouge_l", protocol=SetProtocol(ties=ties))
        assert row.values["all"] == expected
    [row] = set_agreement(
        pairs((("a dog", "a dog"), ["a dog"], 1.0, "")),
        "rouge_l",
        protocol=SetProtocol(ties="second"),
    )
    assert row.values["all"] == 0


def test_votes_that_sum_to_nothing_do_not_count():
    with pytest.raises(DataError, match="no pair has a winner"):
        set_agreement(pairs((("a", "b"), ["a"], 0.0, "HC")), "rouge_l")


def test_raters_apart_are_averaged():
    rows = [
        RatedCaption("a dog runs", ["a dog runs"], [3.0, 1.0]),
        RatedCaption("a dog", ["a dog runs"], [2.0, 2.0]),
        RatedCaption("cats", ["a dog runs"], [1.0, 3.0]),
    ]
    [row] = set_agreement(JudgedSet("vatex-eval", rows, []), "rouge_l")
    assert row.values == {"kendall_b": 0.0, "spearman": 0.0}


def test_unknown_sets_are_named():
    with pytest.raises(UnknownNameError, match="pascal-50s"):
        set_protocol("pascal-50")
    assert set(ROWS) <= set(PROTOCOLS)


def test_signatures_say_all_choices():
    signatures = {protocol.signature(name) for name, protocol in PROTOCOLS.items()}
    assert len(signatures) == len(PROTOCOLS)
    assert all("ties:" in each and "leave_one_out:" in each for each in signatures)


# What is there must come out

MEASURED = [
    (
        "pascal-50s",
        "pascal50s",
        "METEOR",
        {"HC": (63.8, 0.3), "HI": (97.7, 0.3), "mean": (80.1, 0.3)},
    ),
    ("pascal-50s", "pascal50s", "CIDEr", {"mean": (79.9, 0.1)}),
    (
        "audiocaps-eval",
        "audiocaps_eval",
        "METEOR",
        {"HC": (65.5, 0.1), "HI": (96.4, 0.5), "HM": (90.0, 0.1)},
    ),
    ("audiocaps-eval", "audiocaps_eval", "CIDEr", {"all": (70.7, 0.1)}),
    ("nebula", "nebula", "METEOR", {"kendall_c": (46.8, 0.05)}),
    ("nebula", "nebula", "CIDEr", {"kendall_c": (48.1, 0.05)}),
    ("factvc-youcook2", "factvc_youcook2", "METEOR", {"pearson": (39.3, 0.05)}),
]


@pytest.mark.parametrize(("name", "file", "metric", "expected"), MEASURED)
def test_what_is_measured(shared, name, file, metric, expected):
    path = shared / "judged" / f"{file}.jsonl.gz"
    judged = read(name, path)
    assert len(judged.rated) + len(judged.pairs) == ROWS[name]
    [row] = set_agreement(judged, metric.lower())
    for kind, (value, tolerance) in expected.items():
        assert row.values[kind] == pytest.approx(value, abs=tolerance)


def test_printed_rows_have_sources():
    for name in PROTOCOLS:
        for row in printed_rows(name):
            assert row.printed
            assert "(20" in row.signature
    assert printed_rows("pascal-50s")[2].values["mean"] == 80.1
