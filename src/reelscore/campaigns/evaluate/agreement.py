"""How far people agree: with each other, with themselves, and one campaign with another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from reelscore.campaigns.judgments import FloatArray, IntArray, Judgments
from reelscore.data.tables.table import ScoreTable
from reelscore.errors import DataError
from reelscore.stats.correlations import pearson, spearman
from reelscore.stats.pairs import kendall_b

Scale = Literal["nominal", "ordinal", "interval"]


class Agreement(NamedTuple):
    """How far raters agree on captions that several of them judged.

    Attributes:
        alpha: Krippendorff's alpha, of scores as an interval scale.
        icc: Intraclass correlations.
    """

    alpha: float
    icc: Icc


class Icc(NamedTuple):
    """Intraclass correlations of one-way random effects (Shrout and Fleiss, 1979)."""

    single: float  # ICC(1,1): how far one judgment of a caption agrees with another
    average: float  # ICC(1,k): how far the mean of k judgments would agree with that of k others
    k: float  # judgments of a caption, on average, as groups of unequal size ask for
    captions: int  # how many captions have two judgments or more


def agreement(judgments: Judgments, values: FloatArray | None = None) -> Agreement:
    """Measure how far raters agree; a rater's repeated judgments of a caption are averaged.

    Args:
        judgments: Of one criterion.
        values: What to compare instead of the raw scores, such as z scores of the same rows.

    >>> from reelscore.campaigns.judgments import Judgment
    >>> rows = [Judgment(rater, "h1", item, 0, "mine", item, "caption", score)
    ...         for rater in ("r1", "r2") for item, score in (("v1", 10.0), ("v2", 90.0))]
    >>> agreement(Judgments.of(rows)).alpha
    1.0
    """
    rows = np.flatnonzero(judgments.genuine)
    scores = (judgments.score if values is None else values)[rows]
    caption = judgments.system.codes[rows] * len(judgments.item.names) + judgments.item.codes[rows]
    raters = len(judgments.rater.names)
    cells, cell = np.unique(caption * raters + judgments.rater.codes[rows], return_inverse=True)
    means = np.bincount(cell, scores) / np.bincount(cell)
    unit, means = _several(cells // max(raters, 1), means)
    return Agreement(_alpha(unit, means, "interval"), _icc(unit, means))


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
    return _alpha(*_from_matrix(matrix), scale)


def icc(matrix: ArrayLike) -> Icc:
    """Intraclass correlation of captions that different raters judged.

    Args:
        matrix: Raters × captions; NaN where a rater gave nothing.

    >>> result = icc([[9, 6, 8, 7, 10, 6], [2, 1, 4, 1, 5, 2],
    ...              [5, 3, 6, 2, 6, 4], [8, 2, 8, 6, 9, 7]])  # of Shrout and Fleiss
    >>> round(result.single, 2), round(result.average, 2)
    (0.17, 0.44)
    """
    return _icc(*_from_matrix(matrix))


def _from_matrix(matrix: ArrayLike) -> tuple[IntArray, FloatArray]:
    rated = np.asarray(matrix, dtype=float)
    known = ~np.isnan(rated)
    return _several(np.nonzero(known)[1], rated[known])


def _several(unit: IntArray, values: FloatArray) -> tuple[IntArray, FloatArray]:
    """Keep what was rated more than once; number it from 0."""
    _, number, count = np.unique(unit, return_inverse=True, return_counts=True)
    kept = count[number] > 1
    return np.unique(number[kept], return_inverse=True)[1], values[kept]


def _alpha(unit: IntArray, values: FloatArray, scale: Scale) -> float:
    distinct, code, total = np.unique(values, return_inverse=True, return_counts=True)
    if len(distinct) < 2:
        return math.nan
    size = np.bincount(unit)
    n = len(values)
    if scale == "nominal":
        cells, same = np.unique(unit * len(distinct) + code, return_counts=True)
        alike = np.bincount(cells // len(distinct), same * (same - 1.0))
        apart = (size * (size - 1) - alike) / (size - 1)
        return float(1 - apart.sum() / ((n * n - (total**2).sum()) / (n - 1)))
    # Distance by rank is the difference of mid-ranks; then both scales are squared differences,
    # and all pairs of a group add up to twice its size times its squares about the mean.
    position = (np.cumsum(total) - total / 2)[code] if scale == "ordinal" else values
    about = position - (np.bincount(unit, position) / size)[unit]
    observed = (2 * size / (size - 1) * np.bincount(unit, about**2)).sum()
    expected = 2 * n * ((position - position.mean()) ** 2).sum() / (n - 1)
    return float(1 - observed / expected)


def _icc(unit: IntArray, values: FloatArray) -> Icc:
    size = np.bincount(unit)
    captions, n = len(size), len(values)
    if captions < 2:
        return Icc(math.nan, math.nan, math.nan, captions)
    means = np.bincount(unit, values) / size
    between = float((size * (means - values.mean()) ** 2).sum() / (captions - 1))
    within = float(((values - means[unit]) ** 2).sum() / (n - captions))
    k = float((n - (size**2).sum() / n) / (captions - 1))
    if between == within == 0:
        return Icc(math.nan, math.nan, k, captions)
    single = (between - within) / (between + (k - 1) * within)
    return Icc(single, (between - within) / between if between else math.nan, k, captions)


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

    >>> from reelscore.data.tables.table import ItemScores, MetricResult
    >>> def scores(**systems):
    ...     return ScoreTable({
    ...         name: {"z": MetricResult("z", score, ItemScores.of({"v": score}), "")}
    ...         for name, score in systems.items()})
    >>> result = replicate(scores(a=1, b=2, c=3), scores(a=1, b=2, c=2.5), ["z"])[0]
    >>> round(result.pearson, 3), result.spearman
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
    one, other = ([t[name][metric].score for name in shared] for t in (first, second))
    captions: list[tuple[float, float]] = []
    for name in shared:
        mine, theirs = first[name][metric].items, second[name][metric].items
        captions += [(mine[item], theirs[item]) for item in mine if item in theirs.index.position]
    paired = np.array(captions).reshape(-1, 2)
    return Replication(
        metric,
        len(shared),
        float(pearson(one, other)),
        float(spearman(one, other)),
        float(kendall_b(one, other)),
        len(paired),
        float(pearson(*paired.T)) if len(paired) > 1 else math.nan,
    )
