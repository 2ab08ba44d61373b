"""The Poisson bootstrap: draws by seed, draw and item; sums exact in any pieces."""

from __future__ import annotations

from math import exp, factorial

import numpy as np
import pytest

from reelscore import _native
from reelscore.errors import DataError
from reelscore.stats.resampling import poisson_sums


def philox(counter, key):
    """Philox4x32-10 as Salmon et al. (2011) define it."""
    for _ in range(10):
        a, b = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = (
            (b >> 32) ^ counter[1] ^ key[0],
            b & 0xFFFFFFFF,
            (a >> 32) ^ counter[3] ^ key[1],
            a & 0xFFFFFFFF,
        )
        key = (key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF
    return counter


def poisson(uniform):
    """The number of events whose cumulative probability a uniform number reaches."""
    total = events = 0
    while True:
        total += exp(-1) / factorial(events)
        if uniform < round(total * 2**32):
            return events
        events += 1


def test_draws_are_those_of_the_published_generator():
    known = philox((0, 0, 0, 0), (0, 0))  # the first vector of the authors' tests
    assert [f"{word:08x}" for word in known] == ["6627e8d5", "e169c58d", "bc57ac4c", "9b00dbd8"]
    items = np.array([0, 5, 2**63 + 11], dtype=np.uint64)
    seed = 2**40 + 7
    draws = _native.poisson_draws(items, seed, 0, 10).reshape(3, 10)
    for item, own in zip(items.tolist(), draws.tolist(), strict=True):
        words = [
            word
            for block in range(3)
            for word in philox((item & 0xFFFFFFFF, item >> 32, block, 0), (seed & 0xFFFFFFFF, 2**8))
        ]
        assert own == [poisson(word) for word in words[:10]]


def test_later_draws_can_be_made_alone():
    items = np.arange(7, dtype=np.uint64)
    whole = _native.poisson_draws(items, 3, 0, 20).reshape(7, 20)
    assert (_native.poisson_draws(items, 3, 8, 12).reshape(7, 12) == whole[:, 8:]).all()


def test_draws_have_mean_and_variance_one():
    draws = _native.poisson_draws(np.arange(2000, dtype=np.uint64), 1, 0, 500)
    assert draws.mean() == pytest.approx(1, abs=0.004)
    assert draws.var() == pytest.approx(1, abs=0.01)


def test_sums_are_the_same_in_any_pieces_and_order():
    rng = np.random.default_rng(0)
    items = rng.integers(2**63, size=5000).astype(np.uint64)
    rows = np.column_stack([rng.random(5000), rng.integers(30, size=5000)])
    [whole] = poisson_sums(items, [rows], resamples=20)
    order = rng.permutation(5000)
    total = np.zeros((20, 2))
    for piece in np.array_split(order, [3, 700, 4000]):
        total += poisson_sums(items[piece], [rows[piece]], resamples=20)[0]
    assert (total == whole).all()


def test_a_system_may_lack_items():
    items = np.arange(3000, dtype=np.uint64)
    rows = np.linspace(0, 1, 6000).reshape(3000, 2)
    there = np.flatnonzero(items % 3 != 0)
    whole, some = poisson_sums(items, [rows, rows[there]], [np.arange(3000), there], resamples=8)
    [alone] = poisson_sums(items[there], [rows[there]], resamples=8)
    assert (some == alone).all()
    assert (whole != alone).any()


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_bad_seed_is_refused(seed):
    with pytest.raises(DataError, match=f"The seed is {seed}"):
        poisson_sums(np.zeros(1, np.uint64), [np.ones((1, 1))], seed=seed)
