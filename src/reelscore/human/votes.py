"""Votes of several raters on two captions of a video, whichever side they stood on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from reelscore.errors import DataError
from reelscore.human.judgments import FloatArray, Judgments


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
        """Give the votes for the other system."""
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
        """Tell whether so many of so many votes are enough."""
        return votes * self.raters >= self.votes * of


def count_votes(judgments: Judgments) -> dict[tuple[str, str, str], dict[str, Votes]]:
    """Count votes by criterion, system and other system, and by item; each pair both ways.

    >>> from reelscore.human.judgments import Judgment
    >>> rows = [Judgment("r1", "h1", "t1", 0, "a", "v1", "caption", 1.0, "helpful", "b"),
    ...         Judgment("r2", "h1", "t1", 0, "b", "v1", "caption", -1.0, "helpful", "a")]
    >>> count_votes(Judgments.of(rows))["helpful", "b", "a"]
    {'v1': Votes(better=2, similar=0, worse=0)}
    """
    counts: dict[tuple[str, str, str], dict[str, list[int]]] = {}
    for _, criterion, system, other, item, score in _both_sides(judgments):
        votes = counts.setdefault((criterion, system, other), {}).setdefault(item, [0, 0, 0])
        votes[0 if score > 0 else 1 if score == 0 else 2] += 1
    return {
        key: {item: Votes(*votes) for item, votes in by_item.items()}
        for key, by_item in counts.items()
    }


def vote_matrix(judgments: Judgments, system: str, other: str, criterion: str) -> FloatArray:
    """Lay votes out as raters × videos, for measures of agreement.

    Args:
        judgments: Comparisons.
        system: A system.
        other: The one it was compared with.
        criterion: By what.

    Returns:
        Scores, above 0 where the system is better than the other; NaN where there is none.

    >>> from reelscore.human.judgments import Judgment
    >>> rows = [Judgment("r1", "h1", "t1", 0, "a", "v1", "caption", 2.0, "story", "b"),
    ...         Judgment("r2", "h1", "t1", 0, "b", "v1", "caption", -1.0, "story", "a")]
    >>> vote_matrix(Judgments.of(rows), "a", "b", "story")
    array([[-2.],
           [-1.]])
    """
    wanted = (criterion, system, other)
    votes = {
        (rater, item): score
        for rater, *asked, item, score in _both_sides(judgments)
        if tuple(asked) == wanted
    }
    raters = {rater: k for k, rater in enumerate(dict.fromkeys(rater for rater, _ in votes))}
    items = {item: k for k, item in enumerate(dict.fromkeys(item for _, item in votes))}
    matrix = np.full((len(raters), len(items)), np.nan)
    for (rater, item), score in votes.items():
        matrix[raters[rater], items[item]] = score
    return matrix


def pairs_agreed(votes: Iterable[Votes]) -> float:
    """Tell how many pairs of raters of the same video voted alike; NaN where there are none.

    >>> pairs_agreed([Votes(2, 1, 0)])
    0.3333333333333333
    """
    votes = list(votes)
    alike = sum(math.comb(number, 2) for each in votes for number in each)
    total = sum(math.comb(each.all, 2) for each in votes)
    return alike / total if total else math.nan


def _both_sides(judgments: Judgments) -> Iterator[tuple[str, str, str, str, str, float]]:
    """Give every comparison from the side of both systems; above 0 that one is better."""
    for row in judgments:
        if row.kind == "caption":
            if not row.against or row.against == row.system:
                raise DataError(
                    f"Rater {row.rater!r}, task {row.task!r}: expected two systems, as a "
                    f"comparison has; there are {row.system!r} and {row.against!r}."
                )
            yield row.rater, row.criterion, row.system, row.against, row.item, -row.score
            yield row.rater, row.criterion, row.against, row.system, row.item, row.score
