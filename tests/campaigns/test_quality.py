"""Quality control: every published p-value and verdict, and cases worked by hand."""

from __future__ import annotations

import math

import msgspec
import numpy as np
import pytest
from scipy import stats

from reelscore.campaigns.evaluate.quality import Control, check_quality
from reelscore.campaigns.evaluate.results import evaluate_ratings
from reelscore.campaigns.judgments import Judgments
from reelscore.errors import DataError, NobodyPassedError
from support.campaigns import eacl, paired, published, rating


def only(rows, **control):
    return check_quality(Judgments.of(rows), Control(**control)).raters[0]


# EACL 2017, run A


@pytest.fixture(scope="module")
def run_a(shared):
    return shared / "da-eacl2017-runA", check_quality(eacl(shared))


def test_every_published_p_value_and_class(run_a):
    folder, quality = run_a
    stats = {row[0]: row[1:] for row in published(folder / "ad-trk-stats.csv")}
    classes = dict(published(folder / "ad-trk-stats.class"))
    raters = {each.rater: each for each in quality.raters if each.verdict != "rejected"}
    assert raters.keys() == stats.keys() == classes.keys()
    for rater, (p, t, pairs) in stats.items():
        assert raters[rater].p == pytest.approx(float(p), rel=1e-6)
        assert raters[rater].statistic == pytest.approx(-float(t), rel=1e-6)
        assert raters[rater].pairs == int(pairs)
        assert (raters[rater].verdict == "passed") == (classes[rater] == "good")
    assert (len(raters), len(quality.passed)) == (44, 29)


def test_published_flags(run_a):
    folder, quality = run_a
    raters = {each.rater: each for each in quality.raters}
    differ = []
    for row in published(folder / "ad-wrkr-stats.csv")[1:]:
        each = raters[row[0]]
        assert each.run == int(row[9])
        flags = {"order": row[11], "speed": row[12], "run": row[13]}
        if {name for name, mark in flags.items() if mark != "-"} != {*each.flags} - {"repeats"}:
            differ.append(row[0])
    # F0037 began each HIT in the second the one before ended; the tool counts that as two at once.
    assert differ == ["F0037"]


def test_repeats_of_those_who_passed(run_a):
    good = [each for each in run_a[1].raters if each.verdict == "passed"]
    bad = [each for each in run_a[1].raters if each.verdict == "failed"]
    assert sum("repeats" in each.flags for each in good) == 1

    def mean(raters):
        return sum(r.repeat_difference * r.repeats for r in raters) / sum(r.repeats for r in raters)

    assert (round(mean(good), 1), round(mean(bad), 1)) == (13.3, 20.2)


@pytest.mark.parametrize(("test", "changed"), [("signed-rank", 1), ("rank-sum", 4)])
def test_other_tests_change_few_verdicts(shared, run_a, test, changed):
    other = check_quality(eacl(shared), Control(test=test))
    assert len({*other.passed} ^ {*run_a[1].passed}) == changed


def test_rejected_hits(shared):
    judgments = eacl(shared)
    kept = check_quality(judgments, Control(rejected="keep"))
    assert len(kept.raters) == 46
    assert all(each.verdict != "rejected" for each in kept.raters)
    without = check_quality(judgments, Control(rejected="hit"))
    gone = [each for each in without.raters if each.judgments == 0]
    assert [each.verdict for each in gone] == ["too few pairs"] * 2


# By hand


def test_the_paired_test_is_one_sided():
    high, low = (
        [90.0, 80, 85, 95, 70, 60, 88, 92, 75, 81],
        [20.0, 81, 40, 50, 30, 66, 10, 9, 60, 50],
    )
    rater = only(paired(high, low))
    assert rater.p == pytest.approx(stats.ttest_rel(high, low, alternative="greater").pvalue)
    assert only(paired(low, high)).p == pytest.approx(1 - rater.p)
    assert (rater.verdict, only(paired(low, high)).verdict) == ("passed", "failed")


def test_too_few_pairs():
    assert only(paired([90.0, 80, 85], [1.0, 2, 3])).verdict == "too few pairs"
    assert only(paired([90.0, 80, 85], [1.0, 2, 3]), pairs=3).verdict == "passed"


@pytest.mark.parametrize("apart", [0.0, 30.0])
def test_constant_differences_fail_without_a_p(apart):
    rater = only(paired([50.0 + k for k in range(10)], [50.0 + k - apart for k in range(10)]))
    assert rater.verdict == "constant"
    assert math.isnan(rater.p)


@pytest.mark.parametrize("apart", [0.1, 20.3, 1 / 3])
def test_fractions_that_are_the_same_apart_are_constant_too(apart):
    high = [100 / (k + 3) + apart for k in range(12)]
    assert len({a - (a - apart) for a in high}) > 1  # in floating point
    assert only(paired(high, [a - apart for a in high])).verdict == "constant"


def two_criteria(fluency):
    """A rater who says the same of originals and degraded captions, but for their fluency."""
    for criterion, drop in (("adequacy", 0.0), ("fluency", fluency)):
        rows = paired([70.0 + k % 3 for k in range(6)], [70 + k % 4 - drop for k in range(6)])
        yield from (msgspec.structs.replace(row, criterion=criterion) for row in rows)


