"""Agreement: published examples, other implementations, and the paper's replication."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reelscore.campaigns.evaluate.agreement import agreement, icc, krippendorff_alpha, replicate
from reelscore.campaigns.evaluate.scores import score_judgments
from reelscore.campaigns.judgments import Judgments
from reelscore.data.tables.table import ScoreTable
from reelscore.errors import DataError
from reelscore_studies.judged import trecvid_ha
from reelscore_studies.published import published
from support.campaigns import eacl, rating


def slow_alpha(matrix, distance):
    """Alpha by its definition: all pairs within a unit against all pairs whatsoever."""
    units = [[v for v in column if not math.isnan(v)] for column in np.transpose(matrix)]
    units = [unit for unit in units if len(unit) > 1]
    values = [v for unit in units for v in unit]
    observed = sum(
        sum(distance(a, b, values) for a in unit for b in unit) / (len(unit) - 1) for unit in units
    )
    expected = sum(distance(a, b, values) for a in values for b in values) / (len(values) - 1)
    return 1 - observed / expected


def ordinal(a, b, values):
    low, high = min(a, b), max(a, b)
    between = sum(low <= v <= high for v in values)
    return (between - (values.count(low) + values.count(high)) / 2) ** 2


DISTANCES = {
    "nominal": lambda a, b, _: float(a != b),
    "ordinal": ordinal,
    "interval": lambda a, b, _: (a - b) ** 2,
}
cells = st.sampled_from([1.0, 2.0, 3.0, 7.0, math.nan])


@given(st.lists(st.lists(cells, min_size=5, max_size=5), min_size=2, max_size=4))
def test_alpha_is_what_its_definition_says(matrix):
    units = [[v for v in column if not math.isnan(v)] for column in np.transpose(matrix)]
    together = [v for unit in units if len(unit) > 1 for v in unit]
    for scale, distance in DISTANCES.items():
        agreed = krippendorff_alpha(matrix, scale)
        if len(set(together)) < 2:
            assert math.isnan(agreed)
        else:
            assert agreed == pytest.approx(slow_alpha(matrix, distance), abs=1e-9)


def test_icc_with_gaps_counts_only_what_was_judged_twice():
    full = [[9, 6, 8, 7, 10, 6], [2, 1, 4, 1, 5, 2], [5, 3, 6, 2, 6, 4], [8, 2, 8, 6, 9, 7]]
    gap = [[*row, 50 if k == 0 else math.nan] for k, row in enumerate(full)]
    assert icc(gap) == icc(full)
    assert math.isnan(icc([[1.0], [2.0]]).single)


def test_repeats_are_averaged_and_controls_left_out():
    rows = [rating(score=40.0), rating(score=60.0, kind="repeat"), rating("r2", 10.0)]
    rows += [rating(score=7.0, item="v2"), rating("r2", 9.0, item="v2")]
    rows += [rating("r2", 99.0, kind="degraded"), rating("r2", 3.0, item="v3")]
    agreed = agreement(Judgments.of(rows))
    matrix = [[50.0, 7.0, math.nan], [10.0, 9.0, 3.0]]
    assert agreed.alpha == pytest.approx(krippendorff_alpha(matrix))
    assert agreed.icc == pytest.approx(icc(matrix))


def test_raters_of_a_real_crowd_agree_somewhat(shared):
    agreed = agreement(eacl(shared))
    assert 0.1 < agreed.alpha < 0.6
    # With as many judgments each, both estimate the share of variance that captions explain.
    assert agreed.icc.single == pytest.approx(agreed.alpha, abs=0.02)
    assert agreed.icc.average > agreed.icc.single


def test_replication_of_the_paper(shared):
    """Table 5: the second collection is in the data, of the first the paper prints Table 4."""
    second = trecvid_ha.load(shared / "trecvid-vtt-ha", "SA-2016", people=True).human
    first = {}
    for system, row in published("direct_assessment")["tables"]["4"].items():
        rows = [rating(score=row["raw"], system=system), rating(score=0.0, item="v2")]
        first[system] = score_judgments(Judgments.of(rows)).table[system]
    (replication,) = replicate(ScoreTable(first), second, ["raw"])
    assert (replication.systems, round(replication.pearson, 3)) == (6, 0.995)


def test_campaigns_that_share_nothing():
    tables = [
        score_judgments(
            Judgments.of([rating(score=k, item=f"v{k}", system=system) for k in range(3)])
        ).table
        for system in ("a", "b")
    ]
    with pytest.raises(DataError, match="share 0 systems"):
        replicate(*tables)
