"""Resampling in situations whose answer is known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from reelscore.stats import resampling
from reelscore.stats.resampling import (
    ExactSums,
    approximate_randomization,
    bootstrap_scores,
    paired_bootstrap,
    percentile_interval,
)


def mean(totals):
    return totals[..., :1] / totals[..., 1:]


def table(numbers):
    return np.column_stack([numbers, np.ones(len(numbers))])


def test_the_spread_is_the_standard_error():
    numbers = np.random.default_rng(1).normal(5.0, 2.0, 400)
    drawn = bootstrap_scores(table(numbers), mean, resamples=4000)[:, 0]
    assert drawn.mean() == pytest.approx(numbers.mean(), abs=0.01)
    assert drawn.std() == pytest.approx(numbers.std() / math.sqrt(400), rel=0.05)


def test_intervals_cover():
    # of 200 samples of a known mean, about 95 % of the 95 % intervals hold it
    rng = np.random.default_rng(2)
    held = 0
    for _ in range(200):
        drawn = bootstrap_scores(table(rng.normal(0.0, 1.0, 60)), mean, resamples=300)
        low, high = percentile_interval(drawn)[:, 0]
        held += low <= 0 <= high
    assert 180 <= held <= 198


@pytest.mark.parametrize("test", [paired_bootstrap, approximate_randomization])
def test_false_findings_are_as_rare_as_promised(test):
    # two systems that differ by nothing but chance: p is uniform, below .1 in a tenth of the cases
    rng = np.random.default_rng(3)
    p_values = []
    for _ in range(200):
        one, two = rng.normal(0.0, 1.0, (2, 50))
        p_values.append(test(table(one), table(two), mean, **{_draws(test): 300})[0])
    assert 8 <= sum(p < 0.1 for p in p_values) <= 36
    assert 0.4 < float(np.mean(p_values)) < 0.6


@pytest.mark.parametrize("test", [paired_bootstrap, approximate_randomization])
def test_clear_differences_are_found(test):
    rng = np.random.default_rng(4)
    one = rng.normal(0.0, 1.0, 50)
    tested = test(table(one), table(one + rng.normal(0.5, 0.3, 50)), mean, **{_draws(test): 999})
    assert tested[0] == pytest.approx(0.001)  # the least that 999 draws can show


@pytest.mark.parametrize("test", [paired_bootstrap, approximate_randomization])
def test_pairing_counts(test):
    # the same small gain on every item is sure, though the items differ far more
    numbers = np.linspace(0, 100, 40)
    gain = np.where(np.arange(40) % 2, 0.011, 0.009)
    assert test(table(numbers), table(numbers + gain), mean, **{_draws(test): 500})[0] < 0.01


def _draws(test):
    return "resamples" if test is paired_bootstrap else "trials"


def test_several_outputs_at_once():
    rows = np.random.default_rng(5).random((30, 3))
    both = bootstrap_scores(rows, lambda totals: totals[..., :2] / totals[..., 2:], resamples=40)
    assert both.shape == (40, 2)
    alone = bootstrap_scores(rows[:, [1, 2]], mean, resamples=40)
    assert both[:, 1].tolist() == pytest.approx(alone[:, 0].tolist(), rel=1e-12)


def test_draws_depend_on_seed_and_size_alone():
    # so that two systems on the same items are drawn alike
    one, two = np.arange(20.0), np.arange(20.0) * 2
    first = bootstrap_scores(table(one), mean, resamples=50, seed=9)
    second = bootstrap_scores(table(two), mean, resamples=50, seed=9)
    assert second[:, 0].tolist() == pytest.approx((2 * first[:, 0]).tolist())


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_blocks_change_nothing(size, monkeypatch):
    # many items are drawn in several blocks, to bound the memory
    one, two = table(np.arange(20.0)), table(np.arange(20.0)[::-1] + 0.3)
    usual = (
        bootstrap_scores(one, mean, resamples=50).tolist(),
        approximate_randomization(one, two, mean, trials=50).tolist(),
    )
    monkeypatch.setattr(resampling, "_BLOCK_NUMBERS", size * 20)
    assert bootstrap_scores(one, mean, resamples=50).tolist() == usual[0]
    assert len(approximate_randomization(one, two, mean, trials=50)) == len(usual[1])


def test_one_item():
    rows = table([0.5])
    assert bootstrap_scores(rows, mean, resamples=10)[:, 0].tolist() == [0.5] * 10
    assert paired_bootstrap(rows, table([0.9]), mean, resamples=10)[0] == pytest.approx(1 / 11)
    assert approximate_randomization(rows, table([0.9]), mean, trials=10)[0] == 1.0


def test_no_p_value_where_a_draw_has_no_score():
    """A mean over the items that have the score is not defined if none is drawn."""

    def mean(totals):
        return np.where(
            totals[..., 1:] > 0, totals[..., :1] / np.maximum(totals[..., 1:], 1), np.nan
        )

    rows = np.zeros((3, 2))
    rows[0] = 1.0, 1.0
    assert np.isnan(paired_bootstrap(rows, rows, mean, resamples=200)).all()
    full = np.column_stack([np.arange(3.0), np.ones(3)])
    assert paired_bootstrap(full, full, mean, resamples=200).tolist() == [1.0]


def test_sums_of_resamples_do_not_depend_on_linear_algebra():
    """It adds up in another order for one column than for many, or with another thread."""
    rows = np.random.default_rng(3).random((1700, 9)) * [1, 10, 0.1, 1, 1, 7, 1e-6, 1, 1]
    every = bootstrap_scores(rows, lambda totals: totals, resamples=100)
    for k in (1, 2, 5):
        some = bootstrap_scores(rows[:, :k], lambda totals: totals, resamples=100)
        assert np.array_equal(some, every[:, :k])
    sums = ExactSums(rows)(np.ones((1, 1700)))[0]
    assert sums.tolist() == [math.fsum(column) for column in rows.T]
    whole = np.random.default_rng(3).integers(0, 1000, (500, 4)).astype(float)
    assert np.array_equal(ExactSums(whole)(np.ones((1, 500)))[0], whole.sum(axis=0))
    missing = np.array([[np.nan, 0.1], [1.0, 0.2]])
    assert np.isnan(ExactSums(missing)(np.ones((1, 2)))).tolist() == [[True, False]]
