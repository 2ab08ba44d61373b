"""Strengths of systems from battles of two: Bradley and Terry's model, ties included, and Elo.

Every system has a strength β, and its odds of beating another are exp(β − β'). By Davidson (1970) a
tie has the weight ν·exp((β + β') / 2) beside exp(β) and exp(β'); where ties count half a win each,
the model has none. The order of the battles does not matter, unlike in Elo's rating, which moves
after each of them.

A system that won all its battles has no finite strength. So strengths, and log ν, have a prior: a
normal distribution of mean 0, so wide (32 logits) that it changes nothing where there are wins and
losses. Strengths are printed on the scale of Elo: 1000 on average, 400 points for odds of ten.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reelscore._progress import Progress
from reelscore.errors import DataError
from reelscore.stats.resampling import FloatArray, generator

IntArray = NDArray[np.int64]
Ties = Literal["davidson", "half"]
PRIOR = 1e-3  # one divided by the variance of strengths
POINTS = 400 / math.log(10)  # of a logit
START = 1000.0
_K = 4.0
_STEPS = 100
_LONGEST = 2.0  # logits that a step may take a strength
_QUICK = 12  # steps with the curvature at the maximum, before it is computed anew


@dataclass(frozen=True)
class Outcomes:
    """Who fought whom, and what came of it: a row for each battle.

    Attributes:
        systems: How many systems there are.
        first: The one system of each battle, by number.
        second: The other.
        points: 1 where the first won, 0 where the second did, 0.5 for a tie.
        items: What was fought about, by number; resamples draw items.
    """

    systems: int
    first: IntArray
    second: IntArray
    points: FloatArray
    items: IntArray

    def oriented(self) -> Outcomes:
        """The same battles, each with the lower number first."""
        turned = self.first > self.second
        return replace(
            self,
            first=np.where(turned, self.second, self.first),
            second=np.where(turned, self.first, self.second),
            points=np.where(turned, 1 - self.points, self.points),
        )

    @cached_property
    def groups(self) -> IntArray:
        """A number for each system; those with other numbers never met, even through others."""
        group = np.arange(self.systems)
        while True:
            before = group.copy()
            np.minimum.at(group, self.first, group[self.second])
            np.minimum.at(group, self.second, group[self.first])
            group = group[group]
            if (before == group).all():
                return group


class Strengths(NamedTuple):
    """What a fit found."""

    values: FloatArray  # β of each system, in logits; their mean is 0
    tie: float  # ν, 0 where ties count half

    @property
    def points(self) -> FloatArray:
        """Strengths on the scale of Elo."""
        return START + POINTS * self.values


class _Sums(NamedTuple):
    """All that the fit needs to know of battles."""

    met: FloatArray  # how often two met, systems × systems
    won: FloatArray  # wins of each system and half its ties
    ties: float


class _Cells:
    """Battles counted by pair of systems and result, for any weights of the items.

    Items of one battle with the same result are drawn together, as one kind of item.
    """

    def __init__(self, outcomes: Outcomes) -> None:
        battles = outcomes.oriented()
        self._shape = outcomes.systems, outcomes.systems, 3  # lost, tied, won
        cells = (battles.first * outcomes.systems + battles.second) * 3
        cells += (2 * battles.points).astype(np.int64)
        alone = np.bincount(battles.items)[battles.items] == 1
        codes = np.where(alone, cells, math.prod(self._shape) + battles.items)
        kinds, kind = np.unique(codes, return_inverse=True)
        self.members = np.where(kinds < math.prod(self._shape), np.bincount(kind), 1)
        once = np.unique(kind[alone], return_index=True)[1]
        rows = np.concatenate([np.flatnonzero(~alone), np.flatnonzero(alone)[once]])
        rows = rows[np.argsort(cells[rows], kind="stable")]
        self._kind = kind[rows]
        self._used, self._starts = np.unique(cells[rows], return_index=True)

    def sums(self, weights: FloatArray) -> _Sums:
        """Sum up battles, each kind of item as often as its weight says."""
        counts = np.zeros(self._shape)
        counts.flat[self._used] = np.add.reduceat(weights[self._kind], self._starts)
        lost, tied, won = np.moveaxis(counts, 2, 0)
        met = lost + tied + won
        points = (won + tied / 2).sum(axis=1) + (lost + tied / 2).sum(axis=0)
        return _Sums(met + met.T, points, float(tied.sum()))

    def draws(self, rng: np.random.Generator, resamples: int) -> Iterator[FloatArray]:
        """Yield weights: how often items of each kind are drawn, with replacement."""
        items = int(self.members.sum())
        kind = np.repeat(np.arange(len(self.members)), self.members)
        for _ in range(resamples):
            if 4 * len(self.members) < items:  # the same in fewer steps
                yield rng.multinomial(items, self.members / items).astype(np.float64)
            else:
                drawn = kind[rng.integers(items, size=items)]
                yield np.bincount(drawn, minlength=len(self.members)).astype(np.float64)


class _Model:
    """The penalised likelihood, concave in the strengths and log ν, which comes last."""

    def __init__(self, sums: _Sums, ties: Ties, prior: float) -> None:
        self.sums, self.davidson, self.prior = sums, ties == "davidson", prior
        self._seen = np.append(sums.won, sums.ties) if self.davidson else sums.won

    def start(self) -> FloatArray:
        return np.zeros(len(self._seen))

    def value(self, at: FloatArray) -> float:
        weight, tie = self._weights(at)
        whole = weight[:, None] ** 2 + weight**2 + tie * np.outer(weight, weight)
        top = at[: len(weight)].max()
        spent = 0.5 * float((self.sums.met * (np.log(whole) + top)).sum())
        return float(at @ self._seen) - spent - 0.5 * self.prior * float(at @ at)

    def gradient(self, at: FloatArray) -> FloatArray:
        won, tied = self._chances(at)
        expected = (self.sums.met * (won + tied / 2)).sum(axis=1)
        if self.davidson:
            expected = np.append(expected, 0.5 * (self.sums.met * tied).sum())
        gradient: FloatArray = self._seen - expected - self.prior * at
        return gradient

    def curvature(self, at: FloatArray) -> FloatArray:
        """Minus the second derivatives."""
        won, tied = self._chances(at)
        met, mean = self.sums.met, won + tied / 2
        spread = met * (won + tied / 4 - mean**2)
        size = len(mean)
        matrix = np.zeros((len(at), len(at)))
        matrix[:size, :size] = 1 - spread  # 1: nothing else holds their mean, which stays 0
        matrix[range(size), range(size)] += spread.sum(axis=1)
        if self.davidson:
            matrix[:size, size] = matrix[size, :size] = (met * tied * (0.5 - mean)).sum(axis=1)
            matrix[size, size] = 0.5 * (met * tied * (1 - tied)).sum()
        matrix[np.diag_indices(len(at))] += self.prior
        return matrix

    def _weights(self, at: FloatArray) -> tuple[FloatArray, float]:
        """Return exp(β / 2), the largest 1, and ν."""
        strengths = at[: len(self.sums.won)]
        weight: FloatArray = np.exp((strengths - strengths.max()) / 2)
        return weight, math.exp(at[-1]) if self.davidson else 0.0

    def _chances(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return how probably the row beats the column, and ties with it."""
        weight, tie = self._weights(at)
        square, both = weight[:, None] ** 2, tie * np.outer(weight, weight)
        whole = square + square.T + both
        return square / whole, both / whole

    def climbed(self, at: FloatArray, tolerance: float = 1e-10) -> FloatArray:
        """Find the maximum by Newton's method, halving steps that go too far."""
        value = self.value(at)
        for _ in range(_STEPS):
            step = np.linalg.solve(self.curvature(at), self.gradient(at))
            step *= min(1.0, _LONGEST / max(float(np.abs(step).max()), 1e-300))
            if np.abs(step).max() < tolerance:
                return at + step
            while (there := self.value(at + step)) < value - 1e-9 * abs(value):
                step /= 2
            at, value = at + step, there
        return at

    def climbed_from(self, at: FloatArray, inverse: FloatArray) -> FloatArray:
        """Find the maximum near that of other sums, whose curvature, inverted, is known."""
        for _ in range(_QUICK):
            step = inverse @ self.gradient(at)
            largest = float(np.abs(step).max())
            if largest < 1e-5:
                return at + step
            if largest > _LONGEST:
                break
            at = at + step
        return self.climbed(at, 1e-6)


