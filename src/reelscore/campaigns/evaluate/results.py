"""From the judgments of a campaign to its results: whose judgments count, and what they say."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reelscore.campaigns.evaluate.agreement import Agreement, agreement
from reelscore.campaigns.evaluate.preferences import check_raters, expected_answers
from reelscore.campaigns.evaluate.quality import Control, Quality, check_quality
from reelscore.campaigns.evaluate.scores import Average, HumanScores, Over, score_judgments
from reelscore.campaigns.judgments import Judgments
from reelscore.errors import DataError, NobodyPassedError

if TYPE_CHECKING:
    from reelscore.campaigns.campaign import Campaign


@dataclass(frozen=True)
class Results:
    """What a campaign found.

    Attributes:
        scores: Of systems and captions.
        quality: The verdict on every rater.
        raters: Whose judgments count.
        agreement: How far these agree, by criterion.
        notes: What a reader should know.
    """

    scores: HumanScores
    quality: Quality
    raters: tuple[str, ...]
    agreement: Mapping[str, Agreement]
    notes: tuple[str, ...]


def evaluate_ratings(
    judgments: Judgments,
    control: Control | None = None,
    *,
    controlled: bool | None = None,
    over: Over | None = None,
    average: Average = "judgments",
    humans: Collection[str] = (),
    excluded: Collection[str] = (),
) -> Results:
    """Control the raters, and score by those who can be trusted.

    Args:
        judgments: Everything the raters said.
        control: What raters must show.
        controlled: Whether those who did not pass are left out. If not said, they are, unless the
            judgments came standardized: then they are of raters who passed elsewhere.
        over: See `reelscore.campaigns.evaluate.scores.standardize`.
        average: See `reelscore.campaigns.evaluate.scores.score_judgments`.
        humans: The systems that are people.
        excluded: Raters whom the organisers have excluded.

    Raises:
        DataError: If there are no judgments, or no rater passed.

    >>> from reelscore.campaigns.judgments import Judgment
    >>> rows = [Judgment(rater, "h1", f"{kind}{k}", k, "human", f"v{k}", kind, score * (k + 1))
    ...         for rater, degraded in (("r1", 1.0), ("r2", 9.0)) for k in range(10)
    ...         for kind, score in (("caption", 9.0), ("degraded", degraded))]
    >>> results = evaluate_ratings(Judgments.of(rows))
    >>> results.raters, results.scores.table["human"]["raw"].score
    (('r1',), 49.5)
    """
    if not len(judgments):
        raise DataError(
            "There are no judgments to evaluate; they count when their HIT is finished."
        )
    control = control or Control()
    quality = check_quality(judgments, control, humans=humans, excluded=excluded)
    notes = []
    if controlled is None:
        came_standardized = not np.isnan(judgments.z).any()
        controlled = not came_standardized
        if came_standardized:
            notes.append(
                "The judgments are imported z scores of raters who passed elsewhere: all are used."
            )
    if controlled:
        used = quality.good(judgments)
        if not quality.passed:
            raise NobodyPassedError(len(quality.raters))
    else:
        used = judgments.by(set(judgments.rater.names) - set(excluded))
    made_by = control.signature if controlled else "control:none"
    scores = score_judgments(used, over=over, average=average, made_by=made_by)
    agreed = {name: agreement(used.only(name)) for name in used.criterion.names}
    return Results(scores, quality, used.rater.names, agreed, (*notes, *scores.notes))


POOR = ("failed", "constant", "rejected", "excluded")  # verdicts that more work does not change


@dataclass(frozen=True)
class Usable:
    """What counts of a campaign.

    Attributes:
        judgments: Those that count.
        poor: Raters whose judgments do not, and whose HITs somebody else should do.
        asked: How many raters were asked test questions.
    """

    judgments: Judgments
    poor: frozenset[str]
    asked: int = 0


def usable(campaign: Campaign, judgments: Judgments, control: Control | None = None) -> Usable:
    """Separate the judgments that count from the others.

    Excluded raters never count. Of ratings, quality control says who does; of rankings and
    comparisons, raters with a rejected HIT do not count, nor those who were asked test questions
    and did not answer them all.
    """
    excluded = campaign.excluded()
    if campaign.protocol.form == "rating":
        quality = check_quality(judgments, control, humans=campaign.humans, excluded=excluded)
        poor = {rater.rater for rater in quality.raters if rater.verdict in POOR}
        return Usable(quality.good(judgments), frozenset(poor))
    rejected = set(judgments.select(judgments.status["rejected"]).rater.names)
    poor = set(judgments.rater.names) & (excluded | rejected)
    kept = judgments.by(set(judgments.rater.names) - poor)
    expected = expected_answers(campaign.hits())
    if not expected:
        return Usable(kept, frozenset(poor))
    check = check_raters(kept, expected)
    return Usable(kept.by(check.faithful), frozenset(poor | set(check.dropped)), len(check.answers))
