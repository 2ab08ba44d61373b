"""Results of rankings and comparisons as tables."""

from __future__ import annotations

from reelscore.human.campaign import Campaign
from reelscore.human.evaluate.preferences import score_all_preferences
from reelscore.human.evaluate.rankings import score_rankings
from reelscore.human.evaluate.usable import usable
from reelscore.human.evaluate.votes import score_against_reference, score_choices
from reelscore.report.tables import votes
from reelscore.report.tables.grid import Grid


def vote_table(campaign: Campaign) -> tuple[Grid, list[str]]:
    """Give a table with notes: mean ranks, points, choices or preferences.

    Raises:
        DataError: If there is nothing to count yet.
    """
    judgments = usable(campaign, campaign.judgments(finished=True)).judgments
    if campaign.protocol.form == "ranking":
        found = score_rankings(judgments)
        notes = [votes.RANKS, *votes.ranking_notes(found)]
        return votes.ranking_grid(found), notes
    if campaign.protocol.name == "against-reference":
        reference = next(iter(campaign.humans), "reference")
        points = score_against_reference(judgments, reference=reference)
        return votes.points_grid(points.standings), [votes.POINTS]
    if campaign.protocol.name == "preference":
        preferences = score_all_preferences(judgments)
        return votes.preferences_grid(preferences), [votes.PREFERENCES]
    choices = score_choices(judgments)
    return votes.choices_grid(choices, judgments), [votes.CHOICES]
