"""Who beats whom by one score: the result of every test of systems, or of metrics, in pairs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reelscore.data.tables.scales import Better, Scale
from reelscore.data.tables.table import MetricResult
from reelscore.stats.corrections import Correction, cluster, correct, rank
from reelscore.stats.resampling import FloatArray, all_pairs_p_values

Verdict = Literal["better", "worse", "not significant", "untested"]
Marks = Mapping[tuple[str, str], str]

UNTESTED = "–"  # stands where a test was wanted and there is none
BETTER, WORSE = "▲", "▼"  # stand behind scores that are better, or worse, than the baseline's
DIFFERENT = "*"  # stands behind those that differ where neither higher nor lower is better


class Pair(NamedTuple):
    """One system compared with another."""

    system: str
    other: str  # the system it is compared with
    difference: float  # score of the system less that of the other
    # a 95 % interval of the difference; ``None`` where the test gives none
    interval: tuple[float, float] | None
    p: float  # the p-value
    p_corrected: float  # the p-value corrected for the number of pairs compared
    verdict: Verdict  # whether the system is better or worse than the other


@dataclass(frozen=True)
class Comparison:
    """Who beats whom by one score and one test.

    Attributes:
        metric: The score's name.
        systems: What is compared: systems or, where people judge metrics, metrics.
        scores: The score of each.
        p: The p-value of each pair; NaN where a pair was not tested. By a test with one side,
            whether the row is better than the column; with two sides, whether they differ.
        p_corrected: The same, corrected for the number of pairs.
        sides: Sides of the test.
        better: Whether a ``high`` or a ``low`` score is better, or ``neither``.
        level: A corrected p below it is significant.
        baseline: The system that the others were compared with; ``None`` for all pairs.
        intervals: Intervals of the differences, row less column, systems × systems × 2.
        method: The test, in words; empty where no pair was tested.
        correction: The correction of p, where one was chosen.
        signature: How p was made.
        untested: Why pairs were not tested.

    >>> p = np.array([[np.nan, 0.01], [0.01, np.nan]])
    >>> tests = Comparison.of("meteor", ["a", "b"], [0.3, 0.2], p, signature="bootstrap")
    >>> tests.verdict("a", "b"), tests.verdict("b", "a"), tests.clusters
    ('better', 'worse', {'a': 1, 'b': 2})
    """

    metric: str
    systems: Sequence[str]
    scores: FloatArray
    p: FloatArray
    p_corrected: FloatArray
    sides: Literal[1, 2] = 2
    better: Better = "high"
    level: float = 0.05
    baseline: str | None = None
    intervals: FloatArray | None = None
    method: str = ""
    correction: str = ""
    signature: str = ""
    untested: str = ""

    @classmethod
    def of(
        cls,
        metric: str,
        systems: Sequence[str],
        scores: Sequence[float] | FloatArray,
        p: FloatArray,
        correction: Correction | None = None,
        **fields: Any,
    ) -> Comparison:
        """Correct p-values for the number of pairs, once for each pair, and keep both.

        Args:
            metric: The score's name.
            systems: What is compared; by a test with one side, the best first.
            scores: The score of each.
            p: The p-values as the test gives them.
            correction: How to correct, if at all; with one side, the better against the worse.
            fields: Further attributes.
        """
        once = np.triu(~np.isnan(p), 1)
        corrected: FloatArray = p.copy()
        corrected[once] = correct(p[once].tolist(), correction or "none")
        if fields.get("sides", 2) == 2:
            corrected[once.T] = corrected.T[once.T]
        own = np.asarray(scores, dtype=np.float64)
        return cls(metric, list(systems), own, p, corrected, correction=correction or "", **fields)

    @classmethod
    def of_resamples(
        cls,
        metric: str,
        results: Mapping[str, MetricResult],
        correction: Correction = "holm",
        level: float = 0.05,
    ) -> Comparison:
        """Test all pairs of systems with the resamples that their results have.

        There may be hundreds of systems; so small p-values are not counted, but tails of the normal
        distribution.
        """
        systems, there = list(results), [k for k, r in enumerate(results.values()) if r.draws]
        scores = np.array([result.score for result in results.values()])
        samples = [drawn for result in results.values() if (drawn := result.drawn) is not None]
        if len(samples) < 2 or len({len(drawn) for drawn in samples}) > 1:
            return cls.none(metric, systems, "they have no resamples in common")
        p = np.full((len(systems), len(systems)), np.nan)
        p[np.ix_(there, there)] = all_pairs_p_values(np.column_stack(samples), scores[there])
        fields = {
            "better": results[systems[0]].scale.better,
            "level": level,
            "method": f"paired bootstrap, {len(samples[0]):,} resamples",
            "signature": f"bootstrap|{correction}|draws:{len(samples[0])}",
        }
        return cls.of(metric, systems, scores, p, correction, **fields)

    @classmethod
    def none(cls, metric: str, systems: Sequence[str], why: str) -> Comparison:
        """Return of a score that no test was made, and why.

        >>> Comparison.none("self_bleu", ["a", "b"], "it needs all captions").verdict("a", "b")
        'untested'
        """
        p = np.full((len(systems), len(systems)), np.nan)
        return cls(metric, list(systems), np.full(len(systems), np.nan), p, p, untested=why)

    @property
    def test(self) -> str:
        """The name of the test."""
        return self.signature.partition("|")[0]

    @property
    def about(self) -> str:
        """The test and the correction, in words; empty where no pair was tested."""
        return f"{self.method}; correction: {self.correction}" if self.correction else self.method

    @property
    def tested(self) -> NDArray[np.bool_]:
        """Whether the row's system was tested against the column's."""
        there: NDArray[np.bool_] = ~(np.isnan(self.p) & np.isnan(self.p.T))
        return there

    @property
    def wins(self) -> NDArray[np.bool_]:
        """Whether the row's system is significantly better than the column's."""
        below: NDArray[np.bool_] = self.p_corrected < self.level
        if self.sides == 2:
            scale = Scale(self.better)
            below &= scale.ranks & (scale.sign * (self.scores[:, None] - self.scores) > 0)
        return below

    def verdict(self, system: str, other: str) -> Verdict:
        """Return what the test found of two systems; no test is not the same as no difference."""
        if system not in self.systems or other not in self.systems:
            return "untested"
        i, j = self.systems.index(system), self.systems.index(other)
        return _verdict(self.wins, i, j) if self.tested[i, j] else "untested"

    @property
    def pairs(self) -> Iterator[Pair]:
        """The pairs that were tested: each system with the baseline, or with those after it.

        >>> p = np.array([[np.nan, 0.01], [0.01, np.nan]])
        >>> [(pair.system, pair.other, pair.difference) for pair in
        ...  Comparison.of("meteor", ["a", "b"], [0.75, 0.5], p, baseline="a").pairs]
        [('b', 'a', -0.25)]
        """
        tested, wins = self.tested, self.wins
        for i, j in compared_places(self.systems, self.baseline):
            if not tested[i, j]:
                continue
            interval = None if self.intervals is None else self.intervals[i, j].tolist()
            yield Pair(
                self.systems[i],
                self.systems[j],
                float(self.scores[i] - self.scores[j]),
                None if interval is None else (interval[0], interval[1]),
                float(self.p[i, j]),
                float(self.p_corrected[i, j]),
                _verdict(wins, i, j),
            )

    @property
    def clusters(self) -> dict[str, int]:
        """Groups of systems that the test tells apart, numbered, best first; none without tests."""
        return self._numbered(cluster)

    @property
    def ranks(self) -> dict[str, int]:
        """Ranks as the WMT metrics task gives them; none without tests."""
        return self._numbered(rank)

    @property
    def ranges(self) -> dict[str, tuple[int, int]]:
        """The first and the last place that each system could have."""
        return dict(zip(self.systems, rank_ranges(self.wins), strict=True))

    def _numbered(self, number: Any) -> dict[str, int]:
        if not self.tested.any():
            return {}
        order = np.argsort(-Scale(self.better).sign * self.scores, kind="stable")  # NaN last
        numbers = number(self.wins[np.ix_(order, order)])
        return {self.systems[k]: value for k, value in zip(order, numbers, strict=True)}

    def among(self, systems: Sequence[str]) -> Comparison:
        """The same tests of some of the systems.

        >>> Comparison.none("x", ["a", "b"], "it has no items").among(["b"]).systems
        ['b']
        """
        places = [self.systems.index(system) for system in systems]
        both = np.ix_(places, places)
        return replace(
            self,
            systems=list(systems),
            scores=self.scores[places],
            p=self.p[both],
            p_corrected=self.p_corrected[both],
            intervals=None if self.intervals is None else self.intervals[both],
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, ready for JSON; NaN becomes ``None``.

        >>> p = np.array([[np.nan, 0.01], [0.99, np.nan]])
        >>> Comparison.of("z", ["a", "b"], [1, 0], p, sides=1).to_dict()["systems"][0]
        {'system': 'a', 'score': 1.0, 'wins': 1, 'cluster': 1, 'ranks': [1, 1]}
        """
        clusters, ranges = self.clusters, self.ranges
        return {
            "metric": self.metric,
            "test": self.test,
            "level": self.level,
            "signature": self.signature,
            "systems": [
                {
                    "system": system,
                    "score": _number(score),
                    "wins": int(wins),
                    "cluster": clusters.get(system, 1),
                    "ranks": list(ranges[system]),
                }
                for system, score, wins in zip(
                    self.systems, self.scores, self.wins.sum(axis=1), strict=True
                )
            ],
            "p": [[_number(p) for p in row] for row in self.p_corrected],
        }

    def pair_dicts(self) -> list[dict[str, Any]]:
        """Return the tested pairs as plain data, each with the metric and the test."""
        same = {"test": self.test, "signature": self.signature, "better": self.better}
        return [{"metric": self.metric, **pair._asdict(), **same} for pair in self.pairs]


