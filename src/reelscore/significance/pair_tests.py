"""Tests of pairs of systems by every score of a table, fresh or stored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np

from reelscore._progress import Progress, Steps
from reelscore.data.captions.item_ids import rule_hint
from reelscore.data.tables.table import ScoreTable
from reelscore.data.tables.table_forms import TableLike, table_of
from reelscore.errors import DataError, UnknownNameError, check_choice
from reelscore.scoring.intervals import (
    NO_ITEMS,
    TOGETHER,
    Group,
    add_intervals,
    groups_of,
    intervals_of,
    resampled,
)
from reelscore.significance.comparison import Comparison, compared_places
from reelscore.stats.corrections import Correction
from reelscore.stats.rank_tests import rank_sum
from reelscore.stats.resampling import (
    RESAMPLING,
    FloatArray,
    approximate_randomization,
    bootstrap_p_values,
    percentile_interval,
)

Test = Literal["bootstrap", "randomization"]

METHODS: Mapping[Test, str] = {
    "bootstrap": "paired bootstrap",
    "randomization": "approximate randomization",
}
_RARE = "too few items have this score"
_OTHER_ITEMS = "systems scored on different items, or with different settings"


def compare(
    table: TableLike,
    baseline: str | None = None,
    *,
    tests: Iterable[Test] = ("bootstrap", "randomization"),
    correction: Correction = "holm",
    level: float = 0.05,
    resamples: int = 1000,
    trials: int = 10_000,
    seed: int = 12345,
    progress: Progress | None = None,
) -> list[Comparison]:
    """Test the differences between systems, by every score that allows it.

    Args:
        table: Scores from `reelscore.score_systems`, or a file that was written with their
            statistics, several of these, or a data frame with the columns system, item, metric
            and score; all on the same items.
        baseline: Compare every other system with this one; ``None`` compares all pairs.
        tests: ``bootstrap`` (paired, 1,000 resamples), ``randomization`` (10,000 exchanges).
        correction: How to correct for the number of comparisons made by one metric and test.
        level: A corrected p below it is significant.
        resamples: Resamples of the bootstrap.
        trials: Exchanges of the approximate randomization.
        seed: Seed of both.
        progress: Called with how many tests are done, of how many.

    Returns:
        A comparison for each test and score; of a score that cannot be tested, it says why.

    Raises:
        DataError: If there is one system only, if systems were scored on different items, or if
            no score can be tested.

    >>> from reelscore import score_systems
    >>> from reelscore.examples import clips
    >>> table = score_systems(*clips(), metrics="rouge_l")
    >>> [rouge] = compare(table, "human", tests=["randomization"], trials=999)
    >>> [(pair.system, pair.verdict) for pair in rouge.pairs]
    [('strong', 'not significant'), ('weak', 'worse'), ('broken', 'worse')]
    """
    table = table_of(table)
    tests = list(tests)
    for test in tests:
        check_choice("test", test, get_args(Test))
    if len(table.systems) < 2:
        raise DataError("There is only one system; a comparison needs at least two.")
    if baseline is not None and baseline not in table.systems:
        raise UnknownNameError.of("system", baseline, table.systems)
    groups, reasons = groups_of(table)
    if not groups:
        whys = dict.fromkeys(reasons.values())
        remedy = " Add a metric that scores captions one by one, such as rouge_l."
        raise DataError(
            f"No test for {', '.join(table.metrics)}: {'; '.join(whys)}."
            + (remedy if TOGETHER in whys else "")
        )
    _check_same_items(table, groups)
    resampling = ""
    if any(group.draws for group in groups):
        resampling = f"|resampling:{RESAMPLING}"  # draws that were made item by item
        tests = [test for test in tests if test != "randomization"]
        if not tests:
            raise DataError(
                "Approximate randomization needs the statistics of every item, which scores from "
                'shards do not keep; use the paired bootstrap: tests=["bootstrap"].'
            )
    steps = len(tests) * sum(len(compared_places(group.systems, baseline)) for group in groups)
    report = Steps(progress, steps)
    comparisons = []
    for test in tests:
        draws = resamples if test == "bootstrap" else trials
        fields: dict[str, Any] = {
            "level": level,
            "baseline": baseline,
            "method": f"{METHODS[test]}, {draws:,} draws",
            "signature": f"{test}|{correction}|draws:{draws}|seed:{seed}{resampling}",
        }
        matrices = _Matrices(table)
        if test == "bootstrap":
            for group, samples in resampled(groups, draws, seed):
                for i, j in compared_places(group.systems, baseline):
                    matrices.add_bootstrap(group, i, j, samples)
                    report()
        else:
            for group in groups:
                for i, j in compared_places(group.systems, baseline):
                    one, other = group.rows[i], group.rows[j]
                    p = approximate_randomization(one, other, group.scores, trials=draws, seed=seed)
                    matrices.add(group, i, j, p)
                    report()
        comparisons += matrices.comparisons(reasons, correction, fields)
    return comparisons


def with_tests(
    table: ScoreTable,
    *,
    human: Sequence[str] = (),
    level: float = 0.05,
    correction: Correction = "holm",
    resamples: int = 1000,
    seed: int = 12345,
) -> tuple[ScoreTable, list[Comparison]]:
    """Add bootstrap intervals to a table, and test all pairs of systems.

    Scores of systems that have the same items are tested by the paired bootstrap; scores of
    people, who as a rule judge other items of each system, by the rank-sum test.
    """
    intervals: dict[tuple[str, str], tuple[float, float]] = {}
    matrices = _Matrices(table)
    groups, reasons = groups_of(table, apart=human)
    for group, samples in resampled(groups, resamples, seed):
        intervals |= intervals_of(group, samples)
        if all(table.scale(name).ranks for name in group.outputs if name in table.metrics):
            for i, j in compared_places(group.systems, None):
                matrices.add_bootstrap(group, i, j, samples)
    judged = add_intervals(table, intervals, f"level:0.95|resamples:{resamples}|seed:{seed}")
    if len(table.systems) < 2:
        return judged, []
    fields = {
        "level": level,
        "method": f"{METHODS['bootstrap']}, {resamples:,} draws",
        "signature": f"bootstrap|{correction}|draws:{resamples}|seed:{seed}",
    }
    comparisons = matrices.comparisons(reasons, correction, fields)
    return judged, [
        _by_people(table, each.metric, level) if each.metric in human else each
        for each in comparisons
    ]


def rank_systems(
    table: ScoreTable,
    metric: str = "z",
    *,
    level: float = 0.05,
    matched: bool = False,
    systems: Sequence[str] | None = None,
) -> Comparison:
    """Rank systems by one-sided Wilcoxon rank-sum tests of their captions' scores.

    Args:
        table: People's scores, or any others.
        metric: Which of them; z is fairer than raw.
        level: A p below it is a win.
        matched: Compare two systems on the items both have, as Appraise does, instead of on all
            their own; a win then also needs the better mean on these items.
        systems: Which to rank; all.

    Returns:
        The tests of all pairs, the best system first.

    Raises:
        DataError: If two systems have no item in common though `matched` asks for it.

    >>> from reelscore.data.tables.table import ItemScores, MetricResult
    >>> scores = {"a": [1.0, 1.2, 1.1, 0.9, 1.3], "b": [0.1, -0.2, 0.0, 0.3, 0.2]}
    >>> table = ScoreTable({name: {"z": MetricResult("z", sum(values) / 5,
    ...     ItemScores.of({f"v{k}": v for k, v in enumerate(values)}), "z")}
    ...     for name, values in scores.items()})
    >>> ranking = rank_systems(table)
    >>> ranking.systems, ranking.clusters, round(float(ranking.p[0, 1]), 4)
    (['a', 'b'], {'a': 1, 'b': 2}, 0.0061)
    """
    chosen = [name for name in systems or table.systems if metric in table[name]]
    if not chosen:
        raise DataError(f"No system has {metric!r}; the table has {', '.join(table.metrics)}.")
    scale = table.scale(metric)
    order = sorted(chosen, key=lambda name: -scale.sign * table[name][metric].score)
    p = np.full((len(order), len(order)), np.nan)
    for i, one in enumerate(order):
        for j, other in enumerate(order):
            if i != j:
                p[i, j] = _rank_sum_p(table, metric, one, other, matched)
    return Comparison.of(
        metric,
        order,
        [table[name][metric].score for name in order],
        p,
        sides=1,
        better=scale.better,
        level=level,
        method="one-sided rank-sum test",
        signature=f"rank-sum|side:one|matched:{'yes' if matched else 'no'}",
    )


def _rank_sum_p(table: ScoreTable, metric: str, one: str, other: str, matched: bool) -> float:
    first, second = table[one][metric].items, table[other][metric].items
    sign = table.scale(metric).sign
    if not matched:
        return rank_sum(sign * first.array, sign * second.array, alternative="greater").p
    shared = [item for item in first if item in second.index.position]
    if not shared:
        raise DataError(f"{one!r} and {other!r} have no item in common; compare them unmatched.")
    pair = sign * table.matrix(metric, [one, other], shared)
    if pair[0].mean() <= pair[1].mean():
        return 1.0
    return rank_sum(pair[0], pair[1], alternative="greater").p


def _by_people(table: ScoreTable, name: str, level: float) -> Comparison:
    """Rank people's scores; where there are none of single items, say so."""
    systems = [system for system in table.systems if name in table[system]]
    if all(len(table[system][name].items) for system in systems):
        return rank_systems(table, name, level=level)
    return Comparison.none(name, systems, NO_ITEMS)


