"""Permutations and bootstrap of correlations: slow twins, all exchanges, what theory says."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reelscore.errors import DataError, UnknownNameError
from reelscore.stats.correlation_bootstrap import bootstrap_correlations
from reelscore.stats.correlations import LEVELS, correlate, pearson, spearman, standardized
from reelscore.stats.pairs import accuracy, kendall_23, kendall_b
from reelscore.stats.permutation import permutation_test

NAN = float("nan")
UNITS = ["systems", "items", "both"]
COEFFICIENTS = [pearson, spearman, kendall_b]


def made_up(seed, systems=4, items=6, metrics=3, gaps=0):
    rng = np.random.default_rng(seed)
    human = rng.normal(size=(systems, items))
    scores = np.stack([human * k / 2 + rng.normal(size=human.shape) for k in range(metrics)])
    human.ravel()[rng.permutation(human.size)[:gaps]] = NAN
    return human, scores


def test_nlpstats_permutation():
    # tests/correlations/permutation_test.py at 55e6281: .5361 two-sided with 9,999 draws; one-
    # sided .741 and .299 with 1,000; Spearman, Kendall with 1,000 each. Sampling noise remains.
    rng = np.random.RandomState(1234)
    x, y, z = (rng.random_sample((9, 5)) for _ in range(3))
    both = permutation_test(z, np.stack([x, y]), trials=9999)
    assert both.two_sided[0, 1] == pytest.approx(0.536, abs=0.02)
    assert both.greater[0, 1] == pytest.approx(0.741, abs=0.05)
    assert both.greater[1, 0] == pytest.approx(0.299, abs=0.05)
    for expected, arguments in (
        (0.698, {"level": "system", "coefficient": spearman, "swap": "items"}),
        (0.519, {"level": "item", "coefficient": kendall_b, "swap": "systems"}),
    ):
        tested = permutation_test(z, np.stack([x, y]), trials=2000, **arguments)
        assert tested.two_sided[0, 1] == pytest.approx(expected, abs=0.06)


def all_exchanges(human, metrics, level, coefficient, swap):
    """The exact one-sided p-value of the first metric against the second."""
    human, (first, second) = standardized(human, metrics[:2])
    rows = list(product([False, True], repeat=len(human))) if swap != "items" else [False]
    columns = list(product([False, True], repeat=human.shape[1])) if swap != "systems" else [False]

    def difference(one, other):
        return float(
            correlate(human, one, level, coefficient) - correlate(human, other, level, coefficient)
        )

    observed = difference(first, second)
    chances = []
    for row, column in product(rows, columns):
        mask = np.array(row).reshape(-1, 1) ^ np.array(column).reshape(1, -1)
        chances.append(
            difference(np.where(mask, second, first), np.where(mask, first, second))
            >= observed - 1e-9
        )
    return float(np.mean(chances))


@pytest.mark.parametrize("gaps", [0, 2])
@pytest.mark.parametrize("coefficient", COEFFICIENTS, ids=lambda c: c.__name__)
@pytest.mark.parametrize("swap", UNITS)
@pytest.mark.parametrize("level", LEVELS)
def test_all_exchanges(level, swap, coefficient, gaps):
    human, metrics = made_up(7, systems=3, items=4, gaps=gaps)
    exact = all_exchanges(human, metrics, level, coefficient, swap)
    tested = permutation_test(
        human, metrics, level=level, coefficient=coefficient, swap=swap, trials=3000
    )
    # four standard errors of a share of 3000, and one more trial counted
    assert tested.greater[0, 1] == pytest.approx(exact, abs=4 * 0.5 / 3000**0.5 + 1 / 3000)


@settings(max_examples=100)
@given(
    st.integers(0, 999),
    st.sampled_from([pearson, kendall_b, kendall_23, accuracy]),
    st.sampled_from(LEVELS),
    st.sampled_from(UNITS),
    st.integers(0, 4),
    st.booleans(),
)
def test_quick_ways(seed, coefficient, level, units, gaps, ties):
    """The quick ways and the plain one make the same of the same draws."""
    human, metrics = made_up(seed, gaps=gaps)
    if ties:
        human, metrics = np.round(human), np.round(metrics)

    def plain(human, metric):  # the same coefficient, but not recognised
        return coefficient(human, metric)

    choice = {"level": level, "seed": seed}
    jobs = [({"trials": 50}, permutation_test, {"swap": units})]
    if coefficient in (pearson, kendall_b):  # the others leave out what is drawn twice
        jobs.append(({"resamples": 20}, bootstrap_correlations, {"draw": units}))
    for draws, function, unit in jobs:
        quick = function(human, metrics, coefficient=coefficient, **choice, **draws, **unit)
        slow = function(human, metrics, coefficient=plain, **choice, **draws, **unit)
        for one, other in zip(quick, slow, strict=True):
            assert one == pytest.approx(other, nan_ok=True, abs=1e-9)


@pytest.mark.parametrize("draw", UNITS)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("coefficient", [pearson, spearman], ids=lambda c: c.__name__)
def test_bootstrap_draw_by_draw(level, draw, coefficient):
    human, metrics = made_up(3, systems=5, items=7, gaps=4)
    draws_of = bootstrap_correlations(
        human, metrics, level=level, draw=draw, coefficient=coefficient, resamples=30, seed=1
    )
    human, metrics = standardized(human, metrics)
    rng = np.random.default_rng(1)
    # of per-system correlations the items are drawn first: they stand in the systems' place
    order = ("items", "systems") if level == "per-system" else ("systems", "items")
    sizes = {"systems": 5, "items": 7}
    drawn = {
        name: rng.integers(sizes[name], size=(30, sizes[name]))
        if draw in (name, "both")
        else np.tile(np.arange(sizes[name]), (30, 1))
        for name in order
    }
    for k in range(30):
        cells = np.ix_(drawn["systems"][k], drawn["items"][k])
        expected = [correlate(human[cells], each[cells], level, coefficient) for each in metrics]
        assert draws_of[:, k] == pytest.approx(np.array(expected), nan_ok=True, abs=1e-9)


@pytest.mark.parametrize("few", [True, False])
@pytest.mark.parametrize("level", LEVELS)
def test_what_is_drawn_twice_does_not_agree_with_itself(level, few, monkeypatch):
    if not few:
        monkeypatch.setattr("reelscore.stats.orders._FEW", 1)
    human, metrics = made_up(3, systems=5, items=6, gaps=3)
    human, metrics = standardized(human, metrics)
    choice = {"level": level, "resamples": 30, "seed": 1}
    drawn = bootstrap_correlations(human, metrics, coefficient=accuracy, **choice)
    like = bootstrap_correlations(human, metrics, coefficient=kendall_23, **choice)
    assert like == pytest.approx(2 * drawn - 1, nan_ok=True)
    # Without ties in the data, only what is drawn twice ties: tau-b leaves it out as well, and
    # is then 2 × accuracy − 1 in each group.
    tau = bootstrap_correlations(human, metrics, coefficient=kendall_b, **choice)
    if level in ("item", "per-system"):  # a group of twins alone has no tau
        assert np.nanmax(np.abs(like - tau)) < 1e-9
    elif level == "system":
        assert like == pytest.approx(tau, nan_ok=True, abs=1e-9)


def test_equal_metrics_do_not_differ():
    human, metrics = made_up(0, metrics=1)
    tested = permutation_test(human, np.concatenate([metrics, metrics]), trials=100)
    assert tested.greater[0, 1] == tested.greater[1, 0] == tested.two_sided[0, 1] == 1


def test_scale_does_not_matter():
    human, metrics = made_up(1)
    other = permutation_test(human, metrics * 100 + 7, trials=100)
    for one, two in zip(permutation_test(human, metrics, trials=100), other, strict=True):
        assert one == pytest.approx(two, nan_ok=True)


def test_false_alarms():
    """Of two equally good metrics, one comes out ahead at 5 % in about 5 % of the cases."""
    alarms = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        human = rng.normal(size=(6, 30))
        metrics = human + rng.normal(size=(2, 6, 30))
        alarms += permutation_test(human, metrics, trials=99, seed=seed).greater[0, 1] <= 0.05
    assert 2 <= alarms <= 22


def test_a_constant_metric():
    human, metrics = made_up(2)
    metrics[1] = 0.3
    tested = permutation_test(human, metrics, trials=50)
    assert math.isnan(tested.observed[1])
    assert np.isnan(tested.greater[1]).all()
    assert not np.isnan(tested.greater[0, 2])
    drawn = bootstrap_correlations(human, metrics, resamples=20)
    assert np.isnan(drawn[1]).all()
    assert not np.isnan(drawn[0]).any()


def test_one_system():
    human, metrics = made_up(4, systems=1, items=30)
    assert math.isnan(permutation_test(human, metrics, level="system", trials=20).observed[0])
    assert permutation_test(human, metrics, swap="items", trials=20).greater[2, 0] < 1


def test_only_some_pairs():
    human, metrics = made_up(5)
    tested = permutation_test(human, metrics, trials=50, pairs=[(0, 2)])
    assert np.isnan(tested.greater[0, 1])
    assert tested.greater[0, 2] > tested.greater[2, 0]


def test_progress():
    steps = []
    human, metrics = made_up(5)
    permutation_test(human, metrics, trials=50, progress=lambda *step: steps.append(step))
    bootstrap_correlations(human, metrics, resamples=50, progress=lambda *s: steps.append(s))
    assert steps == [(50, 50), (50, 50)]


def test_errors():
    human, metrics = made_up(0)
    with pytest.raises(DataError, match="systems × items"):
        permutation_test(human, metrics[0])
    with pytest.raises(DataError, match="No cell"):
        permutation_test(human * NAN, metrics)
    with pytest.raises(UnknownNameError, match="both"):
        permutation_test(human, metrics, swap="bots")
