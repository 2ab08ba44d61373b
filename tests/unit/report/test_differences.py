"""Marks that point the right way, and differences with their intervals."""

from __future__ import annotations

import numpy as np
import pytest

from reelscore import ScoreTable, compare, examples, score_systems
from reelscore.data.tables.scales import Scale
from reelscore.data.tables.table import ItemScores, MetricResult
from reelscore.report.tables.differences import difference_grid, marks_note
from reelscore.report.tables.leaderboard import TableLayout
from reelscore.significance.comparison import Comparison, marks_of_tests


@pytest.mark.parametrize(("better", "mark"), [("high", "▲"), ("low", "▼"), ("neither", "*")])
def test_marks_point_the_right_way(better, mark):
    rng = np.random.default_rng(3)
    base = rng.random(50)

    def row(values):
        items = ItemScores.of({f"v{k}": float(v) for k, v in enumerate(values)})
        mean = float(np.mean(values))
        return {"x": MetricResult("x", mean, items, "", scale=Scale(better, mean=True))}

    table = ScoreTable({"base": row(base), "higher": row(base + 0.5)})
    tests = compare(table, "base", tests=["bootstrap"])
    assert marks_of_tests(tests, {}, "base") == {("higher", "x"): mark}
    assert marks_note([mark], "base", 0.05, "test").startswith(mark)


def test_a_difference_that_is_not_significant_has_no_mark():
    p = np.array([[np.nan, 0.2], [0.2, np.nan]])
    tests = [Comparison.of("x", ["a", "b"], [0.3, 0.2], p)]
    assert marks_of_tests(tests, {}, "a") == {}
    assert marks_note([], "a", 0.05, "test") == "No score differs from a, p < 0.05 (test)."


def test_differences_and_intervals():
    table = score_systems(*examples.clips(), "rouge_l,cider")
    tests = compare(table, "strong", resamples=200, trials=200)
    grid = difference_grid(table, tests, layout=TableLayout(scale=100, digits=2, columns="CIDEr"))
    assert grid.columns == ["system", "CIDEr"]
    rows = [[cell.text for cell in row] for row in grid.rows]
    assert [name for name, _ in rows[:5]] == [
        *("human", "  from", "  to", "  p bootstrap", "  p randomization"),
    ]
    [cider] = [each for each in tests if each.metric == "cider" and each.test == "bootstrap"]
    pair = next(cider.pairs)
    low, high = pair.interval
    assert [text for _, text in rows[:4]] == [
        f"{100 * pair.difference:+.2f}",
        f"{100 * low:+.2f}",
        f"{100 * high:+.2f}",
        f"{pair.p_corrected:.4f}",
    ]


def test_all_pairs_go_by_letters():
    table = score_systems(*examples.clips(), "rouge_l")
    tests = compare(table, tests=["randomization"], trials=99)
    grid = difference_grid(table, tests)
    assert [row[0].text for row in grid.rows[:4]] == [
        *("a – b", "  p randomization", "a – c", "  p randomization")
    ]