def _check_same_items(table: ScoreTable, groups: Sequence[Group]) -> None:
    """Refuse systems that could be tested, but were scored on different items."""
    for name in table.metrics:
        own = [group for group in groups if name in group.outputs]
        for first, second in combinations(own, 2):
            one, other = first.systems[0], second.systems[0]
            if first.items == second.items:
                raise DataError(
                    f"{name} of {one} and of {other} was made in different ways "
                    f"({table[one][name].signature} and {table[other][name].signature}); a paired "
                    "test needs the same references and settings. Score both in one run."
                )
            if first.draws:
                raise DataError(
                    f"{one} and {other} were scored on different items; a paired test needs the "
                    'same. Fix the files, or pass missing="zero".'
                )
            raise DataError(
                f"{one} and {other} were scored on different items "
                f"({len(first.rows[0])} and {len(second.rows[0])}); a paired test needs the "
                'same. Fix the files, or score the captions with missing="zero", or all on the '
                "items they share with common=True."
                + rule_hint(table[one][name].items, table[other][name].items)
            )


class _Matrices:
    """The p-values, and the intervals of differences, of all scores of a table."""

    def __init__(self, table: ScoreTable) -> None:
        self._table = table
        self._systems = {
            name: [system for system in table.systems if name in table[system]]
            for name in table.metrics
        }
        sizes = {name: len(systems) for name, systems in self._systems.items()}
        self._p = {name: np.full((n, n), np.nan) for name, n in sizes.items()}
        self._rare: set[str] = set()
        self._intervals = {name: np.full((n, n, 2), np.nan) for name, n in sizes.items()}

    def add(
        self, group: Group, i: int, j: int, p: FloatArray, intervals: FloatArray | None = None
    ) -> None:
        """Take over the tests of one pair of a group: a p-value for each of its scores."""
        for k, name in enumerate(group.outputs):
            systems = self._systems.get(name, [])
            pair = group.systems[i], group.systems[j]
            if not set(pair) <= set(systems):  # a sub-score that no item of a system has
                continue
            a, b = map(systems.index, pair)
            if np.isnan(p[k]):
                self._rare.add(name)
            self._p[name][a, b] = self._p[name][b, a] = p[k]
            if intervals is not None:
                low, high = intervals[:, k]
                self._intervals[name][a, b] = low, high
                self._intervals[name][b, a] = -high, -low

    def add_bootstrap(self, group: Group, i: int, j: int, samples: FloatArray) -> None:
        """Test one pair of a group by its resamples, resamples × systems × outputs."""
        one, other = (self._table[group.systems[place]] for place in (i, j))
        observed = np.array(
            [
                one[name].score - other[name].score if name in one and name in other else np.nan
                for name in group.outputs
            ]
        )
        drawn = samples[:, i] - samples[:, j]
        self.add(group, i, j, bootstrap_p_values(drawn, observed), percentile_interval(drawn))

    def comparisons(
        self,
        reasons: Mapping[tuple[str, str], str],
        correction: Correction,
        fields: Mapping[str, Any],
    ) -> list[Comparison]:
        """List what was tested, and say why the rest was not."""
        return [self._comparison(name, reasons, correction, fields) for name in self._p]

    def _comparison(
        self,
        name: str,
        reasons: Mapping[tuple[str, str], str],
        correction: Correction,
        fields: Mapping[str, Any],
    ) -> Comparison:
        systems, p = self._systems[name], self._p[name]
        scale = self._table.scale(name)
        if np.isnan(p).all() and not scale.ranks:
            return Comparison.none(name, systems, "neither higher nor lower is better")
        baseline = fields.get("baseline")
        wanted = [
            (i, j)
            for (i, one), (j, other) in combinations(enumerate(systems), 2)
            if baseline in (None, one, other)
        ]
        untested = ""
        if any(np.isnan(p[pair]) for pair in wanted) or not wanted:
            whys = dict.fromkeys(reasons[s, name] for s in systems if (s, name) in reasons)
            untested = "; ".join(whys) or (_RARE if name in self._rare else _OTHER_ITEMS)
        if np.isnan(p).all():
            return Comparison.none(name, systems, untested)
        intervals = self._intervals[name]
        return Comparison.of(
            name,
            systems,
            [self._table[system][name].score for system in systems],
            p,
            correction,
            better=scale.better,
            intervals=None if np.isnan(intervals).all() else intervals,
            untested=untested,
            **fields,
        )
