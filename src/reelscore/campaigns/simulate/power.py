"""How many HITs it takes to tell two systems apart, and what they cost.

The answer is found by simulation: raters of the fitted crowd judge captions of systems whose true
quality differs by a given amount, scores are standardized, and the rank-sum test of the results is
made. Only the raters who pass are simulated; how many HITs are lost to the control is a share of
its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator

from reelscore.campaigns.hits.layouts import LAYOUTS, HitLayout
from reelscore.campaigns.judgments import FloatArray
from reelscore.campaigns.simulate.crowd import Crowd
from reelscore.errors import DataError
from reelscore.stats.rank_tests import rank_sum

_MOST = 100_000  # HITs; whoever needs more does not need a plan


@dataclass(frozen=True)
class Power:
    """What some number of HITs can tell.

    Attributes:
        hits: HITs to be paid for.
        kept: HITs left after the control.
        captions: Judgments of each system's captions in these.
        power: In which share of simulated campaigns the better system wins significantly.
        error: Standard error of that share.
    """

    hits: int
    kept: int
    captions: int
    power: float
    error: float


@dataclass(frozen=True)
class Setting:
    """What is to be told apart, and by whom.

    Attributes:
        difference: Between the two systems' true quality, in z.
        systems: How many systems share the HITs.
        layout: What a HIT is made of.
        passing: Share of HITs that are left after the control; 0.8 in the paper.
        level: Of the one-sided rank-sum test.
        crowd: How raters score.
    """

    difference: float
    systems: int = 5
    layout: HitLayout = LAYOUTS["trecvid"]
    passing: float = 0.8
    level: float = 0.05
    crowd: Crowd = field(default_factory=Crowd)

    def __post_init__(self) -> None:
        if not self.difference > 0:
            raise DataError(f"The difference is {self.difference:g}; expected a number above 0.")
        if self.systems < 2:
            raise DataError(f"{self.systems} system; expected two or more to tell apart.")
        if not 0 < self.passing <= 1 or not 0 < self.level < 1:
            raise DataError("The passing share and the level are probabilities, above 0.")


def power_of(setting: Setting, hits: int, *, seed: int, campaigns: int = 400) -> Power:
    """Simulate campaigns of a given size and count how often the better system wins.

    >>> power_of(Setting(difference=0.3), 94, seed=1, campaigns=50).power
    1.0
    """
    kept = max(1, round(hits * setting.passing))
    captions = max(2, kept * setting.layout.systems // setting.systems)
    wins = 0
    for k in range(campaigns):
        rng = np.random.default_rng([seed, hits, k])
        wins += _wins(setting, kept, captions, rng)
    power = wins / campaigns
    return Power(hits, kept, captions, power, math.sqrt(power * (1 - power) / campaigns))


def hits_needed(
    setting: Setting,
    power: float = 0.8,
    *,
    seed: int,
    campaigns: int = 400,
    progress: Callable[[Power], None] | None = None,
) -> list[Power]:
    """Find how many HITs separate two systems with a given probability.

    The number is doubled until it is enough, and then halved in between to within a twentieth.

    Args:
        setting: What is to be told apart.
        power: The probability wanted.
        seed: Of chance.
        campaigns: How many to simulate for each number of HITs.
        progress: Told each number as it is tried.

    Returns:
        All numbers tried, in order of HITs; the first with enough power is the answer.

    Raises:
        DataError: If no number within reason is enough.
    """
    if not 0 < power < 1:
        raise DataError(f"The power is {power:g}; expected a probability, such as 0.8.")
    tried: dict[int, Power] = {}

    def enough(hits: int) -> bool:
        if hits not in tried:
            tried[hits] = power_of(setting, hits, seed=seed, campaigns=campaigns)
            if progress:
                progress(tried[hits])
        return tried[hits].power >= power

    low, high = 0, 8
    while not enough(high):
        low, high = high, 2 * high
        if high > _MOST:
            raise DataError(
                f"More than {_MOST:,} HITs would be needed to tell systems apart that differ by "
                f"z {setting.difference:g}; ask for a larger difference."
            )
    while high - low > max(1, high // 20):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return [tried[hits] for hits in sorted(tried)]


def _wins(setting: Setting, kept: int, captions: int, rng: Generator) -> bool:
    """Simulate one campaign and test the two systems in it."""
    crowd, half = setting.crowd, setting.difference / 2
    rater = rng.integers(kept, size=(2, captions))  # whose HIT a caption came into
    quality = rng.normal([[half], [-half]], crowd.caption, (2, captions))
    z = quality + rng.normal(0, math.hypot(crowd.taste, crowd.error), (2, captions))
    # Mean and deviation of a rater come from one HIT: they are estimates, and so are z scores.
    size = setting.layout.size
    shift = rng.normal(0, 1 / math.sqrt(size), kept)
    stretch = np.sqrt(rng.chisquare(size - 1, kept) / (size - 1))
    scores: FloatArray = (z - shift[rater]) / stretch[rater]
    return rank_sum(scores[0], scores[1], alternative="greater").p < setting.level


@dataclass(frozen=True)
class Costs:
    """The price of HITs.

    The paper paid 0.99 USD for a HIT and 20 % to the service, for 94 HITs and five systems:

    >>> print(Costs(94, 0.99, 0.2, systems=5))
    94 HITs x 0.99 USD = 93.06 USD
    + 20% fee 18.61 USD = 111.67 USD
    / 5 systems = 22.33 USD per system

    It prints 22 USD for a system, rounded, and 110 USD in all, which is five times that.

    >>> 5 * round(Costs(94, 0.99, 0.2, systems=5).per_system)
    110
    """

    hits: int  # HITs to be paid
    price: float = 0.99  # what a rater gets for one
    fee: float = 0.2  # the crowd service's share on top: 0.2 is 20 %
    systems: int = 1  # among how many systems the sum is divided
    currency: str = "USD"  # its name

    def __post_init__(self) -> None:
        if self.hits < 0 or self.price < 0 or self.fee < 0 or self.systems < 1:
            raise DataError(
                "Costs need HITs, a price and a fee of 0 or more, and at least one system; got "
                f"{self.hits}, {self.price:g}, {self.fee:g} and {self.systems}."
            )

    @property
    def wages(self) -> float:
        """What raters get."""
        return self.hits * self.price

    @property
    def total(self) -> float:
        """What everything costs."""
        return self.wages * (1 + self.fee)

    @property
    def per_system(self) -> float:
        """What a system costs; one more costs as much again."""
        return self.total / self.systems

    def __str__(self) -> str:
        money = self.currency
        return "\n".join(
            [
                f"{self.hits} HITs x {self.price:.2f} {money} = {self.wages:.2f} {money}",
                f"+ {self.fee:.0%} fee {self.total - self.wages:.2f} {money} = "
                f"{self.total:.2f} {money}",
                f"/ {self.systems} systems = {self.per_system:.2f} {money} per system",
            ]
        )
