"""How far to trust a ranking by battles: what won beside the captions, and whether others agree.

A judge may lean towards the caption that it reads first, or towards the longer one. Better systems
may write longer captions, so the share that the longer one won is put beside the share that it
would win by the systems' strengths alone: what is left leans.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from reelscore.campaigns.evaluate.battles import BattleRanking, Battles
from reelscore.campaigns.judgments import FloatArray, Mask
from reelscore.errors import DataError
from reelscore.significance.strengths import fit_strengths
from reelscore.stats.correlations import pearson, spearman
from reelscore.stats.pairs import kendall_b
from reelscore.stats.resampling import percentile_interval

Interval = tuple[float, float]
_COEFFICIENTS: dict[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "pearson": pearson,
    "spearman": spearman,
    "kendall_b": kendall_b,
}


class Leaning(NamedTuple):
    """How often one kind of caption won."""

    kind: str  # which of the two captions: the one shown first, or the longer one
    battles: int  # how many were decided
    won: float  # the share that it won
    interval: Interval
    expected: float  # the share that it would win by the systems' strengths alone

    def __str__(self) -> str:
        low, high = self.interval
        return (
            f"The caption {self.kind} won {self.won:.1%} [{100 * low:.1f}, {100 * high:.1f}] of "
            f"{self.battles:,} decided battles; by the strengths of systems it would win "
            f"{self.expected:.1%}."
        )


def leanings(battles: Battles, level: float = 0.95) -> list[Leaning]:
    """Find out how often the caption shown first won, and how often the longer one."""
    outcomes, (ours, theirs) = battles.outcomes, battles.words.T
    decided = outcomes.points != 0.5
    if not decided.any():
        return []
    # Ties say nothing here, and Davidson's chances of the decided are those without them.
    strengths = fit_strengths(outcomes).values
    chance = 1 / (1 + np.exp(strengths[outcomes.second] - strengths[outcomes.first]))
    kinds: dict[str, tuple[Mask, Mask]] = {  # which battles count, and whether the first is meant
        "shown first": (decided & battles.shown, np.ones_like(decided)),
        "with more words": (decided & (np.abs(ours - theirs) > 0), ours > theirs),
    }
    found = []
    for kind, (rows, first) in kinds.items():
        if not rows.any():
            continue
        won = np.where(first, outcomes.points, 1 - outcomes.points)[rows]
        expected = np.where(first, chance, 1 - chance)[rows]
        share = float(won.mean())
        # of one item battles have much in common: its deviations are summed before they are squared
        by_item = np.bincount(outcomes.items[rows], won - share)
        wide = NormalDist().inv_cdf((1 + level) / 2) * float(np.sqrt((by_item**2).sum())) / len(won)
        interval = (max(0.0, share - wide), min(1.0, share + wide))
        found.append(Leaning(kind, len(won), share, interval, float(expected.mean())))
    return found


class BattleAgreement(NamedTuple):
    """How two sources agree, such as people and a judge."""

    cells: int  # pairs of captions that both judged
    same: float  # the share with the same verdict: the one, the other, or a tie
    kappa: float  # the same beyond chance (Cohen, 1960)
    decided: int  # of the pairs, those that neither calls a tie
    same_winner: float  # the share of these with the same winner
    systems: int  # systems that both rank
    coefficients: dict[str, tuple[float, Interval]]  # of their scores, with intervals

    @property
    def lines(self) -> list[str]:
        """The same in words."""
        of_systems = ", ".join(
            f"{name.replace('_', ' ')} {value:.3f} [{low:.2f}, {high:.2f}]"
            for name, (value, (low, high)) in self.coefficients.items()
        )
        return [
            f"Both judged {self.cells:,} pairs of captions: the same verdict in {self.same:.1%} "
            f"(kappa {self.kappa:.3f}), the same winner in {self.same_winner:.1%} of "
            f"{self.decided:,} without ties.",
            f"Of {self.systems} systems: {of_systems}.",
        ]


def agree(
    sources: tuple[Battles, Battles],
    rankings: tuple[BattleRanking, BattleRanking],
    level: float = 0.95,
) -> BattleAgreement:
    """Compare two sources, caption by caption and system by system.

    Of a pair of captions that a source judged several times, the majority counts. Intervals are of
    the resamples of both rankings.

    Raises:
        DataError: If no pair of captions, or fewer than three systems, are in both.
    """
    ours, theirs = map(_verdicts, sources)
    cells = sorted(ours.keys() & theirs.keys())
    places = [{name: k for k, name in enumerate(each.systems)} for each in rankings]
    systems = [name for name in rankings[0].systems if name in places[1]]
    if not cells or len(systems) < 3:
        raise DataError(
            f"The two sources have {len(cells)} pairs of captions and {len(systems)} systems in "
            "common; expected at least one and three. Items and systems need the same names."
        )
    one, other = (np.array([each[cell] for cell in cells]) for each in (ours, theirs))
    same = float((one == other).mean())
    chance = sum(float((one == v).mean() * (other == v).mean()) for v in (-1, 0, 1))
    decided = (one != 0) & (other != 0)
    columns = [[place[name] for name in systems] for place in places]
    first, second = (
        np.vstack([ranking.scores[own], ranking.draws[:, own]])
        for ranking, own in zip(rankings, columns, strict=True)
    )
    draws = min(len(first), len(second))
    coefficients = {}
    for name, coefficient in _COEFFICIENTS.items():
        values = coefficient(first[:draws], second[:draws])
        low, high = percentile_interval(values[1:, None], level)[:, 0].tolist()
        coefficients[name] = (float(values[0]), (low, high))
    return BattleAgreement(
        len(cells),
        same,
        (same - chance) / (1 - chance) if chance < 1 else float("nan"),
        int(decided.sum()),
        float((one == other)[decided].mean()) if decided.any() else float("nan"),
        len(systems),
        coefficients,
    )


def _verdicts(battles: Battles) -> dict[tuple[str, str, str], int]:
    """Return who won each pair of captions, by item and systems: 1 the first by name, 0 none."""
    rows = zip(
        battles.names(battles.outcomes.first),
        battles.names(battles.outcomes.second),
        battles.outcomes.items.tolist(),
        (2 * battles.outcomes.points - 1).tolist(),
        strict=True,
    )
    sums: dict[tuple[str, str, str], float] = {}
    for one, other, item, net in rows:
        if one > other:
            one, other, net = other, one, -net
        cell = (battles.items[item], one, other)
        sums[cell] = sums.get(cell, 0.0) + net
    return {cell: int(np.sign(net)) for cell, net in sums.items()}
