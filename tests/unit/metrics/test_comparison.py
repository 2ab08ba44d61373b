"""Significance of the differences between systems."""

from __future__ import annotations

import pytest

from reelscore import DataError, ScoreTable, UnknownNameError, compare, score_systems
from reelscore.examples import clips

SYSTEMS, REFERENCES = clips()


@pytest.fixture(scope="module")
def table():
    return score_systems(SYSTEMS, REFERENCES, "bleu|n:2,rouge_l,self_bleu")


def few(table, *args, **options):
    return compare(table, *args, **{"resamples": 300, "trials": 500, **options})


def test_against_a_baseline(table):
    comparisons = few(table, "human")
    assert {(each.system, each.other) for each in comparisons} == {
        ("strong", "human"),
        ("weak", "human"),
        ("broken", "human"),
    }
    # three systems, three scores, two tests; self_bleu cannot be resampled
    assert len(comparisons) == 3 * 3 * 2
    assert {each.metric for each in comparisons} == {"bleu_1", "bleu_2", "rouge_l"}
    for each in comparisons:
        difference = table[each.system][each.metric].score - table["human"][each.metric].score
        assert each.difference == difference
        assert each.p <= each.p_corrected <= 1
        assert each.to_dict()["p"] == each.p


def test_known_situations(table):
    p = {(e.system, e.metric, e.test): e.p_corrected for e in few(table, "human")}
    for test in ("bootstrap", "randomization"):
        assert p["broken", "rouge_l", test] < 0.01  # clearly worse by design of the examples
        assert p["strong", "rouge_l", test] > 0.05  # nearly as good


def test_all_pairs(table):
    comparisons = few(table, tests=["randomization"])
    assert len({(each.system, each.other) for each in comparisons}) == 6


def test_a_system_and_its_copy():
    table = score_systems({"one": SYSTEMS["weak"], "two": SYSTEMS["weak"]}, REFERENCES, "rouge_l")
    assert [each.p for each in few(table, "one")] == [1.0, 1.0]
    assert [each.difference for each in few(table, "one")] == [0.0, 0.0]


def test_corrections_are_by_metric_and_test(table):
    none = {_key(e): e.p_corrected for e in few(table, "human", correction="none")}
    raw = {_key(e): e.p for e in few(table, "human", correction="none")}
    assert none == raw
    most = {_key(e): e.p_corrected for e in few(table, "human", correction="bonferroni")}
    assert most == pytest.approx({key: min(1, 3 * p) for key, p in raw.items()})


def _key(each):
    return each.system, each.metric, each.test


def test_seeds(table):
    one = [e.p for e in few(table, "human", seed=1)]
    assert one == [e.p for e in few(table, "human", seed=1)]
    assert one != [e.p for e in few(table, "human", seed=2)]
    assert {e.signature for e in few(table, "human", seed=1)} == {
        "bootstrap|holm|draws:300|seed:1",
        "randomization|holm|draws:500|seed:1",
    }


def test_refused(table):
    with pytest.raises(UnknownNameError, match="Did you mean 'human'"):
        few(table, "humann")
    with pytest.raises(UnknownNameError, match="test"):
        few(table, "human", tests=["t-test"])
    with pytest.raises(UnknownNameError, match="correction"):
        few(table, "human", correction="sidak")
    with pytest.raises(DataError, match="at least two"):
        few(ScoreTable({"human": table["human"]}))


@pytest.mark.parametrize("bad", [{"resamples": 0}, {"trials": 0}, {"seed": -1}])
def test_bad_numbers(table, bad):
    with pytest.raises(DataError):
        few(table, "human", **bad)


def test_other_items_are_refused():
    systems = {"one": {"v1": "a", "v2": "b"}, "two": {"v1": "a"}}
    table = score_systems(systems, {"v1": ["a"], "v2": ["b"]}, "rouge_l", missing="skip")
    with pytest.raises(DataError, match="different items"):
        few(table)


def test_stored_tables_are_refused(table, tmp_path):
    table.write(tmp_path / "t.json")
    with pytest.raises(DataError, match="stored table"):
        few(ScoreTable.read(tmp_path / "t.json"), "human")


def test_progress(table):
    calls = []
    few(table, "human", progress=lambda done, total: calls.append((done, total)))
    assert calls[-1] == (12, 12)  # two metrics, three pairs, two tests
