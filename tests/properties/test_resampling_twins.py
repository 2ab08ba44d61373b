"""Resampling gives what slow loops give, and known situations come out as theory says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reelscore.stats.corrections import correct
from reelscore.stats.resampling import (
    approximate_randomization,
    bootstrap_scores,
    paired_bootstrap,
    percentile_interval,
)
from support import twins


def mean(totals):
    return totals[..., :1] / totals[..., 1:]


def slow_mean(totals):
    return totals[0] / totals[1]


values = st.lists(st.floats(0, 1), min_size=1, max_size=8)


def rows(numbers):
    return np.column_stack([numbers, np.ones(len(numbers))])


@settings(max_examples=40)
@given(values, st.integers(0, 2**32), st.integers(1, 30))
def test_bootstrap(numbers, seed, resamples):
    table = rows(numbers)
    drawn = bootstrap_scores(table, mean, resamples=resamples, seed=seed)[:, 0]
    expected = twins.bootstrap(table.tolist(), slow_mean, resamples, seed)
    assert drawn.tolist() == pytest.approx(expected, rel=1e-12)
    assert min(numbers) - 1e-12 <= drawn.min() <= drawn.max() <= max(numbers) + 1e-12


@settings(max_examples=25)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=7))
def test_randomization_estimates_the_exact_p_value(pairs):
    first, second = (rows(list(column)) for column in zip(*pairs, strict=True))
    exact = twins.exchange_p_value(first.tolist(), second.tolist(), slow_mean)
    p = approximate_randomization(first, second, mean, trials=4000)[0]
    # four standard errors of a share of 4000, and one more trial counted
    assert p == pytest.approx(exact, abs=4 * 0.5 / 4000**0.5 + 1 / 4000)


@given(values, values)
@example([0.0], [5e-324])
def test_p_values_are_shares(one, two):
    size = min(len(one), len(two))
    first, second = rows(one[:size]), rows(two[:size])
    for p in (
        paired_bootstrap(first, second, mean, resamples=50)[0],
        approximate_randomization(first, second, mean, trials=50)[0],
    ):
        assert 1 / 51 <= p <= 1
    assert paired_bootstrap(first, first, mean, resamples=20)[0] == 1
    assert approximate_randomization(first, first, mean, trials=20)[0] == 1


@given(values, values)
def test_the_order_of_the_systems_is_irrelevant(one, two):
    size = min(len(one), len(two))
    first, second = rows(one[:size]), rows(two[:size])
    for test, draws in ((paired_bootstrap, "resamples"), (approximate_randomization, "trials")):
        assert test(first, second, mean, **{draws: 60}) == pytest.approx(
            test(second, first, mean, **{draws: 60}), abs=1e-12
        )


@given(st.lists(st.floats(0, 1), max_size=8), st.sampled_from(["holm", "bonferroni", "bh", "none"]))
def test_corrections(p_values, method):
    corrected = correct(p_values, method)
    assert len(corrected) == len(p_values)
    assert all(
        raw - 1e-15 <= adjusted <= 1 for raw, adjusted in zip(p_values, corrected, strict=True)
    )
    order = np.argsort(p_values, kind="stable")
    assert (np.diff(np.array(corrected)[order]) >= 0).all()  # the order of the tests is kept
    strict = correct(p_values, "bonferroni")
    assert all(adjusted <= most + 1e-15 for adjusted, most in zip(corrected, strict, strict=True))


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50), st.floats(0.01, 0.99))
def test_interval_is_numpys(samples, level):
    array = np.array(samples)[:, None]
    low, high = percentile_interval(array, level)[:, 0]
    assert low == np.quantile(array, (1 - level) / 2)
    assert high == np.quantile(array, 1 - (1 - level) / 2)
