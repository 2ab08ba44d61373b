"""Rows, as the core holds statistics: what is done with them, and how they become arrays."""

from __future__ import annotations

import copy
import pickle
from array import array

import numpy as np
import pytest

from reelscore import _native, score
from reelscore._native import Pairing, Rows
from reelscore.metrics.base import Metric, scores_of_rows
from reelscore.metrics.registry import resolve
from reelscore.text.words import pack

NUMBERS = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


def test_arrays_show_the_memory_of_rows():
    rows = Rows(NUMBERS)
    shown = np.asarray(rows)
    assert np.shares_memory(shown, NUMBERS)
    assert np.shares_memory(shown, np.asarray(rows))
    assert not np.shares_memory(shown, np.array(rows))
    assert not shown.flags.writeable
    assert np.asarray(rows.sums()).flags.writeable  # nobody else has them
    assert np.asarray(rows, dtype=np.float32).dtype == np.float32
    assert rows.tolist() == NUMBERS.tolist()
    del rows
    assert shown.tolist() == NUMBERS.tolist()


def test_parts_of_rows():
    rows = Rows(NUMBERS)
    assert len(rows) == 3
    assert rows.every(0, 2).tolist() == [[1.0, 2.0], [5.0, 6.0]]
    assert rows.every(1, 2).tolist() == [[3.0, 4.0]]
    assert Rows.joined([rows, rows.every(1, 2)]).tolist() == [*NUMBERS.tolist(), [3.0, 4.0]]
    assert rows.column(1).tolist() == [2.0, 4.0, 6.0]
    assert rows.sums().tolist() == [[9.0, 12.0]]
    with pytest.raises(IndexError, match="no such column"):
        rows.column(2)


def test_gaps():
    assert not Rows(NUMBERS).has_gaps
    assert Rows(np.where(NUMBERS == 4, np.nan, NUMBERS)).has_gaps


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 127, 128, 129, 136, 1000, 20_001])
@pytest.mark.parametrize("columns", [1, 2, 24])
def test_sums_are_numpys(count, columns):
    rng = np.random.default_rng(count)
    rows = rng.standard_normal((count, columns)) * 10.0 ** rng.integers(-8, 8, (count, columns))
    expected = np.ascontiguousarray(rows.T).sum(axis=1)
    assert Rows(rows).sums().tolist() == [expected.tolist()]


@pytest.mark.parametrize("columns", range(2, 11))
def test_means_are_numpys(columns):
    rows = np.random.default_rng(columns).random((500, columns))
    expected = 10.0 * rows[:, :-1].mean(axis=1) / rows[:, -1]
    assert np.asarray(_native.mean_scores(Rows(rows), 10.0))[:, 0].tolist() == expected.tolist()


def test_what_the_core_holds_can_be_sent_and_copied():
    for copied in (pickle.loads(pickle.dumps(Rows(NUMBERS))), copy.deepcopy(Rows(NUMBERS))):
        assert copied.tolist() == NUMBERS.tolist()
    packed = pack(["a man", "", "naïve"])
    assert pickle.loads(pickle.dumps(packed.slice(1, 3))).unpack() == ["", "naïve"]
    results = score({"v": "a man"}, {"v": ["a dog"]}, "bleu,meteor,cider")
    again = pickle.loads(pickle.dumps(results))
    assert {name: result.to_dict() for name, result in again.items()} == results.to_dict()


def test_pairings():
    offsets = array("q", [0, 2, 3])
    pairing = Pairing.in_order(offsets, 2)
    assert len(pairing) == 4
    assert pairing.items.tolist() == [0, 0, 1, 1]
    assert pairing.reference_offsets.tolist() == [0, 2, 3]
    assert pairing.slice(1, 3).items.tolist() == [0, 1]
    with pytest.raises(IndexError, match="no such slice"):
        pairing.slice(1, 5)


@pytest.mark.parametrize("metric", resolve("bleu,meteor,rouge_l,cider"), ids=lambda m: m.name)
def test_scores_of_the_core_are_those_of_arrays(metric: Metric):
    systems = {"v1": "a man runs", "v2": "two dogs", "v3": "a car"}
    references = {"v1": ["a man is running"], "v2": ["two dogs play"], "v3": ["a red car"]}
    [measured] = score(systems, references, [metric]).measurements
    statistics = measured.statistics
    corpus, items = scores_of_rows(metric, measured.rows)
    assert metric.aggregate(statistics).tolist() == corpus
    assert metric.scores(statistics).tolist() == items.tolist()
    stacked = np.stack([statistics, statistics])
    assert metric.scores(stacked).tolist() == [items.tolist()] * 2
    assert metric.scores(statistics[:0]).shape == (0, len(metric.outputs))
