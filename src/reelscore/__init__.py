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

from reelscore._lazy import lazy_names
from reelscore._version import __version__
from reelscore.errors import (
    DataError,
    MissingExtraError,
    ReelscoreError,
    ResourceError,
    UnknownNameError,
)

if TYPE_CHECKING:
    from reelscore.data.caption_files import read_candidates, read_references
    from reelscore.data.lint.linter import check
    from reelscore.data.table import MetricResult, ScoreTable
    from reelscore.engines.engine import Engine
    from reelscore.metrics.registry import metric_names, parse
    from reelscore.scoring.captions import score, score_systems
    from reelscore.scoring.rewards import Reward
    from reelscore.scoring.scorer import Scorer
    from reelscore.scoring.scores import Scores
    from reelscore.significance.pair_tests import compare
    from reelscore.text.tokens import tokenize

__all__ = [
    "DataError",
    "Engine",
    "MetricResult",
    "MissingExtraError",
    "ReelscoreError",
    "ResourceError",
    "Reward",
    "ScoreTable",
    "Scorer",
    "Scores",
    "UnknownNameError",
    "__version__",
    "check",
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
_load, __dir__ = lazy_names(
    __name__,
    {
        "data.caption_files": "read_candidates read_references",
        "data.lint.linter": "check",
        "data.table": "MetricResult ScoreTable",
        "engines.engine": "Engine",
        "metrics.registry": "metric_names parse",
        "scoring.captions": "score score_systems",
        "scoring.rewards": "Reward",
        "scoring.scorer": "Scorer",
        "scoring.scores": "Scores",
        "significance.pair_tests": "compare",
        "text.tokens": "tokenize",
    },
)


def __getattr__(name: str) -> Any:
    packages = ("metrics", "ray", "stories", "text")
    return import_module(f"reelscore.{name}") if name in packages else _load(name)
