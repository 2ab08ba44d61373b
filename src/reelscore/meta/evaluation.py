"""Meta-evaluation: score tables and human judgments in; correlations, tests and ranks out.

`evaluate_metrics` does everything; `compare_metrics` tests of all pairs of metrics which agrees
better with people.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np

from reelscore._progress import Progress
from reelscore.data.tables.table_forms import TableLike
from reelscore.errors import DataError, check_choice
from reelscore.meta.correlation import (
    BY_GROUP,
    DEFAULT_COEFFICIENTS,
    Correlation,
    IntervalMethod,
    correlate_metrics,
    with_intervals,
)
from reelscore.meta.paired_scores import Cells, SystemScores, bring_together
from reelscore.significance.comparison import Comparison
from reelscore.stats.corrections import Correction
from reelscore.stats.correlation_tests import Tested, meng, steiger, williams
from reelscore.stats.correlations import (
    Level,
    Units,
    correlate,
    in_groups,
    known,
    pearson,
    spearman,
)
from reelscore.stats.permutation import permutation_test
from reelscore.stats.resampling import FloatArray

Test = Literal[
    "williams", "williams-abs", "steiger", "meng", "perm-systems", "perm-items", "perm-both"
]
TESTS: tuple[Test, ...] = get_args(Test)
_ANALYTIC: dict[str, Callable[..., Tested]] = {
    "williams": williams,
    "williams-abs": partial(williams, absolute=True),
    "steiger": steiger,
    "meng": meng,
}
_SWAPS: dict[str, Units] = {"perm-systems": "systems", "perm-items": "items", "perm-both": "both"}


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
    """Return the tests that fit a level: Williams' where there is one correlation to test.

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
        tests: Names out of `TESTS`; `default_tests` if not given.
        intervals: How to make intervals of the correlations; none if not given.
        system_scores: As in `reelscore.meta.paired_scores.bring_together`.
        match_ids: As in `reelscore.meta.paired_scores.bring_together`.
        correction: As of `compare_metrics`.
        significant: As of `compare_metrics`.
        draws: Exchanges of the permutation tests, and resamples of the bootstrap.
        seed: Random seed of both.
        progress: Called with how many draws of a test are done, of how many.

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


def compare_metrics(
    cells: Cells,
    level: Level = "system",
    coefficient: str = "pearson",
    test: Test = "williams",
    *,
    trials: int = 1000,
    seed: int = 12345,
    correction: Correction = "none",
    significant: float = 0.05,
    progress: Progress | None = None,
) -> Comparison:
    """Test for every pair of metrics which agrees better with people.

    Each pair is tested on the captions that both score and people judged.

    Args:
        cells: The scores.
        level: What is correlated.
        coefficient: Pearson, or any other that is averaged over groups; Williams, Steiger and
            Meng take Pearson or Spearman, of systems or pooled captions.
        test: ``williams``; ``williams-abs``, of the sizes of the correlations; ``steiger``;
            ``meng``; or by permutation: ``perm-systems``, ``perm-items``, ``perm-both``.
        trials: Exchanges of a permutation test.
        seed: Random seed of a permutation test.
        correction: Correction of the p-values of the better against the worse, for their number.
        significant: Below this p a metric wins against another.
        progress: Called with how many exchanges are done, of how many.

    Returns:
        One-sided tests: does the row agree better with people than the column? Metrics stand in
        order, the one that agrees best first; their scores are the coefficients, by
        ``williams-abs`` the sizes of the coefficients.

    >>> rng = np.random.default_rng(0)
    >>> human = rng.normal(size=(5, 40))
    >>> noise = rng.normal(size=(3, 5, 40))
    >>> metrics = {"good": human + noise[0], "fair": human + 2 * noise[1], "bad": noise[2]}
    >>> cells = Cells("abcde", [str(k) for k in range(40)], human, metrics)
    >>> compare_metrics(cells, "pooled", test="perm-both").ranks
    {'good': 1, 'fair': 2, 'bad': 3}
    """
    check_choice("test", test, TESTS)
    if coefficient not in BY_GROUP:
        raise DataError(f"{coefficient} cannot be tested; use one of {', '.join(BY_GROUP)}.")
    values = {
        name: float(correlate(*cells.pair(name), level, BY_GROUP[coefficient]))
        for name in cells.metrics
    }
    if test == "williams-abs":
        values = {name: abs(value) for name, value in values.items()}
    names = sorted(values, key=lambda name: (math.isnan(values[name]), -values[name]))
    if test in _SWAPS:
        p = _permuted(cells, names, level, coefficient, _SWAPS[test], trials, seed, progress)
        how = f"|trials:{trials}|seed:{seed}"
    else:
        p = _analytic(cells, names, level, coefficient, test)
        how = ""
    return Comparison.of(
        coefficient,
        names,
        [values[name] for name in names],
        p,
        correction,
        sides=1,
        level=significant,
        method=test,
        signature=f"{test}|{coefficient}|level:{level}|side:one|correction:{correction}{how}",
    )


def _permuted(
    cells: Cells,
    names: Sequence[str],
    level: Level,
    coefficient: str,
    swap: Units,
    trials: int,
    seed: int,
    progress: Progress | None,
) -> FloatArray:
    """Permute; pairs of metrics that score the same captions go together."""
    scores = np.stack([cells.metrics[name] for name in names])
    there = known(cells.human) & known(scores)
    sharing: dict[bytes, list[tuple[int, int]]] = {}
    for a, b in combinations(range(len(names)), 2):
        sharing.setdefault((there[a] & there[b]).tobytes(), []).append((a, b))
    p = np.full((len(names), len(names)), np.nan)
    for pairs in sharing.values():
        members = sorted({member for pair in pairs for member in pair})
        first, second = pairs[0]
        common = there[first] & there[second]
        if not common.any():
            continue
        place = {member: k for k, member in enumerate(members)}
        permutations = permutation_test(
            np.where(common, cells.human, np.nan),
            np.where(common, scores[members], np.nan),
            level=level,
            coefficient=BY_GROUP[coefficient],
            swap=swap,
            trials=trials,
            seed=seed,
            pairs=[(place[a], place[b]) for a, b in pairs],
            progress=progress,
        )
        for a, b in pairs:
            p[a, b] = permutations.greater[place[a], place[b]]
            p[b, a] = permutations.greater[place[b], place[a]]
    return p


def _analytic(
    cells: Cells, names: Sequence[str], level: Level, coefficient: str, test: Test
) -> FloatArray:
    function = BY_GROUP[coefficient]
    if level not in ("system", "pooled") or function not in (pearson, spearman):
        raise DataError(
            f"{test} tests Pearson or Spearman at the level 'system' or 'pooled', not "
            f"{coefficient} at {level!r}. Use a permutation test, such as perm-both."
        )
    p = np.full((len(names), len(names)), np.nan)
    for a, b in combinations(range(len(names)), 2):
        one, other = cells.metrics[names[a]], cells.metrics[names[b]]
        common = known(cells.human) & known(one) & known(other)
        h, x, y = (
            in_groups(np.where(common, scores, np.nan), level)
            for scores in (cells.human, one, other)
        )
        r12, r13, r23 = (float(function(u, v)[0]) for u, v in ((h, x), (h, y), (x, y)))
        n = int(known(h).sum())
        for i, j, first, second in ((a, b, r12, r13), (b, a, r13, r12)):
            p[i, j] = _ANALYTIC[test](first, second, r23, n).p
    return p
