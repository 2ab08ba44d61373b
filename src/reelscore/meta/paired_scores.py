"""Metric tables and a human table, brought together: one array of systems × items each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from reelscore.data.captions.item_ids import rule_hint
from reelscore.data.checks import first_few
from reelscore.data.tables.table import ScoreTable
from reelscore.data.tables.table_forms import TableLike, matched_table, table_items, table_of
from reelscore.errors import DataError, check_choice
from reelscore.stats.correlations import known
from reelscore.stats.resampling import FloatArray

SystemScores = Literal["means", "own"]


@dataclass(frozen=True)
class Cells:
    """What people and metrics say of the same captions.

    Attributes:
        systems: The systems that people and some metric scored.
        items: The items that people judged and some metric scored.
        human: The human scores, systems × items, higher is better; NaN where there is none.
        metrics: The same for each metric.
        notes: What was left out, and of how much.
        turned: Scores by which lower is better; here they stand with the opposite sign.
    """

    systems: Sequence[str]
    items: Sequence[str]
    human: FloatArray
    metrics: Mapping[str, FloatArray]
    notes: Sequence[str] = field(default=())
    turned: Sequence[str] = field(default=())

    def pair(self, metric: str) -> tuple[FloatArray, FloatArray]:
        """Return human and metric scores of the captions that have both; NaN elsewhere.

        Raises:
            UnknownNameError: There is no such metric.
        """
        check_choice("metric", metric, self.metrics)
        scores = self.metrics[metric]
        there = known(self.human) & known(scores)
        return np.where(there, self.human, np.nan), np.where(there, scores, np.nan)


def bring_together(
    metrics: TableLike,
    human: TableLike,
    *,
    column: str | None = None,
    system_scores: SystemScores = "means",
    match_ids: str | None = None,
) -> Cells:
    """Pair every human score with the metrics' scores of the same system and item.

    Args:
        metrics: The metrics' scores, in any form: a table, a file, several, a data frame.
        human: People's scores, likewise; several of a caption are averaged.
        column: Which of the human table's scores to use, where it has several.
        system_scores: ``means``: a system's score is the mean over the captions that people
            judged. ``own``: it is the table's own score of the system, such as BLEU of the whole
            set; there are no items then.
        match_ids: How to match items that people's table writes differently, as in
            `reelscore.score`.

    Raises:
        DataError: The tables have no system, or no item, in common.

    >>> from reelscore.data.tables.table import ItemScores, MetricResult
    >>> def table(name, **systems):
    ...     return ScoreTable({system: {name: MetricResult(name, 0.0, ItemScores.of(scores), "")}
    ...                        for system, scores in systems.items()})
    >>> people = table("people", one={"v1": 70.0, "v2": 20.0}, two={"v1": 90.0})
    >>> cells = bring_together(table("meteor", one={"v1": 0.3}, two={"v1": 0.4}), people)
    >>> cells.human.tolist(), cells.metrics["meteor"].tolist()
    ([[70.0], [90.0]], [[0.3], [0.4]])
    >>> cells.notes
    ['Of 2 judged items, 1 is left out: no metric scores them.']
    """
    check_choice("kind of system score", system_scores, get_args(SystemScores))
    metrics = table_of(metrics)
    human = table_of(human, name="human", repeats="mean", column=column)
    human = matched_table(human, match_ids, table_items(metrics))
    name = _column(human)
    judged = [system for system in human.systems if name in human[system]]
    systems = [system for system in judged if system in metrics.results]
    if not systems:
        raise DataError(
            f"The human table and the metric tables have no system in common: people judged "
            f"{_names(judged)}, the metrics scored {_names(metrics.systems)}. "
            "The names of systems must match exactly."
        )
    notes = [*human.notes, *metrics.notes]
    notes += _left_out("judged", "no score", [s for s in judged if s not in systems])
    notes += _left_out("scored", "no judgment", [s for s in metrics.systems if s not in systems])
    turned = [m for m in metrics.metrics if metrics.scale(m).better == "low"]
    turned += [name] if human.scale(name).better == "low" else []
    notes += [
        f"{score}: lower is better, so its sign is reversed: a positive correlation means "
        "agreement with people."
        for score in turned
    ]
    if system_scores == "own" or not any(map(_has_items, (human, metrics))):
        return Cells(
            systems,
            [""],
            _own_scores(human, name, systems),
            {metric: _own_scores(metrics, metric, systems) for metric in metrics.metrics},
            notes,
            turned,
        )
    for what, table in (("human", human), ("metric", metrics)):
        if not _has_items(table):
            raise DataError(
                f"The {what} table has scores of systems only, not of items. "
                'Compare systems by their own scores: pass system_scores="own".'
            )
    seen = dict.fromkeys(item for system in systems for item in human[system][name].items)
    scored = {item for s in systems for result in metrics[s].values() for item in result.items}
    items = [item for item in seen if item in scored]
    if not items:
        raise DataError(
            f"The human table and the metric tables have no item in common: people judged "
            f"{_names(list(seen))}, the metrics scored {_names(sorted(scored))}. "
            "The ids of items must match exactly." + rule_hint(seen, scored)
        )
    if gone := len(seen) - len(items):
        left = "1 is" if gone == 1 else f"{gone:,} are"
        missing = [item for item in seen if item not in scored]
        hint = rule_hint(missing, [item for item in scored if item not in seen])
        notes.append(
            f"Of {len(seen):,} judged items, {left} left out: no metric scores them.{hint}"
        )
    cells = Cells(
        systems,
        items,
        _scores(human, name, systems, items),
        {metric: _scores(metrics, metric, systems, items) for metric in metrics.metrics},
        notes,
        turned,
    )
    notes += _gaps(cells)
    return cells


def _column(human: ScoreTable) -> str:
    if len(human.metrics) > 1:
        raise DataError(
            f"The human table has several scores: {', '.join(human.metrics)}. "
            f'Choose one by its name, such as column="{human.metrics[0]}".'
        )
    return human.metrics[0]


def _has_items(table: ScoreTable) -> bool:
    return any(len(result.items) for row in table.results.values() for result in row.values())


def _scores(
    table: ScoreTable, metric: str, systems: Sequence[str], items: Sequence[str]
) -> FloatArray:
    return _finite(table.scale(metric).sign * table.matrix(metric, systems, items), metric)


def _own_scores(table: ScoreTable, metric: str, systems: Sequence[str]) -> FloatArray:
    scores = [
        table[system][metric].score if metric in table[system] else np.nan for system in systems
    ]
    return _finite(table.scale(metric).sign * np.array(scores, dtype=np.float64)[:, None], metric)


def _finite(scores: FloatArray, name: str) -> FloatArray:
    if np.isinf(scores).any():
        raise DataError(f"{name} has infinite scores; correlations need finite ones.")
    return scores


def _gaps(cells: Cells) -> list[str]:
    """Count the judged captions that a metric does not score."""
    judged = known(cells.human)
    notes = []
    for name, scores in cells.metrics.items():
        missing = int((judged & ~known(scores)).sum())
        if missing:
            notes.append(f"{name} scores all but {missing:,} of {int(judged.sum()):,} captions.")
    return notes


def _left_out(have: str, lack: str, systems: list[str]) -> list[str]:
    if not systems:
        return []
    many = "system was" if len(systems) == 1 else "systems were"
    return [f"{len(systems):,} {many} {have} but got {lack} ({first_few(systems)})."]


def _names(names: Sequence[str]) -> str:
    return f"{', '.join(map(repr, names[:3]))}{', …' if len(names) > 3 else ''}"
