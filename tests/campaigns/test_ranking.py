"""Mean ranks by criterion: a table worked by hand, scipy's test, agreement by the formula."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import friedmanchisquare

from reelscore.campaigns.evaluate.rankings import friedman, score_rankings
from reelscore.campaigns.judgments import Judgment, Judgments
from reelscore.errors import DataError
from reelscore.stats.rank_tests import signed_rank

SYSTEMS = ("labels", "s2vt", "fusion")


def rankings(table, criterion="correctness"):
    """Rows of (rater, item): ranks of the three systems."""
    return [
        Judgment(rater, "h1", f"{item}", k, system, item, "caption", float(rank), criterion)
        for (rater, item), ranks in table.items()
        for k, (system, rank) in enumerate(zip(SYSTEMS, ranks, strict=True))
    ]


WORKED = {
    ("r1", "v1"): (1, 2, 3),
    ("r2", "v1"): (1, 3, 2),
    ("r1", "v2"): (2, 1, 3),
    ("r2", "v2"): (1, 1, 3),
    ("r1", "v3"): (1, 2, 3),
}


def test_worked_by_hand():
    result = score_rankings(Judgments.of(rankings(WORKED)))
    ranking = result.criteria["correctness"]
    # means of the videos: labels 1, 1.5, 1; s2vt 2.5, 1, 2; fusion 2.5, 3, 3
    assert ranking.ranks == pytest.approx({"labels": 3.5 / 3, "s2vt": 5.5 / 3, "fusion": 8.5 / 3})
    assert list(ranking.ranks) == ["labels", "s2vt", "fusion"]
    assert ranking.first == pytest.approx({"labels": 0.8, "s2vt": 0.4, "fusion": 0.0})
    assert (ranking.items, ranking.rankings, ranking.tied) == (3, 5, 0.2)
    # v1: sums 2, 5, 5 of two raters: S = 6, W = 12·6 / (2²·24) = 0.75
    # v2: mid-ranks 2, 1, 3 and 1.5, 1.5, 3: S = 6.5, W = 12·6.5 / (4·24 − 2·6) = 0.9286
    assert ranking.agreement == pytest.approx((0.75 + 78 / 84) / 2)
    table = result.table["s2vt"]["rank_correctness"]
    assert table.score == pytest.approx(5.5 / 3)
    assert table.items.to_dict() == {"v1": 2.5, "v2": 1.0, "v3": 2.0}
    assert "lower" in result.table.notes[0]


def test_pairs_of_systems():
    rng = np.random.default_rng(1)
    table = {("r1", f"v{k}"): (*rng.permutation([1, 2]), 3) for k in range(30)}
    result = score_rankings(Judgments.of(rankings(table)))
    comparison = result.criteria["correctness"].comparison
    pairs = {frozenset((pair.system, pair.other)): pair for pair in comparison.pairs}
    assert len(pairs) == 3
    clear = pairs[frozenset(("labels", "fusion"))]
    assert comparison.verdict("labels", "fusion") == "better"
    assert clear.difference < 0  # a lower rank is better
    assert clear.p_corrected < 1e-4
    stored = result.criteria["correctness"].to_dict()
    assert {pair["test"] for pair in stored["differences"]} == {"signed-rank"}
    items = result.table.matrix(
        "rank_correctness", ["labels", "s2vt"], [f"v{k}" for k in range(30)]
    )
    near = pairs[frozenset(("labels", "s2vt"))]
    assert near.p == signed_rank(*items).p
    assert near.p_corrected >= near.p


def test_places_need_not_begin_at_one():
    scores = score_rankings(Judgments.of(rankings({("r1", "v1"): (2, 2, 3)})))
    assert scores.criteria["correctness"].first == {"labels": 1.0, "s2vt": 1.0, "fusion": 0.0}


def test_criteria_apart():
    rows = rankings(WORKED) + rankings({("r1", "v1"): (3, 2, 1)}, "grammar")
    result = score_rankings(Judgments.of(rows))
    assert list(result.criteria) == ["correctness", "grammar"]
    assert result.criteria["grammar"].ranks == {"fusion": 1.0, "s2vt": 2.0, "labels": 3.0}
    assert math.isnan(result.criteria["grammar"].agreement)
    assert result.table.metrics == ["rank_correctness", "rank_grammar"]


@given(
    st.integers(3, 6).flatmap(
        lambda k: st.lists(
            st.lists(st.integers(1, 4), min_size=k, max_size=k), min_size=2, max_size=12
        )
    )
)
def test_friedman_as_scipy(table):
    tested = friedman(table)
    if all(len(set(row)) == 1 for row in table):
        assert math.isnan(tested.p)
        return
    statistic, p = friedmanchisquare(*zip(*table, strict=True))
    assert tested.statistic == pytest.approx(statistic)
    assert tested.p == pytest.approx(p)
    assert -1e-9 <= tested.concordance <= 1 + 1e-9


def test_everyone_agrees():
    assert friedman([[1, 2, 3]] * 4).concordance == pytest.approx(1)
    assert friedman([[1, 2, 3], [3, 2, 1]]).concordance == 0


def test_bad_rankings():
    rows = rankings(WORKED)
    with pytest.raises(DataError, match="'r1', task 'v3': system 'fusion' is not ranked"):
        score_rankings(Judgments.of(rows[:-1]))
    with pytest.raises(DataError, match="'fusion' is ranked twice by correctness"):
        score_rankings(Judgments.of([*rows, rows[-1]]))
    with pytest.raises(DataError, match="Rankings of 0 systems"):
        score_rankings(Judgments.of([]))
