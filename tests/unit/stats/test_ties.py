"""Tie calibration and soft accuracy: published values and slow twins."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reelscore.stats.correlations import mean_known
from reelscore.stats.pairs import accuracy, calibrate_ties, soft_pairwise_accuracy

NAN = float("nan")


def test_mt_metrics_eval_tie_optimization():  # stats_test.py, testKendallWithTiesOpt: .7
    calibrated = calibrate_ties([1, 2, 2, 3, 4], [2, 1, 1.5, 5, 3])
    assert calibrated.accuracy == pytest.approx(0.7)
    assert calibrated.epsilon == 0.5


def test_mt_metrics_eval_soft_accuracy():  # testPairwiseConfidenceError: seed 4, 1000 trials
    human, metric = [[1, 2, 3], [2, 3, 4]], [[2, 2, 4], [1, 3, 5]]
    assert soft_pairwise_accuracy(human, metric, seed=4) == pytest.approx(0.872, abs=5e-4)


scores = st.integers(0, 5).map(float) | st.just(NAN)
matrices = st.integers(1, 5).flatmap(
    lambda size: st.lists(
        st.lists(st.tuples(scores, scores), min_size=size, max_size=size), min_size=1, max_size=4
    )
)


@given(matrices)
def test_calibration_tries_all_thresholds(groups):
    human, metric = np.array(groups).transpose(2, 0, 1)
    thresholds = {0.0}
    for row in metric:
        thresholds |= {abs(a - b) for a, b in combinations(row, 2) if not math.isnan(a + b)}
    reached = {e: float(mean_known(accuracy(human, metric, epsilon=e))) for e in thresholds}
    calibrated = calibrate_ties(human, metric)
    if math.isnan(reached[0.0]):
        assert math.isnan(calibrated.accuracy)
        return
    assert calibrated.accuracy == pytest.approx(max(reached.values()))
    assert reached[calibrated.epsilon] == pytest.approx(calibrated.accuracy)


def test_calibration_of_a_sample_of_pairs():
    rng = np.random.default_rng(0)
    human = rng.integers(4, size=600).astype(float)
    metric = human + rng.normal(size=600)
    every = calibrate_ties(human, metric)
    some = calibrate_ties(human, metric, max_pairs=20_000)
    assert some.accuracy == pytest.approx(every.accuracy, abs=0.02)


def test_soft_accuracy_of_a_copy_and_of_an_opposite():
    human = np.random.default_rng(0).normal(size=(4, 50)) + np.arange(4)[:, None]
    assert soft_pairwise_accuracy(human, 3 * human + 1) == 1
    assert soft_pairwise_accuracy(human, -human) < 0.1
    assert math.isnan(soft_pairwise_accuracy(human[:1], human[:1]))


def test_soft_accuracy_with_gaps():
    rng = np.random.default_rng(1)
    human = rng.normal(size=(3, 60)) + 5 * np.arange(3)[:, None]
    metric = human + rng.normal(size=(3, 60))
    human[0, :20] = NAN
    assert soft_pairwise_accuracy(human, metric) == pytest.approx(1, abs=0.01)
