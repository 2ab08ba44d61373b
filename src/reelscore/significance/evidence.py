"""How far the order of systems by a score can be trusted: the tests of all pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from reelscore.stats.clusters import cluster
from reelscore.stats.resampling import FloatArray

Verdict = Literal["better", "worse", "not significant", "untested"]
Marks = Mapping[tuple[str, str], str]

UNTESTED = "–"  # stands where a test was wanted and there is none


@dataclass(frozen=True)
class Evidence:
    """How far the order of the systems by one score can be trusted.

    Attributes:
        metric: The score's name.
        systems: The systems that have the score.
        p: For each pair of them the p-value; NaN where a pair was not tested.
        wins: Whether the row's system is significantly better than the column's.
        about: The test, in words; empty where no pair was tested.
        level: A p below it is significant.
        untested: Why pairs were not tested.
    """

    metric: str
    systems: Sequence[str]
    p: FloatArray
    wins: NDArray[np.bool_]
    about: str
    level: float = 0.05
    untested: str = ""

    @classmethod
    def none(cls, metric: str, systems: Sequence[str], why: str) -> Evidence:
        """Say of a score that no test was made, and why."""
        p = np.full((len(systems), len(systems)), np.nan)
        return cls(metric, systems, p, np.zeros_like(p, dtype=bool), "", untested=why)

    def among(self, systems: Sequence[str]) -> Evidence:
        """The evidence of some of the systems.

        >>> Evidence.none("x", ["a", "b"], "it has no items").among(["b"]).systems
        ['b']
        """
        places = [self.systems.index(system) for system in systems]
        both = np.ix_(places, places)
        return replace(self, systems=list(systems), p=self.p[both], wins=self.wins[both])

    @property
    def tested(self) -> NDArray[np.bool_]:
        """Whether the row's system was tested against the column's."""
        there: NDArray[np.bool_] = ~(np.isnan(self.p) & np.isnan(self.p.T))
        return there

    def verdict(self, system: str, other: str) -> Verdict:
        """Say what the tests found of two systems; no test is not the same as no difference.

        >>> wins = np.array([[False, True], [False, False]])
        >>> found = Evidence("meteor", ["a", "b"], np.full((2, 2), 0.01), wins, "bootstrap")
        >>> found.verdict("a", "b"), found.verdict("b", "a")
        ('better', 'worse')
        >>> Evidence.none("self_bleu", ["a", "b"], "it needs all captions").verdict("a", "b")
        'untested'
        """
        if system not in self.systems or other not in self.systems:
            return "untested"
        i, j = self.systems.index(system), self.systems.index(other)
        if not self.tested[i, j]:
            return "untested"
        return "better" if self.wins[i, j] else "worse" if self.wins[j, i] else "not significant"

    def clusters(self, scores: Mapping[str, float], *, lower: bool = False) -> dict[str, int]:
        """Number the groups of systems that tests tell apart, best first; none without tests.

        Args:
            scores: The systems' scores.
            lower: The lowest score is the best.

        >>> wins = np.array([[False, True], [False, False]])
        >>> found = Evidence("meteor", ["a", "b"], np.full((2, 2), 0.01), wins, "bootstrap")
        >>> found.clusters({"a": 0.3, "b": 0.2})
        {'a': 1, 'b': 2}
        """
        if not self.tested.any():
            return {}
        order = np.argsort([(1 if lower else -1) * scores[name] for name in self.systems])
        numbers = cluster(self.wins[np.ix_(order, order)])
        return {self.systems[k]: number for k, number in zip(order, numbers, strict=True)}


def marks_of_tests(
    evidence: Sequence[Evidence], letters: Mapping[str, str], baseline: str | None = None
) -> dict[tuple[str, str], str]:
    """Mark scores by tests: what is significant, and what was not tested at all.

    Args:
        evidence: The tests, by score.
        letters: The systems' letters; a score gets those of the systems it outdoes.
        baseline: Tested against this system alone: a ``*`` where they differ.

    Returns:
        A mark for a system and score: none where tests found nothing, and ``–`` where none was
        made.

    >>> wins = np.array([[False, True], [False, False]])
    >>> found = [Evidence("meteor", ["a", "b"], np.full((2, 2), 0.01), wins, "bootstrap"),
    ...          Evidence.none("x", ["a", "b"], "it has no items")]
    >>> marks_of_tests(found, {"a": "A", "b": "B"})
    {('a', 'meteor'): 'B', ('a', 'x'): '–', ('b', 'x'): '–'}
    """
    marks: dict[tuple[str, str], str] = {}
    for each in evidence:
        for i, system in enumerate(each.systems):
            if baseline is None:
                tested = each.tested[i].any()
                beaten = (letters.get(each.systems[j], "") for j in each.wins[i].nonzero()[0])
                mark = "".join(sorted(beaten))
            elif system == baseline or baseline not in each.systems:
                continue
            else:
                j = each.systems.index(baseline)
                tested = each.tested[i, j]
                mark = "*" if np.fmin(each.p[i, j], each.p[j, i]) < each.level else ""
            if mark or not tested:
                marks[system, each.metric] = mark or UNTESTED
    return marks


def untested_notes(evidence: Sequence[Evidence]) -> list[str]:
    """Say which scores were not tested, or not for all pairs, and why.

    >>> untested_notes([Evidence.none(name, ["a", "b"], "it has no items") for name in "xy"])
    ['– not tested: x, y (it has no items).']
    """
    reasons: dict[tuple[bool, str], list[str]] = {}
    for each in evidence:
        if each.untested:
            reasons.setdefault((bool(each.tested.any()), each.untested), []).append(each.metric)
    return [
        f"{UNTESTED} not {'every pair ' if some else ''}tested: {', '.join(names)} ({reason})."
        for (some, reason), names in reasons.items()
    ]