def compared_places(systems: Sequence[str], baseline: str | None) -> list[tuple[int, int]]:
    """Return which systems are compared, by their places: each with the baseline, or all pairs.

    >>> compared_places(["a", "b", "c"], "b"), compared_places(["a", "b"], None)
    ([(0, 1), (2, 1)], [(0, 1)])
    """
    if baseline is None:
        return list(combinations(range(len(systems)), 2))
    others = [k for k, system in enumerate(systems) if system == baseline]
    return [(k, other) for other in others for k in range(len(systems)) if k != other]


def rank_ranges(wins: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the places each could have: after all that beat it, before all that it beats.

    >>> rank_ranges(np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], dtype=bool))
    [(1, 2), (1, 2), (3, 3)]
    """
    won, lost = wins.sum(axis=1), wins.sum(axis=0)
    return [(int(b) + 1, len(wins) - int(a)) for a, b in zip(won, lost, strict=True)]


def _verdict(wins: NDArray[np.bool_], i: int, j: int) -> Verdict:
    return "better" if wins[i, j] else "worse" if wins[j, i] else "not significant"


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def strictest(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Put the tests of each score together: a pair differs where every test says so."""
    by_metric: dict[str, list[Comparison]] = {}
    for comparison in comparisons:
        by_metric.setdefault(comparison.metric, []).append(comparison)
    return [
        replace(
            tests[0],
            p=np.maximum.reduce([each.p for each in tests]),
            p_corrected=np.maximum.reduce([each.p_corrected for each in tests]),
            method=" and ".join(dict.fromkeys(each.method for each in tests if each.method)),
        )
        for tests in by_metric.values()
    ]


