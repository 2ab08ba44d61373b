"""Score tables as data frames: a row for each system, item and metric."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from reelscore.data.table import ScoreTable
from reelscore.errors import MissingExtraError


def to_pandas(table: ScoreTable) -> Any:
    """Give all scores as a pandas table with the columns system, item, metric, score.

    A system's own score stands in a row whose item is missing.

    Raises:
        MissingExtraError: pandas is not installed.

    >>> from reelscore import score_systems
    >>> table = score_systems({"mine": {"v1": "a man"}}, {"v1": ["a man"]}, "rouge_l")
    >>> to_pandas(table).dropna().to_dict("records")
    [{'system': 'mine', 'item': 'v1', 'metric': 'rouge_l', 'score': 1.0}]
    """
    return _package("pandas").DataFrame(_columns(table))


def to_polars(table: ScoreTable) -> Any:
    """Give all scores as a polars table; columns and rows as in `to_pandas`.

    Raises:
        MissingExtraError: polars is not installed.

    >>> from reelscore import score_systems
    >>> table = score_systems({"mine": {"v1": "a man"}}, {"v1": ["a man"]}, "rouge_l")
    >>> to_polars(table).drop_nulls().rows()
    [('mine', 'v1', 'rouge_l', 1.0)]
    """
    polars = _package("polars")
    names = dict.fromkeys(("system", "item", "metric"), polars.String)
    return polars.DataFrame(_columns(table), schema_overrides=names)


def _package(name: str) -> Any:
    """Load what is not needed otherwise, and may not be there."""
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtraError(
            f"A {name} table needs {name}. Install it: pip install {name}."
        ) from error


def _columns(table: ScoreTable) -> dict[str, Any]:
    results = [
        (system, name, result)
        for system, row in table.results.items()
        for name, result in row.items()
    ]
    counts = [1 + len(result.items) for _, _, result in results]

    def repeated(values: Sequence[str]) -> list[str]:
        return [value for value, count in zip(values, counts, strict=True) for _ in range(count)]

    scores = [np.concatenate([[result.score], result.items.array]) for _, _, result in results]
    return {
        "system": repeated([system for system, _, _ in results]),
        "item": [item for _, _, result in results for item in (None, *result.items)],
        "metric": repeated([name for _, name, _ in results]),
        "score": np.concatenate(scores) if scores else np.zeros(0),
    }
