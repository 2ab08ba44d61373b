"""Matching against every possible matching, ties included; no score depends on file order."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reelscore import _native
from reelscore.stories import match, score
from support.story_twins import best_matching, table_matching

# Few values, so that many sums are equal, also such that floating point does not find equal.
values = st.sampled_from([0.0, 0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0])


@st.composite
def matrices(draw: Any, most: int = 5) -> tuple[np.ndarray, np.ndarray]:
    rows, columns = draw(st.integers(0, most)), draw(st.integers(0, most))
    size = rows * columns
    made = [draw(st.lists(values, min_size=size, max_size=size)) for _ in range(2)]
    costs, bonuses = (np.array(each, dtype=float).reshape(rows, columns) for each in made)
    return costs, bonuses


@given(matrices())
def test_match_is_the_best_of_all(matrix: tuple[np.ndarray, np.ndarray]) -> None:
    costs, bonuses = matrix
    matching = match(costs, bonuses)
    cost, bonus, _ = best_matching(costs, bonuses)
    assert matching.cost == pytest.approx(cost, abs=1e-12)
    assert matching.bonus == pytest.approx(bonus, abs=1e-12)
    assert all(costs[pair] > 0 for pair in matching.pairs)
    rows, columns = zip(*matching.pairs, strict=True) if matching.pairs else ((), ())
    assert list(rows) == sorted(set(rows))
    assert list(columns) == sorted(set(columns))


@given(st.lists(matrices(), min_size=1, max_size=4), st.integers(1, 3))
def test_sums_of_many_stories(stories: list[tuple[np.ndarray, np.ndarray]], threads: int) -> None:
    rows = np.cumsum([0, *(len(costs) for costs, _ in stories)])
    columns = np.cumsum([0, *(costs.shape[1] for costs, _ in stories)])
    sums = _native.match_sums(
        np.concatenate([costs.ravel() for costs, _ in stories]),
        np.concatenate([bonuses.ravel() for _, bonuses in stories]),
        rows,
        columns,
        np.zeros(2 * (columns[-1] + len(stories))),
        threads,
    ).reshape(-1, 2)
    for k, (costs, bonuses) in enumerate(stories):
        last = sums[columns[k + 1] + k]
        assert last == pytest.approx(table_matching(costs, bonuses), abs=1e-12)


@given(matrices(most=7), st.integers(1, 7))
def test_rows_in_pieces(matrix: tuple[np.ndarray, np.ndarray], step: int) -> None:
    costs, bonuses = matrix
    columns = np.array([0, costs.shape[1]])

    def extend(begin: int, end: int, sums: np.ndarray) -> np.ndarray:
        piece = costs[begin:end].ravel(), bonuses[begin:end].ravel()
        count = np.array([0, len(costs[begin:end])])
        return _native.match_sums(*piece, count, columns, sums, 1)

    whole = extend(0, len(costs), np.zeros(2 * (columns[1] + 1)))
    parts = np.zeros(2 * (columns[1] + 1))
    for begin in range(0, len(costs), step):
        parts = extend(begin, begin + step, parts)
    assert parts.tolist() == whole.tolist()


SENTENCES = ["a man runs", "a man is running", "the dog sleeps", "two dogs play in the snow"]
times = st.integers(0, 4)
captions = st.lists(
    st.tuples(times, st.integers(1, 4), st.sampled_from(SENTENCES)), min_size=1, max_size=6
)


def _document(rows: list[tuple[int, int, str]]) -> dict[str, Any]:
    return {
        "v": [
            {"timestamp": [start, start + length], "sentence": sentence}
            for start, length, sentence in rows
        ]
    }


@given(captions, st.lists(captions, min_size=1, max_size=2), st.randoms(use_true_random=False))
@example(  # two annotators with the same F1, but not the same precision
    [(0, 1, "the dog sleeps")],
    [[(0, 1, "a man runs"), (0, 2, "the dog sleeps")], [(0, 3, "the dog sleeps")]],
    random.Random(1),
)
def test_file_order_is_irrelevant(
    ours: list[tuple[int, int, str]],
    theirs: list[list[tuple[int, int, str]]],
    shuffle: random.Random,
) -> None:
    for annotators in ("mean", "merge", "best"):
        before = score(_document(ours), map(_document, theirs), "soda", annotators=annotators)
        mixed = [shuffle.sample(rows, len(rows)) for rows in theirs]
        after = score(
            _document(shuffle.sample(ours, len(ours))),
            map(_document, shuffle.sample(mixed, len(mixed))),
            "soda",
            annotators=annotators,
        )
        for name in before:
            assert after[name].score == pytest.approx(before[name].score, abs=1e-12), name
        assert after["soda_c"].signature == before["soda_c"].signature
