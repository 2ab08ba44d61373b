"""Results of rankings and comparisons as tables."""

from __future__ import annotations

from reelscore.human.campaign import Campaign
from reelscore.human.comparisons import score_against_reference, score_choices
from reelscore.human.preferences import score_all_preferences
from reelscore.human.ranking import score_rankings
from reelscore.human.usable import usable
from reelscore.report import vote_grids
from reelscore.report.grid import Grid


def vote_table(campaign: Campaign) -> tuple[Grid, list[str]]:
    """Give a table with notes: mean ranks, points, choices or preferences.

    Raises:
        DataError: If there is nothing to count yet.
    """
    judgments = usable(campaign, campaign.judgments(finished=True)).judgments
    if campaign.protocol.form == "ranking":
        found = score_rankings(judgments)
        notes = [vote_grids.RANKS, *vote_grids.ranking_notes(found)]
        return vote_grids.ranking_grid(found), notes
    if campaign.protocol.name == "against-reference":
        reference = next(iter(campaign.humans), "reference")
        points = score_against_reference(judgments, reference=reference)
        return vote_grids.points_grid(points.standings), [vote_grids.POINTS]
    if campaign.protocol.name == "preference":
        preferences = score_all_preferences(judgments)
        return vote_grids.preferences_grid(preferences), [vote_grids.PREFERENCES]
    choices = score_choices(judgments)
    return vote_grids.choices_grid(choices, judgments), [vote_grids.CHOICES]
