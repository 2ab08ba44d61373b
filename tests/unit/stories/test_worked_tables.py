"""The worked tables of the SODA papers, and what a matching must survive."""

from __future__ import annotations

import numpy as np
import pytest

from reelscore import DataError, _native
from reelscore.stories import match
from reelscore.stories.overlaps import iou

# Rows are references, columns candidates, as printed.
SODA_FIGURE_1 = [
    [0.7, 0.1, 0.4, 0.9, 0.1],
    [0.2, 0.3, 0.5, 0.4, 0.5],
    [0.4, 1.0, 0.3, 0.7, 0.8],
    [0.8, 0.7, 0.6, 1.0, 0.1],
]
PRECURSOR_FIGURE_2 = [
    [0.1, 0.3, 0.2, 0.8, 0.1],
    [0.1, 0.3, 0.1, 0.8, 0.5],
    [0.9, 1.0, 0.3, 0.9, 0.8],
    [0.3, 0.5, 0.6, 1.0, 0.1],
]


def test_soda_figure_1() -> None:
    matching = match(np.transpose(SODA_FIGURE_1))
    assert matching.cost == pytest.approx(2.7)
    # (g1, p1), (g3, p2), (g4, p4)
    assert matching.pairs == ((0, 0), (1, 2), (3, 3))


def test_soda_figure_4_row_by_row() -> None:
    """The last row of the printed table: the best sums against g1 to g4 with all candidates."""
    costs = np.transpose(SODA_FIGURE_1)
    sums = _native.match_sums(
        np.ascontiguousarray(costs).ravel(),
        np.zeros(costs.size),
        np.array([0, 5]),
        np.array([0, 4]),
        np.zeros(10),
        1,
    )
    assert sums[::2] == pytest.approx([0, 0.9, 1.4, 2.0, 2.7])


def test_precursor_figure_2() -> None:
    matching = match(np.transpose(PRECURSOR_FIGURE_2))
    assert matching.cost == pytest.approx(2.1)
    # (g2, p1), (g3, p2), (g4, p4); (g1, p1) would cost the same, and the paper takes the later.
    assert matching.pairs == ((0, 1), (1, 2), (3, 3))


def test_ties_go_to_the_larger_bonus() -> None:
    costs = [[0.5, 0.0], [0.5, 0.5], [0.0, 0.5]]
    bonus = [[0.1, 0.0], [0.9, 0.2], [0.0, 0.1]]
    matching = match(costs, bonus)
    assert (matching.pairs, matching.bonus) == (((1, 0), (2, 1)), 1.0)


def test_sums_equal_but_for_rounding_are_ties() -> None:
    """Rows 0–2 or rows 3–5: 1.0 both, though floating point adds up one of them to less."""
    assert 0.1 + 0.2 + 0.7 != 0.7 + 0.2 + 0.1
    costs = np.vstack([np.diag([0.1, 0.2, 0.7]), np.diag([0.7, 0.2, 0.1])])
    upper = match(costs, np.vstack([np.eye(3), np.zeros((3, 3))]))
    lower = match(costs, np.vstack([np.zeros((3, 3)), np.eye(3)]))
    assert upper.pairs == ((0, 0), (1, 1), (2, 2))
    assert lower.pairs == ((3, 0), (4, 1), (5, 2))


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
def test_nothing_to_match(shape: tuple[int, int]) -> None:
    matching = match(np.zeros(shape))
    assert (matching.pairs, matching.cost) == ((), 0.0)


def test_zero_costs_never_match() -> None:
    assert match([[0.0]], bonus=[[1.0]]).pairs == ()


def test_bad_matrices() -> None:
    with pytest.raises(DataError, match="one matrix each"):
        match([[1.0]], bonus=[[1.0, 2.0]])
    for bad in (-1.0, float("nan"), float("inf")):
        with pytest.raises(DataError, match="negative or infinite"):
            match([[bad]])


def test_ten_thousand_captions_are_no_recursion() -> None:
    count = 10_000
    costs = np.zeros((count, 50))
    costs[np.arange(50) * 200, np.arange(50)] = 1.0
    matching = match(costs)
    assert matching.cost == 50
    assert matching.pairs[-1] == (49 * 200, 49)


IOU_CASES = [
    # one, other, expected, why
    ([0, 10], [0, 10], 1.0, "identical segments give exactly 1"),
    ([0.1, 0.3], [0.1, 0.3], 1.0, "also with times that floating point rounds"),
    ([0, 5], [0, 10], 0.5, "an exact half"),
    ([0, 5], [5, 10], 0.0, "they touch"),
    ([0, 4], [6, 10], 0.0, "apart"),
    ([3, 3], [0, 10], 0.0, "no length"),
    ([3, 3], [3, 3], 0.0, "an empty union"),
    ([9, 1], [0, 10], 0.0, "the end before the start"),
    ([9, 1], [9, 1], 0.0, "both reversed"),
]


@pytest.mark.parametrize(("one", "other", "expected", "why"), IOU_CASES)
def test_iou(one: list[float], other: list[float], expected: float, why: str) -> None:
    assert iou([one], [other]).tolist() == [[expected]], why
    assert iou([other], [one]).tolist() == [[expected]], why


def test_the_challenges_iou_misses_its_threshold() -> None:
    assert iou([[0, 5]], [[0, 10]], epsilon=1e-8)[0, 0] < 0.5