def fit_strengths(
    outcomes: Outcomes, *, ties: Ties = "davidson", prior: float = PRIOR
) -> Strengths:
    """Fit the model of Bradley and Terry; ties as ``davidson`` has them, or ``half`` a win each.

    The prior is one divided by the variance of the strengths.
    """
    cells = _Cells(outcomes)
    model = _Model(cells.sums(cells.members.astype(np.float64)), ties, prior)
    return _strengths(model.climbed(model.start()), outcomes.systems)


def _strengths(at: FloatArray, systems: int) -> Strengths:
    own = at[:systems]
    return Strengths(own - own.mean(), math.exp(at[-1]) if len(at) > systems else 0.0)


def bootstrap_strengths(
    outcomes: Outcomes,
    *,
    ties: Ties = "davidson",
    prior: float = PRIOR,
    resamples: int = 1000,
    seed: int = 12345,
    progress: Progress | None = None,
) -> FloatArray:
    """Fit the strengths of resamples of the items: resamples × systems, in logits."""
    rng = generator(seed, resamples)
    cells = _Cells(outcomes)
    whole = _Model(cells.sums(cells.members.astype(np.float64)), ties, prior)
    best = whole.climbed(whole.start())
    inverse = np.linalg.inv(whole.curvature(best)).astype(np.float64)
    drawn = np.empty((resamples, outcomes.systems))
    for row, weights in enumerate(cells.draws(rng, resamples)):
        at = _Model(cells.sums(weights), ties, prior).climbed_from(best, inverse)
        drawn[row] = _strengths(at, outcomes.systems).values
        if progress is not None:
            progress(row + 1, resamples)
    return drawn


