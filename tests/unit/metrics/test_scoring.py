"""score, score_systems and Scorer: what goes in, what comes out, what is refused."""

from __future__ import annotations

import json
import math
import pickle
from collections import OrderedDict
from types import MappingProxyType

import numpy as np
import pytest

from reelscore import DataError, Scorer, UnknownNameError, parse_signature, score, score_systems
from reelscore.metrics.base import column_sums

CANDIDATES = {"v1": "a man runs", "v2": "a dog"}
REFERENCES = {"v1": ["a man is running"], "v2": ["the dog sleeps", "a dog"]}


def test_results():
    scores = score(CANDIDATES, REFERENCES)
    assert list(scores) == ["bleu_1", "bleu_2", "bleu_3", "bleu_4", "meteor", "rouge_l", "cider"]
    result = scores["rouge_l"]
    assert result.metric == "rouge_l"
    assert list(result.items) == ["v1", "v2"]
    assert result.items["v2"] == 1.0
    assert result.interval is None
    assert type(result.score) is float
    assert json.loads(json.dumps(scores.to_dict()))["rouge_l"]["items"]["v2"] == 1.0
    assert str(result).startswith("rouge_l 0.7")
    with pytest.raises(KeyError):
        scores["bleu"]


def test_signature():
    result = score(CANDIDATES, REFERENCES, "cider", missing="skip", empty="zero")["cider"]
    parts = result.signature.split("|")
    assert parts[:5] == ["cider", "n:4", "sigma:6", "variant:d", "frequencies:none"]
    for part in ("tok:ptb", "items:2", "refs:1-2", "missing:skip", "empty:zero"):
        assert part in parts


CHANGES = [
    # what changes, and must show in the signature
    {"tokenizer": "none"},
    {"missing": "skip"},
    {"empty": "zero"},
    {"metrics": "rouge_l|beta:1"},
    {"references": {**REFERENCES, "v1": ["another"]}},
    {"references": {**REFERENCES, "v1": ["a man is", "running"]}},  # the same bytes, cut elsewhere
]


@pytest.mark.parametrize("change", CHANGES)
def test_signatures_tell_scores_apart(change):
    call = {"candidates": CANDIDATES, "references": REFERENCES, "metrics": "rouge_l"}
    one = score(**call)["rouge_l"].signature
    two = score(**{**call, **change})["rouge_l"].signature
    assert one != two


SAME = [
    OrderedDict(CANDIDATES),
    MappingProxyType(CANDIDATES),
    {np.str_(item): np.str_(text) for item, text in CANDIDATES.items()},
]


@pytest.mark.parametrize("candidates", SAME, ids=["OrderedDict", "MappingProxy", "numpy strings"])
def test_kinds_of_input(candidates):
    one = score(CANDIDATES, REFERENCES)
    two = score(candidates, {item: tuple(texts) for item, texts in REFERENCES.items()})
    assert one.to_dict() == two.to_dict()


def test_ids_may_be_numbers():
    scores = score({1: "a man", np.int64(2): "a dog"}, {"1": ["a man"], 2: ["a dog"]}, "rouge_l")
    assert scores["rouge_l"].items.to_dict() == {"1": 1.0, "2": 1.0}


REFUSED = [
    # candidates, references, message
    ({}, REFERENCES, "no candidates"),
    (CANDIDATES, {}, "no references"),
    (["a man"], REFERENCES, "both by id, or both in order"),
    ("a man", REFERENCES, "a man: no such file"),
    ("my run.json", REFERENCES, "my run.json: no such file"),
    (None, REFERENCES, "expected captions by id"),
    ({"v1": "a"}, REFERENCES, "no candidate"),
    ({**CANDIDATES, "v3": "a"}, REFERENCES, "no references"),
    ({"x": "a"}, REFERENCES, "no item in common"),
    ({"v1": "", "v2": "a"}, REFERENCES, "empty"),
    ({"v1": None, "v2": "a"}, REFERENCES, "null"),
    ({"v1": b"a", "v2": "a"}, REFERENCES, "bytes"),
    ({"v1": ["a", "b"], "v2": "a"}, REFERENCES, "one caption per item"),
    ({"v1": "a\0b", "v2": "a"}, REFERENCES, "NUL"),
    ({"v1": "a\ud800", "v2": "a"}, REFERENCES, "surrogate"),
    ({"v1": math.nan, "v2": "a"}, REFERENCES, r"missing \(nan\)"),
    (CANDIDATES, {**REFERENCES, "v2": []}, "no references"),
    (CANDIDATES, {**REFERENCES, "v2": (text for text in ["a"])}, "a list of texts"),
    (CANDIDATES, {**REFERENCES, "v2": [["a"]]}, "a list"),
    ({True: "a"}, {True: ["a"]}, "id"),
    ({1.5: "a"}, {1.5: ["a"]}, "id"),
    ({("v", 1): "a"}, {("v", 1): ["a"]}, "id"),
    ({"": "a"}, {"": ["a"]}, "id"),
    (CANDIDATES, None, "needs references"),
]


