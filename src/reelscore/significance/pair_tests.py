"""Tests of all pairs of systems, by every score, as reports and figures show them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from reelscore.data.table import MetricResult, ScoreTable
from reelscore.metrics.base import mean_of_first, with_count
from reelscore.metrics.registry import declaring_metric
from reelscore.scoring.scores import Scores
from reelscore.significance.comparison import Comparison
from reelscore.significance.evidence import Evidence
from reelscore.significance.rankings import Ranking, rank_systems
from reelscore.stats.corrections import Correction, correct
from reelscore.stats.resampling import FloatArray, bootstrap_scores, percentile_interval
from reelscore.stats.resampling import Scores as ScoresOfSums

_NAMES = {"bootstrap": "paired bootstrap", "randomization": "approximate randomization"}
_Pairs = dict[tuple[str, str], float]  # p-values of pairs of systems
_Reasons = Mapping[tuple[str, str], str]  # why a system's score cannot be tested

_TOGETHER = "depends on all captions of a system together"
_SUMS = (
    "made from sums over captions, which a stored table does not keep; "
    "'reelscore compare' tests it from the captions"
)
_NO_ITEMS = "the table has only its scores of systems"
_OTHER_ITEMS = "systems scored on different items"
_MEAN = 1e-9  # how near a system's score must be to the mean of its items to be taken for it


def with_evidence(
    table: ScoreTable,
    *,
    human: Sequence[str] = (),
    level: float = 0.05,
    correction: Correction = "holm",
    resamples: int = 1000,
    seed: int = 12345,
) -> tuple[ScoreTable, list[Evidence]]:
    """Add bootstrap intervals to a table, and test all pairs of systems.

    Scores of systems that have the same items are tested by the paired bootstrap; scores of
    people, who as a rule judge other items of each system, by the rank-sum test. A stored table
    has no statistics to sum: there, scores that are the means of their items are resampled.

    Args:
        table: The scores.
        human: Which of them people gave.
        level: A corrected p below it is significant.
        correction: How to correct for the number of pairs by one score.
        resamples: Resamples of the bootstrap.
        seed: Seed of the bootstrap.

    Returns:
        The table with intervals where there were none, and the evidence by score; of a score
        that cannot be tested, it says why.

    >>> from reelscore import score_systems
    >>> from reelscore.examples import clips
    >>> table, (found,) = with_evidence(score_systems(*clips(), "rouge_l"))
    >>> found.clusters({name: table[name]["rouge_l"].score for name in table.systems})
    {'human': 1, 'strong': 1, 'weak': 2, 'broken': 3}
    """
    intervals: dict[tuple[str, str], tuple[float, float]] = {}
    made = f"level:0.95|resamples:{resamples}|seed:{seed}"
    pairs: dict[str, _Pairs] = {}
    groups, reasons = _groups(table, human)
    for (systems, outputs, *_), drawn in _drawn(groups, resamples, seed):
        for k, name in enumerate(outputs):
            samples = drawn[:, :, k]
            for system, low, high in zip(systems, *percentile_interval(samples), strict=True):
                intervals[system, name] = (float(low), float(high))
            if table.scale(name).ranks:
                own = np.array([table[system][name].score for system in systems])
                pairs.setdefault(name, {}).update(_paired(systems, samples, own))
    found: list[Evidence] = []
    if len(table.systems) > 1:
        about = f"paired bootstrap, {resamples:,} resamples, correction: {correction}"
        for name in table.metrics:
            if name in human:
                found.append(_by_people(table, name, level))
            else:
                tested = pairs.get(name, {})
                corrected = correct(list(tested.values()), correction)
                p_values = dict(zip(tested, corrected, strict=True))
                found.append(_evidence(table, name, p_values, about, level, reasons, _OTHER_ITEMS))
    rows = {
        system: _with_intervals(row, system, intervals, made)
        for system, row in table.results.items()
    }
    return replace(table, results=rows), found


def comparison_evidence(
    table: ScoreTable, comparisons: Sequence[Comparison], level: float = 0.05
) -> list[Evidence]:
    """Set out comparisons that were made, of all pairs or with a baseline, as matrices.

    Where several tests were made of a pair, the largest p counts. Scores that were not tested
    are there too, and say why.

    Args:
        table: The score table that was tested.
        comparisons: What `compare` found.
        level: Significance level.

    >>> from reelscore import compare, score_systems
    >>> from reelscore.examples import clips
    >>> table = score_systems(*clips(), "rouge_l")
    >>> made = compare(table, "weak", tests=["bootstrap"])
    >>> comparison_evidence(table, made)[0].wins.sum(axis=1).tolist()
    [1, 1, 1, 0]
    """
    pairs: dict[str, _Pairs] = {}
    for each in comparisons:
        tested = pairs.setdefault(each.metric, {})
        pair = (each.system, each.other)
        tested[pair] = max(tested.get(pair, 0.0), each.p_corrected)
    about, reasons = _in_words(comparisons), _groups(table, ())[1]
    return [
        _evidence(table, name, pairs.get(name, {}), about, level, reasons) for name in table.metrics
    ]


def _in_words(comparisons: Sequence[Comparison]) -> str:
    """Say which tests were made: "paired bootstrap, 1,000 draws; correction: holm"."""
    made: dict[str, None] = {}
    corrections: dict[str, None] = {}
    for signature in dict.fromkeys(each.signature for each in comparisons):
        test, correction, draws, *_ = signature.split("|")
        made[f"{_NAMES[test]}, {int(draws.removeprefix('draws:')):,} draws"] = None
        corrections[correction] = None
    return f"{' and '.join(made)}; correction: {', '.join(corrections)}"


def ranking_evidence(ranking: Ranking) -> Evidence:
    """Take over a ranking by people's scores.

    >>> from reelscore.examples import path
    >>> people = ScoreTable.read(path("clips/judgments.csv"), repeats="mean")
    >>> ranking_evidence(rank_systems(people, "judgments")).wins.sum()
    np.int64(6)
    """
    return Evidence(
        ranking.metric,
        ranking.systems,
        ranking.p,
        ranking.wins,
        "one-sided rank-sum test",
        ranking.level,
    )


def _by_people(table: ScoreTable, name: str, level: float) -> Evidence:
    """Rank people's scores; where there are none of single items, say so."""
    systems = [system for system in table.systems if name in table[system]]
    if all(len(table[system][name].items) for system in systems):
        return ranking_evidence(rank_systems(table, name, level=level))
    return Evidence.none(name, systems, _NO_ITEMS)


