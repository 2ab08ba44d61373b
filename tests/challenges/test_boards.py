"""Leaderboards: which entries count, their ranks, and who wins."""

from __future__ import annotations

import itertools
from typing import get_args
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reelscore.challenges.boards.awards import RULES, decide
from reelscore.challenges.boards.boards import BoardEntry, make_board
from reelscore.challenges.definition.records import Award, Rule
from reelscore.errors import DataError, UnknownNameError
from reelscore.stats.resampling import all_pairs_p_values
from support.results import column, made_result, table_of

CIDER = column("cider", "CIDEr")
METEOR = column("meteor", "METEOR")
LENGTH = column("length", "Length", "neither", ranked=False)
NOISE = np.random.default_rng(3).normal(scale=0.01, size=1000)


def entry(id, team, value, *, arrived=1, own=0.0, **fields):
    """An entry whose resamples differ from those of others by noise of its own, and its scores."""
    scores = fields.pop("scores", [])
    rng = np.random.default_rng(crc32(id.encode())) if own else None
    drawn = (value or 0) + NOISE + (rng.normal(scale=own, size=1000) if rng else 0)
    if value is not None:
        scores = [made_result("cider", value, signature="cider|v:1", drawn=drawn), *scores]
    return BoardEntry(id, team, arrived, **fields), scores


def board(entries, columns=(CIDER,), primary="cider", **options):
    table = table_of({entry.id: scores for entry, scores in entries})
    own = [entry for entry, _ in entries]
    return make_board("b", "Board", table, own, columns, primary=primary, **options)


def ranks(made):
    return [(row.rank, row.team, row.cluster, row.ranks) for row in made.rows]


def test_entries_that_differ_are_in_clusters_of_their_own():
    made = board([entry("a", "One", 0.5), entry("b", "Two", 0.6), entry("c", "Three", 0.4)])
    assert ranks(made) == [
        ("1", "Two", 1, (1, 1)),
        ("2", "One", 2, (2, 2)),
        ("3", "Three", 3, (3, 3)),
    ]
    assert made.test == "paired bootstrap, 1,000 resamples; correction: holm"
    assert made.signatures == {"cider": "cider|v:1"}


def test_entries_that_cannot_be_told_apart_share_cluster_and_ranks():
    made = board(
        [entry("a", "A", 0.50, own=0.1), entry("b", "B", 0.51, own=0.1), entry("c", "C", 0.1)]
    )
    assert [(row.team, row.cluster, row.ranks) for row in made.rows] == [
        ("B", 1, (1, 2)),
        ("A", 1, (1, 2)),
        ("C", 2, (3, 3)),
    ]


def test_equal_scores_share_a_rank_and_the_earlier_comes_first():
    made = board(
        [
            entry("a", "Late", 0.5, arrived=9),
            entry("b", "Early", 0.5, arrived=2),
            entry("c", "Best", 0.7),
        ]
    )
    assert [(row.rank, row.team) for row in made.rows] == [
        ("1", "Best"),
        ("=2", "Early"),
        ("=2", "Late"),
    ]


def test_an_entry_without_the_primary_score_is_not_on_the_board():
    made = board(
        [entry("a", "One", 0.5), entry("b", "Empty", None), entry("c", "Broken", float("nan"))]
    )
    assert [row.team for row in made.all_rows] == ["One"]


def test_a_team_whose_last_entry_has_no_score_keeps_the_one_before():
    made = board([entry("a", "One", 0.5, arrived=1), entry("b", "One", None, arrived=2)])
    assert [(row.id, row.entries) for row in made.rows] == [("a", 1)]


@pytest.mark.parametrize(("final", "expected"), [("chosen", "b"), ("last", "c"), ("best", "a")])
def test_the_entry_that_counts(final, expected):
    entries = [
        entry("a", "T", 0.6, arrived=1),
        entry("b", "T", 0.4, arrived=2, chosen=True),
        entry("c", "T", 0.5, arrived=3),
    ]
    [row] = board(entries, final=final).rows
    assert (row.id, row.entries) == (expected, 3)


