"""Which judgments count: those of raters who are neither left out by decision nor by a test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reelscore.human.evaluate.preferences import check_raters, expected_answers
from reelscore.human.evaluate.quality import Control, check_quality
from reelscore.human.judgments import Judgments

if TYPE_CHECKING:
    from reelscore.human.campaign import Campaign

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
    """Tell the judgments that count from the others.

    Excluded raters never count. Of ratings, quality control says who does; of rankings and
    comparisons, raters with a rejected HIT do not count, nor those who were asked test questions
    and did not answer them all.

    Args:
        campaign: The campaign.
        judgments: Its judgments, as a rule those of finished HITs.
        control: What raters of ratings must show.
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
