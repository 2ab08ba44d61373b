"""What a team is told of its scores while a phase runs: all, rounded, by the Ladder, or nothing.

The Ladder (Blum and Hardt, ICML 2015) tells a new score only if it beats the best one told so far
by more than a step. With the step ``auto`` that is one standard error of the paired difference to
the entry told, as in their variant without parameters; here it comes from the resamples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from msgspec import structs

from reelscore.challenges.definition.records import Feedback
from reelscore.challenges.store.kept_scores import Results, score_form
from reelscore.data.tables.table import Draws, MetricResult
from reelscore.errors import DataError, check_choice

Step = float | Literal["auto"] | None
_COARSE = 0.01  # the automatic step of a first entry whose items all score the same


@dataclass(frozen=True)
class Told:
    """What a team has been told of a split."""

    submission: str  # the submission whose scores these are
    step: float | None  # what they are rounded to; ``None`` where they are exact
    # the scores as told; with the resamples of the submission as it was scored, never shown
    scores: Results

    def to_dict(self) -> dict[str, object]:
        """Return it as it is kept, without the draws."""
        numbers = {name: score_form(score) for name, score in self.scores.items()}
        return {"submission": self.submission, "step": self.step, "scores": numbers}

    def of_results(self, results: Results) -> Told:
        """Return it with the signatures and resamples of the submission, as it was scored."""
        scores = {
            name: structs.replace(results[name], score=own.score, interval=own.interval)
            for name, own in self.scores.items()
            if name in results
        }
        return replace(self, scores=scores)

    def shown(self) -> Results:
        """Return scores whose resamples are rounded as they are, so that they tell no more."""
        return {name: _with_rounded_draws(own, self.step) for name, own in self.scores.items()}


def _with_rounded_draws(result: MetricResult, step: float | None) -> MetricResult:
    drawn = result.drawn
    if drawn is None or step is None:
        return result
    draws = Draws.of_scores(result.metric, (drawn / step).round() * step)
    return structs.replace(result, draws=draws)


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
    scores: Results,
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
        return Told(submission, None, dict(scores))
    if feedback == "rounded":
        return _told(submission, scores, _fixed(step, feedback))
    score = scores.get(primary)
    if score is None or math.isnan(score.score):
        return before
    told = None if before is None else before.scores[primary]
    own = automatic_step(score, told) if step == "auto" else _fixed(step, feedback)
    if told is not None:
        gain = sign * (score.score - told.score)
        if gain <= own or not own:  # without a step, the captions are those told of
            return before
    return _told(submission, scores, own)


def automatic_step(score: MetricResult, told: MetricResult | None) -> float:
    """One standard error of the difference to the score told, or of the first entry's own score.

    It is rounded up to two digits, so that the step itself tells nothing. Between captions that
    score the same in every resample it is 0.

    >>> draws = Draws.of_scores("cider", np.array([0.1, 0.2, 0.3]))
    >>> automatic_step(MetricResult("cider", 0.2, draws=draws), None)
    0.082
    """
    apart = score.drawn
    if apart is None:
        raise DataError(
            f"{score.metric} cannot be resampled, so it has no standard error; give the phase a "
            "step as a number."
        )
    if told is not None and told.drawn is not None:
        apart = apart - told.drawn
    error = float(np.std(apart))
    if not error > 0:
        return _COARSE if told is None else 0.0
    unit = 10.0 ** (math.floor(math.log10(error)) - 1)
    return float(f"{math.ceil(round(error / unit, 9)) * unit:.12g}")


def _told(submission: str, scores: Results, step: float) -> Told:
    return Told(submission, step, {name: _rounded(own, step) for name, own in scores.items()})


def _rounded(result: MetricResult, step: float) -> MetricResult:
    ends = result.interval
    interval = ends and (rounded(ends[0], step), rounded(ends[1], step))
    return structs.replace(result, score=rounded(result.score, step), interval=interval)


def _fixed(step: Step, feedback: str) -> float:
    if not isinstance(step, (int, float)) or not step > 0:
        raise DataError(f"Feedback {feedback!r} needs a step above 0, such as 0.002.")
    return float(step)
