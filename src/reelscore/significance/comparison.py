"""Significance of the differences between systems scored on the same items."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, get_args

from reelscore.data.scales import Better
from reelscore.data.table import ScoreTable
from reelscore.errors import DataError, UnknownNameError
from reelscore.metrics.base import FloatArray
from reelscore.scoring.scores import Measurement, Scores
from reelscore.stats.corrections import Correction, correct
from reelscore.stats.resampling import approximate_randomization, paired_bootstrap

Test = Literal["bootstrap", "randomization"]
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Comparison:
    """One test: is the system different from the other, by this metric?

    Attributes:
        metric: The score's name.
        system: The system.
        other: The system it is compared with.
        difference: Score of the system less that of the other.
        test: ``bootstrap`` or ``randomization``.
        p: The p-value, two-sided.
        p_corrected: The p-value corrected for the number of comparisons by this metric and test.
        signature: How p was made.
        better: Whether a ``high`` or a ``low`` score is better by this metric, or ``neither``.
    """

    metric: str
    system: str
    other: str
    difference: float
    test: Test
    p: float
    p_corrected: float
    signature: str
    better: Better = "high"

    def to_dict(self) -> dict[str, Any]:
        """Give the comparison as plain data."""
        return dict(vars(self))


def compare(
    table: ScoreTable,
    baseline: str | None = None,
    *,
    tests: Iterable[Test] = ("bootstrap", "randomization"),
    correction: Correction = "holm",
    resamples: int = 1000,
    trials: int = 10_000,
    seed: int = 12345,
    progress: Progress | None = None,
) -> list[Comparison]:
    """Test the differences between systems, by every metric that allows it.

    Args:
        table: Scores from `reelscore.score_systems`, all on the same items.
        baseline: Compare every other system with this one; ``None`` compares all pairs.
        tests: ``bootstrap`` (paired, 1,000 resamples), ``randomization`` (10,000 exchanges).
        correction: How to correct for the number of comparisons made by one metric and test.
        resamples: Resamples of the bootstrap.
        trials: Exchanges of the approximate randomization.
        seed: Seed of both.
        progress: Called with how many tests are done, of how many.

    Returns:
        A comparison for each metric, pair of systems and test.

    >>> from reelscore import score_systems
    >>> from reelscore.examples import clips
    >>> systems, references = clips()
    >>> table = score_systems(systems, references, metrics="rouge_l")
    >>> found = compare(table, "human", tests=["randomization"], trials=999)
    >>> [(each.system, each.p_corrected < 0.05) for each in found]
    [('strong', False), ('weak', True), ('broken', True)]
    """
    tests = list(tests)
    for test in tests:
        if test not in get_args(Test):
            raise UnknownNameError.of("test", test, get_args(Test))
    pairs = _pairs(table, baseline)
    measured = {system: _measurements(table, system) for system in table.systems}
    metrics = [name for name, each in measured[table.systems[0]].items() if each.metric.independent]
    if not metrics:
        raise DataError(
            f"No test for {', '.join(measured[table.systems[0]])}: they depend on all captions of "
            "a system together. Add a metric that scores captions one by one, such as meteor."
        )
    found: list[Comparison] = []
    done = 0
    for test in tests:
        tested: dict[str, list[Comparison]] = {}
        for name in metrics:
            for system, other in pairs:
                first, second = measured[system][name], measured[other][name]
                _check_same_items(system, first, other, second)
                draws = resamples if test == "bootstrap" else trials
                p_values = _p_values(test, first, second, draws, seed)
                for output, p in zip(first.metric.outputs, p_values, strict=True):
                    difference = table[system][output].score - table[other][output].score
                    signature = f"{test}|{correction}|draws:{draws}|seed:{seed}"
                    tested.setdefault(output, []).append(
                        Comparison(
                            output,
                            system,
                            other,
                            difference,
                            test,
                            float(p),
                            1.0,
                            signature,
                            table.scale(output).better,
                        )
                    )
                done += 1
                if progress is not None:
                    progress(done, len(tests) * len(metrics) * len(pairs))
        for family in tested.values():
            corrected = correct([each.p for each in family], correction)
            found += [
                replace(each, p_corrected=p) for each, p in zip(family, corrected, strict=True)
            ]
    return found


def _pairs(table: ScoreTable, baseline: str | None) -> list[tuple[str, str]]:
    if len(table.systems) < 2:
        raise DataError("There is only one system; a comparison needs at least two.")
    if baseline is None:
        return list(combinations(table.systems, 2))
    if baseline not in table.systems:
        raise UnknownNameError.of("system", baseline, table.systems)
    return [(system, baseline) for system in table.systems if system != baseline]


def _measurements(table: ScoreTable, system: str) -> dict[str, Measurement]:
    scores = table[system]
    if not isinstance(scores, Scores):
        raise DataError(
            "A comparison needs scores as score_systems gives them, not a stored table."
        )
    return {each.metric.name: each for each in scores.measurements}


def _check_same_items(one: str, first: Measurement, other: str, second: Measurement) -> None:
    if first.index.items != second.index.items:
        raise DataError(
            f"{one} and {other} were scored on different items "
            f"({len(first.index.items)} and {len(second.index.items)}); a paired test needs the "
            'same. Fix the files, pass missing="zero", or score all on the items they share: '
            "common=True."
        )


def _p_values(
    test: Test, first: Measurement, second: Measurement, draws: int, seed: int
) -> FloatArray:
    scores = first.metric.scores
    if test == "bootstrap":
        return paired_bootstrap(
            first.statistics, second.statistics, scores, resamples=draws, seed=seed
        )
    return approximate_randomization(
        first.statistics, second.statistics, scores, trials=draws, seed=seed
    )
