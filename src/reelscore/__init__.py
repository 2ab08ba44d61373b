"""reelscore tells you how good your video captions are, and how far to trust the number.

>>> import reelscore
>>> results = reelscore.score(
...     {"clip1": "a man is riding a horse", "clip2": "two dogs play"},
...     {"clip1": ["a man rides a horse"], "clip2": ["two dogs are playing", "dogs play"]},
...     metrics=["meteor", "rouge_l"],
... )
>>> round(results["meteor"].score, 3)
0.467
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from reelscore._version import __version__
from reelscore.errors import (
    DataError,
    MissingExtraError,
    ReelscoreError,
    ResourceError,
    UnknownNameError,
)

if TYPE_CHECKING:
    from reelscore.data.reading import read_candidates, read_references
    from reelscore.data.table import MetricResult, ScoreTable
    from reelscore.metrics.registry import metric_names, parse
    from reelscore.scoring.captions import score, score_systems
    from reelscore.scoring.scorer import Scorer
    from reelscore.scoring.scores import Scores
    from reelscore.significance.comparison import compare
    from reelscore.text.tokens import tokenize

__all__ = [
    "DataError",
    "MetricResult",
    "MissingExtraError",
    "ReelscoreError",
    "ResourceError",
    "ScoreTable",
    "Scorer",
    "Scores",
    "UnknownNameError",
    "__version__",
    "compare",
    "metric_names",
    "parse",
    "read_candidates",
    "read_references",
    "score",
    "score_systems",
    "tokenize",
]

# Imported when first used: a program that only asks for the version need not load numpy.
_HOMES = {
    "MetricResult": "reelscore.data.table",
    "ScoreTable": "reelscore.data.table",
    "Scorer": "reelscore.scoring.scorer",
    "Scores": "reelscore.scoring.scores",
    "compare": "reelscore.significance.comparison",
    "metric_names": "reelscore.metrics.registry",
    "parse": "reelscore.metrics.registry",
    "read_candidates": "reelscore.data.reading",
    "read_references": "reelscore.data.reading",
    "score": "reelscore.scoring.captions",
    "score_systems": "reelscore.scoring.captions",
    "tokenize": "reelscore.text.tokens",
}


def __getattr__(name: str) -> Any:
    if name == "stories":
        return import_module("reelscore.stories")
    if name not in _HOMES:
        raise AttributeError(f"module 'reelscore' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
