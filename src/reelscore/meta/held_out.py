"""Scores that BERTHA gave captions of TRECVid while their year was held out of its training.

They are next to the shipped weights, so that tables can be made without training again: a score for
each judged caption, by model and folder, in the order in which
`reelscore.data.datasets.trecvid_ha.load` gives judgments with people's captions among the systems.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reelscore.metrics.base import FloatArray
from reelscore.stats.correlations import pearson

_PACKAGE = "reelscore_bertha"


def held_out_scores() -> dict[str, FloatArray] | None:
    """Load the scores by ``model|folder``, one for each judged caption; None if not installed."""
    spec = find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).parent / "held_out.npz"
    if not path.is_file():
        return None
    with np.load(path, allow_pickle=False) as stored:
        return {name: stored[name].astype(np.float64) for name in stored.files}


def write_held_out(path: str | Path, scores: Mapping[str, NDArray[Any]]) -> None:
    """Write scores, in half precision.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_held_out(Path(folder, "held_out.npz"), {"bertha|MA-2020": np.array([0.5])})
    ...     np.load(Path(folder, "held_out.npz"))["bertha|MA-2020"].tolist()
    [0.5]
    """
    halves: dict[str, Any] = {name: each.astype(np.float16) for name, each in scores.items()}
    np.savez_compressed(path, **halves)


def correlations(
    folders: Mapping[str, Sequence[Any]], scores: Mapping[str, FloatArray], model: str, kind: str
) -> dict[str, list[float]]:
    """Correlate scores with people's, by year: of captions and of systems, automatic ones only.

    Args:
        folders: Judged captions by folder, with ``system``, ``person`` and ``score``.
        scores: By model and folder.
        model: Whose scores.
        kind: ``SA`` or ``MA``.
    """
    correlations: dict[str, list[float]] = {"caption level": [], "system level": []}
    for folder, rows in folders.items():
        if folder[:2] != kind:
            continue
        kept = np.array([not row.person for row in rows])
        human = np.array([row.score for row in rows])[kept]
        own = np.asarray(scores[f"{model}|{folder}"])[kept]
        _, numbers = np.unique(np.array([row.system for row in rows])[kept], return_inverse=True)
        means = [np.bincount(numbers, each) / np.bincount(numbers) for each in (human, own)]
        correlations["caption level"].append(round(float(pearson(human, own)), 4))
        correlations["system level"].append(round(float(pearson(*means)), 4))
    return correlations