@pytest.mark.parametrize(("candidates", "references", "message"), REFUSED)
def test_refused(candidates, references, message):
    with pytest.raises(DataError, match=message):
        score(candidates, references)


@pytest.mark.parametrize(
    "option", [{"tokenizer": "moses"}, {"missing": "ignore"}, {"empty": "skip"}, {"metrics": "x"}]
)
def test_unknown_names(option):
    with pytest.raises(UnknownNameError):
        score(CANDIDATES, REFERENCES, **option)


def test_policies():
    some = {"v1": "a man is running"}
    zero = score(some, REFERENCES, "rouge_l", missing="zero")
    assert zero["rouge_l"].items.to_dict() == {"v1": 1.0, "v2": 0.0}
    assert zero.notes == ("1 item has no candidate: scored as an empty caption.",)
    skipped = score(some, REFERENCES, "rouge_l", missing="skip")
    assert skipped["rouge_l"].items.to_dict() == {"v1": 1.0}
    assert skipped["rouge_l"].score == 1.0


def test_ids_may_hold_anything():
    ids = ["a\nb", "a,b", "é", "|", "x" * 10_000, " v", "v "]
    scores = score(dict.fromkeys(ids, "a man"), {item: ["a man"] for item in ids}, "rouge_l")
    assert list(scores["rouge_l"].items) == ids


def test_duplicated_captions_and_one_item():
    references = {item: ["a man", "a man"] for item in "abc"}
    many = score(dict.fromkeys("abc", "a man"), references, "bleu|n:1")
    assert many["bleu_1"].score == pytest.approx(1.0)
    assert score({"v": "a"}, {"v": ["a"]}, "rouge_l")["rouge_l"].score == 1.0


def test_metrics_are_those_asked_for():
    assert list(score(CANDIDATES, REFERENCES, ["rouge_l", parse_signature("bleu|n:1")])) == [
        "rouge_l",
        "bleu_1",
    ]


def test_nothing_is_changed():
    candidates, references = dict(CANDIDATES), {k: list(v) for k, v in REFERENCES.items()}
    score(candidates, references, missing="skip", empty="zero")
    assert (candidates, references) == (CANDIDATES, REFERENCES)


# Several systems


def test_systems_share_references():
    table = score_systems({"one": CANDIDATES, "two": {"v2": "a dog", "v1": "x"}}, REFERENCES)
    assert table.systems == ["one", "two"]
    for name, candidates in {"one": CANDIDATES, "two": {"v1": "x", "v2": "a dog"}}.items():
        assert table[name].to_dict() == score(candidates, REFERENCES).to_dict()


def test_errors_name_the_system():
    with pytest.raises(DataError, match="bad: "):
        score_systems({"good": CANDIDATES, "bad": {"v1": "a"}}, REFERENCES)


def test_progress():
    calls = []
    score_systems(
        {"one": CANDIDATES}, REFERENCES, "rouge_l", progress=lambda *done: calls.append(done)
    )
    assert calls == [(0, 2), (2, 2)]


@pytest.mark.parametrize("together", [0, 4])
def test_progress_counts_the_captions_of_all_systems(monkeypatch, together):
    monkeypatch.setattr("reelscore.scoring.prepared._TOGETHER", together)
    calls = []
    systems = {"one": CANDIDATES, "two": CANDIDATES}
    score_systems(systems, REFERENCES, "bleu", progress=lambda *done: calls.append(done))
    assert calls[0] == (0, 4)
    assert calls[1:] == ([(4, 4)] if together else [(2, 4), (4, 4)])


# Intervals


def test_intervals():
    scores = score(CANDIDATES, REFERENCES, "rouge_l,self_bleu")
    with_intervals = scores.with_intervals(resamples=200, seed=3)
    low, high = with_intervals["rouge_l"].interval
    assert 0 <= low <= scores["rouge_l"].score <= high <= 1
    assert "|resamples:200|seed:3" in with_intervals["rouge_l"].signature
    assert with_intervals["self_bleu"].interval is None
    assert scores["rouge_l"].interval is None  # the results it was made from are as they were
    assert with_intervals["rouge_l"].score == scores["rouge_l"].score
    assert scores.with_intervals(resamples=200, seed=3).to_dict() == with_intervals.to_dict()


def test_an_interval_of_one_item_is_a_point():
    scores = score({"v": "a man"}, {"v": ["a dog"]}, "rouge_l").with_intervals(resamples=20)
    assert scores["rouge_l"].interval == (scores["rouge_l"].score,) * 2


