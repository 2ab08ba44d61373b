"""Results of graded comparisons (−2…2): which of two systems people prefer, video by video.

As in section 6.3 of SODA (Fujita et al., 2020): raters who answer test questions are kept, the
mean of their scores decides a video, and a metric is right where it prefers the same system.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from reelscore.campaigns.hits.tasks import Hit
from reelscore.campaigns.judgments import Judgments
from reelscore.data.tables.table import ItemScores, MetricResult, ScoreTable
from reelscore.errors import DataError


def expected_answers(hits: Iterable[Hit]) -> dict[str, float]:
    """Return the right answers to the test questions among the tasks of HITs, by task."""
    return {
        task.id: task.expected for hit in hits for task in hit.tasks if task.expected is not None
    }


@dataclass(frozen=True)
class Preference:
    """Which of two systems people prefer.

    Attributes:
        system: The one.
        other: The other.
        items: Mean score by video: above 0 the first is preferred, below 0 the other.
        won: The share of videos where the first is preferred.
        lost: The share where the other is.
        raters: How many raters judged.
        criterion: By what.
    """

    system: str
    other: str
    items: Mapping[str, float]
    won: float
    lost: float
    raters: int
    criterion: str

    @property
    def tied(self) -> float:
        """The share of videos where neither is preferred."""
        return 1 - self.won - self.lost

    def table(self) -> ScoreTable:
        """Return the mean scores as a table: what one gains the other loses."""
        name = f"preference_{self.criterion}"
        results = {}
        for system, sign in ((self.system, 1.0), (self.other, -1.0)):
            items = ItemScores.of({item: sign * mean for item, mean in self.items.items()})
            signature = f"preference|criterion:{self.criterion}|raters:{self.raters}"
            score = float(items.array.mean())
            results[system] = {name: MetricResult(name, score, items, signature)}
        return ScoreTable(results)


def score_preferences(
    judgments: Judgments, system: str, other: str, *, criterion: str = "story"
) -> Preference:
    """Average the raters' scores for each video.

    Args:
        judgments: Comparisons; for those of faithful raters only, ``judgments.by(faithful)``.
        system: The one system.
        other: The other.
        criterion: By what.

    Raises:
        DataError: If the two are not compared.

    >>> from reelscore.campaigns.judgments import Judgment
    >>> rows = [Judgment("r1", "h1", "t1", 0, "a", "v1", "caption", -2.0, "story", "b"),
    ...         Judgment("r2", "h1", "t1", 0, "b", "v1", "caption", 1.0, "story", "a")]
    >>> score_preferences(Judgments.of(rows), "a", "b").items
    {'v1': 1.5}
    """
    scores: dict[str, list[float]] = {}
    raters: set[str] = set()
    for row in judgments.only(criterion):
        if row.kind != "caption" or {row.system, row.against} != {system, other}:
            continue
        scores.setdefault(row.item, []).append(-row.score if row.system == system else row.score)
        raters.add(row.rater)
    if not scores:
        raise DataError(f"{system!r} and {other!r} are not compared by {criterion}.")
    means = {item: math.fsum(each) / len(each) for item, each in scores.items()}
    won = sum(mean > 0 for mean in means.values()) / len(means)
    lost = sum(mean < 0 for mean in means.values()) / len(means)
    return Preference(system, other, means, won, lost, len(raters), criterion)


class MetricAccuracy(NamedTuple):
    """How often a metric prefers what people prefer."""

    accuracy: float  # the share of videos where it does, of those where people prefer one
    right: int  # how many these are
    videos: int  # videos where people prefer one
    metric_ties: int  # videos among them where the metric scores both alike: not right
    human_ties: int  # videos left out, as people prefer neither


def metric_accuracy(table: ScoreTable, metric: str, preference: Preference) -> MetricAccuracy:
    """Measure a metric against people's preferences, video by video.

    Args:
        table: Scores of the two systems for all videos that people compared.
        metric: The metric.
        preference: What people prefer.

    Raises:
        DataError: If the table lacks a video, or people prefer neither system in any.

    >>> scores = {"a": ItemScores.of({"v1": 0.3, "v2": 0.1}), "b": ItemScores.of({"v1": 0.2,
    ...           "v2": 0.2})}
    >>> table = ScoreTable({name: {"soda": MetricResult("soda", 0.2, each, "soda")}
    ...                     for name, each in scores.items()})
    >>> people = Preference("a", "b", {"v1": 1.5, "v2": 0.5}, 1.0, 0.0, 2, "story")
    >>> metric_accuracy(table, "soda", people).accuracy
    0.5
    """
    items = list(preference.items)
    first, second = table.matrix(metric, [preference.system, preference.other], items)
    lacking = [item for item, a, b in zip(items, first, second, strict=True) if math.isnan(a + b)]
    if lacking:
        raise DataError(
            f"{len(lacking)} videos have no {metric} for both systems (first: {lacking[0]!r}); "
            "score all that people compared."
        )
    gain = table.scale(metric).sign * (first - second)
    apart = dict(zip(items, gain.tolist(), strict=True))
    decided = [item for item, mean in preference.items.items() if mean != 0]
    if not decided:
        raise DataError("People prefer neither system in any video; there is nothing to measure.")
    right = sum(apart[item] * preference.items[item] > 0 for item in decided)
    ties = sum(apart[item] == 0 for item in decided)
    return MetricAccuracy(
        right / len(decided), right, len(decided), ties, len(items) - len(decided)
    )


def score_all_preferences(judgments: Judgments, *, criterion: str = "story") -> list[Preference]:
    """Score every two systems that are compared, in the order of their names."""
    captions = judgments.select(judgments.is_kind("caption")).only(criterion)
    compared = {(row.system, row.against) for row in captions}
    pairs = sorted({(min(pair), max(pair)) for pair in compared})
    return [score_preferences(captions, one, other, criterion=criterion) for one, other in pairs]
