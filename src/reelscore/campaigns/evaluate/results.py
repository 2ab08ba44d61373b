"""From the judgments of a campaign to its results: whose judgments count, and what they say."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import replace

from reelscore.campaigns.evaluate.agreement import Agreement, agreement
from reelscore.campaigns.evaluate.preferences import expected_answers
from reelscore.campaigns.evaluate.quality import (
    Control,
    Quality,
    Repeats,
    check_quality,
    control_of,
    repeated,
)
from reelscore.campaigns.evaluate.scores import Average, HumanScores, Over, score_judgments
from reelscore.campaigns.judgments import Judgment, Judgments
from reelscore.campaigns.protocols import ADEQUACY, FLUENCY
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
        repeats: How far each agrees with themselves.
        notes: What a reader should know.
    """

    scores: HumanScores
    quality: Quality
    raters: tuple[str, ...]
    agreement: Mapping[str, Agreement]
    repeats: Repeats
    notes: tuple[str, ...]

    @property
    def remarks(self) -> list[str]:
        """How far raters agree, by criterion, and with themselves, and the notes."""
        agreed = [
            f"{name}: alpha {each.alpha:.2f}, ICC {each.icc.single:.2f} "
            f"({each.icc.captions:,} captions judged by several)"
            for name, each in self.agreement.items()
            if each.icc.captions
        ]
        return [*agreed, *([str(self.repeats)] if self.repeats.captions else []), *self.notes]


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
        if not quality.used:
            raise NobodyPassedError(len(quality.raters))
        notes += [quality.untested] if quality.untested else []
    else:
        used = judgments.by(set(judgments.rater.names) - set(excluded))
    if len(judgments.criterion.names) > 1:
        control = dataclasses.replace(control, criterion=quality.criterion)
    used = with_combined(used)
    made_by = control.signature if controlled and quality.is_tested else "control:none"
    scores = score_judgments(used, over=over, average=average, made_by=made_by)
    agreed = {name: agreement(used.only(name)) for name in used.criterion.names}
    repeats = repeated(used.only(quality.criterion))
    return Results(scores, quality, used.rater.names, agreed, repeats, (*notes, *scores.notes))


COMBINED = "combined"  # adequacy and fluency


def with_combined(judgments: Judgments) -> Judgments:
    """Add adequacy and fluency as one criterion, where both were asked: the mean of a task's two.

    What BERTHA is trained with (Lebron et al., 2022, section 4.2) combines them; z is computed of
    it as of any other criterion.
    """
    if set(judgments.criterion.names) != {ADEQUACY.name, FLUENCY.name}:
        return judgments
    first: dict[tuple[str, str, str], Judgment] = {}
    both = []
    for row in judgments:
        other = first.setdefault((row.rater, row.hit, row.task), row)
        if other.criterion != row.criterion:
            z = None if row.z is None or other.z is None else (row.z + other.z) / 2
            score = (row.score + other.score) / 2
            both.append(replace(row, criterion=COMBINED, score=score, z=z))
    return Judgments.of([*judgments, *both])


def campaign_quality(
    campaign: Campaign, judgments: Judgments, control: Control | None = None
) -> Quality:
    """Judge the raters of a campaign: the one rule of whose judgments count.

    Of ratings, the control decides that its settings ask for, unless another is given; of rankings
    and comparisons, the questions with known answers.
    """
    tests = None
    if campaign.protocol.form != "rating":
        tests = expected_answers(campaign.hits())
    return check_quality(
        judgments,
        control or control_of(campaign.settings, {}),
        humans=campaign.humans,
        excluded=campaign.excluded(),
        tests=tests,
    )


def evaluate_campaign(
    campaign: Campaign, judgments: Judgments, control: Control | None = None, **choices: Any
) -> Results:
    """Evaluate a campaign of ratings; see `evaluate_ratings` for the choices."""
    if campaign.protocol.form != "rating":
        raise DataError(
            f"Campaign {campaign.id!r} has no ratings; it asks for {campaign.protocol.name}."
        )
    return evaluate_ratings(
        judgments,
        control or control_of(campaign.settings, {}),
        humans=campaign.humans,
        excluded=campaign.excluded(),
        **choices,
    )
