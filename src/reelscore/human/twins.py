"""Judgments of the same thing by the same rater: a caption and its spoilt twin, or its repeat."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np

from reelscore.errors import UnknownNameError
from reelscore.human.judgments import FloatArray, IntArray, Judgments
from reelscore.human.tasks import Kind
from reelscore.stats.correlation_tests import Alternative, Tested
from reelscore.stats.rank_tests import rank_sum, signed_rank

Test = Literal["t", "signed-rank", "rank-sum"]


class Twins(NamedTuple):
    """Rows of captions and rows of their twins, in step."""

    captions: IntArray
    twins: IntArray


def find_twins(judgments: Judgments, kind: Kind) -> Twins:
    """Pair captions with their twins: same rater, HIT, system, item and criterion.

    Args:
        judgments: All judgments, controls among them.
        kind: ``degraded`` or ``repeat``.

    >>> from reelscore.human.judgments import Judgment
    >>> rows = [Judgment("r1", "h1", "t1", 0, "human", "clip1", "caption", 90.0),
    ...         Judgment("r1", "h1", "t2", 1, "human", "clip2", "caption", 80.0),
    ...         Judgment("r1", "h1", "t3", 2, "human", "clip1", "degraded", 20.0)]
    >>> find_twins(Judgments.of(rows), "degraded").captions.tolist()
    [0]
    """
    same = np.zeros(len(judgments), dtype=np.int64)
    for column in ("rater", "hit", "system", "item", "criterion"):
        values = getattr(judgments, column)
        same = same * len(values.names) + values.codes
        # Keeps the product of many columns within 64 bits.
        same = np.unique(same, return_inverse=True)[1]
    captions, twins = (
        _numbered(same, np.flatnonzero(judgments.is_kind(each))) for each in ("caption", kind)
    )
    shared = sorted(captions.keys() & twins.keys(), key=captions.__getitem__)
    return Twins(
        np.array([captions[key] for key in shared], dtype=np.int64),
        np.array([twins[key] for key in shared], dtype=np.int64),
    )


def _numbered(same: IntArray, rows: IntArray) -> dict[tuple[int, int], int]:
    """Key rows by what they judge, and the how-manieth of those they are."""
    counts: dict[int, int] = {}
    keys = {}
    for row in rows.tolist():
        what = int(same[row])
        counts[what] = counts.get(what, -1) + 1
        keys[what, counts[what]] = row
    return keys


def compare_pairs(
    first: FloatArray, second: FloatArray, test: Test, alternative: Alternative
) -> Tested:
    """Test whether scores in pairs differ; NaN where the differences do not vary.

    Args:
        first: Scores of captions.
        second: Scores of their twins, in the same order.
        test: ``t``: Student's paired t; ``signed-rank``: Wilcoxon's; ``rank-sum``: Wilcoxon's for
            two independent sets, which forgets the pairs.
        alternative: ``greater``: the first are larger.

    >>> from numpy import array
    >>> round(compare_pairs(array([9.0, 8, 9]), array([1.0, 2, 4]), "t", "greater").p, 4)
    0.0094
    """
    apart = first - second
    if len(apart) < 2 or apart.min() == apart.max():
        return Tested(math.nan, math.nan)
    if test == "t":
        from scipy.stats import ttest_1samp

        found = ttest_1samp(apart, 0.0, alternative=alternative)
        return Tested(float(found.statistic), float(found.pvalue))
    if test == "signed-rank":
        return signed_rank(first, second, alternative=alternative)
    if test == "rank-sum":
        return rank_sum(first, second, alternative=alternative)
    raise UnknownNameError.of("test of pairs", test, ("t", "signed-rank", "rank-sum"))