def _evidence(
    table: ScoreTable,
    name: str,
    pairs: _Pairs,
    about: str,
    level: float,
    reasons: _Reasons,
    otherwise: str = "",
) -> Evidence:
    """Set out the p-values of pairs as a matrix over all systems that have the score."""
    systems = [system for system in table.systems if name in table[system]]
    place = {system: k for k, system in enumerate(systems)}
    p = np.full((len(systems), len(systems)), np.nan)
    for (one, other), value in pairs.items():
        p[place[one], place[other]] = p[place[other], place[one]] = value
    scale = table.scale(name)
    own = np.array([table[system][name].score for system in systems])
    wins = scale.ranks & (p < level) & (scale.sign * (own[:, None] - own) > 0)
    why = ""
    if np.isnan(p[~np.eye(len(systems), dtype=bool)]).any():
        said = dict.fromkeys(reasons[s, name] for s in systems if (s, name) in reasons)
        why = "; ".join(said) or otherwise
        if not scale.ranks and not pairs:
            why = "neither higher nor lower is better"
    return Evidence(name, systems, p, wins, about if pairs else "", level, why)


class _Group(NamedTuple):
    """What can be resampled together: the same score of systems that have the same items."""

    systems: list[str]
    outputs: Sequence[str]
    statistics: list[FloatArray]
    scores: ScoresOfSums
    items: int  # a number for the items they have


