"""Votes of several raters on two captions of a video, whichever side they stood on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from reelscore.campaigns.judgments import FloatArray, Judgments, NameColumn
from reelscore.data.tables.table import ItemScores, MetricResult, ScoreTable
from reelscore.errors import DataError


class Votes(NamedTuple):
    """How raters saw one system's caption of a video beside the other's."""

    better: int
    similar: int
    worse: int

    @property
    def all(self) -> int:
        """How many voted."""
        return sum(self)

    def turned(self) -> Votes:
        """Return the votes for the other system."""
        return Votes(self.worse, self.similar, self.better)


class Quorum(NamedTuple):
    """How many must agree: ``Quorum(2, 3)`` is two of three.

    Where a video has another number of votes, at least the same share of them must agree.

    >>> Quorum(2, 3).reached(2, of=3), Quorum(2, 3).reached(3, of=5)
    (True, False)
    """

    votes: int
    raters: int

    def reached(self, votes: int, of: int) -> bool:
        """Return whether this number of votes, of all that were given, is enough."""
        return votes * self.raters >= self.votes * of


def count_votes(judgments: Judgments) -> dict[tuple[str, str, str], dict[str, Votes]]:
    """Count votes by criterion, system and other system, and by item; each pair both ways."""
    counts: dict[tuple[str, str, str], dict[str, list[int]]] = {}
    for _, criterion, system, other, item, score in _both_sides(judgments):
        votes = counts.setdefault((criterion, system, other), {}).setdefault(item, [0, 0, 0])
        votes[0 if score > 0 else 1 if score == 0 else 2] += 1
    return {
        key: {item: Votes(*votes) for item, votes in by_item.items()}
        for key, by_item in counts.items()
    }


def vote_matrix(judgments: Judgments, system: str, other: str, criterion: str) -> FloatArray:
    """Lay votes out as raters × videos, for measures of agreement."""
    wanted = (criterion, system, other)
    votes = {
        (rater, item): score
        for rater, *asked, item, score in _both_sides(judgments)
        if tuple(asked) == wanted
    }
    raters, items = (NameColumn.of(pair[k] for pair in votes) for k in (0, 1))
    matrix = np.full((len(raters.names), len(items.names)), np.nan)
    matrix[raters.codes, items.codes] = list(votes.values())
    return matrix


def pairs_agreed(votes: Iterable[Votes]) -> float:
    """Return how many pairs of raters of the same video voted alike; NaN where there are none.

    >>> pairs_agreed([Votes(2, 1, 0)])
    0.3333333333333333
    """
    votes = list(votes)
    alike = sum(math.comb(number, 2) for each in votes for number in each)
    total = sum(math.comb(each.all, 2) for each in votes)
    return alike / total if total else math.nan


def _both_sides(judgments: Judgments) -> Iterator[tuple[str, str, str, str, str, float]]:
    """Yield every comparison from the side of both systems; above 0 that one is better."""
    for row in judgments:
        if row.kind == "caption":
            if not row.against or row.against == row.system:
                raise DataError(
                    f"Rater {row.rater!r}, task {row.task!r}: expected two systems, as a "
                    f"comparison has; there are {row.system!r} and {row.against!r}."
                )
            yield row.rater, row.criterion, row.system, row.against, row.item, -row.score
            yield row.rater, row.criterion, row.against, row.system, row.item, row.score


_TWO_OF_THREE = Quorum(2, 3)
_FOUR_OF_FIVE = Quorum(4, 5)


@dataclass(frozen=True)
class Standing:
    """How a system's captions stand beside the references, by one criterion."""

    system: str
    criterion: str
    points: float  # the share of videos with a point: enough raters say better or similar
    better: float  # the share of votes that say better than the reference
    similar: float  # the share of votes that say similar
    items: int  # how many videos were compared
    votes: int  # how many votes there are
    alike: float  # the share of pairs of raters of the same video who voted alike


@dataclass(frozen=True)
class ReferenceResults:
    """Results against the reference.

    Attributes:
        standings: Best first, for each criterion.
        table: Points: 1 or 0 for each video, their mean for each system.
    """

    standings: tuple[Standing, ...]
    table: ScoreTable


