"""Reports about people: how well metrics agree with them, and the results of a campaign."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from reelscore.human.evaluate.results import Results
from reelscore.human.hits.tasks import Hit
from reelscore.meta.evaluation import MetaEvaluation
from reelscore.report.html.model import Report, Section
from reelscore.report.tables.agreement import correlation_grid, footnotes, significance_grid
from reelscore.report.tables.campaign import quality_grid, results_grid
from reelscore.significance.evidence import Evidence
from reelscore.significance.rankings import Ranking


def agreement_sections(found: MetaEvaluation) -> list[Section]:
    """Set out correlations, and a table for each test, to stand below a report's leaderboard.

    >>> from reelscore import score_systems
    >>> from reelscore.data.table import ScoreTable
    >>> from reelscore.examples import clips, path
    >>> from reelscore.meta.evaluation import evaluate_metrics
    >>> people = ScoreTable.read(path("clips/judgments.csv"), repeats="mean")
    >>> found = evaluate_metrics(score_systems(*clips(), "meteor,cider"), people,
    ...                          level="pooled", tests=["williams"])
    >>> [section.title for section in agreement_sections(found)]
    ['Agreement with people', 'Which metric agrees better: williams']
    """
    level = f"level: {found.level}"
    about = [f"Correlations, {level}.", *footnotes(found.correlations), *found.cells.notes]
    grids = [correlation_grid(found.correlations)]
    sections = [Section("Agreement with people", about, grids, lead=True)]
    for test in found.tests:
        text = (
            f"p that the row agrees better with people than the column; * p < "
            f"{test.significant:g}, {test.coefficient}, {level}."
        )
        heading = f"Which metric agrees better: {test.test}"
        grid = significance_grid(test)
        sections.append(Section(heading, [text], [grid], [test.signature], lead=True))
    return sections


def campaign_report(
    title: str,
    results: Results,
    ranking: Ranking,
    *,
    hits: Iterable[Hit] = (),
    command: str = "",
) -> Report:
    """Put the results of a campaign into a report.

    Args:
        title: The campaign's name.
        results: What it found.
        ranking: Who beats whom.
        hits: What raters were shown, for the captions.
        command: The command that made the report.
    """
    control = results.quality.control
    about = f"one-sided rank-sum test on {ranking.metric}"
    evidence = Evidence(
        ranking.metric, ranking.systems, ranking.p, ranking.wins, about, ranking.level
    )
    used, judged = len(results.raters), len(results.quality.raters)
    return Report(
        results.scores.table,
        title=title,
        human=results.scores.table.metrics,
        captions=_captions(hits),
        evidence=[evidence],
        sections=[
            Section(
                "Ranks",
                [
                    f"By {used} of {judged} raters. Systems in one cluster cannot all be told "
                    "apart; ranks are the places a system could have.",
                    *_agreement(results),
                ],
                [results_grid(results.scores, ranking)],
                lead=True,
            ),
            Section(
                "Raters",
                [
                    f"A rater passes with p below {control.level:g} on {control.pairs} or more "
                    "pairs of a caption and its degraded caption. Columns: mean difference of the "
                    "pairs, p, mean difference between two scores of one caption, seconds for a "
                    "task, and what to look at."
                ],
                [quality_grid(results.quality)],
            ),
        ],
        command=command,
        notes=results.notes,
    )


def _captions(hits: Iterable[Hit]) -> Mapping[str, Mapping[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for hit in hits:
        for task in hit.tasks:
            for shown in task.shown:
                if shown.kind == "caption" and shown.text:
                    found.setdefault(shown.system, {})[task.item] = shown.text
    return found


def _agreement(results: Results) -> Iterable[str]:
    for name, each in results.agreement.items():
        if each.icc.captions:
            yield (
                f"{name}: Krippendorff's alpha {each.alpha:.2f}, ICC {each.icc.single:.2f} "
                f"({each.icc.captions:,} captions judged by several raters)."
            )
