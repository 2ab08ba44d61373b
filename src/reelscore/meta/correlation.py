"""How well metrics agree with people: coefficients at a level, with intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from reelscore._progress import Progress
from reelscore.errors import DataError, check_choice
from reelscore.meta.paired_scores import Cells
from reelscore.stats.correlation_bootstrap import bootstrap_correlations
from reelscore.stats.correlation_tests import fisher_interval
from reelscore.stats.correlations import (
    LEVELS,
    Coefficient,
    Level,
    Units,
    difference_pearson,
    in_groups,
    known,
    pearson,
    spearman,
    why_undefined,
)
from reelscore.stats.pairs import (
    accuracy,
    calibrate_ties,
    decided_accuracy,
    half_accuracy,
    kendall_23,
    kendall_b,
    kendall_c,
    kendall_like,
    soft_pairwise_accuracy,
)
from reelscore.stats.resampling import FloatArray, percentile_interval

# Computed in each group, then averaged; these can be tested and resampled.
BY_GROUP: dict[str, Coefficient] = {
    "pearson": pearson,
    "spearman": spearman,
    "kendall_b": kendall_b,
    "kendall_c": kendall_c,
    "kendall_23": kendall_23,
    "accuracy": accuracy,
    "decided_accuracy": decided_accuracy,
    "half_accuracy": half_accuracy,
}
# Computed over all groups together.
OVERALL: dict[str, Callable[[FloatArray, FloatArray], float]] = {
    "calibrated_accuracy": lambda human, metric: calibrate_ties(human, metric).accuracy,
    "kendall_like": kendall_like,
    "pdp": difference_pearson,
}
SOFT = "soft_accuracy"  # needs the items behind the systems' means
COEFFICIENTS = (*BY_GROUP, *OVERALL, SOFT)
DEFAULT_COEFFICIENTS = ("pearson", "spearman", "kendall_b", "accuracy")

IntervalMethod = Literal["fisher", "boot-systems", "boot-items", "boot-both"]
INTERVALS: tuple[IntervalMethod, ...] = get_args(IntervalMethod)
_DRAWS: dict[str, Units] = {"boot-systems": "systems", "boot-items": "items", "boot-both": "both"}


@dataclass(frozen=True)
class Correlation:
    """How well one metric agrees with people.

    Attributes:
        metric: The metric.
        coefficient: The coefficient's name.
        level: What was correlated.
        value: The coefficient; NaN where it is not defined.
        n: How many pairs of scores it rests on: systems, or captions.
        groups: How many groups were averaged: items or systems, otherwise 1.
        undefined: How many groups were left out since the coefficient is not defined there.
        reason: Why the value is NaN.
        interval: A 95 % interval, where one was asked for.
    """

    metric: str
    coefficient: str
    level: Level
    value: float
    n: int
    groups: int
    undefined: int = 0
    reason: str = ""
    interval: tuple[float, float] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the correlation as plain data; NaN becomes ``None``."""
        plain = dict(vars(self))
        plain["value"] = None if math.isnan(self.value) else self.value
        plain["interval"] = None if self.interval is None else list(self.interval)
        return plain


def correlate_metrics(
    cells: Cells,
    level: Level = "system",
    coefficients: Sequence[str] = DEFAULT_COEFFICIENTS,
) -> list[Correlation]:
    """Correlate every metric with the human scores.

    Args:
        cells: The scores, from `reelscore.meta.paired_scores.bring_together`.
        level: ``system``, ``item``, ``pooled`` or ``per-system``.
        coefficients: Names out of `COEFFICIENTS`.

    Returns:
        A correlation for each metric and coefficient, metric by metric.

    >>> import numpy as np
    >>> human = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    >>> metric = np.array([[2.0, 1.0, 4.0], [3.0, 3.0, 7.0]])
    >>> cells = Cells(["a", "b"], ["v1", "v2", "v3"], human, {"meteor": metric})
    >>> correlations = correlate_metrics(cells, "per-system", ["pearson", "pdp"])
    >>> [(r.coefficient, round(r.value, 3), r.n, r.groups) for r in correlations]
    [('pearson', 0.76, 6, 2), ('pdp', 0.766, 6, 2)]
    """
    check_choice("level", level, LEVELS)
    for name in coefficients:
        check_choice("coefficient", name, COEFFICIENTS)
    if SOFT in coefficients and level != "system":
        raise DataError(f"{SOFT} compares systems; leave it out, or use the level 'system'.")
    return [
        _correlation(cells, metric, name, level)
        for metric in cells.metrics
        for name in coefficients
    ]


