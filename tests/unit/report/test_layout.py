"""The table for the paper: labels, scale, decimals, order, columns, best and second best."""

from __future__ import annotations

import re

import pytest

from reelscore import DataError, ScoreTable, UnknownNameError, examples, score_systems
from reelscore.data.tables.scales import Scale
from reelscore.data.tables.table import ItemScores, MetricResult
from reelscore.report.tables.grid import Cell, Grid, even_blocks
from reelscore.report.tables.leaderboard import TableLayout, item_rows, leaderboard
from reelscore.scoring.intervals import with_intervals
from support.latex import read_tables


@pytest.fixture(scope="module")
def clips():
    return score_systems(*examples.clips(), "bleu,meteor,rouge_l,cider,self_bleu,diversity")


def table(name="x", scale=None, **scores):
    return ScoreTable(
        {
            system: {
                name: MetricResult(
                    name, score, ItemScores.of({"v1": score}), "", scale=scale or Scale()
                )
            }
            for system, score in scores.items()
        }
    )


def column(grid, k=1):
    return [row[k].text for row in grid.rows]


def test_headings_are_those_of_papers(clips):
    assert leaderboard(clips).columns == [
        *("system", "BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "METEOR", "ROUGE-L", "CIDEr"),
        *("Self-BLEU ↓", "Length", "Vocabulary", "Distinct-1", "Distinct-2", "Unique"),
    ]


def test_labels_travel_in_files(clips, tmp_path):
    for ending in ("json", "csv"):
        clips.write(tmp_path / f"scores.{ending}")
        assert ScoreTable.read(tmp_path / f"scores.{ending}").headings == clips.headings
    text = clips.to_json()
    (tmp_path / "old.json").write_text(re.sub(r',"label":"[^"]+"|,"percent":true', "", text))
    old = ScoreTable.read(tmp_path / "old.json")
    assert "label" not in (tmp_path / "old.json").read_text()
    assert old.headings == clips.headings  # declared by the metrics, if the file does not say them
    assert [old.scale(name).percent for name in old.metrics] == [
        clips.scale(name).percent for name in clips.metrics
    ]


def test_one_number_format_in_a_column(clips):
    grid = leaderboard(clips.select("Length,Vocabulary,CIDEr"))
    assert column(grid, 1) == ["14.33", "11.13", "7.27", "7.67"]
    assert column(grid, 2) == ["140", "85", "36", "9"]
    assert column(grid, 3) == ["1.6159", "1.0680", "0.3370", "0.0395"]
    mixed = {"one": 9.5, "two": 12.25, "three": 10.0}
    assert column(leaderboard(table(**mixed))) == ["9.50", "12.25", "10.00"]
    assert column(item_rows(table(**mixed)), 2) == ["9.50", "12.25", "10.00"]


def test_scale_multiplies_what_papers_print_so(clips):
    grid = leaderboard(
        clips, layout=TableLayout(scale=100, columns="BLEU-4,CIDEr,Length,Vocabulary")
    )
    assert [cell.text for cell in grid.rows[0]] == ["human", "35.63", "161.59", "14.33", "140"]
    assert list(grid.notes) == ["Scores × 100, except Length, Vocabulary."]
    assert list(leaderboard(table(one=0.5), layout=TableLayout(scale=100)).notes) == [
        "No score is printed × 100."
    ]


def test_digits(clips):
    grid = leaderboard(
        clips, layout=TableLayout(scale=100, digits=1, columns="CIDEr,Length,Vocabulary")
    )
    assert [cell.text for cell in grid.rows[0]] == ["human", "161.6", "14.3", "140"]
    with pytest.raises(DataError, match="from 0 to 17"):
        TableLayout(digits=18)
    with pytest.raises(DataError, match="above 0"):
        TableLayout(scale=0)


def test_intervals_are_scaled_too():
    table = with_intervals(score_systems(*examples.clips(), "rouge_l"))
    plain, percent = (leaderboard(table, layout=TableLayout(scale=n)).rows[0][1] for n in (1, 100))
    assert float(percent.under[1:]) == pytest.approx(100 * float(plain.under[1:]))


def test_sort(clips):
    def order(sort):
        return [row[0].text for row in leaderboard(clips, layout=TableLayout(sort=sort)).rows]

    assert order("CIDEr") == ["human", "strong", "weak", "broken"]
    assert order("Self-BLEU") == ["human", "strong", "weak", "broken"]  # lower is better
    assert order("unique")[-1] == "broken"
    assert order("system") == ["broken", "human", "strong", "weak"]
    with pytest.raises(DataError, match=r"several scores: bleu_1.*Choose one"):
        order("bleu")
    with pytest.raises(UnknownNameError, match="Did you mean 'CIDEr'"):
        order("CIDER-X")


def test_what_cannot_be_ranked_comes_last():
    systems, references = examples.clips()
    few = dict(list(systems["human"].items())[:5])
    scores = score_systems({"few": few, **systems}, references, "rouge_l", missing="skip")
    grid = leaderboard(scores, layout=TableLayout(sort="ROUGE-L"))
    assert grid.rows[-1][0] == Cell("few", "†")
    assert not grid.rows[-1][1].best


@pytest.mark.parametrize(
    "names", ["BLEU-4,METEOR", "bleu_4, meteor", "bleu4,Meteor", "Bleu@4,METEOR"]
)
def test_columns_in_any_spelling(clips, names):
    grid = leaderboard(clips, layout=TableLayout(columns=names))
    assert grid.columns == ["system", "BLEU-4", "METEOR"]


def test_a_metric_is_all_its_scores(clips):
    assert clips.named("bleu") == ["bleu_1", "bleu_2", "bleu_3", "bleu_4"]
    with pytest.raises(UnknownNameError, match=r"Unknown score 'bleu_5'\. Did you mean"):
        clips.named("bleu_5")


@pytest.mark.parametrize(
    ("better", "best", "second"),
    [("high", ["c"], ["b"]), ("low", ["a"], ["d"]), ("neither", [], [])],
)
def test_best_and_second(better, best, second):
    grid = leaderboard(table(scale=Scale(better), a=0.1, b=0.3, c=0.4, d=0.2))
    assert [row[0].text for row in grid.rows if row[1].best] == best
    assert [row[0].text for row in grid.rows if row[1].second] == second


def test_no_second_of_two_or_after_a_tie():
    for scores in ({"a": 0.1, "b": 0.2}, {"a": 0.1, "b": 0.2, "c": 0.2}):
        assert not any(row[1].second for row in leaderboard(table(**scores)).rows)


def test_latex(clips):
    layout = TableLayout(scale=100, digits=1, columns="BLEU-4,Self-BLEU")
    [made] = read_tables(leaderboard(clips, layout=layout).to_latex())
    assert made.caption == r"Best in bold, second best underlined. Scores $\times$ 100."
    assert made.rows == [
        ["system", "BLEU-4", r"Self-BLEU $\downarrow$"],
        ["human", r"\textbf{35.6}", r"\textbf{3.9}"],
        ["strong", r"\underline{26.6}", r"\underline{8.6}"],
        ["weak", "9.7", "51.5"],
        ["broken", "0.0", "92.5"],
    ]


def test_markdown(clips):
    text = leaderboard(clips, layout=TableLayout(columns="METEOR")).to_markdown()
    assert text.splitlines() == [
        "| system | METEOR |",
        "|---|---:|",
        "| human | **0.2946** |",
        "| strong | *0.2616* |",
        "| weak | 0.1307 |",
        "| broken | 0.0656 |",
        "",
        "Best in bold, second best in italics.",
    ]


@pytest.mark.parametrize("columns", range(2, 30))
@pytest.mark.parametrize("marks", ["", "abc"])
def test_no_column_stands_alone(columns, marks):
    numbers = [Cell("0.1234", marks)] * columns
    rows = [[Cell(name), *numbers] for name in ("ours", "theirs_with_a_long_name")]
    text = Grid(["system", *(f"METEOR-{k}" for k in range(columns))], rows).to_text()
    blocks = [block.splitlines()[0].split() for block in text.split("\n\n")]
    assert min(map(len, blocks)) > 2  # the systems' names, and two columns
    assert sum(map(len, blocks)) == columns + len(blocks)
    assert max(map(len, text.splitlines())) <= 80


def test_blocks_take_a_neighbour():
    # the widest column would stand alone in blocks of even width
    assert even_blocks({0: 5, 1: 5, 2: 5, 3: 5, 4: 60}, 68) == [[0, 1, 2], [3, 4]]
    assert even_blocks({0: 60, 1: 5, 2: 5, 3: 5, 4: 5}, 68) == [[0, 1], [2, 3, 4]]


def test_headings_take_two_lines_before_a_block_is_added():
    rows = [[Cell("ours"), *[Cell("0.1234")] * 9]]
    text = Grid(["system", *(f"SODA_{k} recall" for k in range(9))], rows).to_text()
    first, second, row = text.splitlines()
    assert first.split() == [f"SODA_{k}" for k in range(9)]
    assert second.split() == ["system", *["recall"] * 9]
    assert len(row) <= 80
