"""The regression of Lebron et al. (2022): least squares with weights of either sign.

``reelscore ensemble`` fits weights that are never negative. The fusions that come with reelscore,
and those of the years left out, are the paper's.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from reelscore.errors import DataError
from reelscore.learned.metrics.fusion import Coefficients
from reelscore.metrics.registry import table_columns
from reelscore.metrics.training_data import TrainingItems


def fit_fusion(
    scores: Mapping[str, ArrayLike],
    human: ArrayLike,
    metrics: list[str],
    *,
    provenance: Mapping[str, object] | None = None,
    items: TrainingItems | None = None,
) -> Coefficients:
    """Fit a fusion by least squares.

    Args:
        scores: Scores of captions, by name.
        human: People's scores of the same captions.
        metrics: Names or signatures of metrics that give these scores.
        provenance: What is to be stored with the coefficients.
        items: The items of these captions, so that scores of the same items can be told.

    Raises:
        DataError: If no metric gives one of the scores, or there are too few captions.

    >>> fitted = fit_fusion({"rouge_l": [0.0, 0.5, 1.0]}, [-1.0, 0.0, 1.0], ["rouge_l"])
    >>> round(fitted.weights["rouge_l"], 6), round(fitted.intercept, 6)
    (2.0, -1.0)
    """
    known = {name for columns in table_columns(metrics) for name in columns.names}
    for name in scores:
        if name not in known:
            raise DataError(f"No metric of {', '.join(metrics)} gives {name!r}.")
    target = np.asarray(human, dtype=float)
    columns = np.column_stack([*(np.asarray(each, float) for each in scores.values())])
    if len(target) <= columns.shape[1] + 1:
        raise DataError(f"{len(target)} captions for {columns.shape[1]} metrics; give many more.")
    design = np.column_stack([columns, np.ones(len(target))])
    solution = np.linalg.lstsq(design, target, rcond=None)[0]
    return Coefficients(
        metrics,
        dict(zip(scores, solution[:-1].tolist(), strict=True)),
        float(solution[-1]),
        {"captions": len(target), **(provenance or {})},
        {} if items is None else items.encoded(),
    )