def score_against_reference(
    judgments: Judgments, *, reference: str = "reference", agree: Quorum = _TWO_OF_THREE
) -> ReferenceResults:
    """Return a point for each caption that raters find at least as good as the reference.

    The rule of LSMDC 16: a point where at least two of three raters say that the caption is better
    than the reference or similar; the score is the share of points (Table 18 of Rohrbach et al.,
    2017).

    Args:
        judgments: Comparisons of captions with references.
        reference: What the references are called.
        agree: How many raters must say so, of how many.

    Raises:
        DataError: If nothing is compared with the reference.

    >>> from reelscore.campaigns.judgments import Judgment
    >>> rows = [Judgment(f"r{k}", "h1", "t1", 0, "mine", "v1", "caption", score, "helpful",
    ...                  "reference") for k, score in enumerate([-1.0, 0.0, 1.0])]
    >>> standing = score_against_reference(Judgments.of(rows)).standings[0]
    >>> standing.points, round(standing.better, 2)
    (1.0, 0.33)
    """
    standings: list[Standing] = []
    results: dict[str, dict[str, MetricResult]] = {}
    for (criterion, system, other), votes in sorted(count_votes(judgments).items()):
        if other != reference:
            continue
        points = {
            item: float(agree.reached(each.better + each.similar, each.all))
            for item, each in votes.items()
        }
        total = sum(each.all for each in votes.values())
        score = sum(points.values()) / len(points)
        standings.append(
            Standing(
                system,
                criterion,
                score,
                sum(each.better for each in votes.values()) / total,
                sum(each.similar for each in votes.values()) / total,
                len(points),
                total,
                pairs_agreed(votes.values()),
            )
        )
        signature = (
            f"against reference|criterion:{criterion}|agree:{agree.votes}/{agree.raters}"
            f"|votes:{total}"
        )
        results.setdefault(system, {})[f"points_{criterion}"] = MetricResult(
            f"points_{criterion}", score, ItemScores.of(points), signature
        )
    if not standings:
        raise DataError(
            f"No caption is compared with {reference!r}; name the system that the others were "
            "compared with."
        )
    standings.sort(key=lambda each: (each.criterion, -each.points))
    return ReferenceResults(tuple(standings), ScoreTable(results))


@dataclass(frozen=True)
class Choice:
    """How often people chose each of two systems, by one criterion."""

    criterion: str
    systems: tuple[str, str]  # the two, the one chosen more often first
    # the share of videos where most raters chose the system, for each
    majority: Mapping[str, float]
    # the share of videos where as many raters chose it as `agree` requires, for each
    agreed: Mapping[str, float]
    undecided: float  # the share of videos where as many chose one as the other
    items: int  # how many videos were compared
    votes: int  # how many votes there are
    alike: float  # the share of pairs of raters of the same video who voted alike

    def __str__(self) -> str:
        """Return percents as Table 5 has them, the agreed ones in brackets."""
        shares = [
            f"{name} {100 * self.majority[name]:.1f} ({100 * self.agreed[name]:.1f})"
            for name in self.systems
        ]
        return f"{self.criterion}: {', '.join(shares)}"


def score_choices(judgments: Judgments, *, agree: Quorum = _FOUR_OF_FIVE) -> tuple[Choice, ...]:
    """Count for each pair of systems how often people chose one or the other.

    By majority, and by a stricter rule: at least four of five raters (Table 5 of Rohrbach et al.,
    2017: audio description against film scripts). Videos with as many votes for one as for the
    other count for neither.

    Args:
        judgments: Comparisons; votes for neither count as votes, but for none of the two.
        agree: How many must agree for the stricter rule, of how many.

    >>> from reelscore.campaigns.judgments import Judgment
    >>> rows = [Judgment(f"r{k}", "h1", "t1", 0, "script", "v1", "caption", score, "relevance",
    ...                  "AD") for k, score in enumerate([1.0, 1.0, 1.0, 1.0, -1.0])]
    >>> print(score_choices(Judgments.of(rows))[0])
    relevance: AD 100.0 (100.0), script 0.0 (0.0)
    """
    choices: list[Choice] = []
    for (criterion, one, other), by_item in count_votes(judgments).items():
        if one > other:  # each pair is there twice
            continue
        shares = {name: [0, 0] for name in (one, other)}
        undecided = 0
        for votes in by_item.values():
            for name, turned in ((one, votes), (other, votes.turned())):
                shares[name][0] += turned.better > turned.worse
                shares[name][1] += agree.reached(turned.better, turned.all)
            undecided += votes.better == votes.worse
        items = len(by_item)
        first, second = sorted((one, other), key=lambda name: -shares[name][0])
        choices.append(
            Choice(
                criterion,
                (first, second),
                {name: shares[name][0] / items for name in (first, second)},
                {name: shares[name][1] / items for name in (first, second)},
                undecided / items,
                items,
                sum(votes.all for votes in by_item.values()),
                pairs_agreed(by_item.values()),
            )
        )
    return tuple(choices)
