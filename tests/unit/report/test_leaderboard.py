"""The table people look at first."""

from __future__ import annotations

import csv
import io

import pytest
from msgspec.structs import replace

from reelscore import MetricResult, ScoreTable
from reelscore.data.tables.table import ItemScores
from reelscore.metrics.registry import declared_scale
from reelscore.report.tables.leaderboard import item_rows, leaderboard, leaderboard_csv


def result(name, score, items=None, interval=None):
    return MetricResult(
        name,
        score,
        ItemScores.of(items or {"v1": score}),
        name,
        interval,
        declared_scale(name),
    )


def table(**systems):
    return ScoreTable(
        {
            system: {name: result(name, score) for name, score in scores.items()}
            for system, scores in systems.items()
        }
    )


def cells(grid):
    return {(row[0].text, name): row[k] for row in grid.rows for k, name in enumerate(grid.columns)}


def test_best():
    rows = cells(
        leaderboard(
            table(
                one={"meteor": 0.3, "self_bleu": 0.9, "length": 9.0},
                two={"meteor": 0.2, "self_bleu": 0.1, "length": 5.0},
            )
        )
    )
    assert rows["one", "METEOR"].best
    assert not rows["two", "METEOR"].best
    assert rows["two", "Self-BLEU ↓"].best  # less is better
    assert not rows["one", "Length"].best  # neither is
    assert not rows["two", "Length"].best


def test_ties_share_the_honour():
    # scores that print the same are not told apart
    rows = cells(leaderboard(table(one={"meteor": 0.30001}, two={"meteor": 0.30002})))
    assert rows["one", "METEOR"].best
    assert rows["two", "METEOR"].best


def test_a_single_system_is_not_best():
    assert not cells(leaderboard(table(one={"meteor": 0.3})))["one", "METEOR"].best


def test_a_bound_is_neither_best_nor_second():
    scores = table(oracle={"meteor": 0.9}, one={"meteor": 0.3}, two={"meteor": 0.2}, three={})
    scores.results["three"]["meteor"] = result("meteor", 0.1)
    ranked, bounded = leaderboard(scores), leaderboard(scores, bounds=["oracle"])
    column = [(row[1].best, row[1].second) for row in ranked.rows]
    assert column == [(True, False), (False, True), (False, False), (False, False)]
    column = [(row[1].best, row[1].second) for row in bounded.rows]
    assert column == [(False, False), (True, False), (False, True), (False, False)]
    assert [row[0].mark for row in bounded.rows] == ["‡", "", "", ""]
    said = (
        "‡ a bound and no system, such as an oracle that sees the answers, so not ranked: oracle."
    )
    assert bounded.notes == [said]
    assert leaderboard(replace(scores, bounds=["oracle"])) == bounded
    # nor where it prints the same number as the best
    alike = table(oracle={"meteor": 0.3}, one={"meteor": 0.3}, two={"meteor": 0.2})
    assert [row[1].best for row in leaderboard(alike, bounds=["oracle"]).rows] == [0, 1, 0]


def test_missing_scores():
    rows = cells(leaderboard(table(one={"meteor": 0.3}, two={"cider": 1.0})))
    assert rows["one", "CIDEr"].text == "–"
    assert rows["two", "CIDEr"].text == "1.0000"


NUMBERS = [
    (0.17266, "0.1727"),
    (9.99994, "9.9999"),
    (9.99999, "10.0000"),
    (12.345, "12.35"),
    (1284.4, "1284"),
    (0.0, "0.0000"),
    (-0.5, "-0.5000"),
]


@pytest.mark.parametrize(("number", "text"), NUMBERS)
def test_numbers(number, text):
    assert cells(leaderboard(table(one={"x": number})))["one", "x"].text == text


def test_intervals_and_marks():
    one = ScoreTable({"one": {"meteor": result("meteor", 0.3, interval=(0.25, 0.37))}})
    cell = cells(leaderboard(one, {("one", "meteor"): "*"}))["one", "METEOR"]
    assert cell.under == "±0.0600"
    assert cell.mark == "*"


def test_items():
    gapped = ScoreTable(
        {
            "one": {"a": result("a", 0.5, {"v1": 0.4, "v2": 0.6})},
            "two": {"a": result("a", 0.1, {"v1": 0.0, "v2": 0.2})},
        }
    )
    grid = item_rows(gapped)
    assert grid.columns == ["system", "item", "a"]
    assert [[cell.text for cell in row] for row in grid.rows] == [
        ["one", "v1", "0.4000"],
        ["one", "v2", "0.6000"],
        ["two", "v1", "0.0000"],
        ["two", "v2", "0.2000"],
    ]


def test_items_of_uneven_systems():
    item_rows(table(one={"meteor": 0.3}, two={"cider": 1.0})).to_text()


def read(text):
    return list(csv.reader(io.StringIO(text)))


def test_csv():
    rows = read(leaderboard_csv(table(one={"a": 1 / 3}, two={"a": 0.1, "b": 2e-9})))
    assert rows == [
        ["system", "a", "b"],
        ["one", "0.3333333333333333", ""],  # in full, and nothing where there is no score
        ["two", "0.1", "2e-09"],
    ]


def test_csv_with_marks_and_intervals():
    one = ScoreTable(
        {
            "x,y": {
                "a": result("a", 0.5, interval=(0.25, 0.75)),
                "b": result("b", 0.5, interval=(0.25, 0.75)),
            }
        }
    )
    assert read(leaderboard_csv(one, {("x,y", "b"): "*"})) == [
        ["system", "a", "a_low", "a_high", "a_mark", "b", "b_low", "b_high", "b_mark"],
        ["x,y", "0.5", "0.25", "0.75", "", "0.5", "0.25", "0.75", "*"],
    ]


def test_csv_of_a_score_without_interval():
    # as self_bleu has none, beside metrics that have one
    one = ScoreTable({"x": {"a": result("a", 0.5, interval=(0.2, 0.7)), "b": result("b", 0.5)}})
    assert read(leaderboard_csv(one))[1] == ["x", "0.5", "0.2", "0.7", "0.5", "", ""]


def test_csv_of_items():
    one = ScoreTable({"x": {"a": result("a", 0.5, {"v1": 0.25, "v2": 0.75})}})
    assert read(leaderboard_csv(one, items=True)) == [
        ["system", "item", "a"],
        ["x", "", "0.5"],
        ["x", "v1", "0.25"],
        ["x", "v2", "0.75"],
    ]