def test_wider_levels_are_wider():
    many = {f"v{k}": "a man runs" if k % 3 else "x y" for k in range(60)}
    scores = score(many, {item: ["a man walks"] for item in many}, "rouge_l")
    narrow = scores.with_intervals(level=0.5)["rouge_l"].interval
    wide = scores.with_intervals(level=0.99)["rouge_l"].interval
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_the_level_is_in_the_signature():
    scores = score(CANDIDATES, REFERENCES, "rouge_l")
    one, two = (scores.with_intervals(level=level)["rouge_l"].signature for level in (0.9, 0.95))
    assert one != two


@pytest.mark.parametrize("bad", [{"resamples": 0}, {"seed": -1}, {"level": 2.0}, {"level": -1.0}])
def test_bad_intervals(bad):
    with pytest.raises(DataError):
        score(CANDIDATES, REFERENCES, "rouge_l").with_intervals(**bad)


# Accumulating


def test_scorer_refuses():
    scorer = Scorer(REFERENCES, "rouge_l")
    with pytest.raises(DataError, match="no references"):
        scorer.update({"v9": "a"})
    with pytest.raises(DataError, match=r"nothing to score|no candidate"):
        scorer.compute()
    scorer.update({"v1": "a man"})
    with pytest.raises(DataError, match="twice"):
        scorer.update({"v1": "a dog"})
    with pytest.raises(DataError, match="no candidate"):
        scorer.compute()
    with pytest.raises(DataError, match="empty"):
        scorer.update({"v2": " "})
    scorer.update({"v2": "a dog"})  # what was refused left no trace
    assert scorer.compute()["rouge_l"].items["v2"] == 1.0
    with pytest.raises(DataError, match="cannot be accumulated"):
        Scorer(REFERENCES, "self_bleu")


def test_scorer_reset():
    scorer = Scorer(REFERENCES, "rouge_l")
    scorer.update(CANDIDATES)
    first = scorer.compute().to_dict()
    scorer.reset()
    scorer.update(CANDIDATES)
    assert scorer.compute().to_dict() == first == score(CANDIDATES, REFERENCES, "rouge_l").to_dict()


@pytest.mark.parametrize("missing", ["zero", "skip"])
def test_scorer_policies(missing):
    scorer = Scorer(REFERENCES, "rouge_l,bleu", missing=missing)
    scorer.update({"v2": "a dog"})
    scores = scorer.compute()
    whole = score({"v2": "a dog"}, REFERENCES, "rouge_l,bleu", missing=missing)
    assert scores.to_dict()["rouge_l"]["items"] == whole.to_dict()["rouge_l"]["items"]
    assert scores["bleu_1"].score == whole["bleu_1"].score


def test_cider_of_a_scorer_knows_all_references():
    # with missing="skip" the document frequencies are still those of all references given
    scorer = Scorer(REFERENCES, "cider", missing="skip")
    scorer.update({"v1": "a man runs"})
    assert scorer.compute()["cider"].score == score(CANDIDATES, REFERENCES)["cider"].items["v1"]


def test_a_batch_without_known_items():
    scorer = Scorer(REFERENCES, "rouge_l", missing="skip")
    scorer.update({"v9": "a"})
    scorer.update(CANDIDATES)
    assert scorer.compute()["rouge_l"].items["v2"] == 1.0


OTHERS = [
    # references and metrics of a scorer whose state does not fit
    ({"v1": ["a man"], "v2": ["other words"]}, "rouge_l"),
    ({"v2": ["a dog"], "v1": ["a man is running"]}, "rouge_l"),
    (REFERENCES, "rouge_l|beta:3"),
    (REFERENCES, "bleu"),
    ({"x": ["a"], "y": ["b"], "v1": ["c"]}, "rouge_l"),
]


@pytest.mark.parametrize(("references", "metrics"), OTHERS)
def test_states_of_other_scorers_are_refused(references, metrics):
    # numbers of items and columns of statistics mean nothing elsewhere: wrong scores in silence
    there, here = Scorer(references, metrics), Scorer(REFERENCES, "rouge_l")
    there.update({"v1": "a man"})
    with pytest.raises(DataError):
        here.merge(there.state())


def test_state_can_be_pickled_when_empty():
    scorer = Scorer(REFERENCES, "rouge_l")
    scorer.merge(pickle.loads(pickle.dumps(Scorer(REFERENCES, "rouge_l").state())))
    scorer.update(CANDIDATES)
    assert len(scorer.compute()["rouge_l"].items) == 2


def test_sums_lose_no_digits():
    # a million tenths, added one after the other, are off in the eighth digit
    statistics = np.full((1_000_000, 2), 0.1)
    assert column_sums(statistics).tolist() == pytest.approx([100_000, 100_000], rel=1e-14)


def test_threads():
    for threads in (1, 10_000):
        scores = score(CANDIDATES, REFERENCES, "rouge_l", threads=threads)
        assert scores["rouge_l"].items["v2"] == 1.0