def with_intervals(
    correlations: Sequence[Correlation],
    cells: Cells,
    method: IntervalMethod = "boot-both",
    *,
    resamples: int = 1000,
    seed: int = 12345,
    progress: Progress | None = None,
) -> list[Correlation]:
    """Add 95 % intervals to all correlations that allow one.

    Args:
        correlations: From `correlate_metrics`.
        cells: The same scores.
        method: ``fisher``: by Fisher's transformation, for Pearson, Spearman and Kendall's tau-b
            of systems or pooled captions; too narrow for captions, which are not independent of
            each other. ``boot-systems``, ``boot-items``, ``boot-both``: by bootstrap over them.
        resamples: Resamples of the bootstrap.
        seed: Random seed of the bootstrap.
        progress: Called with how many resamples of a metric are done, of how many.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> human = rng.normal(size=(4, 30))
    >>> metric = human + rng.normal(size=(4, 30))
    >>> cells = Cells("abcd", [str(k) for k in range(30)], human, {"x": metric})
    >>> correlations = with_intervals(correlate_metrics(cells, "pooled", ["pearson"]), cells)
    >>> low, high = correlations[0].interval
    >>> low < correlations[0].value < high
    True
    """
    check_choice("kind of interval", method, INTERVALS)

    def interval(correlation: Correlation) -> tuple[float, float] | None:
        if math.isnan(correlation.value) or correlation.coefficient not in BY_GROUP:
            return None
        if method == "fisher":
            if correlation.groups > 1 or correlation.coefficient not in (
                "pearson",
                "spearman",
                "kendall_b",
            ):
                return None
            return fisher_interval(correlation.value, correlation.n, correlation.coefficient)
        human, metric = cells.pair(correlation.metric)
        drawn = bootstrap_correlations(
            human,
            metric[None],
            level=correlation.level,
            coefficient=BY_GROUP[correlation.coefficient],
            draw=_DRAWS[method],
            resamples=resamples,
            seed=seed,
            progress=progress,
        )[0]
        low, high = percentile_interval(drawn[known(drawn)])
        return float(low), float(high)

    return [replace(correlation, interval=interval(correlation)) for correlation in correlations]


def _correlation(cells: Cells, metric: str, coefficient: str, level: Level) -> Correlation:
    human, scores = cells.pair(metric)
    h, x = in_groups(human, level), in_groups(scores, level)
    n, groups = int(known(h).sum()), int(known(h).any(axis=-1).sum())
    undefined = 0
    if coefficient in BY_GROUP:
        values = BY_GROUP[coefficient](h, x)
        defined = known(values)
        undefined = groups - int(defined.sum())
        value = float(values[defined].mean()) if defined.any() else math.nan
    elif coefficient == SOFT:
        value = soft_pairwise_accuracy(human, scores)
    else:
        value = OVERALL[coefficient](h, x)
    reason = _reason(h, x, coefficient) if math.isnan(value) else ""
    return Correlation(metric, coefficient, level, value, n, groups, undefined, reason)


def _reason(human: FloatArray, metric: FloatArray, coefficient: str) -> str:
    if reason := why_undefined(human, metric):
        return reason
    if coefficient == "kendall_like":
        return "no human scores within a group differ by 25 or more"
    return "no group has two different scores on both sides"
