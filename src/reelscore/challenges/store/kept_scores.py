"""Score tables as databases and JSON keep them: numbers by name, and resamples as NumPy files.

All submissions of a split are resampled with the same draws: these depend on the seed and on the
number of items alone, and the items stand in the split's order. So any two can be compared by
subtraction.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypedDict

import numpy as np
from msgspec.structs import replace

from reelscore.data.tables.scales import HIGHER, Scale
from reelscore.data.tables.table import Draws, MetricResult, ScoreTable

Results = Mapping[str, MetricResult]  # of one submission, by score


class _Value(TypedDict):
    value: float


class ScoreForm(_Value, total=False):
    """What is kept of a result beside its name and signature."""

    low: float | None
    high: float | None
    cluster: int | None  # of scores that people gave


def score_form(result: MetricResult) -> ScoreForm:
    """Return what is kept of a result.

    >>> score_form(result_of("cider", {"value": 0.5}))
    {'value': 0.5, 'low': None, 'high': None}
    """
    low, high = result.interval or (None, None)
    return {"value": result.score, "low": low, "high": high}


def result_of(
    name: str, form: ScoreForm, signature: str = "", scale: Scale = HIGHER
) -> MetricResult:
    """Make a result of what was kept."""
    low, high = form.get("low"), form.get("high")
    interval = None if low is None or high is None else (low, high)
    return MetricResult(name, form["value"], signature=signature, interval=interval, scale=scale)


def draws_file(results: Results) -> tuple[list[str], bytes]:
    """Write the resampled scores of a submission: their names, and a NumPy file of columns."""
    columns = {name: drawn for name, own in results.items() if (drawn := own.drawn) is not None}
    array = np.column_stack([*columns.values()]) if columns else np.zeros((0, 0))
    return list(columns), npy_file(array)


def npy_file(array: Any) -> bytes:
    """Write an array as a NumPy file."""
    out = io.BytesIO()
    np.save(out, array, allow_pickle=False)
    return out.getvalue()


def with_draws(results: Results, names: Sequence[str], data: bytes) -> dict[str, MetricResult]:
    """Add the resampled scores that `draws_file` wrote; nothing in the file is run."""
    array = np.load(io.BytesIO(data), allow_pickle=False)
    columns = {name: np.ascontiguousarray(array[:, k]) for k, name in enumerate(names)}
    draws = {name: Draws.of_scores(name, column) for name, column in columns.items()}
    return {name: replace(own, draws=draws.get(name)) for name, own in results.items()}


class ScoredSplit(NamedTuple):
    """What a scorer gives of one split."""

    scores: Results  # with intervals and draws
    # names of the columns and NumPy file of ``items``, ``statistics`` and ``draws``
    arrays: Mapping[str, tuple[Sequence[str], bytes]]


class PeopleScores(NamedTuple):
    """What a campaign led to."""

    table: ScoreTable  # the scores of submissions; their scales have the labels
    # the clusters of the campaign, by score and submission, in the order of its criteria
    clusters: Mapping[str, Mapping[str, int]]


def people_form(people: PeopleScores) -> list[dict[str, Any]]:
    """Return what is kept of a campaign's scores: a column for each."""
    table = people.table
    return [
        {
            "score": name,
            "label": table.scale(name).label,
            "better": table.scale(name).better,
            "signature": table[next(iter(clusters))][name].signature,
            "scores": {
                id: {**score_form(table[id][name]), "cluster": cluster}
                for id, cluster in clusters.items()
            },
        }
        for name, clusters in people.clusters.items()
    ]


def people_of(columns: Sequence[Mapping[str, Any]]) -> PeopleScores:
    """Read what `people_form` gave."""
    rows: dict[str, dict[str, MetricResult]] = {}
    for column in columns:
        scale = Scale(column["better"], label=column["label"])
        for id, form in column["scores"].items():
            own = result_of(column["score"], form, column["signature"], scale)
            rows.setdefault(id, {})[own.metric] = own
    clusters = {
        column["score"]: {id: form["cluster"] for id, form in column["scores"].items()}
        for column in columns
    }
    return PeopleScores(ScoreTable(rows), clusters)
