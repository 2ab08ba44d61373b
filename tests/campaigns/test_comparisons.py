"""Comparisons: against the reference, forced choice, graded preference, with published numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reelscore.campaigns.evaluate.agreement import krippendorff_alpha
from reelscore.campaigns.evaluate.preferences import (
    metric_accuracy,
    score_preferences,
)
from reelscore.campaigns.evaluate.quality import check_quality, count_answers
from reelscore.campaigns.evaluate.votes import (
    Quorum,
    Votes,
    count_votes,
    pairs_agreed,
    score_against_reference,
    score_choices,
    vote_matrix,
)
from reelscore.campaigns.hits.comparisons import build_pair_hits
from reelscore.campaigns.hits.tasks import Shown, Task
from reelscore.campaigns.judgments import Judgment, Judgments
from reelscore.data.tables.table import ItemScores, MetricResult, ScoreTable
from reelscore.errors import DataError


def votes(item, scores, system="mine", against="reference", criterion="helpful", turn=()):
    """One row for each rater; raters in `turn` saw the captions the other way round."""
    rows = []
    for k, score in enumerate(scores):
        one, other = (against, system) if k in turn else (system, against)
        score = -score if k in turn else score
        rows.append(
            Judgment(f"r{k}", "h1", f"t-{item}", 0, one, item, "caption", score, criterion, other)
        )
    return rows


# Scores: below 0 the first (mine) is better, above 0 the reference.
@pytest.mark.parametrize(
    ("scores", "point"),
    [
        ([-1, -1, -1], 1),
        ([-1, 0, 1], 1),  # better and similar: two of three
        ([0, 0, 1], 1),
        ([-1, 1, 1], 0),
        ([1, 1, 1], 0),
        ([0, 1, 1], 0),
        ([0], 1),  # other numbers of raters: at least two thirds
        ([0, 1], 0),
        ([0, 0, 0, 1, 1], 0),
        ([0, 0, 0, -1, 1], 1),
    ],
)
def test_two_of_three(scores, point):
    for turn in ((), (0,), (0, 1, 2, 3, 4)):
        scored = score_against_reference(Judgments.of(votes("v1", scores, turn=turn)))
        assert scored.standings[0].points == point
        assert scored.table["mine"]["points_helpful"].items["v1"] == point


def test_standings():
    rows = votes("v1", [-1, 0, 1]) + votes("v2", [1, 1, 1])
    rows += votes("v1", [0, 0, 0], "good") + votes("v2", [-1, -1, 1], "good")
    scores = score_against_reference(Judgments.of(rows))
    first, second = scores.standings
    assert (first.system, first.points, first.items, first.votes) == ("good", 1.0, 2, 6)
    assert (first.better, first.similar) == (2 / 6, 3 / 6)
    assert (second.system, second.points, second.better) == ("mine", 0.5, 1 / 6)
    assert second.alike == 3 / 6  # of six pairs of raters, those of v2
    assert scores.table["mine"]["points_helpful"].score == 0.5
    assert "agree:2/3" in scores.table["mine"]["points_helpful"].signature


def test_other_rules():
    judgments = Judgments.of(votes("v1", [-1, 0, 1]))
    strict = score_against_reference(judgments, agree=Quorum(3, 3))
    assert strict.standings[0].points == 0


def test_nothing_to_compare():
    with pytest.raises(DataError, match="compared with 'truth'"):
        score_against_reference(Judgments.of(votes("v1", [0])), reference="truth")
    single = Judgment("r1", "h1", "t1", 0, "mine", "v1", "caption", 1.0)
    with pytest.raises(DataError, match="expected two systems"):
        count_votes(Judgments.of([single]))


def test_audio_description_against_scripts():
    """277 pairs, each beside both its videos, five judges: 2,770 answers; the margins in the text.

    Rohrbach et al. (2017), section 5.1: with four of five judges agreeing, 24.5 points between
    audio description and scripts for correctness, 28.1 for relevance; by majority about a third.
    """
    rows = []
    for criterion, strict, loose in (
        ("correctness", (198, 62), 168),
        ("relevance", (249, 93), 120),
    ):
        ad, script = strict
        scores = [[-1] * 4 + [1]] * ad + [[1] * 5] * script
        scores += [[-1, -1, -1, 1, 1]] * loose
        scores += [[1, 1, 1, -1, -1]] * (554 - len(scores))
        for k, each in enumerate(scores):
            rows += votes(f"v{k}", each, "AD", "script", criterion, turn=(k % 5,))
    correctness, relevance = score_choices(Judgments.of(rows))
    assert correctness.votes == relevance.votes == 2770
    for choices, margin in ((correctness, 24.5), (relevance, 28.1)):
        assert choices.systems == ("AD", "script")
        percent = {name: round(100 * share, 1) for name, share in choices.agreed.items()}
        assert percent["AD"] - percent["script"] == pytest.approx(margin)
        assert 0.30 < choices.majority["AD"] - choices.majority["script"] < 0.35
        assert choices.undecided == 0
    assert str(correctness) == "correctness: AD 66.1 (35.7), script 33.9 (11.2)"


def test_undecided_and_similar():
    rows = votes("v1", [-1, 1]) + votes("v2", [-1, 0, 0, 0, 0]) + votes("v3", [0, 0])
    (choices,) = score_choices(Judgments.of(rows))
    assert choices.systems == ("mine", "reference")
    assert choices.majority == {"mine": 1 / 3, "reference": 0.0}
    assert choices.agreed == {"mine": 0.0, "reference": 0.0}
    assert choices.undecided == 2 / 3


scored = st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=1, max_size=6)


@given(st.lists(scored, min_size=1, max_size=6), st.sets(st.integers(0, 5)))
def test_sides_do_not_matter(items, turn):
    as_is, turned = (
        Judgments.of([row for k, each in enumerate(items) for row in votes(f"v{k}", each, turn=t)])
        for t in ((), turn)
    )
    assert count_votes(as_is) == count_votes(turned)
    assert score_choices(as_is) == score_choices(turned)
    counted = count_votes(as_is)
    assert {item: v.turned() for item, v in counted["helpful", "mine", "reference"].items()} == (
        counted["helpful", "reference", "mine"]
    )
    one, other = (vote_matrix(each, "mine", "reference", "helpful") for each in (as_is, turned))
    np.testing.assert_array_equal(one, other)


def test_agreement():
    assert pairs_agreed([Votes(3, 0, 0), Votes(1, 1, 1)]) == 0.5
    assert math.isnan(pairs_agreed([Votes(1, 0, 0)]))
    rows = votes("v1", [-1, -1], turn=(1,)) + votes("v2", [1, 1], turn=(0,))
    matrix = vote_matrix(Judgments.of(rows), "mine", "reference", "helpful")
    assert krippendorff_alpha(matrix, "nominal") == 1


VIDEOS = [f"v{k}" for k in range(50)]


def soda_study(won, seed=0):
    """Fifty videos, twelve raters, −2…2: the first system is preferred in so many videos."""
    rng = np.random.default_rng(seed)
    rows = []
    for k, item in enumerate(VIDEOS):
        towards = -1 if k < won else 1
        scores = towards * rng.permutation([2, 2, 1, 1, 1, 1, 1, 0, 0, 0, -1, -2])
        turn = tuple(rng.permutation(12)[:6])
        rows += votes(item, scores.astype(float), "E2E", "LSTM", "story", turn)
    return Judgments.of(rows)


def metric(right, preference, ties=0):
    """Scores that agree with people in so many videos, and are equal in some of the others."""
    one, other = {}, {}
    for k, (item, mean) in enumerate(preference.items.items()):
        sign = 1 if mean > 0 else -1
        apart = sign if k < right else 0 if k < right + ties else -sign
        one[item], other[item] = 0.5 + 0.1 * apart, 0.5
    return ScoreTable(
        {
            name: {"soda": MetricResult("soda", 0.5, ItemScores.of(items), "soda")}
            for name, items in (("E2E", one), ("LSTM", other))
        }
    )


@pytest.mark.parametrize(
    ("won", "share", "accuracies"),
    [(40, 0.80, {38: 0.76, 33: 0.66}), (47, 0.94, {47: 0.94, 36: 0.72})],
)
def test_soda_manual_evaluation(won, share, accuracies):
    """Section 6.3 of Fujita et al. (2020): 80 % and 94 % of 50 videos, and both accuracies."""
    people = score_preferences(soda_study(won), "E2E", "LSTM")
    assert people.won == share
    assert people.lost == pytest.approx(1 - share)
    assert people.tied == pytest.approx(0)
    assert people.raters == 12
    for right, accuracy in accuracies.items():
        assert metric_accuracy(metric(right, people), "soda", people).accuracy == accuracy
    other = score_preferences(soda_study(won), "LSTM", "E2E")
    assert other.items == {item: -mean for item, mean in people.items.items()}
    table = people.table()
    assert table["E2E"]["preference_story"].items["v0"] == people.items["v0"]
    assert table["LSTM"]["preference_story"].score == -table["E2E"]["preference_story"].score


def test_ties_of_metric_and_people():
    people = score_preferences(
        Judgments.of(
            [row for k in range(4) for row in votes(f"v{k}", [-1.0], "E2E", "LSTM", "story")]
            + votes("tied", [1.0, -1.0], "E2E", "LSTM", "story")
        ),
        "E2E",
        "LSTM",
    )
    assert people.won == 0.8
    assert people.tied == pytest.approx(0.2)
    accuracy = metric_accuracy(metric(2, people, ties=1), "soda", people)
    assert accuracy == (0.5, 2, 4, 1, 1)


def test_what_a_metric_lacks():
    people = score_preferences(soda_study(40), "E2E", "LSTM")
    table = metric(38, people)
    short = ScoreTable({"E2E": table["E2E"], "LSTM": {}})
    with pytest.raises(DataError, match="50 videos have no soda for both systems"):
        metric_accuracy(short, "soda", people)
    with pytest.raises(DataError, match="'E2E' and 'other' are not compared by story"):
        score_preferences(soda_study(40), "E2E", "other")
    undecided = Judgments.of(votes("v0", [1.0, -1.0], "E2E", "LSTM", "story"))
    nobody = score_preferences(undecided, "E2E", "LSTM")
    with pytest.raises(DataError, match="prefer neither"):
        metric_accuracy(table, "soda", nobody)


def test_faithful_raters_from_plan_to_result():
    """Raters answer a plan's HITs; who fails a test question is out, whatever side it was on."""
    systems = {name: {item: f"{name} {item}" for item in VIDEOS[:8]} for name in ("E2E", "LSTM")}
    tests = [
        Task(f"q{k}", f"test{k}", (Shown("right", f"yes {k}"), Shown("wrong", f"no {k}")), -2.0)
        for k in range(3)
    ]
    plan = build_pair_hits(systems, per_hit=4, tests=tests, tests_per_hit=2, seed=1)
    rows = []
    for hit in plan.hits:
        for rater in ("watches", "guesses"):
            for place, task in enumerate(hit.tasks):
                one, other = task.shown
                sure = 2.0 if rater == "watches" else -2.0
                score = -sure if one.system in ("right", "E2E") else sure
                about = (rater, hit.id, task.id, place, one.system, task.item, one.kind)
                rows.append(Judgment(*about, score, "story", other.system))
    late = Judgment("untested", "h9", "t9", 0, "E2E", "v0", "caption", 2.0, "story", "LSTM")
    judgments = Judgments.of([*rows, late])
    quality = check_quality(judgments, tests=plan.expected)
    assert quality.used == ["watches"]
    assert quality.poor == {"guesses", "untested"}
    answers = {each.rater: (each.right, each.asked) for each in quality.raters}
    assert answers == {"watches": (4, 4), "guesses": (0, 4), "untested": (0, 0)}
    assert quality.summary == "1 of 3 raters passed (2 failed), tested on test questions"
    assert score_preferences(quality.good(judgments), "E2E", "LSTM").won == 1
    assert score_preferences(judgments, "E2E", "LSTM").won == 0
    with pytest.raises(DataError, match="right answer is not given"):
        count_answers(judgments, {})


@pytest.mark.parametrize(
    ("expected", "score", "right"),
    [(-2, -1, 1), (-2, 0, 0), (-2, 1, 0), (1, 2, 1), (0, 0, 1), (0, 1, 0)],
)
def test_an_answer_is_right_on_its_side(expected, score, right):
    row = Judgment("r", "h", "t", 0, "a", "v", "test", float(score), "story", "b")
    assert count_answers(Judgments.of([row]), {"t": expected})["r"] == (right, 1)
