"""Tables brought together: pairs, gaps, names that do not fit."""

from __future__ import annotations

import numpy as np
import pytest

from reelscore import DataError, MetricResult, ScoreTable, UnknownNameError
from reelscore.data.tables.table import ItemScores
from reelscore.meta import Cells, bring_together, merge_tables


def table(name="x", **systems):
    return ScoreTable(
        {
            system: {name: MetricResult(name, 0.5, ItemScores.of(scores), "")}
            for system, scores in systems.items()
        }
    )


HUMAN = table("people", a={"1": 70.0, "2": 20.0}, b={"1": 90.0, "3": 10.0})


def test_pairs_and_gaps():
    cells = bring_together(table(a={"1": 0.3, "3": 0.1, "9": 1.0}, b={"1": 0.4}), HUMAN)
    assert (cells.systems, cells.items) == (["a", "b"], ["1", "3"])
    assert np.array_equal(cells.human, [[70, np.nan], [90, 10]], equal_nan=True)
    assert np.array_equal(cells.metrics["x"], [[0.3, 0.1], [0.4, np.nan]], equal_nan=True)
    human, metric = cells.pair("x")
    assert np.array_equal(human, [[70, np.nan], [90, np.nan]], equal_nan=True)
    assert np.array_equal(metric, [[0.3, np.nan], [0.4, np.nan]], equal_nan=True)
    assert list(cells.notes) == [
        "Of 3 judged items, 1 is left out: no metric scores them.",
        "x scores all but 1 of 3 captions.",
    ]


def test_systems_of_one_side_are_named():
    cells = bring_together(table(a={"1": 0.3}, c={"1": 0.2}), HUMAN)
    assert list(cells.notes)[:2] == [
        "1 system was judged but got no score (first: 'b').",
        "1 system was scored but got no judgment (first: 'c').",
    ]


def test_no_system_in_common():
    with pytest.raises(DataError, match=r"no system in common: people judged 'a', 'b'.*scored 'A'"):
        bring_together(table(A={"1": 0.3}), HUMAN)


def test_no_item_in_common():
    with pytest.raises(DataError, match=r"no item in common.*'1', '2', the.*'01', '02'"):
        bring_together(table(a={"01": 0.3, "02": 0.2}), HUMAN)


def test_own_scores():
    cells = bring_together(table(a={"1": 0.3}, b={"1": 0.1}), HUMAN, system_scores="own")
    assert cells.metrics["x"].tolist() == [[0.5], [0.5]]
    alone = bring_together(table(a={}, b={}), table("people", a={}, b={}))
    assert alone.human.shape == (2, 1)
    with pytest.raises(DataError, match="human table has scores of systems only"):
        bring_together(table(a={"1": 0.3}), table("people", a={}))
    with pytest.raises(DataError, match="metric table has scores of systems only"):
        bring_together(table(a={}), HUMAN)


def test_the_human_score_is_chosen_by_name():
    several = merge_tables([HUMAN, table("fluency", a={"1": 1.0})])
    with pytest.raises(DataError, match=r"several scores: people, fluency.*column="):
        bring_together(table(a={"1": 0.3}), several)
    assert bring_together(table(a={"1": 0.3}), several, column="fluency").human.tolist() == [[1]]
    with pytest.raises(UnknownNameError, match="fluency"):
        bring_together(table(a={"1": 0.3}), several, column="fluent")


def test_merging():
    merged = merge_tables([table("x", a={"1": 0.3}), table("y", a={"1": 0.2}, b={"1": 0.1})])
    assert (merged.systems, merged.metrics) == (["a", "b"], ["x", "y"])
    with pytest.raises(DataError, match=r"Two tables have x of 'a'.*NAME=FILE"):
        merge_tables([table(a={"1": 0.3}), table(a={"1": 0.2})])


def test_infinite_scores():
    with pytest.raises(DataError, match="infinite"):
        bring_together(table(a={"1": float("inf")}), HUMAN)


def test_unknown_metric():
    cells = Cells(["a"], ["1"], np.ones((1, 1)), {"meteor": np.ones((1, 1))})
    with pytest.raises(UnknownNameError, match="meteor"):
        cells.pair("metor")
