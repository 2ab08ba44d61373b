"""Bootstrap intervals of the scores of a table, and the resamples they are made from."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from reelscore.data.tables.table import MetricResult, ScoreTable, Statistics
from reelscore.errors import DataError
from reelscore.metrics.base import mean_of_first, with_count
from reelscore.stats.resampling import FloatArray, bootstrap_scores, percentile_interval

TOGETHER = "depends on all captions of a system together"
NO_ITEMS = "the table has only its scores of systems"
NO_STATISTICS = (
    "made from sums over captions, which this table does not have; score the captions again, "
    "and keep the table as JSON with its statistics"
)
_MEAN = 1e-9  # how near a system's score must be to the mean of its items to be taken for it
# Parts of a signature that may differ between systems whose scores can be compared.
_OWN_PARTS = (
    *("items", "videos", "missing", "ids", "common", "empty", "level", "resamples", "seed", "v"),
)


class Group(NamedTuple):
    """Scores that are resampled together: by one metric, of systems that have the same items."""

    systems: list[str]
    outputs: Sequence[str]  # the metric's scores
    rows: list[FloatArray]  # for each system, items × k statistics
    scores: Callable[[FloatArray], FloatArray]  # turns sums of rows into scores
    items: int  # a number for the items they have
    # for each system resamples × k sums, where these were made when it was scored; there are no
    # rows then
    draws: list[FloatArray]


def groups_of(
    table: ScoreTable, apart: Collection[str] = ()
) -> tuple[list[Group], dict[tuple[str, str], str]]:
    """Put together the scores that can be resampled; of the others, say why they cannot."""
    reasons: dict[tuple[str, str], str] = {}
    groups: dict[tuple[object, ...], Group] = {}
    numbers = _Numbers()
    for system, row in table.results.items():
        done: set[int] = set()
        for name, result in row.items():
            if reason := _not_resampled(result):
                reasons[system, name] = reason
                continue
            who = system if name in apart else ""
            alike = (_comparable(result.signature), who)
            key: tuple[object, ...]
            if (drawn := result.draws) is not None:
                if id(drawn) not in done:
                    done.add(id(drawn))
                    key = (tuple(drawn.outputs), drawn.made, drawn.items, *alike)
                    group = Group([], drawn.outputs, [], drawn.scores, drawn.items, [])
                    group = groups.setdefault(key, group)
                    group.systems.append(system)
                    group.draws.append(drawn.sums)
                continue
            shared = result.statistics
            if id(shared) in done:
                continue
            if shared is None:
                own = result.items
                shared = Statistics([name], own.index.items, with_count(own.array), mean_of_first)
            else:
                done.add(id(shared))
            items = numbers[shared.items]
            key = (tuple(shared.outputs), items, *alike)
            group = groups.setdefault(key, Group([], shared.outputs, [], shared.scores, items, []))
            group.systems.append(system)
            group.rows.append(shared.rows)
    return list(groups.values()), reasons


class _Numbers:
    """Numbers for lists of items; equal lists get the same number."""

    def __init__(self) -> None:
        self._by_identity: dict[int, int] = {}
        self._lists: list[Sequence[str]] = []

    def __getitem__(self, items: Sequence[str]) -> int:
        if id(items) not in self._by_identity:
            equal = (k for k, other in enumerate(self._lists) if other == items)
            self._by_identity[id(items)] = next(equal, len(self._lists))
            self._lists.append(items)
        return self._by_identity[id(items)]


def _not_resampled(result: MetricResult) -> str:
    """Why a score cannot be resampled; empty where it can."""
    scores = result.items.array
    if result.scale.together:
        return TOGETHER
    if result.draws is not None:
        return ""
    if not len(scores):
        return NO_ITEMS
    if result.statistics is not None:
        return ""
    if not np.isfinite(scores).all():
        return "some items have no finite score"
    if result.scale.mean is False:
        return NO_STATISTICS
    apart = abs(scores.mean() - result.score)
    if apart > _MEAN * max(1.0, abs(result.score)):
        return NO_STATISTICS
    if result.scale.mean is None and len(scores) < 2:
        return "fewer than two items"
    return ""


def _comparable(signature: str) -> str:
    """The parts of a signature that must be the same for two scores to be compared."""
    parts = signature.split("|")
    return "|".join(part for part in parts if part.partition(":")[0] not in _OWN_PARTS)


def resampled(
    groups: Sequence[Group], resamples: int, seed: int
) -> Iterator[tuple[Group, FloatArray]]:
    """Score the same resamples of all systems of each group: resamples × systems × outputs."""
    for group in groups:
        if group.draws:
            if len(group.draws[0]) != resamples:
                raise DataError(
                    f"The captions were scored with {len(group.draws[0]):,} resamples, not with "
                    f"{resamples:,}; ask for as many."
                )
            yield group, group.scores(np.stack(group.draws, axis=1))
    groups = [group for group in groups if not group.draws]
    for items in dict.fromkeys(group.items for group in groups):
        # All scores of the same items are drawn together: drawing is what takes the time.
        together = [group for group in groups if group.items == items]
        columns = np.hstack([rows for group in together for rows in group.rows])
        sums = bootstrap_scores(columns, lambda totals: totals, resamples=resamples, seed=seed)
        begin = 0
        for group in together:
            systems, width = len(group.systems), group.rows[0].shape[1]
            own = sums[:, begin : begin + systems * width]
            begin += systems * width
            yield group, group.scores(own.reshape(resamples, systems, width))


Intervals = Mapping[tuple[str, str], tuple[float, float]]


def intervals_of(group: Group, samples: FloatArray, level: float = 0.95) -> Intervals:
    """Return the interval of each system and score of a group from its resamples."""
    low, high = percentile_interval(samples, level)
    return {
        (system, name): (float(low[i, k]), float(high[i, k]))
        for i, system in enumerate(group.systems)
        for k, name in enumerate(group.outputs)
        if not np.isnan(low[i, k])  # some resamples have no item with the score
    }


def with_intervals(
    table: ScoreTable, *, level: float = 0.95, resamples: int = 1000, seed: int = 12345
) -> ScoreTable:
    """Add a bootstrap interval over items to every score that has none and allows one.

    Args:
        table: The scores, fresh or stored.
        level: The share of resamples that an interval holds.
        resamples: How many resamples to draw.
        seed: Random seed.

    Raises:
        DataError: If the level is not between 0 and 1.

    >>> from reelscore import score_systems
    >>> from reelscore.examples import clips
    >>> table = with_intervals(score_systems(*clips(), "rouge_l"))
    >>> low, high = table["weak"]["rouge_l"].interval
    >>> low < table["weak"]["rouge_l"].score < high
    True
    """
    if not 0 < level < 1:
        raise DataError(f"The level of an interval is {level}; expected a number in (0, 1).")
    intervals: dict[tuple[str, str], tuple[float, float]] = {}
    for group, samples in resampled(groups_of(table)[0], resamples, seed):
        intervals |= intervals_of(group, samples, level)
    return add_intervals(table, intervals, f"level:{level:g}|{drawn_how(table, resamples, seed)}")


def drawn_how(table: ScoreTable, resamples: int, seed: int) -> str:
    """How resamples are drawn, as a signature says it; some tables have theirs already."""
    results = [result for row in table.results.values() for result in row.values()]
    made = next((result.draws.made for result in results if result.draws is not None), "")
    return made or f"resamples:{resamples}|seed:{seed}"


def add_intervals(table: ScoreTable, intervals: Intervals, made: str) -> ScoreTable:
    """Put intervals into a table where it has none."""

    def added(system: str, result: MetricResult) -> MetricResult:
        interval = intervals.get((system, result.metric))
        if result.interval is not None or interval is None:
            return result
        signature = f"{result.signature or result.metric}|{made}"
        return replace(result, interval=interval, signature=signature)

    rows = {
        system: {name: added(system, result) for name, result in row.items()}
        for system, row in table.results.items()
    }
    return replace(table, results=rows)
