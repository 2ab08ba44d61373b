"""The results of a campaign as a report."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from reelscore.campaigns.evaluate.quality import Quality
from reelscore.campaigns.evaluate.results import Results
from reelscore.campaigns.evaluate.scores import HumanScores
from reelscore.campaigns.hits.tasks import Hit, captions_shown
from reelscore.campaigns.report.tables import quality_grid, results_grid
from reelscore.data.checks import counted
from reelscore.report.html.contents import Report, Section
from reelscore.report.pages import render, style_sheet
from reelscore.report.safe_text import shared_beginning, system_names
from reelscore.report.tables.grid import Cell, Grid, p_value
from reelscore.significance.comparison import Comparison


def campaign_report(
    title: str,
    results: Results,
    ranking: Comparison,
    *,
    hits: Iterable[Hit] = (),
    command: str = "",
) -> Report:
    """Put the results of a campaign into a report."""
    method = f"{ranking.method} on {ranking.metric}"
    used, judged = len(results.raters), len(results.quality.raters)
    return Report(
        results.scores.table,
        title=title,
        human=results.scores.table.metrics,
        captions=captions_shown(hits),
        tests=[replace(ranking, method=method)],
        sections=[
            Section(
                "Ranks",
                [
                    f"By {used} of {counted(judged, 'rater')}. Systems in one cluster cannot all "
                    "be told apart; ranks are the places a system could have.",
                    *results.remarks,
                ],
                [results_grid(results.scores, ranking)],
                lead=True,
            ),
            Section("Raters", [_about_raters(results.quality)], [quality_grid(results.quality)]),
        ],
        command=command,
    )


@dataclass(frozen=True)
class RankedSystems:
    """Systems as people rank them by one criterion, in the tables that pages show."""

    ranking: Comparison  # the systems, best first, with their tests
    scores: Grid  # a row for each system: scores, counts, ranks and cluster
    wins: Grid  # the p-values of all pairs; those of wins are marked as best
    names: Mapping[str, str]  # what pages call each system
    edges: Mapping[int, str]  # the class of the rows with which another cluster begins

    @classmethod
    def of(cls, scores: HumanScores, ranking: Comparison) -> RankedSystems:
        """Lay out a ranking and the scores it was made of."""
        names = system_names(ranking.systems)
        pairs = pairwise(ranking.clusters.values())
        edges = {k: "edge" for k, (above, own) in enumerate(pairs, start=1) if above != own}
        level = ranking.level
        rows = [
            [
                Cell(name),
                *(Cell("" if math.isnan(p) else p_value(p), best=p < level) for p in row.tolist()),
            ]
            for name, row in zip(names.values(), ranking.p, strict=True)
        ]
        wins = Grid(["", *names.values()], rows)
        return cls(ranking, results_grid(scores, ranking), wins, names, edges)


def results_html(title: str, results: Results, rankings: Sequence[Comparison]) -> str:
    """Write the results of a campaign as one HTML page to keep; it has no scripts."""
    table = results.scores.table
    verdicts = quality_grid(results.quality)
    failed = ("failed", "constant")
    return render(
        "results.html",
        title=title,
        style=style_sheet("results.css"),
        judgments=sum(map(results.scores.judgments, table.systems)),
        raters=len(results.raters),
        quality=results.quality,
        beginning=shared_beginning(table.systems),
        notes=results.remarks,
        ranked=[RankedSystems.of(results.scores, ranking) for ranking in rankings],
        about_raters=_about_raters(results.quality),
        verdicts=verdicts,
        failed={k: "failed" for k, row in enumerate(verdicts.rows) if row[1].text in failed},
        signature=next(iter(table[rankings[0].systems[0]].values())).signature,
    )


def _about_raters(quality: Quality) -> str:
    control = quality.control
    return (
        f"A rater passes with p below {control.level:g} on {control.pairs} or more pairs of a "
        f"caption and its degraded caption, by {quality.criterion}. Columns: mean difference of "
        "the pairs, p, mean difference between two scores of one caption, seconds for a task, and "
        "what to look at."
    )
