"""Coefficients: published values, slow twins, and what is not defined."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from reelscore.stats.correlations import (
    LEVELS,
    correlate,
    difference_pearson,
    in_groups,
    mean_known,
    pearson,
    spearman,
    why_undefined,
)
from reelscore.stats.pairs import (
    accuracy,
    count_pairs,
    kendall_23,
    kendall_b,
    kendall_c,
    kendall_like,
)

NAN = float("nan")

# mt-metrics-eval 68a481a, stats_test.py: two systems, three items
GOLD = np.array([[1.0, 2, 3], [4, 5, 6]])
METRIC = np.array([[2.0, 1, 4], [3, 3, 7]])

# the same, testKendallVariants
VECTOR_GOLD, VECTOR_METRIC = [1, 2, 2, 3, 4], [2, 1, 1.5, 5, 3]


@pytest.mark.parametrize(
    ("coefficient", "level", "expected"),
    [
        (pearson, "pooled", 0.776),
        (pearson, "per-system", 0.760),
        (pearson, "item", 1.00),
        (kendall_b, "pooled", 0.552),
        (kendall_b, "per-system", 0.575),
        (kendall_b, "item", 1.00),
        (kendall_c, "pooled", 0.556),
        (kendall_c, "per-system", 0.611),
        (kendall_c, "item", 1.00),
    ],
)
def test_mt_metrics_eval_groups(coefficient, level, expected):
    assert correlate(GOLD, METRIC, level, coefficient) == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize(
    ("level", "expected"), [("item", 0.926), ("pooled", 0.776), ("per-system", 0.766)]
)
def test_mt_metrics_eval_pairwise_differences(level, expected):
    r = difference_pearson(in_groups(GOLD, level), in_groups(METRIC, level))
    assert r == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize(
    ("level", "expected"), [("item", 0.968), ("pooled", 0.975)]
)  # testPdpWithAveragingAndNones
def test_mt_metrics_eval_pairwise_differences_with_a_gap(level, expected):
    gold = np.array([[1, 5, NAN], [10, 2, 12]])
    metric = np.array([[3.0, 15, 1], [20, 4, 24]])
    r = difference_pearson(in_groups(gold, level), in_groups(metric, level))
    assert r == pytest.approx(expected, abs=5e-4)


def test_mt_metrics_eval_kendall_variants():
    assert kendall_b(VECTOR_GOLD, VECTOR_METRIC) == pytest.approx(0.316227766, abs=1e-9)
    assert kendall_c(VECTOR_GOLD, VECTOR_METRIC) == pytest.approx(0.32)
    assert kendall_23(VECTOR_GOLD, VECTOR_METRIC) == pytest.approx(0.2)
    assert accuracy(VECTOR_GOLD, VECTOR_METRIC) == pytest.approx(0.6)
    assert accuracy(VECTOR_GOLD, VECTOR_METRIC, epsilon=2) == pytest.approx(0.4)


def test_mt_metrics_eval_kendall_like():
    gold, metric = [10, 11, 100, 150], [2, 1, 4, 3]
    assert kendall_like(gold, metric) == pytest.approx(3 / 5)
    assert kendall_like(gold, metric, least=1) == pytest.approx(2 / 6)
    assert kendall_like([10, NAN, 100, 150], metric, least=1) == pytest.approx(1 / 3)
    # by item, over the pairs of all items together
    assert kendall_like([[10, 100], [11, 150]], [[2, 4], [1, 3]], least=1) == 1


def test_mt_metrics_eval_agreement():  # testAgreement: 5 of 10 pairs
    gold, metric = [1, 2, 3, 3, 4], [1, 1, 2, 1, 2]
    counts = count_pairs(gold, metric)
    assert (counts.concordant + counts.both_ties, counts.all) == (5, 10)
    assert accuracy(gold, metric) == 0.5


# Twins --------------------------------------------------------------------------------------------

few = st.integers(0, 4).map(float) | st.floats(-3, 3, width=16)
gaps = few | st.just(NAN)


@st.composite
def vectors(draw, values=few, longest=12):
    size = draw(st.integers(0, longest))
    column = st.lists(values, min_size=size, max_size=size)
    return draw(column), draw(column)


def slow_counts(human, metric, epsilon=0.0, least=0.0):
    counts = [0, 0, 0, 0, 0]
    for (h1, x1), (h2, x2) in combinations(zip(human, metric, strict=True), 2):
        if any(map(math.isnan, (h1, h2, x1, x2))) or abs(h1 - h2) < least:
            continue
        human_tie, metric_tie = h1 == h2, abs(x1 - x2) <= epsilon
        if human_tie and metric_tie:
            counts[4] += 1
        elif metric_tie:
            counts[3] += 1
        elif human_tie:
            counts[2] += 1
        else:
            counts[0 if (h1 > h2) == (x1 > x2) else 1] += 1
    return counts


@given(vectors(gaps), st.sampled_from([0.0, 0.5, 2.0]), st.sampled_from([0.0, 1.0]))
def test_pairs(pair, epsilon, least):
    counts = count_pairs(*pair, epsilon=epsilon, least=least)
    assert [int(count) for count in counts] == slow_counts(*pair, epsilon, least)


@pytest.mark.parametrize("epsilon", [0.0, 0.5])
@pytest.mark.parametrize("least", [0.0, 2.0])
@pytest.mark.parametrize("steps", [2, 5, 1000])
def test_pairs_of_long_vectors(steps, least, epsilon):
    rng = np.random.default_rng(steps)
    human = rng.integers(steps, size=150).astype(float)
    metric = rng.integers(steps, size=150).astype(float)
    human[::17] = NAN
    counts = count_pairs(human, metric, epsilon=epsilon, least=least)
    assert [int(count) for count in counts] == slow_counts(human, metric, epsilon, least)


@given(vectors())
def test_coefficients_as_scipy(pair):
    human, metric = pair
    if len(human) < 2 or len(set(human)) < 2 or len(set(metric)) < 2:
        assert math.isnan(pearson(human, metric))
        assert math.isnan(spearman(human, metric))
        assert math.isnan(kendall_b(human, metric))
        return
    for ours, theirs in (
        (pearson, scipy.stats.pearsonr),
        (spearman, scipy.stats.spearmanr),
        (kendall_b, scipy.stats.kendalltau),
        (kendall_c, lambda a, b: scipy.stats.kendalltau(a, b, variant="c")),
    ):
        assert ours(human, metric) == pytest.approx(theirs(human, metric).statistic, abs=1e-9)


@given(vectors(gaps))
def test_missing_values_leave_in_pairs(pair):
    there = [(h, x) for h, x in zip(*pair, strict=True) if not math.isnan(h + x)]
    human, metric = [h for h, _ in there], [x for _, x in there]
    for coefficient in (pearson, spearman, kendall_b, kendall_c, kendall_23, accuracy):
        assert coefficient(*pair) == pytest.approx(coefficient(human, metric), nan_ok=True)


@given(st.lists(vectors(gaps, 5), min_size=1, max_size=4))
def test_pairwise_differences_one_by_one(groups):
    apart = []
    for human, metric in groups:
        there = [(h, x) for h, x in zip(human, metric, strict=True) if not math.isnan(h + x)]
        apart += [(a[0] - b[0], a[1] - b[1]) for a in there for b in there]
    human, metric = np.full((2, len(groups), 5), NAN)
    for k, (h, x) in enumerate(groups):
        human[k, : len(h)], metric[k, : len(x)] = h, x
    expected = pearson([h for h, _ in apart], [x for _, x in apart])
    assert difference_pearson(human, metric) == pytest.approx(float(expected), nan_ok=True)


def test_batches_are_rows_one_by_one():
    rng = np.random.default_rng(5)
    human, metric = rng.integers(4, size=(2, 3, 7, 9)).astype(float)
    metric[0, 0, :4] = NAN
    for coefficient in (pearson, spearman, kendall_b, kendall_c, accuracy):
        rows = [
            [float(coefficient(h, x)) for h, x in zip(*block, strict=True)]
            for block in zip(human, metric, strict=True)
        ]
        assert coefficient(human, metric) == pytest.approx(np.array(rows), nan_ok=True)


# Degenerate ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("human", "metric", "reason"),
    [
        ([], [], "fewer than 2 pairs"),
        ([1], [2], "fewer than 2 pairs"),
        ([1, NAN, 3], [NAN, 2, 4], "fewer than 2 pairs"),
        ([5, 5, 5], [1, 2, 3], "the human scores are constant"),
        ([1, 2, 3], [0.1, 0.1, 0.1], "the metric is constant"),
        ([1, 2, 3], [3, 1, 2], ""),
    ],
)
def test_undefined(human, metric, reason):
    assert why_undefined(human, metric) == reason
    for coefficient in (pearson, spearman, kendall_b, kendall_c):
        assert math.isnan(coefficient(human, metric)) == bool(reason)


def test_tiny_and_huge_scores():
    for scale in (1e-200, 1e150):
        assert pearson([1, 2, 3], np.array([1, 2, 3]) * scale) == pytest.approx(1)


def test_undefined_groups_are_left_out():
    human, metric = np.array([[1.0, 2, 3], [1, 2, 3]]), np.array([[1.0, 2, 3], [7, 7, 7]])
    assert correlate(human, metric, "per-system", pearson) == pytest.approx(1)
    assert math.isnan(mean_known(np.array([NAN])))


def test_one_system():
    human, metric = np.array([[1.0, 2, 4]]), np.array([[1.0, 3, 4]])
    r = {level: float(correlate(human, metric, level, pearson)) for level in LEVELS}
    assert math.isnan(r["system"])
    assert math.isnan(r["item"])
    assert r["pooled"] == r["per-system"] > 0.9
