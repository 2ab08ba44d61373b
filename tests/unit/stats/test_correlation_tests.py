"""Tests of the difference between correlations: the values of other tools."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reelscore.errors import DataError, UnknownNameError
from reelscore.stats.correlation_tests import (
    fisher_interval,
    meng,
    steiger,
    williams,
    zou_interval,
)
from reelscore.stats.correlations import pearson, spearman
from reelscore.stats.pairs import kendall_b


def r_values(x, y, z, coefficient=pearson):
    return [float(coefficient(a, b)) for a, b in ((z, x), (z, y), (x, y))]


def test_williams_as_mt_metrics_eval():
    # stats_test.py prints p .019; t and more digits by the formula
    gold, one, two = [1, 2, 3, 4, 5], [1.1, 2, 3.1, 4, 5.1], [1.5, 2, 3.1, 4, 5.5]
    r12, r13, r23 = r_values(one, two, gold)
    assert (r12, r13) == (pytest.approx(0.999, abs=5e-4), pytest.approx(0.987, abs=5e-4))
    assert williams(r12, r13, r23, 5) == (
        pytest.approx(4.97231, abs=1e-5),
        pytest.approx(0.0190737, abs=1e-7),
    )


def test_williams_as_nlpstats():
    # tests/correlations/williams_test.py at 55e6281, checked there against R's psych
    rng = np.random.RandomState(12)
    x, y, z = (rng.random_sample((9, 5)).ravel() for _ in range(3))
    r12, r13, r23 = r_values(x, y, z)
    p = [
        williams(a, b, r23, 45, absolute=True, alternative=alternative).p
        for a, b in ((r12, r13), (r13, r12))
        for alternative in ("greater", "less", "two-sided")
    ]
    assert p == pytest.approx([0.2716978, 0.7283022, 0.5433956, 0.7283022, 0.2716978, 0.5433956])
    # the same correlations, signed: the second is the better one
    assert (r12, r13, r23) == pytest.approx((-0.2858, 0.1595, 0.0266), abs=5e-5)
    assert williams(r12, r13, r23, 45).p == pytest.approx(0.9829, abs=5e-5)
    # and a second set of scores: Spearman between nine systems
    x, y, z = (rng.random_sample((9, 5)).mean(axis=1) for _ in range(3))
    r12, r13, r23 = r_values(x, y, z, spearman)
    assert williams(r13, r12, r23, 9, absolute=True).p == pytest.approx(0.4658712)


def test_degrees_of_freedom():
    # nlp-williams' README has p .209243 for this, which is n − 2 degrees of freedom
    tested = williams(0.65, 0.55, 0.3, 50)
    assert tested == (pytest.approx(0.816078187), pytest.approx(0.209286172868))


def test_steigers_example():
    # Steiger (1980), as used by psych and CorrelationStats
    r = 0.4, 0.5, 0.1, 103
    tested = williams(*r, alternative="two-sided")
    assert tested == (pytest.approx(-0.89128, abs=5e-6), pytest.approx(0.37492, abs=5e-6))
    assert steiger(*r).statistic == pytest.approx(-0.88872, abs=5e-6)
    assert meng(*r).statistic == pytest.approx(-0.88821, abs=5e-6)


def test_zou():
    # Zou (2007), example of overlapping correlations; limits by the formula
    interval = zou_interval(0.396, 0.179, 0.088, 66)
    assert interval == pytest.approx((-0.09290, 0.51676), abs=5e-6)


@pytest.mark.parametrize(
    ("name", "coefficient", "expected"),
    [
        ("pearson", pearson, (-0.02763744135012373, 0.5818846438651135)),
        ("spearman", spearman, (-0.06733469087453943, 0.5640758668009686)),
        ("kendall_b", kendall_b, (-0.029964677270600665, 0.4098565164085108)),
    ],
)
def test_fisher_as_nlpstats(name, coefficient, expected):  # fisher_test.py at 55e6281, global
    rng = np.random.RandomState(12)
    x, y = (rng.random_sample((5, 7)).ravel() for _ in range(2))
    assert fisher_interval(float(coefficient(x, y)), 35, name) == pytest.approx(expected)


correlations = st.floats(-0.95, 0.95)


@given(correlations, correlations, correlations, st.integers(4, 500))
def test_exchanging_the_metrics(r12, r13, r23, n):
    for test in (williams, steiger, meng):
        there, back = test(r12, r13, r23, n), test(r13, r12, r23, n)
        assert there.statistic == pytest.approx(-back.statistic, nan_ok=True, abs=1e-9)
        assert there.p == pytest.approx(1 - back.p, nan_ok=True, abs=1e-9)
        both = test(r12, r13, r23, n, alternative="two-sided").p
        assert both == pytest.approx(2 * min(there.p, back.p), nan_ok=True, abs=1e-9)
    low, high = zou_interval(r12, r13, r23, n)
    assert low <= r12 - r13 <= high


def test_a_metric_and_its_copy_do_not_differ():
    for test in (williams, steiger, meng):
        assert test(0.7, 0.7, 1.0, 20) == (0, 0.5)


def test_undefined():
    nan = (pytest.approx(math.nan, nan_ok=True),) * 2
    assert williams(0.5, 0.4, 0.3, 3) == nan
    assert williams(math.nan, 0.4, 0.3, 30) == nan
    assert steiger(1.0, 0.4, 0.3, 30) == nan
    assert meng(0.4, -1.0, 0.3, 30) == nan
    assert zou_interval(0.5, 0.4, 0.3, 3) == nan
    assert fisher_interval(0.5, 3) == nan
    assert fisher_interval(1.0, 30) == (1, 1)


def test_errors():
    with pytest.raises(DataError, match="between -1 and 1"):
        williams(1.5, 0.4, 0.3, 30)
    with pytest.raises(UnknownNameError, match="greater"):
        williams(0.5, 0.4, 0.3, 30, alternative="greatest")
    with pytest.raises(UnknownNameError, match="kendall_b"):
        fisher_interval(0.5, 30, "kendall")