def bootstrap_elo(
    outcomes: Outcomes,
    *,
    resamples: int = 1000,
    seed: int = 12345,
    progress: Progress | None = None,
) -> FloatArray:
    """Rate as many battles drawn with replacement, in the order in which they are drawn.

    As published, battles are drawn, not items. Of the ratings, resamples × systems, the median is
    the published rating.
    """
    rng = generator(seed, resamples)
    total = len(outcomes.points)

    def drawn() -> Iterator[IntArray]:
        for done in range(total):
            if progress is not None and done % 1000 == 0:
                progress(done, total)
            yield rng.integers(total, size=resamples)

    return elo_ratings(outcomes, drawn(), resamples)


def elo_ratings(outcomes: Outcomes, battles: Iterable[IntArray], runs: int) -> FloatArray:
    """Rate systems as Elo does, from 1000 by 4 points at most; each of the runs has its battle."""
    ratings = np.full((runs, outcomes.systems), START)
    run = np.arange(runs)
    for battle in battles:
        one, other = outcomes.first[battle], outcomes.second[battle]
        expected = 1 / (1 + 10 ** ((ratings[run, other] - ratings[run, one]) / 400))
        change = _K * (outcomes.points[battle] - expected)
        ratings[run, one] += change
        ratings[run, other] -= change
    return ratings


def check_connected(outcomes: Outcomes, names: tuple[str, ...]) -> None:
    """Refuse systems that nothing connects: their strengths cannot be compared."""
    groups = outcomes.groups
    numbers = np.unique(groups)
    if len(numbers) > 1:
        raise DataError(
            f"No battles connect {names[numbers[1]]!r} with {names[numbers[0]]!r}, not even "
            f"through others ({len(numbers)} groups). Add such battles, or rank each group alone."
        )
