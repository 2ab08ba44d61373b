"""Metric scores of the captions that people judged, one row for each judgment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reelscore.data.datasets.trecvid_ha import Assessment
from reelscore.metrics.base import FloatArray
from reelscore.scoring.captions import score
from reelscore.stats.correlation_bootstrap import bootstrap_correlations
from reelscore.stats.correlation_tests import williams
from reelscore.stats.correlations import pearson
from reelscore.text.tokens import Tokenizer


@dataclass(frozen=True)
class Judged:
    """Judged captions: who wrote them, what people and what metrics say.

    Attributes:
        systems: The system of each caption.
        human: People's score of each caption.
        metrics: Scores of each caption, by metric.
        items: The video of each caption, where it is known; a system has one caption of each.

    >>> few = Judged(np.array(["a", "a", "b", "b"]), np.array([1.0, 2.0, 3.0, 4.0]),
    ...              {"m": np.array([1.0, 2.0, 3.0, 5.0])})
    >>> round(few.caption_level("m"), 3), few.by_system(few.human).tolist()
    (0.983, [1.5, 3.5])
    """

    systems: NDArray[Any]
    human: FloatArray
    metrics: Mapping[str, FloatArray]
    items: NDArray[Any] | None = None

    def caption_level(self, metric: str) -> float:
        """Correlation over all captions, whoever wrote them."""
        return float(pearson(self.human, self.metrics[metric]))

    def system_level(self, metric: str) -> float:
        """Correlation of the systems' means."""
        return float(pearson(self.by_system(self.human), self.by_system(self.metrics[metric])))

    def redrawn(self, resamples: int = 1000) -> FloatArray:
        """Correlations over all captions with the videos drawn anew: metrics × resamples.

        >>> few = Judged(np.repeat(["a", "b"], 3), np.arange(6.0), {"m": np.arange(6.0) ** 2},
        ...              np.array(["1", "2", "3"] * 2))
        >>> few.redrawn(10).shape
        (1, 10)
        """
        _, rows = np.unique(self.systems, return_inverse=True)
        _, columns = np.unique(np.asarray(self.items), return_inverse=True)

        def table(scores: FloatArray) -> FloatArray:
            cells = np.full((rows.max() + 1, columns.max() + 1), np.nan)
            cells[rows, columns] = scores
            return cells

        return bootstrap_correlations(
            table(self.human),
            np.stack([table(scores) for scores in self.metrics.values()]),
            draw="items",
            resamples=resamples,
        )

    def by_system(self, scores: FloatArray) -> FloatArray:
        """Mean of the scores of each system's captions, by name of the system."""
        _, numbers = np.unique(self.systems, return_inverse=True)
        means: FloatArray = np.bincount(numbers, scores) / np.bincount(numbers)
        return means


def score_judged(
    data: Assessment,
    metrics: str,
    *,
    annotators: Sequence[str] | None = None,
    tokenizer: Tokenizer = "ptb",
    shuffle: int | None = None,
) -> Judged:
    """Score the judged captions, each as a separate item.

    That is how the published correlations were made. It only matters for CIDEr, which counts a
    reference as often as captions of its video were judged.

    >>> from reelscore.data.table import ItemScores, MetricResult, ScoreTable
    >>> z = MetricResult("z", 0.25, ItemScores.of({"1": 0.5, "2": 0.0}), "")
    >>> few = Assessment("SA-2016", "aligned", ["1", "2"], {"me": {"1": "a man", "2": "a dog"}},
    ...                  {"HUMAN-A": {"1": "a man", "2": "two cats"}},
    ...                  ScoreTable({"me": {"z": z}}), {}, {})
    >>> score_judged(few, "rouge_l").metrics["rouge_l"].tolist()
    [1.0, 0.0]
    """
    references = data.references(annotators)
    keys = [(name, item) for name in data.human.systems for item in data.human[name]["z"].items]
    captions = [data.candidates[name][item] for name, item in keys]
    if shuffle is not None:
        rng = np.random.default_rng(shuffle)
        captions = [" ".join(rng.permutation(caption.split())) for caption in captions]
    numbers = [str(k) for k in range(len(keys))]
    scores = score(
        dict(zip(numbers, captions, strict=True)),
        {number: references[item] for number, (_, item) in zip(numbers, keys, strict=True)},
        metrics,
        tokenizer=tokenizer,
    )
    return Judged(
        np.array([name for name, _ in keys]),
        np.concatenate([data.human[name]["z"].items.array for name in data.human.systems]),
        {name: result.items.array for name, result in scores.items()},
    )


def williams_matrix(
    human: FloatArray, scores: Sequence[FloatArray], *, absolute: bool = False
) -> list[list[float]]:
    """Test every metric against every other, by Williams' test.

    >>> human = np.array([1.0, 2, 3, 4, 5, 6])
    >>> p = williams_matrix(human, [human ** 2, np.array([3.0, 1, 2, 6, 4, 5])])
    >>> p[0][1] < 0.05, round(p[0][1] + p[1][0], 6)
    (True, 1.0)
    """
    r = [float(pearson(human, values)) for values in scores]

    def p_value(one: int, two: int) -> float:
        if one == two:
            return float("nan")
        between = float(pearson(scores[one], scores[two]))
        return williams(r[one], r[two], between, len(human), absolute=absolute).p

    return [[p_value(one, two) for two in range(len(scores))] for one in range(len(scores))]