def test_where_lower_is_better_the_lowest_comes_first():
    errors = column("cider", "Errors", "low")
    made = board([entry("a", "High", 0.5), entry("b", "Low", 0.1)], [errors])
    assert [row.team for row in made.rows] == ["Low", "High"]
    assert made.best == {"cider": 0.1}
    assert errors.heading == "Errors ↓"


def test_late_entries_are_listed_below_without_a_rank():
    made = board(
        [
            entry("a", "One", 0.5),
            entry("b", "Two", 0.9, place="late"),
            entry("c", "One", 0.95, place="after"),
        ]
    )
    assert [row.id for row in made.rows] == ["a"]
    assert [(row.id, row.rank, row.cluster) for row in made.below] == [
        ("b", "", None),
        ("c", "", None),
    ]
    assert made.best == {"cider": 0.5}


def test_text_statistics_are_not_graded():
    made = board([entry("a", "One", 0.5, scores=[made_result("length", 9.0)])], [CIDER, LENGTH])
    assert made.best["length"] is None


def test_the_primary_score_must_have_a_column():
    with pytest.raises(DataError, match="primary score"):
        board([], [METEOR])


def test_a_board_of_many_teams_has_more_than_one_cluster():
    entries = [entry(f"e{k}", f"T{k}", k / 10, own=0.001) for k in range(30)]
    assert board(entries).rows[-1].cluster == 30


def people(value, cluster):
    scores = [made_result("human:helpful", value)]
    return {"scores": scores, "people_clusters": {"human:helpful": cluster}}


HELPFUL = column("human:helpful", "people")


def test_clusters_of_people_are_those_of_their_campaign():
    entries = [
        entry("a", "A", 0.1, **people(0.30, 1)),
        entry("b", "B", 0.9, **people(0.28, 1)),
        entry("c", "C", 0.8, **people(0.10, 2)),
    ]
    made = board(entries, [CIDER, HELPFUL], "human:helpful")
    assert [(row.team, row.cluster) for row in made.rows] == [("A", 1), ("B", 1), ("C", 2)]
    share = decide(Award("column", ("human:helpful",), within_cluster="share"), made)
    assert share.winners == ["A", "B"]
    assert "do" in share.why[0]
    assert "share" in share.why[0]
    assert decide(Award("column", ("human:helpful",), within_cluster="order"), made).winners == [
        "A"
    ]


def test_entries_that_the_test_cannot_tell_apart_share_the_award():
    made = board(
        [entry("a", "A", 0.50, own=0.1), entry("b", "B", 0.51, own=0.1), entry("c", "C", 0.1)]
    )
    assert decide(Award("column", ("cider",), within_cluster="share"), made).winners == ["B", "A"]
    assert decide(Award("column", ("cider",), within_cluster="order"), made).winners == ["B"]


def test_an_award_agrees_with_the_clusters_of_its_board():
    """Whom the board's test cannot tell apart share, however few of them can win."""
    rng = np.random.default_rng(5)
    noise = rng.normal(scale=0.01, size=1000)
    pair = [
        entry("a", "A", 0.523),
        (BoardEntry("b", "B", 2), [made_result("cider", 0.5, drawn=0.5 + NOISE + noise)]),
    ]
    others = [entry(f"n{k}", f"N{k}", 0.1, own=0.01, kind="baseline") for k in range(20)]
    award = Award("column", ("cider",), within_cluster="share")
    assert decide(award, board(pair)).winners == ["A"]
    made = board(pair + others)
    assert [row.cluster for row in made.rows[:3]] == [1, 1, 2]
    assert decide(award, made).winners == ["A", "B"]
    plain = board(pair + others, correction="none")
    assert [row.cluster for row in plain.rows[:2]] == [1, 2]
    assert decide(award, plain, correction="none").winners == ["A"]


def test_baselines_and_organisers_win_nothing():
    made = board(
        [
            entry("a", "Ours", 0.9, kind="organisers"),
            entry("b", "Nearest", 0.8, kind="baseline"),
            entry("c", "Team", 0.2),
        ]
    )
    verdict = decide(Award("column", ("cider",), within_cluster="order"), made)
    assert verdict.winners == ["Team"]
    assert verdict.why == ["Best by CIDEr.", "Baselines and organisers' entries win nothing."]


