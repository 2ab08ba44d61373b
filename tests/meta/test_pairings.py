"""The audit finds scores that a tool returned in its own order."""

from __future__ import annotations

import numpy as np
import pytest

from reelscore.data.tables.table import ItemScores, MetricResult, ScoreTable
from reelscore.meta.audit import audit_tables, quick_audit
from reelscore.meta.shifts import orders

ITEMS = [str(k) for k in range(1, 121)]
SYSTEMS = ("one", "two", "three")


def table(scores: dict[tuple[str, str], float]) -> ScoreTable:
    systems: dict[str, dict[str, float]] = {}
    for (system, item), score in scores.items():
        systems.setdefault(system, {})[item] = score
    return ScoreTable(
        {s: {"x": MetricResult("x", 0.0, ItemScores.of(own), "")} for s, own in systems.items()}
    )


def returned(scores, rows, key):
    """What comes of a list that is returned in the order of a key, and paired with the rows."""
    in_order = [scores[row] for row in sorted(rows, key=key)]
    return dict(zip(rows, in_order, strict=True))


@pytest.fixture
def data():
    """Rows in a file's order, systems in turn; scores of a metric and of people."""
    rng = np.random.default_rng(3)
    rows = [(system, item) for item in ITEMS for system in SYSTEMS]
    metric = dict(zip(rows, rng.normal(size=len(rows)), strict=True))
    human = {row: score + rng.normal() for row, score in metric.items()}
    return rows, metric, human


def by_item_as_string(rows):
    return lambda row: (SYSTEMS.index(row[0]), row[1])


def test_ids_of_items_sorted_as_strings(data):
    _, metric, human = data
    rows = [(system, item) for system in SYSTEMS for item in ITEMS]
    wrong = returned(metric, rows, by_item_as_string(rows))
    verdict = quick_audit(table(wrong), table(human))
    assert (verdict.kind, verdict.order) == ("reordered", "item ids sorted as strings")
    assert verdict.misaligned
    assert str(verdict).startswith("scores in another order: item ids sorted as strings (z = ")
    assert quick_audit(table(metric), table(human)).kind == "aligned"


def test_row_numbers_sorted_as_strings(data):
    rows, metric, human = data
    for first in (0, 1):
        place = {row: str(k) for k, row in enumerate(rows, start=first)}
        wrong = table(returned(metric, rows, place.__getitem__))
        verdict = audit_tables(wrong, table(human), rows=[rows]).verdict
        assert verdict.order == f"row numbers from {first} sorted as strings"
        # which rows had which number cannot be seen from tables alone
        assert quick_audit(wrong, table(human)).kind == "cannot tell"


def test_ids_of_items_sorted_as_numbers(data):
    _, metric, human = data
    rows = [(system, item) for system in SYSTEMS for item in sorted(ITEMS)]
    wrong = returned(metric, rows, lambda row: (SYSTEMS.index(row[0]), int(row[1])))
    verdict = quick_audit(table(wrong), table(human))
    assert (verdict.kind, verdict.order) == ("reordered", "item ids sorted as numbers")


def test_a_metric_of_which_less_is_better(data):
    _, metric, human = data
    rows = [(system, item) for system in SYSTEMS for item in ITEMS]
    wrong = returned({row: -x for row, x in metric.items()}, rows, by_item_as_string(rows))
    assert quick_audit(table(wrong), table(human)).kind == "reordered"


def test_no_false_alarm(data):
    rows, _, _ = data
    rng = np.random.default_rng(4)
    for _ in range(60):
        one, two = (dict(zip(rows, rng.normal(size=len(rows)), strict=True)) for _ in range(2))
        assert audit_tables(table(one), table(two), rows=[rows]).verdict.kind == "cannot tell"


def test_a_shift_is_still_a_shift(data):
    rows, metric, human = data
    late = {
        (system, item): metric[system, ITEMS[k - 1]]
        for k, item in enumerate(ITEMS)
        for system in SYSTEMS
    }
    verdict = audit_tables(table(late), table(human), rows=[rows]).verdict
    assert (verdict.kind, verdict.shift) == ("shifted", 1)


def test_orders_that_change_nothing_are_not_tried():
    assert [name for name, _ in orders([("a", "1"), ("a", "2")])] == []
    assert [name for name, _ in orders([("a", "x"), ("a", "b")])] == ["item ids sorted as strings"]
