"""What teams are told of their scores."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reelscore.challenges.boards.ladder import rounded, tell
from reelscore.errors import DataError
from support.results import made_result


def scores_of(value, drawn=None):
    """Return the scores of a submission that has one."""
    return {"m": made_result("m", value, drawn=drawn)}


values = st.floats(0, 1, allow_nan=False)
steps = st.sampled_from([0.001, 0.002, 0.005, 0.01, 0.1])


def climb(scores, step, sign=1):
    told, history = None, []
    for k, value in enumerate(scores):
        told = tell(
            "ladder",
            f"s{k}",
            {
                "cider": made_result("cider", value),
                "bleu_4": made_result("bleu_4", value / 3, value / 4, value / 2),
            },
            primary="cider",
            sign=sign,
            step=step,
            before=told,
        )
        history.append(told)
    return history


@given(st.lists(values, min_size=1, max_size=30), steps)
def test_ladder_never_goes_down_and_rises_by_a_step(scores, step):
    told = [each.scores["cider"].score for each in climb(scores, step)]
    for before, after in pairwise(told):
        assert after == before or after > before + step / 2 - 1e-12


@given(st.lists(values, min_size=1, max_size=30), steps)
def test_ladder_tells_only_multiples_of_its_step(scores, step):
    for each in climb(scores, step):
        for score in each.scores.values():
            for number in (score.score, *(score.interval or ())):
                assert number == rounded(number, step)


@given(st.lists(values, min_size=1, max_size=30), steps)
def test_ladder_keeps_the_entry_that_it_tells_of(scores, step):
    history = climb(scores, step)
    for k, each in enumerate(history):
        told_of = int(each.submission[1:])
        assert told_of <= k
        assert each.scores["cider"].score == rounded(scores[told_of], step)


@given(st.lists(values, min_size=1, max_size=20), steps)
def test_ladder_for_scores_where_lower_is_better_is_its_mirror(scores, step):
    up = climb(scores, step)
    down = climb([-value for value in scores], step, sign=-1)
    assert [a.submission for a in up] == [b.submission for b in down]


def test_the_other_columns_are_those_of_the_entry_told():
    first, second = climb([0.5, 0.501], 0.01)
    assert second is first
    assert first.scores["bleu_4"].score == 0.17


def test_automatic_step_is_one_standard_error_of_the_paired_difference():
    rng = np.random.default_rng(1)
    base = rng.normal(0.30, 0.01, 1000)
    first = tell("ladder", "a", scores_of(0.3, base), primary="m", step="auto")
    assert first.step == pytest.approx(base.std(), rel=0.1)
    paired = base + rng.normal(0.004, 0.002, 1000)
    told = {
        gain: tell(
            "ladder",
            "b",
            scores_of(first.scores["m"].score + gain, paired),
            primary="m",
            step="auto",
            before=first,
        )
        for gain in (0.0019, 0.0024)
    }
    assert told[0.0019] is first
    assert told[0.0024].submission == "b"
    assert told[0.0024].step == pytest.approx(0.002, rel=0.1)


def test_the_same_captions_again_tell_nothing_new():
    scores = scores_of(0.304, np.linspace(0.29, 0.31, 1000))
    first = tell("ladder", "a", scores, primary="m", step="auto")
    assert first.scores["m"].score < 0.304  # rounded down
    again = tell("ladder", "b", scores, primary="m", step="auto", before=first)
    assert again is first


def test_full_rounded_and_reveal():
    scores = {"m": made_result("m", 0.123456, 0.1, 0.2)}

    def told(feedback, step=None):
        return tell(feedback, "a", scores, primary="m", step=step)

    assert told("full").scores == scores
    assert told("rounded", 0.01).scores["m"].score == 0.12
    assert told("reveal") is None
    for feedback in ("rounded", "ladder"):
        with pytest.raises(DataError, match="needs a step"):
            told(feedback)


def test_an_entry_without_the_primary_score_tells_nothing():
    assert tell("ladder", "a", {}, primary="m", step=0.01) is None


def slow_ladder(scores, step):
    """Algorithm 1 of Blum and Hardt, for scores where higher is better, in whole numbers of steps.

    Scores and the step are binary fractions, so nothing here is rounded but what must be.
    """
    told, best = [], None
    for score in scores:
        if best is None or score > best + step:
            whole, rest = divmod(score, step)
            up = rest > step / 2 or (rest == step / 2 and whole % 2 == 1)  # ties to even
            best = (whole + up) * step
        told.append(best)
    return told


@given(
    st.lists(st.integers(0, 4096).map(lambda k: k / 4096), min_size=1, max_size=40),
    st.sampled_from([1 / 256, 1 / 64, 1 / 16]),
)
def test_ladder_is_that_of_the_paper(scores, step):
    assert [each.scores["cider"].score for each in climb(scores, step)] == slow_ladder(scores, step)
