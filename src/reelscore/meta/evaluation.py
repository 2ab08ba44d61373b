"""Meta-evaluation in one call: score tables and human judgments in, everything out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from reelscore._progress import Progress
from reelscore.data.tables.table_forms import TableLike
from reelscore.meta.correlation import (
    BY_GROUP,
    DEFAULT_COEFFICIENTS,
    Correlation,
    IntervalMethod,
    correlate_metrics,
    with_intervals,
)
from reelscore.meta.metric_tests import Test, compare_metrics
from reelscore.meta.paired_scores import Cells, SystemScores, bring_together
from reelscore.significance.comparison import Comparison
from reelscore.stats.corrections import Correction
from reelscore.stats.correlations import Level


@dataclass(frozen=True)
class MetaEvaluation:
    """How well metrics agree with people, and which agree better than others.

    Attributes:
        level: What was correlated.
        cells: The scores it rests on.
        correlations: One for each metric and coefficient.
        tests: One comparison of the metrics for each test, by the first coefficient that can be
            tested.
    """

    level: Level
    cells: Cells
    correlations: Sequence[Correlation]
    tests: Sequence[Comparison]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "level": self.level,
            "systems": list(self.cells.systems),
            "items": len(self.cells.items),
            "notes": list(self.cells.notes),
            "correlations": [each.to_dict() for each in self.correlations],
            "tests": [self._test(each) for each in self.tests],
        }

    def _test(self, tests: Comparison) -> dict[str, Any]:
        ranks, clusters = (
            [numbers.get(metric, 1) for metric in tests.systems]
            for numbers in (tests.ranks, tests.clusters)
        )
        plain = tests.to_dict()
        return {
            "test": tests.test,
            "coefficient": tests.metric,
            "level": self.level,
            "metrics": list(tests.systems),
            "values": [each["score"] for each in plain["systems"]],
            "p": plain["p"],
            "ranks": ranks,
            "clusters": clusters,
            "significant": tests.level,
            "signature": tests.signature,
        }


def default_tests(level: Level) -> tuple[Test, ...]:
    """The tests that fit a level: Williams' where there is one correlation to test.

    >>> default_tests("item")
    ('perm-both',)
    """
    return ("williams", "perm-both") if level in ("system", "pooled") else ("perm-both",)


def evaluate_metrics(
    metrics: TableLike,
    human: TableLike,
    *,
    column: str | None = None,
    level: Level = "system",
    coefficients: Sequence[str] = DEFAULT_COEFFICIENTS,
    tests: Sequence[Test] | None = None,
    intervals: IntervalMethod | None = None,
    system_scores: SystemScores = "means",
    match_ids: str | None = None,
    correction: Correction = "none",
    significant: float = 0.05,
    draws: int = 1000,
    seed: int = 12345,
    progress: Progress | None = None,
) -> MetaEvaluation:
    """Correlate metrics with people and test the differences.

    Args:
        metrics: The metrics' scores, in any form: a table, a file, several, a data frame.
        human: People's scores, likewise; several of a caption are averaged.
        column: Which of the human table's scores to use, where it has several.
        level: ``system``, ``item``, ``pooled`` or ``per-system``.
        coefficients: Names out of `reelscore.meta.correlation.COEFFICIENTS`; the first that can
            be tested is.
        tests: Names out of `reelscore.meta.metric_tests.TESTS`; `default_tests` if not given.
        intervals: How to make intervals of the correlations; none if not given.
        system_scores: As in `reelscore.meta.paired_scores.bring_together`.
        match_ids: As in `reelscore.meta.paired_scores.bring_together`.
        correction: As in `reelscore.meta.metric_tests.compare_metrics`.
        significant: As in `reelscore.meta.metric_tests.compare_metrics`.
        draws: Exchanges of the permutation tests, and resamples of the bootstrap.
        seed: Random seed of both.
        progress: Called with how many draws of a test are done, of how many.

    Returns:
        Correlations and tests.

    >>> from reelscore import ScoreTable, score_systems
    >>> from reelscore.examples import clips, path
    >>> table = score_systems(*clips(), "meteor,cider")
    >>> people = ScoreTable.read(path("clips/judgments.csv"), repeats="mean")
    >>> evaluation = evaluate_metrics(table, people, level="pooled", coefficients=["pearson"])
    >>> {r.metric: round(r.value, 2) for r in evaluation.correlations}
    {'meteor': 0.61, 'cider': 0.81}
    """
    cells = bring_together(
        metrics, human, column=column, system_scores=system_scores, match_ids=match_ids
    )
    correlations = correlate_metrics(cells, level, coefficients)
    if intervals is not None:
        correlations = with_intervals(
            correlations, cells, intervals, resamples=draws, seed=seed, progress=progress
        )
    tested = next((name for name in coefficients if name in BY_GROUP), None)
    matrices = []
    if tested is not None and len(cells.metrics) > 1:
        matrices = [
            compare_metrics(
                cells,
                level,
                tested,
                test,
                trials=draws,
                seed=seed,
                correction=correction,
                significant=significant,
                progress=progress,
            )
            for test in (default_tests(level) if tests is None else tests)
        ]
    return MetaEvaluation(level, cells, correlations, matrices)
