"""How far people agree: with each other, with themselves, and one campaign with another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from reelscore.data.table import ScoreTable
from reelscore.errors import DataError
from reelscore.human.judgments import FloatArray, Judgments
from reelscore.stats.correlations import pearson, spearman
from reelscore.stats.pairs import kendall_b

Scale = Literal["nominal", "ordinal", "interval"]


def ratings(judgments: Judgments, values: FloatArray | None = None) -> FloatArray:
    """Lay judgments of captions out as raters × captions; NaN where there is none.

    A rater's repeated judgments of a caption are averaged.

    Args:
        judgments: Of one criterion.
        values: What to lay out instead of the raw scores, such as z scores of the same rows.
    """
    rows = np.flatnonzero(judgments.genuine)
    scores = (judgments.score if values is None else values)[rows]
    captions, caption = np.unique(
        judgments.system.codes[rows] * len(judgments.item.names) + judgments.item.codes[rows],
        return_inverse=True,
    )
    shape = (len(judgments.rater.names), len(captions))
    cell = judgments.rater.codes[rows] * shape[1] + caption
    number = np.bincount(cell, minlength=shape[0] * shape[1])
    total = np.bincount(cell, scores, minlength=shape[0] * shape[1])
    means: FloatArray = np.where(number > 0, total / np.maximum(number, 1), np.nan)
    return means.reshape(shape)


def krippendorff_alpha(matrix: ArrayLike, scale: Scale = "interval") -> float:
    """Krippendorff's alpha: 1 is perfect agreement, 0 what chance would give.

    Args:
        matrix: Raters × things rated; NaN where a rater gave nothing.
        scale: How far apart two values are: equal or not, by rank, or by their difference.

    Returns:
        Alpha; NaN where nothing was rated twice or all values are the same.

    >>> table = [[1, 2, 3, 3, 2, 1, 4, 1, 2, np.nan, np.nan, np.nan],
    ...          [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, np.nan, 3],
    ...          [np.nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, np.nan],
    ...          [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, np.nan]]
    >>> [round(krippendorff_alpha(table, scale), 3) for scale in ("nominal", "ordinal", "interval")]
    [0.743, 0.815, 0.849]
    """
    rated = np.asarray(matrix, dtype=float)
    known = ~np.isnan(rated)
    rated = np.where(known & (known.sum(axis=0) > 1), rated, np.nan)
    values, codes = np.unique(rated[~np.isnan(rated)], return_inverse=True)
    if len(values) < 2:
        return math.nan
    unit = np.nonzero(~np.isnan(rated))[1]
    # How often each value was given to each thing: all that alpha needs.
    counts = np.zeros((rated.shape[1], len(values)))
    np.add.at(counts, (unit, codes), 1)
    counts = counts[counts.sum(axis=1) > 0]
    raters = counts.sum(axis=1)
    total = counts.sum(axis=0)
    position = _positions(values, total, scale)
    if scale == "nominal":
        observed = (raters * (raters - (counts**2).sum(axis=1) / raters) / (raters - 1)).sum()
        expected = total.sum() - (total**2).sum() / total.sum()
        expected *= total.sum() / (total.sum() - 1)
        return float(1 - observed / expected)
    # Squared differences of all pairs: twice n times the sum of squares about the mean.
    squares = (counts * position**2).sum(axis=1) - (counts @ position) ** 2 / raters
    observed = (2 * raters * squares / (raters - 1)).sum()
    about = (total * position**2).sum() - (total @ position) ** 2 / total.sum()
    expected = 2 * total.sum() * about / (total.sum() - 1)
    return float(1 - observed / expected)


def _positions(values: FloatArray, total: FloatArray, scale: Scale) -> FloatArray:
    """Where values lie, so that their distance is the difference: ranks for an ordinal scale."""
    if scale == "ordinal":
        ranks: FloatArray = np.cumsum(total) - total / 2
        return ranks
    return values


class Icc(NamedTuple):
    """Intraclass correlations (Shrout and Fleiss, 1979; McGraw and Wong, 1996).

    Attributes:
        single: ICC(1,1): how far one judgment of a caption agrees with another.
        average: ICC(1,k): how far the mean of k judgments would agree with that of k others.
        k: Judgments for a caption, on average (harmonic-like, as unequal groups ask for).
        captions: How many captions have two judgments or more.
    """

    single: float
    average: float
    k: float
    captions: int


def icc(matrix: ArrayLike) -> Icc:
    """Intraclass correlation for captions judged by different raters (one-way random effects).

    Args:
        matrix: Raters × captions; NaN where a rater gave nothing.

    >>> found = icc([[9, 6, 8, 7, 10, 6], [2, 1, 4, 1, 5, 2],
    ...              [5, 3, 6, 2, 6, 4], [8, 2, 8, 6, 9, 7]])  # of Shrout and Fleiss
    >>> round(found.single, 2), round(found.average, 2)
    (0.17, 0.44)
    """
    rated = np.asarray(matrix, dtype=float)
    rated = rated[:, (~np.isnan(rated)).sum(axis=0) > 1]
    captions = rated.shape[1]
    if captions < 2:
        return Icc(math.nan, math.nan, math.nan, captions)
    size = (~np.isnan(rated)).sum(axis=0)
    means = np.nanmean(rated, axis=0)
    grand = np.nansum(rated) / size.sum()
    between = (size * (means - grand) ** 2).sum() / (captions - 1)
    within = np.nansum((rated - means) ** 2) / (size.sum() - captions)
    k = (size.sum() - (size**2).sum() / size.sum()) / (captions - 1)
    if between == within == 0:
        return Icc(math.nan, math.nan, float(k), captions)
    single = (between - within) / (between + (k - 1) * within)
    average = (between - within) / between if between else math.nan
    return Icc(float(single), float(average), float(k), captions)


class Replication(NamedTuple):
    """How one campaign agrees with another, by one kind of score.

    Attributes:
        metric: ``raw`` or ``z``.
        systems: How many systems both have.
        pearson: Correlation of the systems' scores: Table 5 of the paper.
        spearman: Of their ranks.
        kendall: Of their order.
        captions: How many captions both have.
        caption_pearson: Correlation of the captions' scores.
    """

    metric: str
    systems: int
    pearson: float
    spearman: float
    kendall: float
    captions: int
    caption_pearson: float


def replicate(
    first: ScoreTable, second: ScoreTable, metrics: Sequence[str] = ("raw", "z")
) -> list[Replication]:
    """Compare two campaigns on the systems and captions they share.

    Args:
        first: Scores of one campaign.
        second: Scores of the other.
        metrics: Which scores.

    Raises:
        DataError: If they share no more than one system.

    >>> from reelscore.data.table import ItemScores, MetricResult
    >>> def scores(**systems):
    ...     return ScoreTable({
    ...         name: {"z": MetricResult("z", score, ItemScores.of({"v": score}), "")}
    ...         for name, score in systems.items()})
    >>> found = replicate(scores(a=1, b=2, c=3), scores(a=1, b=2, c=2.5), ["z"])[0]
    >>> round(found.pearson, 3), found.spearman
    (0.982, 1.0)
    """
    shared = [name for name in first.systems if name in second.results]
    if len(shared) < 2:
        raise DataError(
            f"The campaigns share {len(shared)} systems; two or more are needed. The first has "
            f"{', '.join(first.systems)}, the second {', '.join(second.systems)}."
        )
    return [_replication(first, second, metric, shared) for metric in metrics]


def _replication(
    first: ScoreTable, second: ScoreTable, metric: str, shared: Sequence[str]
) -> Replication:
    sides: list[Any] = [[t[name][metric].score for name in shared] for t in (first, second)]
    captions: list[tuple[float, float]] = []
    for name in shared:
        one, other = first[name][metric].items, second[name][metric].items
        captions += [(one[item], other[item]) for item in one if item in other.index.position]
    paired = np.array(captions).reshape(-1, 2)
    return Replication(
        metric,
        len(shared),
        float(pearson(*sides)),
        float(spearman(*sides)),
        float(kendall_b(*sides)),
        len(paired),
        float(pearson(*paired.T)) if len(paired) > 1 else math.nan,
    )
