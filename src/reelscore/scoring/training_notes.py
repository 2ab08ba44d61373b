"""Warnings about stored scores of items that a learned metric was trained on."""

from __future__ import annotations

import numpy as np

from reelscore.data.tables.table import ScoreTable
from reelscore.errors import ReelscoreError
from reelscore.metrics.base import Metric
from reelscore.metrics.registry import declaring_metric
from reelscore.metrics.training_data import TrainingItems, training_warning


def training_notes(table: ScoreTable) -> list[str]:
    """Return which scores of a stored table were trained on its items, or may have been.

    Scores that were made with a count of such items have it in their signature, and a note of
    the table says so. Of others, such as those of a CSV file, the references tell.

    >>> from reelscore import score_systems
    >>> table = score_systems({"mine": {"v1": "a man"}}, {"v1": ["the man"]}, "rouge_l")
    >>> training_notes(table)
    []
    """
    notes: list[str] = []
    for name in table.metrics:
        result = next(row[name] for row in table.results.values() if name in row)
        if "|seen:" in result.signature:
            continue
        metric = declaring_metric(name, result.signature)
        items = None if metric is None else _training_items(metric)
        if metric is None or items is None:
            continue
        references = [table.sources.references.get(item, ()) for item in result.items]
        if not any(references):
            notes.append(
                f"{name} was learned from human judgments; the scores alone do not show whether "
                "these items were among them. Give the references, or a table in JSON."
            )
            continue
        offsets = np.cumsum([0, *map(len, references)])
        counts = items.counts([text for texts in references for text in texts], offsets)
        notes += training_warning(name, counts, len(references), metric.unseen_remedy)
    return notes


def _training_items(metric: Metric) -> TrainingItems | None:
    try:
        return metric.training_items()
    except ReelscoreError:
        return None  # its weights are not here, and so nothing is known of them
