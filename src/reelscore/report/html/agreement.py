"""What a report says about agreement with people."""

from __future__ import annotations

from reelscore.meta.evaluation import MetaEvaluation
from reelscore.report.html.model import Section
from reelscore.report.tables.agreement import correlation_grid, footnotes, significance_grid


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
