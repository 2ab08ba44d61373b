"""Results of rankings and comparisons as tables."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations

from reelscore.human.campaign import Campaign
from reelscore.human.comparisons import score_against_reference, score_choices
from reelscore.human.judgments import Judgments
from reelscore.human.preferences import check_raters, score_preferences
from reelscore.human.ranking import score_rankings
from reelscore.report.agreement import p_value
from reelscore.report.grid import Cell, Grid


def vote_grids(campaign: Campaign) -> Iterator[tuple[str, Grid]]:
    """Give tables with their headings: mean ranks, points, choices or preferences.

    Raises:
        DataError: If there is nothing to count yet.
    """
    judgments = _trusted(campaign, campaign.judgments(finished=True))
    if campaign.protocol.form == "ranking":
        yield from _ranks(judgments)
    elif campaign.protocol.name == "against-reference":
        yield _points(judgments, next(iter(campaign.settings.get("humans", [])), "reference"))
    elif campaign.protocol.name == "preference":
        yield _preferences(judgments)
    else:
        yield _choices(judgments)


def _trusted(campaign: Campaign, judgments: Judgments) -> Judgments:
    """Keep raters who are not excluded and answered the test questions, where there are any."""
    judgments = judgments.by(set(judgments.rater.names) - campaign.excluded())
    expected = {
        task.id: task.expected
        for hit in campaign.hits()
        for task in hit.tasks
        if task.expected is not None
    }
    return judgments.by(check_raters(judgments, expected).faithful) if expected else judgments


def _ranks(judgments: Judgments) -> Iterator[tuple[str, Grid]]:
    for each in score_rankings(judgments).criteria.values():
        rows = [
            [Cell(system), Cell(f"{rank:.2f}"), Cell(_percent(each.first[system]))]
            for system, rank in each.ranks.items()
        ]
        heading = (
            f"{each.criterion}: {each.rankings} rankings of {each.items} videos, Friedman p "
            f"{p_value(each.friedman.p)}"
        )
        yield heading, Grid(["system", "mean rank", "first, %"], rows)


def _points(judgments: Judgments, reference: str) -> tuple[str, Grid]:
    rows = [
        [
            Cell(each.system),
            Cell(_percent(each.points)),
            Cell(_percent(each.better)),
            Cell(_percent(each.similar)),
            Cell(f"{each.items}"),
        ]
        for each in score_against_reference(judgments, reference=reference).standings
    ]
    heading = "A point: 2 of 3 raters find the caption as good as the reference, or better; in %"
    return heading, Grid(["system", "points", "better", "similar", "videos"], rows)


def _choices(judgments: Judgments) -> tuple[str, Grid]:
    rows = []
    for each in score_choices(judgments):
        shares = [
            Cell(f"{_percent(each.majority[name])} ({_percent(each.agreed[name])})")
            for name in each.systems
        ]
        rows.append(
            [Cell(each.criterion), *map(Cell, each.systems), *shares, Cell(f"{each.items}")]
        )
    columns = ["criterion", "first", "second", "first, %", "second, %", "videos"]
    return "By majority of raters; in brackets where 4 of 5 agree", Grid(columns, rows, 3)


def _preferences(judgments: Judgments) -> tuple[str, Grid]:
    captions = judgments.select(judgments.is_kind("caption"))
    pairs = {frozenset((row.system, row.against)) for row in captions}
    systems = sorted({name for pair in pairs for name in pair})
    rows = []
    for one, other in combinations(systems, 2):
        if {one, other} in pairs:
            each = score_preferences(captions, one, other)
            shares = (each.won, each.lost, each.tied)
            cells = [Cell(_percent(share)) for share in shares]
            rows.append([Cell(one), Cell(other), *cells, Cell(f"{len(each.items)}")])
    columns = ["first", "second", "first, %", "second, %", "neither, %", "videos"]
    return "Whom people prefer, in % of videos", Grid(columns, rows, 2)


def _percent(share: float) -> str:
    return "–" if math.isnan(share) else f"{100 * share:.1f}"