def test_a_task_counts_once_however_many_criteria_it_has():
    """Six tasks with two criteria are six pairs, tested by one criterion that is named."""
    rows = list(two_criteria(fluency=50.0))
    quality = check_quality(Judgments.of(rows), Control(pairs=6))
    (rater,) = quality.raters
    assert (rater.pairs, rater.judgments, rater.verdict) == (6, 12, "failed")
    assert quality.summary == "0 of 1 rater passed (1 failed), tested on pairs by adequacy"
    by_fluency = check_quality(Judgments.of(rows), Control(pairs=6, criterion="fluency"))
    assert by_fluency.passed == ["r1"]
    assert by_fluency.summary.endswith("tested on pairs by fluency")
    with pytest.raises(LookupError, match="adequacy, fluency"):
        check_quality(Judgments.of(rows), Control(criterion="style"))


def test_adequacy_and_fluency_are_combined():
    """The mean of a task's two scores, then z as of any other (BERTHA, section 4.2)."""
    results = evaluate_ratings(Judgments.of(list(two_criteria(50.0))), controlled=False)
    raw = {name: results.scores.table["human"][name].score for name in results.scores.table.metrics}
    assert list(raw) == [f"{each}_{kind}" for each in ("adequacy", "fluency", "combined")
                         for kind in ("raw", "z")]  # fmt: skip
    assert raw["combined_raw"] == pytest.approx((raw["adequacy_raw"] + raw["fluency_raw"]) / 2)
    rows = [70 + k % 3 for k in range(6)] + [70 + k % 4 - 25 for k in range(6)]
    z = (np.array(rows) - np.mean(rows)) / np.std(rows, ddof=1)
    assert raw["combined_z"] == pytest.approx(z[:6].mean())


def test_where_nobody_can_be_tested_all_count_and_that_is_said():
    rows = paired([90.0, 80, 85], [1.0, 2, 3])
    rows += [rating("r2", score, "human", item) for item, score in (("v0", 50.0), ("v1", 60.0))]
    results = evaluate_ratings(Judgments.of(rows))
    assert results.raters == ("r1", "r2")
    assert results.notes[0].startswith("Nobody gave the 10 pairs of a caption and its degraded")
    assert "control:none" in results.scores.table["human"]["z"].signature
    assert evaluate_ratings(Judgments.of(rows), Control(pairs=3)).raters == ("r1",)


def test_one_rater_who_fails_is_named_as_one():
    rows = paired([50.0 + k % 3 for k in range(10)], [50.0 + k % 4 for k in range(10)])
    with pytest.raises(NobodyPassedError, match=r"^The one rater has not passed the quality contr"):
        evaluate_ratings(Judgments.of(rows))


def test_twins_must_be_of_one_hit():
    stray = rating(score=5.0, system="human", kind="degraded", hit="h2")
    rows = [*paired([90.0], [10.0]), stray]
    assert only(rows).pairs == 1


def test_a_repeat_is_no_twin():
    rows = [rating(score=s, kind=k) for s, k in ((90.0, "repeat"), (10.0, "degraded"))]
    assert only(rows).pairs == 0


def test_flags():
    high, low = [90.0 + k for k in range(10)], [10.0] * 10
    slow = paired(high, low, seconds=200.0)
    assert only(slow).flags == ()
    assert only(paired(high, low, seconds=50.0)).flags == ("speed",)
    assert only([rating(score=7.0, item=f"v{k}", position=k) for k in range(9)]).flags == ("run",)
    assert only(paired(low, high)).flags == ("order",)


def test_repeats_that_drift_are_flagged():
    rows = [rating(score=float(k), item=f"v{k}", position=k) for k in range(10)]
    rows += [
        rating(score=k + 20.0 + k % 3, item=f"v{k}", kind="repeat", position=10 + k)
        for k in range(10)
    ]
    rater = only(rows)
    assert rater.flags == ("repeats",)
    assert (rater.repeats, rater.repeat_difference) == (10, 20.9)
    assert rater.repeat_r > 0.9


def test_people_below_systems_are_out_of_order():
    rows = [rating(score=80.0, system="mine"), rating(score=40.0, system="human", position=1)]
    assert check_quality(Judgments.of(rows), humans={"human"}).raters[0].flags == ("order",)
    assert check_quality(Judgments.of(rows)).raters[0].flags == ()


def test_good_judgments_are_those_of_raters_who_passed():
    rows = paired([90.0 + k for k in range(10)], [10.0] * 10)
    rows += paired([10.0] * 10, [90.0 + k for k in range(10)], "r2")
    judgments = Judgments.of(rows)
    quality = check_quality(judgments)
    assert quality.good(judgments).rater.names == ("r1",)
    assert quality.to_dict()["passed"] == ["r1"]


@pytest.mark.parametrize("wrong", [{"level": 0.0}, {"level": 2.0}, {"pairs": 1}])
def test_controls_that_make_no_sense(wrong):
    with pytest.raises(DataError):
        Control(**wrong)


def test_without_judgments_there_is_nothing_to_evaluate():
    with pytest.raises(DataError, match="no judgments to evaluate; they count when"):
        evaluate_ratings(Judgments.of([]))