def marks_of_tests(
    comparisons: Sequence[Comparison],
    letters: Mapping[str, str],
    baseline: str | None = None,
    bounds: Collection[str] = (),
) -> dict[tuple[str, str], str]:
    """Mark scores by tests: what is significant, and what was not tested at all."""
    marks: dict[tuple[str, str], str] = {}
    letters = {system: letter for system, letter in letters.items() if system not in bounds}
    for comparison in comparisons:
        tested, wins = comparison.tested, comparison.wins
        for i, system in enumerate(comparison.systems):
            if system in bounds:
                continue
            if baseline is None:
                there = tested[i].any()
                beaten = (letters.get(comparison.systems[j], "") for j in wins[i].nonzero()[0])
                mark = "".join(sorted(beaten))
            elif system == baseline or baseline not in comparison.systems:
                continue
            else:
                j = comparison.systems.index(baseline)
                there = tested[i, j]
                lowest = np.fmin(comparison.p_corrected[i, j], comparison.p_corrected[j, i])
                mark = BETTER if wins[i, j] else WORSE if wins[j, i] else ""
                if lowest < comparison.level and not Scale(comparison.better).ranks:
                    mark = DIFFERENT
            if mark or not there:
                marks[system, comparison.metric] = mark or UNTESTED
    return marks


def untested_notes(
    comparisons: Sequence[Comparison], labels: Mapping[str, str] | None = None
) -> list[str]:
    """Return which scores were not tested, or not for all pairs, and why.

    >>> untested_notes([Comparison.none(name, ["a", "b"], "it has no items") for name in "xy"])
    ['– not tested: x, y (it has no items).']
    """
    reasons: dict[tuple[bool, str], list[str]] = {}
    for comparison in comparisons:
        if comparison.untested:
            reasons.setdefault((bool(comparison.tested.any()), comparison.untested), []).append(
                (labels or {}).get(comparison.metric, comparison.metric)
            )
    return [
        f"{UNTESTED} not {'every pair ' if some else ''}tested: {', '.join(names)} ({reason})."
        for (some, reason), names in reasons.items()
    ]
