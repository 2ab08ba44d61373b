"""Scores that are made of fewer items than others by the same metric, and so not comparable.

With ``missing="skip"`` a system's score leaves out the items it gives no caption for, which may be
the difficult ones. The items are in the table, or only how many there are where they are too many;
so this is known of stored tables, too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from reelscore.data.captions.caption_files import Candidates, References
from reelscore.data.tables.table import Coverage, ItemIndex, ScoreTable
from reelscore.errors import DataError

PARTIAL = "†"  # stands behind the name of a system whose scores are not comparable

Partial = Mapping[tuple[str, str], Coverage]  # by system and metric


def partial_scores(table: ScoreTable, people: Collection[str] = ()) -> Partial:
    """Find the scores that are made of fewer items than the metric has in the table."""
    partial: dict[tuple[str, str], Coverage] = {}
    # metrics of a table share their items
    by_items: dict[tuple[int, ...], dict[str, Coverage]] = {}
    for metric in table.metrics:
        if metric in people:
            continue
        indexes = {
            system: row[metric].items.index
            for system, row in table.results.items()
            if metric in row and len(row[metric].items)
        }
        key = tuple(map(id, indexes.values()))
        if key not in by_items:
            by_items[key] = _incomplete(indexes)
        partial |= {(system, metric): coverage for system, coverage in by_items[key].items()}
        partial |= {
            (system, metric): coverage
            for system, row in table.results.items()
            if metric in row and (coverage := row[metric].coverage)
        }
    return partial


def partial_notes(partial: Partial) -> list[str]:
    """Return which systems are not comparable; nothing if all are.

    >>> partial_notes({("ours", "rouge_l"): Coverage(480, 500)})
    ['† not comparable, so not ranked: ours was scored on 480 of 500 items.']
    """
    parts: dict[tuple[str, Coverage], list[str]] = {}
    for (system, metric), coverage in partial.items():
        parts.setdefault((system, coverage), []).append(metric)
    if not parts:
        return []
    several = len({system for system, _ in parts}) < len(parts)
    sentences = [
        f"{system} was scored on {coverage.scored:,} of {coverage.total:,} items"
        + (f" ({', '.join(metrics)})" if several else "")
        for (system, coverage), metrics in parts.items()
    ]
    return [f"{PARTIAL} not comparable, so not ranked: {', '.join(sentences)}."]


def items_notes(
    table: ScoreTable, common: Coverage | None = None, *, in_memory: bool = True
) -> list[str]:
    """Return which items were scored, where that is not the same for all systems or not all."""
    if common is not None:
        return [f"Scored on the {common.scored:,} of {common.total:,} items that all systems have."]
    if not partial_scores(table):
        return []
    how = "pass" if in_memory else "score in memory with"
    return [
        f"Systems were scored on different items; to score all on those they share, {how} "
        "common=True."
    ]


def on_shared_items(
    systems: Mapping[str, Candidates], references: References | None
) -> tuple[dict[str, Candidates], References | None, Coverage]:
    """Leave out the items that any system has no candidate for.

    Candidates without references stay, for the policy on missing items to judge.
    """
    ids = {name: {str(item) for item in candidates} for name, candidates in systems.items()}
    wanted = [*dict.fromkeys(str(item) for c in systems.values() for item in c)]
    if references is not None:
        wanted = [str(item) for item in references]
    left_out = {item for item in wanted if any(item not in own for own in ids.values())}
    if len(left_out) == len(wanted):
        raise DataError(
            f"The systems {', '.join(systems)} have no item in common"
            + (" that has references." if references is not None else ".")
        )
    kept: dict[str, Candidates] = {
        name: {item: text for item, text in candidates.items() if str(item) not in left_out}
        for name, candidates in systems.items()
    }
    if references is not None:
        references = {i: texts for i, texts in references.items() if str(i) not in left_out}
    return kept, references, Coverage(len(wanted) - len(left_out), len(wanted))


def _incomplete(indexes: Mapping[str, ItemIndex]) -> dict[str, Coverage]:
    lists = list({id(index): index.items for index in indexes.values()}.values())
    if all(items == lists[0] for items in lists[1:]):
        return {}
    total = len(set().union(*lists))
    return {
        system: Coverage(len(index.items), total)
        for system, index in indexes.items()
        if len(index.items) < total
    }
