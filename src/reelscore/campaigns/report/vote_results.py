"""What rankings and comparisons say, for the command line and the page of organisers alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import NamedTuple

from reelscore.campaigns.evaluate.preferences import score_all_preferences
from reelscore.campaigns.evaluate.rankings import score_rankings
from reelscore.campaigns.evaluate.votes import score_against_reference, score_choices
from reelscore.campaigns.judgments import Judgments
from reelscore.campaigns.protocols import Protocol
from reelscore.campaigns.report import tables
from reelscore.data.tables.table import ScoreTable
from reelscore.report.tables.grid import Grid


class VoteResults(NamedTuple):
    """What raters said who put captions in order or chose among them."""

    grid: Grid  # the results as a table to show
    notes: Sequence[str]  # how to read it, and what else there is to know
    plain: object  # the results as JSON has them
    table: ScoreTable | None  # the scores of the systems, if the votes are scores
    why: str = ""  # why there are none


def vote_results(judgments: Judgments, asked: Protocol, reference: str) -> VoteResults:
    """Return mean ranks, points beside the reference, choices or preferences."""
    if asked.form == "ranking":
        ranked = score_rankings(judgments)
        notes = [tables.RANKS, *tables.ranking_notes(ranked)]
        plain = {name: each.to_dict() for name, each in ranked.criteria.items()}
        return VoteResults(tables.ranking_grid(ranked), notes, plain, ranked.table)
    if asked.name == "against-reference":
        points = score_against_reference(judgments, reference=reference)
        standings = [asdict(each) for each in points.standings]
        grid = tables.points_grid(points.standings)
        return VoteResults(grid, [tables.POINTS], standings, points.table)
    if asked.name == "preference":
        found = score_all_preferences(judgments)
        return VoteResults(
            tables.preferences_grid(found),
            [tables.PREFERENCES],
            [asdict(each) for each in found],
            found[0].table() if len(found) == 1 else None,
            "Preferences of several pairs are not scores of systems: no table is written.",
        )
    choices = score_choices(judgments)
    return VoteResults(
        tables.choices_grid(choices, judgments),
        [tables.CHOICES],
        [asdict(each) for each in choices],
        None,
        "Choices between pairs are not scores of systems: no table is written.",
    )
