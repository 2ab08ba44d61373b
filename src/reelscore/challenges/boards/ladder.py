"""What a team is told of its scores while a phase runs: all, rounded, by the Ladder, or nothing.

The Ladder (Blum and Hardt, ICML 2015) tells a new score only if it beats the best one told so far
by more than a step. With the step ``auto`` that is one standard error of the paired difference to
the entry told, as in their variant without parameters; here it comes from the resamples.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypedDict, get_args

import numpy as np

from reelscore.challenges.boards.resamples import NO_RESAMPLES, Resamples
from reelscore.challenges.definition.records import Feedback
from reelscore.data.tables.scales import Better
from reelscore.errors import DataError, check_choice

Step = float | Literal["auto"] | None
_COARSE = 0.01  # the automatic step of a first entry whose items all score the same


class ScoreDict(TypedDict):
    """A score as programs and the command line read it."""

    score: float
    interval: list[float] | None
    signature: str


class PeopleScore(TypedDict):
    """A score that people gave, as it is kept."""

    value: float
    low: float | None
    high: float | None
    cluster: int


class PeopleColumn(TypedDict):
    """A column of scores that people gave, as it is kept."""

    score: str
    label: str
    better: Better
    signature: str
    scores: dict[str, PeopleScore]  # by submission


class PeopleResults(TypedDict):
    """What a campaign led to, as it is kept."""

    campaign: str
    columns: list[PeopleColumn]


@dataclass(frozen=True)
class Score:
    """One number of a submission, and how it was made."""

    value: float  # the number
    low: float | None = None  # the lower end of its interval, where it has one
    high: float | None = None  # the upper end
    signature: str = ""  # how it was made
    cluster: int | None = None  # of scores that people gave, the number of the cluster it is in

    @property
    def interval(self) -> tuple[float, float] | None:
        """Its interval, where it has one."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    def to_dict(self) -> ScoreDict:
        """Return it as programs and the command line read it."""
        interval = None if self.interval is None else list(self.interval)
        return {"score": self.value, "interval": interval, "signature": self.signature}

    def rounded(self, step: float) -> Score:
        """Round the number and its interval to a step.

        >>> Score(0.1234, 0.118, 0.1291).rounded(0.01)
        Score(value=0.12, low=0.12, high=0.13, signature='', cluster=None)
        """
        ends = (None if end is None else rounded(end, step) for end in (self.low, self.high))
        low, high = ends
        return replace(self, value=rounded(self.value, step), low=low, high=high)


@dataclass(frozen=True)
class Told:
    """What a team has been told of a split."""

    submission: str  # the submission whose scores these are
    step: float | None  # what they are rounded to; ``None`` where they are exact
    scores: Mapping[str, Score]  # the scores as told, by name
    # the resamples of the submission, as it was scored; never shown
    draws: Resamples = NO_RESAMPLES

    def to_dict(self) -> dict[str, object]:
        """Return it as it is kept, without the draws.

        >>> Told("k3", 0.01, {"cider": Score(0.5)}).to_dict()["scores"]
        {'cider': {'value': 0.5, 'low': None, 'high': None}}
        """
        numbers = {
            name: {"value": score.value, "low": score.low, "high": score.high}
            for name, score in self.scores.items()
        }
        return {"submission": self.submission, "step": self.step, "scores": numbers}


def rounded(value: float, step: float) -> float:
    """Round to a multiple of a step, without the noise of binary fractions.

    >>> rounded(0.1234, 0.005), rounded(7.06, 0.1)
    (0.125, 7.1)
    """
    if not math.isfinite(value):
        return value
    return float(f"{round(value / step) * step:.12g}")


def tell(
    feedback: Feedback,
    submission: str,
    scores: Mapping[str, Score],
    draws: Resamples,
    *,
    primary: str,
    sign: int = 1,
    step: Step = None,
    before: Told | None = None,
) -> Told | None:
    """Decide what a team is told of a submission that was scored."""
    check_choice("feedback", feedback, get_args(Feedback))
    if feedback == "reveal":
        return None
    if feedback == "full":
        return Told(submission, None, dict(scores), draws)
    if feedback == "rounded":
        return _told(submission, scores, draws, _fixed(step, feedback))
    score = scores.get(primary)
    if score is None or math.isnan(score.value):
        return before
    own = automatic_step(draws, primary, before) if step == "auto" else _fixed(step, feedback)
    if before is not None:
        gain = sign * (score.value - before.scores[primary].value)
        if gain <= own or not own:  # without a step, the captions are those told of
            return before
    return _told(submission, scores, draws, own)


def automatic_step(draws: Resamples, primary: str, before: Told | None) -> float:
    """One standard error of the difference to the entry told, or of the first entry's own score.

    It is rounded up to two digits, so that the step itself tells nothing. Between captions that
    score the same in every resample it is 0.

    >>> automatic_step(Resamples({"cider": np.array([0.1, 0.2, 0.3])}), "cider", None)
    0.082
    """
    if primary not in draws.samples:
        raise DataError(
            f"{primary} cannot be resampled, so it has no standard error; give the phase a step "
            "as a number."
        )
    apart = draws.samples[primary]
    if before is not None:
        apart = apart - before.draws.samples[primary]
    error = float(np.std(apart))
    if not error > 0:
        return 0.0 if before is not None else _COARSE
    unit = 10.0 ** (math.floor(math.log10(error)) - 1)
    return float(f"{math.ceil(round(error / unit, 9)) * unit:.12g}")


def _told(submission: str, scores: Mapping[str, Score], draws: Resamples, step: float) -> Told:
    return Told(submission, step, {name: s.rounded(step) for name, s in scores.items()}, draws)


def _fixed(step: Step, feedback: str) -> float:
    if not isinstance(step, (int, float)) or not step > 0:
        raise DataError(f"Feedback {feedback!r} needs a step above 0, such as 0.002.")
    return float(step)
