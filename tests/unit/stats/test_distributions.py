"""P-values, ranks and rank tests, against scipy."""

from __future__ import annotations

import math
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import scipy.optimize
import scipy.stats

from reelscore import _native
from reelscore.learned.ensemble import _nonnegative
from reelscore.stats.distributions import chi_squared_p, normal_p, ranks, student_p
from reelscore.stats.rank_tests import rank_sum, signed_rank

ALTERNATIVES = ("greater", "less", "two-sided")
STATISTICS = (0.0, 0.003, 0.2, 0.5, 1.0, 1.7, 2.5, 4.0, 8.0, 15.0, 35.0)


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 7, 10, 29, 99, 199, 201, 1_000, 54_321, 10**6])
def test_student_as_scipy(freedom):
    tolerance = max(1e-12, 1e-16 * freedom)
    for t in (*STATISTICS, 120.0, *(-value for value in STATISTICS)):
        expected = scipy.stats.t.sf(t, freedom)
        above, below = student_p(t, freedom, "greater"), student_p(-t, freedom, "less")
        both = student_p(t, freedom, "two-sided")
        assert above == below == pytest.approx(expected, rel=tolerance, abs=1e-300)
        expected = 2 * scipy.stats.t.sf(abs(t), freedom)
        assert both == pytest.approx(expected, rel=tolerance, abs=1e-300)


def test_student_near_zero():
    """With one degree of freedom, where scipy itself loses half of the digits."""
    for t in (1e-12, 1e-8, 1e-4):
        expected = 0.5 - math.atan(t) / math.pi
        assert student_p(t, 1, "greater") == pytest.approx(expected, rel=1e-15)


def test_student_at_the_edges():
    assert student_p(float("inf"), 3, "greater") == 0
    assert student_p(float("-inf"), 3, "greater") == 1
    assert np.isnan(student_p(float("nan"), 3, "greater"))


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 8, 15, 40, 101])
def test_chi_squared_as_scipy(freedom):
    for statistic in (0.0, 1e-9, 0.1, 1.0, 3.84, 10.0, 55.5, 200.0, 900.0):
        expected = scipy.stats.chi2.sf(statistic, freedom)
        assert chi_squared_p(statistic, freedom) == pytest.approx(expected, rel=1e-12, abs=1e-300)


def test_normal_as_scipy():
    for z in (*STATISTICS, *(-value for value in STATISTICS)):
        assert normal_p(z, "greater") == pytest.approx(scipy.stats.norm.sf(z), rel=1e-12)


@pytest.mark.parametrize("shape", [(0,), (1,), (7,), (500,), (3, 40), (2, 3, 9), (4, 0)])
def test_ranks_as_scipy(shape):
    rng = np.random.default_rng(5)
    for values in (rng.normal(size=shape), rng.integers(0, 6, shape), np.zeros(shape)):
        assert ranks(values).tolist() == scipy.stats.rankdata(values, axis=-1).tolist()
    assert ranks([1.0, np.inf, np.inf, -np.inf]).tolist() == [2.0, 3.5, 3.5, 1.0]


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("size", [1, 2, 5, 20, 49, 50, 300])
@pytest.mark.parametrize("ties", [False, True])
def test_signed_rank_as_scipy(size, ties, alternative):
    rng = np.random.default_rng(size)
    first = rng.integers(0, 7, size).astype(float) if ties else rng.normal(0.3, 1, size)
    second = rng.integers(0, 7, size).astype(float) if ties else rng.normal(0, 1, size)
    apart = (first - second)[first != second]
    if len(apart) == 0:
        assert signed_rank(first, second, alternative=alternative) == (0, 1)
        return
    exact = len(apart) < 50 and len(set(abs(apart))) == len(apart)
    expected = scipy.stats.wilcoxon(
        apart,
        alternative=alternative,
        method="exact" if exact else "asymptotic",
        correction=not exact,
    )
    tested = signed_rank(first, second, alternative=alternative)
    assert tested.statistic == expected.statistic
    assert tested.p == pytest.approx(expected.pvalue, rel=1e-12)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("sizes", [(1, 1), (1, 5), (4, 4), (30, 50), (1_000, 700)])
@pytest.mark.parametrize("ties", [False, True])
def test_rank_sum_as_scipy(sizes, ties, alternative):
    rng = np.random.default_rng(sum(sizes))
    one, other = (rng.integers(0, 9, n) if ties else rng.normal(0, 1, n) for n in sizes)
    if len(set(one) | set(other)) < 2:
        pytest.skip("all equal")
    expected = scipy.stats.mannwhitneyu(one, other, alternative=alternative, method="asymptotic")
    tested = rank_sum(one, other, alternative=alternative)
    assert tested.statistic == expected.statistic
    assert tested.p == pytest.approx(expected.pvalue, rel=1e-12)


def test_inversions():
    rng = np.random.default_rng(1)
    for size in (0, 1, 2, 3, 7, 64, 65, 200):
        values = rng.integers(0, 30, size)
        expected = sum(int((values[k] > values[k + 1 :]).sum()) for k in range(size))
        assert _native.count_inversions(values) == expected


@pytest.mark.parametrize("columns", [1, 2, 5, 12])
def test_nonnegative_least_squares_as_scipy(columns):
    rng = np.random.default_rng(columns)
    for _ in range(20):
        matrix = rng.normal(size=(60, columns)) + rng.normal(size=(60, 1))
        target = matrix @ rng.normal(size=columns) + rng.normal(size=60)
        expected, _ = scipy.optimize.nnls(matrix, target)
        assert _nonnegative(matrix, target) == pytest.approx(expected, abs=1e-10)
    same = np.repeat(rng.normal(size=(60, 1)), columns, axis=1)  # columns that are all the same
    assert same @ _nonnegative(same, same[:, 0]) == pytest.approx(same[:, 0], abs=1e-10)


WITHOUT = """
import sys
sys.modules["scipy"] = None  # an import of it fails
import numpy as np
import reelscore
from reelscore.campaigns.evaluate.quality import compare_pairs
from reelscore.campaigns.evaluate.rankings import friedman
from reelscore.stats import kendall_b, rank_sum, signed_rank, spearman, williams
scores = np.arange(100.0) % 7
kendall_b(scores, scores[::-1])
spearman(scores, scores[::-1])
rank_sum(scores, scores + 1)
signed_rank(scores, scores[::-1])
williams(0.5, 0.4, 0.3, 100)
friedman([[1, 2, 3], [1, 3, 2]])
compare_pairs(scores, scores[::-1], "t", "greater")
try:
    import reelscore.corpus.sound.sound_features
except reelscore.MissingExtraError as error:
    print(error)
"""


def test_without_scipy():
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(WITHOUT)], capture_output=True, text=True, check=True
    )
    assert done.stdout == (
        "Analysing sound needs scipy. To install: pip install 'reelscore[corpus]'\n"
    )
