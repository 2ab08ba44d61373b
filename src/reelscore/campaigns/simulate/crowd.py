"""A crowd to plan with: how real raters score, and how those who do not look behave.

A diligent rater's judgment of a caption, in standard deviations of the rater's own scores, is the
caption's true quality, plus the rater's own taste about this caption, plus an error that would be
another one on another day. The sizes of the three were fitted to a real campaign: the error to
captions that were judged twice by one rater, taste and quality to captions judged by several.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal, get_args

import numpy as np
from numpy.random import Generator

from reelscore.campaigns.judgments import FloatArray
from reelscore.errors import DataError, check_choice

RaterType = Literal["diligent", "noisy", "biased", "careless", "gaming", "random", "constant"]
RATER_TYPES: tuple[RaterType, ...] = get_args(RaterType)
# The share of tasks that a rater looks at; others look at none.
LOOKS: Mapping[RaterType, float] = {"diligent": 1, "noisy": 1, "biased": 1, "careless": 0.5}
UNRELIABLE: tuple[RaterType, ...] = ("careless", "gaming", "random", "constant")


@dataclass(frozen=True)
class Crowd:
    """How diligent raters score; qualities in z, levels and ranges in points from 0 to 100.

    Attributes:
        caption: Standard deviation of the captions' true quality.
        taste: Of what raters disagree about, steadily.
        error: Of what a rater says differently the next time.
        drop: How much worse a degraded caption is than its original, on average.
        drop_spread: Standard deviation of that.
        level: Mean of the raters' mean scores.
        level_spread: Standard deviation of the raters' mean scores.
        range: Mean of the raters' standard deviations.
        range_spread: Standard deviation of these.
        seconds: For a task.

    The values in z, the spreads and the time are those of the 29 raters who passed in run A of
    the EACL 2017 campaign, the ranges in proportion to their mean. Level and range are those of
    video captions: Table 4 of the paper gives systems' raw scores as 53.9 + 38.7 z.
    """

    caption: float = 0.595
    taste: float = 0.51
    error: float = 0.516
    drop: float = 0.811
    drop_spread: float = 0.603
    level: float = 53.9
    level_spread: float = 13.0
    range: float = 38.7
    range_spread: float = 8.2
    seconds: float = 19.6

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not math.isfinite(value) or (value < 0 and name != "drop"):
                raise DataError(f"The crowd's {name} is {value:g}; expected a number from 0.")


@dataclass(frozen=True)
class SimulatedRater:
    """One simulated rater."""

    type: RaterType  # how the rater works
    level: float  # the mean of the rater's scores
    range: float  # their standard deviation
    seconds: float  # for a task


def draw_rater(kind: RaterType, crowd: Crowd, rng: Generator) -> SimulatedRater:
    """Make up a rater of a type.

    >>> draw_rater("constant", Crowd(), np.random.default_rng(1)).type
    'constant'
    """
    check_choice("type of rater", kind, RATER_TYPES)
    level = float(np.clip(rng.normal(crowd.level, crowd.level_spread), 20, 90))
    spread = float(np.clip(rng.normal(crowd.range, crowd.range_spread), 5, 45))
    if kind == "biased":  # harsh or lenient, and afraid of the scale
        level, spread = (20.0 if rng.random() < 0.5 else 88.0), spread / 2
    slow = crowd.seconds * float(np.exp(rng.normal(0, 0.4)))
    return SimulatedRater(kind, level, spread, slow / 8 if kind in UNRELIABLE[1:] else slow)


def scores_of(
    rater: SimulatedRater, quality: FloatArray, taste: FloatArray, crowd: Crowd, rng: Generator
) -> FloatArray:
    """Let a rater judge captions: whole numbers from 0 to 100."""
    size, seen = len(quality), quality + taste
    if rater.type == "constant":
        raw = np.full(size, rater.level)
    elif rater.type == "random":
        raw = rng.uniform(0, 100, size)
    elif rater.type == "gaming":  # clicks around a favourite place, where nobody asks questions
        raw = rng.normal(rater.level, 6.0, size)
    else:
        is_seen = rng.random(size) < LOOKS["careless"] if rater.type == "careless" else None
        if rater.type == "noisy":  # is unsure of the scale: twice the error
            seen = seen + rng.normal(0, math.sqrt(3) * crowd.error, size)
        raw = rater.level + rater.range * (seen + rng.normal(0, crowd.error, size))
        if is_seen is not None:
            raw = np.where(is_seen, raw, rng.uniform(0, 100, size))
    whole: FloatArray = np.clip(np.round(raw), 0, 100)
    return whole