def two_columns(**values):
    entries = [
        entry(name, name, cider, scores=[made_result("meteor", meteor)])
        for name, (cider, meteor) in values.items()
    ]
    return board(entries, [CIDER, METEOR])


def test_mean_rank():
    made = two_columns(a=(0.9, 0.1), b=(0.8, 0.3), c=(0.7, 0.2))
    verdict = decide(Award("mean_rank", ("cider", "meteor")), made)
    assert verdict.winners == ["b"]
    assert verdict.standing == {"b": 1.5, "a": 2.0, "c": 2.5}


def test_points_with_ties_decided_by_the_order_of_columns():
    made = two_columns(a=(0.9, 0.2), b=(0.8, 0.3), c=(0.7, 0.1), d=(0.6, 0.0))
    award = Award("points", ("meteor", "cider"))
    verdict = decide(award, made)
    assert verdict.standing == {"b": 5.0, "a": 5.0, "c": 2.0, "d": 0.0}
    assert verdict.winners == ["b"]
    assert "tie" in verdict.why[1]
    assert decide(Award("points", ("cider", "meteor")), made).winners == ["a"]


def test_equal_values_of_a_column_are_decided_by_the_ties():
    made = two_columns(a=(0.9, 0.1), b=(0.9, 0.3), c=(0.7, 0.5))
    award = Award("column", ("cider",), ties=("meteor",), within_cluster="order")
    verdict = decide(award, made)
    assert verdict.winners == ["b"]
    assert list(verdict.standing) == ["b", "a", "c"]
    assert "tie" in verdict.why[1]
    plain = decide(Award("column", ("cider",), within_cluster="order"), made)
    assert plain.winners == ["a", "b"]
    assert plain.why == ["Best by CIDEr.", "The winners are equal."]


def test_every_rule_of_an_award_can_be_decided():
    assert set(RULES) == set(get_args(Rule))


def test_no_award_before_the_scores_that_decide_are_there():
    made = board([entry("a", "A", 0.5)], [CIDER, HELPFUL])
    verdict = decide(Award("column", ("human:helpful",), within_cluster="order"), made)
    assert verdict.winners == []
    assert "No entry" in verdict.why[0]
    with pytest.raises(UnknownNameError):
        decide(Award("column", ("bertha",), within_cluster="order"), made)


def slow_board(values, p):
    """Clusters and rank ranges, best first, from p-values of all pairs: Holm by its definition."""
    pairs = sorted(itertools.combinations(range(len(values)), 2), key=lambda pair: p[pair])
    apart = set()
    for k, pair in enumerate(pairs):
        if p[pair] * (len(pairs) - k) >= 0.05:
            break  # this hypothesis and all further ones stand
        apart.add(pair)
    beats = [
        {j for j in range(len(values)) if (min(i, j), max(i, j)) in apart and values[i] > values[j]}
        for i in range(len(values))
    ]
    clusters, number = [], 1
    for i in range(len(values)):
        if i and all(b in beats[a] for a in range(i) for b in range(i, len(values))):
            number += 1
        clusters.append(number)
    ranges = [
        (1 + sum(i in beats[j] for j in range(len(values))), len(values) - len(beats[i]))
        for i in range(len(values))
    ]
    return clusters, ranges


@given(st.lists(st.integers(0, 60), min_size=2, max_size=9), st.integers(0, 99))
def test_clusters_and_rank_ranges_are_those_of_a_slow_twin(steps, seed):
    values = sorted((step / 1000 for step in steps), reverse=True)
    rng = np.random.default_rng(seed)
    drawn = np.array(values) + rng.normal(scale=0.01, size=(200, len(values)))
    entries = [
        (BoardEntry(str(k), f"T{k}", k), [made_result("cider", value, drawn=drawn[:, k])])
        for k, value in enumerate(values)
    ]
    made = board(entries)
    p = all_pairs_p_values(drawn, np.array(values))
    clusters, ranges = slow_board(values, p)
    assert [row.cluster for row in made.rows] == clusters
    assert [row.ranks for row in made.rows] == ranges
    ties = [values.count(value) > 1 for value in values]
    assert [row.rank.startswith("=") for row in made.rows] == ties
