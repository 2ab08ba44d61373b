"""Results of comparisons by vote: against the reference (LSMDC 16), and forced choice.

Both ask several raters about the same two captions and count votes. Raters who saw the captions
the other way round are turned: what counts is which system's caption was preferred.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reelscore.data.table import ItemScores, MetricResult, ScoreTable
from reelscore.errors import DataError
from reelscore.human.judgments import Judgments
from reelscore.human.votes import Quorum, count_votes, pairs_agreed

_TWO_OF_THREE = Quorum(2, 3)
_FOUR_OF_FIVE = Quorum(4, 5)


@dataclass(frozen=True)
class Standing:
    """How a system's captions stand beside the references, by one criterion.

    Attributes:
        system: The system.
        criterion: The criterion.
        points: The share of videos with a point: enough raters say better or similar.
        better: The share of votes that say better than the reference.
        similar: The share of votes that say similar.
        items: How many videos were compared.
        votes: How many votes there are.
        alike: The share of pairs of raters of the same video who voted alike.
    """

    system: str
    criterion: str
    points: float
    better: float
    similar: float
    items: int
    votes: int
    alike: float


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
    """Give a point for each caption that raters find at least as good as the reference.

    The rule of LSMDC 16: a point where at least two of three raters say that the caption is better
    than the reference or similar; the score is the share of points (Table 18 of Rohrbach et al.,
    2017).

    Args:
        judgments: Comparisons of captions with references.
        reference: What the references are called.
        agree: How many raters must say so, of how many.

    Raises:
        DataError: If nothing is compared with the reference.

    >>> from reelscore.human.judgments import Judgment
    >>> rows = [Judgment(f"r{k}", "h1", "t1", 0, "mine", "v1", "caption", score, "helpful",
    ...                  "reference") for k, score in enumerate([-1.0, 0.0, 1.0])]
    >>> found = score_against_reference(Judgments.of(rows)).standings[0]
    >>> found.points, round(found.better, 2)
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
    """How often people chose each of two systems, by one criterion.

    Attributes:
        criterion: The criterion.
        systems: The two, the one chosen more often first.
        majority: The share of videos where most raters chose the system, for each.
        agreed: The share of videos where so many chose it as `agree` asks, for each.
        undecided: The share of videos where as many chose one as the other.
        items: How many videos were compared.
        votes: How many votes there are.
        alike: The share of pairs of raters of the same video who voted alike.
    """

    criterion: str
    systems: tuple[str, str]
    majority: Mapping[str, float]
    agreed: Mapping[str, float]
    undecided: float
    items: int
    votes: int
    alike: float

    def __str__(self) -> str:
        """Give percents as Table 5 has them, the agreed ones in brackets."""
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

    >>> from reelscore.human.judgments import Judgment
    >>> rows = [Judgment(f"r{k}", "h1", "t1", 0, "script", "v1", "caption", score, "relevance",
    ...                  "AD") for k, score in enumerate([1.0, 1.0, 1.0, 1.0, -1.0])]
    >>> print(score_choices(Judgments.of(rows))[0])
    relevance: AD 100.0 (100.0), script 0.0 (0.0)
    """
    found: list[Choice] = []
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
        found.append(
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
    return tuple(found)
