"""Ensembles: weights of any scores fitted to people's, and how well they do on unseen items.

Weights are fitted by least squares, and none may count against a score's own direction: with few
captions, scores that resemble each other would otherwise get large weights of opposite signs. The
items are divided into parts. The scores of each part are combined by weights that were fitted
on the other parts, so that no video is in both, whatever the system. What is stored in the end was
fitted on all items, and is used by the metric ``fusion``, also called ``ensemble``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reelscore.data.tables.table import ScoreTable
from reelscore.data.tables.table_forms import TableLike, table_of
from reelscore.errors import DataError
from reelscore.learned.metrics.fusion import Coefficients, check_independent
from reelscore.meta.paired_scores import Cells, bring_together
from reelscore.metrics.base import FloatArray, Metric
from reelscore.metrics.registry import rebuilt, table_columns
from reelscore.metrics.training_data import TrainingItems
from reelscore.stats.correlations import pearson


@dataclass(frozen=True)
class Ensemble:
    """A fitted ensemble, and its agreement with people on items it was not fitted on.

    Attributes:
        coefficients: What `reelscore.learned.metrics.fusion.write_coefficients` stores.
        captions: Pearson's r over all captions: of each score, of ``equal`` weights of the
            standardised scores, and of the ``ensemble``, whose scores come from the other parts.
        systems: The same over the systems' means; NaN for fewer than three systems.
        parts: r of the ensemble over the captions of each part.
    """

    coefficients: Coefficients
    captions: Mapping[str, float]
    systems: Mapping[str, float]
    parts: Sequence[float]


def fit_ensemble(
    scores: TableLike,
    human: TableLike,
    *,
    metrics: Sequence[str] | None = None,
    column: str | None = None,
    folds: int = 5,
    seed: int = 12345,
) -> Ensemble:
    """Fit weights of scores to people's, and measure them by cross-validation over items.

    Args:
        scores: Scores of captions, with signatures: as `reelscore.score_systems` gives them, or a
            table in JSON.
        human: People's scores of the same captions; several of a caption are averaged.
        metrics: Which scores to combine; all if not given.
        column: Which of people's scores, where the table has several.
        folds: Into how many parts the items are divided.
        seed: Random seed of the division.

    Raises:
        DataError: If a score's making is not known, or there are too few items, or no score agrees
            with people.

    >>> from reelscore import examples, score_systems
    >>> systems, references = examples.clips()
    >>> table = score_systems(systems, references, "meteor,rouge_l")
    >>> fitted = fit_ensemble(table, examples.path("clips/judgments.csv"), folds=3)
    >>> sorted(fitted.coefficients.weights), len(fitted.parts)
    (['meteor', 'rouge_l'], 3)
    """
    scores = table_of(scores)
    if not any(len(result.items) for row in scores.results.values() for result in row.values()):
        raise DataError(
            "The table has scores of systems only, not of captions, to which weights are fitted. "
            "Take a table that has both: 'reelscore score --table FILE.json'."
        )
    cells = bring_together(scores, human, column=column)
    names = _chosen(cells, metrics)
    makers = _makers(scores, names)
    rows = np.stack([cells.metrics[name] for name in names] + [cells.human])
    system, item = np.nonzero(np.isfinite(rows).all(axis=0))
    columns, people = rows[:-1, system, item], rows[-1, system, item]
    items = np.unique(item)
    if not 2 <= folds <= len(items) or len(people) <= len(names) + 1:
        raise DataError(
            f"{len(items)} judged items with {len(people)} captions, for {len(names)} scores and "
            f"{folds} parts; expected at least two parts, an item for each, and many captions."
        )
    part = np.zeros(len(cells.items), dtype=np.int64)
    part[items] = np.random.default_rng(seed).permutation(len(items)) % folds
    part = part[item]
    apart = np.empty(len(people))
    for number in range(folds):
        test = part == number
        weights, intercept = _fitted(columns[:, ~test], people[~test])
        apart[test] = intercept + weights @ columns[:, test]
    spread = columns.std(axis=1, keepdims=True)
    compared = {
        **dict(zip(names, columns, strict=True)),
        "equal": (columns / np.where(spread > 0, spread, 1)).sum(axis=0),
        "ensemble": apart,
    }
    captions = {name: _agreement(people, own) for name, own in compared.items()}
    parts = [_agreement(people[part == k], apart[part == k]) for k in range(folds)]
    weights, intercept = _fitted(columns, people)
    if not weights.any():
        raise DataError(
            f"No score of {', '.join(names)} rises with people's scores, so that all weights would "
            "be 0; combine others, or check that the tables belong together: 'reelscore audit'."
        )
    own_signs = [-1.0 if name in cells.turned else 1.0 for name in names]
    provenance = {
        "captions": len(people),
        "items": len(items),
        "systems": len(cells.systems),
        "parts of the cross-validation": folds,
        "r over captions": {name: round(r, 4) for name, r in captions.items()},
        "r of the ensemble in each part": [round(r, 4) for r in parts],
    }
    references = scores.sources.references
    texts = [text for k in items for text in references.get(cells.items[k], ())]
    return Ensemble(
        Coefficients(
            makers,
            dict(zip(names, (weights * own_signs + 0.0).tolist(), strict=True)),  # no minus zero
            intercept,
            provenance,
            TrainingItems.of({"fitted": texts}).encoded() if texts else {},
        ),
        captions,
        {
            name: _agreement(_means(people, system), _means(own, system))
            for name, own in compared.items()
        },
        parts,
    )


def _chosen(cells: Cells, metrics: Sequence[str] | None) -> list[str]:
    if metrics is None:
        return list(cells.metrics)
    for name in metrics:
        cells.pair(name)  # complains about unknown names
    return list(dict.fromkeys(metrics))


def _makers(scores: ScoreTable, names: Sequence[str]) -> list[str]:
    """Signatures of the metrics that give the scores, each once."""
    metrics: dict[Metric, None] = {}
    for name in names:
        result = next(row[name] for row in scores.results.values() if name in row)
        made = rebuilt(result.signature)
        if made is None or made[0].name == "fusion":
            raise DataError(
                f"{name}: how it is made is not known from its signature {result.signature!r}. "
                "Take scores that reelscore made, from a table in JSON; an ensemble cannot hold "
                "another."
            )
        check_independent(made[0])
        metrics[made[0]] = None
    known = {column for own in table_columns(list(metrics)) for column in own.names}
    if unknown := [name for name in names if name not in known]:
        raise DataError(
            f"{unknown[0]}: the table calls the score otherwise than its metric does; score the "
            "metrics that are to be combined together, in one table."
        )
    return [metric.signature() for metric in metrics]


def _fitted(columns: FloatArray, people: FloatArray) -> tuple[FloatArray, float]:
    """Fit weights by least squares, none of them negative; give them and what is added."""
    middle, spread = columns.mean(axis=1), columns.std(axis=1)
    spread = np.where(spread > 0, spread, 1.0)
    standard = (columns - middle[:, None]) / spread[:, None]
    weights = _nonnegative(standard.T, people - people.mean()) / spread
    return weights, float(people.mean() - weights @ middle)


def _nonnegative(columns: FloatArray, target: FloatArray) -> FloatArray:
    """Least squares with no negative weight, by Lawson and Hanson's active sets (1974)."""
    weights = np.zeros(columns.shape[1])
    free = np.zeros(columns.shape[1], dtype=bool)
    tolerance = 1e-12 * max(1.0, float(np.abs(columns.T @ target).max()))
    while not free.all():
        gain = np.where(free, -np.inf, columns.T @ (target - columns @ weights))
        if gain.max() <= tolerance:
            break
        free[gain.argmax()] = True
        while True:
            best = np.zeros_like(weights)
            best[free] = np.linalg.lstsq(columns[:, free], target, rcond=None)[0]
            low = free & (best <= 0)
            if not low.any():
                weights = best
                break
            step = (weights[low] / (weights[low] - best[low])).min()  # to the first that gets zero
            weights = np.where(free, weights + step * (best - weights), 0.0)
            free &= weights > tolerance
            weights[~free] = 0.0
    return weights


def _agreement(people: FloatArray, scores: FloatArray) -> float:
    """Pearson's r; NaN where one of them does not vary."""
    if len(people) < 3 or np.ptp(people) == 0 or np.ptp(scores) == 0:
        return float("nan")
    return float(pearson(people, scores))


def _means(values: FloatArray, groups: Any) -> FloatArray:
    _, numbers = np.unique(groups, return_inverse=True)
    means: FloatArray = np.bincount(numbers, values) / np.bincount(numbers)
    return means
