"""Resamples that all submissions of a split share."""

from __future__ import annotations

import io

import numpy as np
import pytest

from reelscore import score_systems
from reelscore.challenges.queue.scorers import drawn_results
from reelscore.challenges.store.kept_scores import draws_file, with_draws
from reelscore.errors import DataError
from reelscore.examples import clips
from reelscore.significance import compare
from reelscore.stats.resampling import all_pairs_p_values, bootstrap_p_values

METRICS = "bleu|n:4,rouge_l,cider,meteor,diversity"


@pytest.fixture(scope="module")
def tables():
    systems, references = clips()
    return references, {
        name: score_systems({name: captions}, references, METRICS)
        for name, captions in systems.items()
    }


def test_entries_scored_apart_are_compared_as_if_scored_together(tables):
    references, apart = tables
    systems, _ = clips()
    together = score_systems(systems, references, METRICS)
    drawn = {
        name: drawn_results(table, list(references), 1000, 12345) for name, table in apart.items()
    }
    for comparison in compare(together, tests=["bootstrap"], correction="none"):
        if comparison.untested:
            continue
        names = list(comparison.systems)
        samples = np.column_stack([drawn[name][comparison.metric].drawn for name in names])
        for i, j in zip(*np.triu_indices(len(names), 1), strict=True):
            p = bootstrap_p_values(
                (samples[:, i] - samples[:, j])[:, None],
                np.array([comparison.scores[i] - comparison.scores[j]]),
            )
            assert p[0] == comparison.p[i, j]


def test_scores_of_all_captions_together_have_no_draws(tables):
    references, apart = tables
    results = drawn_results(apart["weak"], list(references), 10, 1)
    assert results["cider"].drawn is not None
    assert results["vocabulary"].drawn is None
    assert results["vocabulary"].interval is None


def test_items_in_another_order_are_refused(tables):
    references, apart = tables
    with pytest.raises(DataError, match="another order"):
        drawn_results(apart["weak"], list(references)[::-1], 10, 1)


def test_draws_are_kept_bit_by_bit(tables):
    references, apart = tables
    results = drawn_results(apart["weak"], list(references), 50, 1)
    names, data = draws_file(results)
    assert names == [name for name, own in results.items() if own.drawn is not None]
    again = with_draws(results, names, data)
    assert all(np.array_equal(again[name].drawn, results[name].drawn) for name in names)
    assert again["vocabulary"].drawn is None
    pickled = np.array([{"a": 1}], dtype=object)
    out = io.BytesIO()
    np.save(out, pickled, allow_pickle=True)
    with pytest.raises(ValueError, match="pickle"):
        with_draws(results, ["a"], out.getvalue())


def test_many_pairs_can_be_told_apart_where_counting_resamples_cannot():
    rng = np.random.default_rng(5)
    scores = np.arange(40.0)
    drawn = scores + rng.normal(scale=0.1, size=(1000, 40))
    p = all_pairs_p_values(drawn, scores)
    pairs = 40 * 39 / 2
    assert 1 / 1001 * pairs > 0.05  # the least p that counting gives, corrected
    assert np.nanmax(p) * pairs < 0.05


def test_p_of_pairs_is_counted_where_there_is_something_to_count():
    rng = np.random.default_rng(6)
    drawn = rng.normal([0, 0.5, 1.0], size=(1000, 3))
    scores = np.array([0, 0.5, 1.0])
    p = all_pairs_p_values(drawn, scores)
    expected = bootstrap_p_values(drawn[:, [0]] - drawn[:, [2]], scores[[0]] - scores[[2]])
    assert p[0, 2] == p[2, 0] == expected[0]
    assert np.isnan(np.diag(p)).all()