def _groups(table: ScoreTable, human: Sequence[str]) -> tuple[list[_Group], _Reasons]:
    """Put together what can be resampled; of the rest, say why it cannot."""
    reasons: dict[tuple[str, str], str] = {}
    groups: dict[tuple[object, ...], _Group] = {}
    numbers: dict[int, int] = {}  # of an index, the number of its items; equal ones share it
    seen: list[Sequence[str]] = []

    def number(items: Sequence[str]) -> int:
        if id(items) not in numbers:
            numbers[id(items)] = next(
                (k for k, each in enumerate(seen) if each == items), len(seen)
            )
            seen.append(items)
        return numbers[id(items)]

    for system, row in table.results.items():
        measured = row.measurements if isinstance(row, Scores) else ()
        for each in measured:
            if each.metric.independent:
                items = number(each.index.items)
                group = groups.setdefault(
                    (each.metric, items),
                    _Group([], each.metric.outputs, [], each.metric.scores, items),
                )
                group.systems.append(system)
                group.statistics.append(each.statistics)
            else:
                reasons |= dict.fromkeys([(system, o) for o in each.metric.outputs], _TOGETHER)
        outputs = {name for each in measured for name in each.metric.outputs}
        for name, result in row.items():
            if name in outputs:
                continue
            if why := _not_resampled(result):
                reasons[system, name] = why
            else:
                who = system if name in human else ""  # people judge other items of each system
                items = number(result.items.index.items)
                group = groups.setdefault(
                    (name, items, who), _Group([], [name], [], mean_of_first, items)
                )
                group.systems.append(system)
                group.statistics.append(with_count(result.items.array))
    return list(groups.values()), reasons


def _not_resampled(result: MetricResult) -> str:
    """Why a stored score cannot be resampled; empty where it can, being the mean of its items."""
    scores = result.items.array
    if not len(scores):
        return _NO_ITEMS
    if len(scores) < 2 or not np.isfinite(scores).all():
        return "fewer than two items, or some without a finite score"
    apart = abs(scores.mean() - result.score)
    if result.scale.mean is not False and apart <= _MEAN * max(1.0, abs(result.score)):
        return ""
    metric = declaring_metric(result.metric, result.signature)
    return _SUMS if metric is None or metric.independent else _TOGETHER


def _drawn(
    groups: Sequence[_Group], resamples: int, seed: int
) -> Iterator[tuple[_Group, FloatArray]]:
    """Score the same resamples of all systems of each group: resamples × systems × outputs."""
    for items in dict.fromkeys(group.items for group in groups):
        # All scores of the same items are drawn together: drawing is what takes the time.
        together = [group for group in groups if group.items == items]
        columns = np.hstack([each for group in together for each in group.statistics])
        sums = bootstrap_scores(columns, lambda totals: totals, resamples=resamples, seed=seed)
        begin = 0
        for group in together:
            systems, width = len(group.systems), group.statistics[0].shape[1]
            own = sums[:, begin : begin + systems * width]
            begin += systems * width
            yield group, group.scores(own.reshape(resamples, systems, width))


def _paired(systems: Sequence[str], samples: FloatArray, own: FloatArray) -> _Pairs:
    """Two-sided p-values of all pairs, by the formula of `paired_bootstrap`."""
    found: _Pairs = {}
    for i, j in combinations(range(len(own)), 2):
        apart = samples[:, i] - samples[:, j]
        far = np.abs(apart - apart.mean()) >= abs(own[i] - own[j]) * (1 - 1e-9) - 1e-15
        found[systems[i], systems[j]] = float((far.sum() + 1) / (len(apart) + 1))
    return found


def _with_intervals(
    row: Mapping[str, MetricResult],
    system: str,
    intervals: Mapping[tuple[str, str], tuple[float, float]],
    made: str,
) -> dict[str, MetricResult]:
    found = dict(row)
    for name, result in row.items():
        if result.interval is None and (system, name) in intervals:
            signature = f"{result.signature or name}|{made}"
            found[name] = replace(result, interval=intervals[system, name], signature=signature)
    return found
