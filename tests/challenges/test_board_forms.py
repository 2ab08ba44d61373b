"""Boards in their forms: what stands in text, CSV, LaTeX and pages, and what cannot."""

from __future__ import annotations

import csv
import io

import pytest

from reelscore.challenges.boards import board_forms
from reelscore.challenges.boards.board_forms import (
    board_csv,
    board_dict,
    board_grid,
    board_html,
    board_of,
    history_svg,
)
from reelscore.challenges.boards.boards import BoardEntry, make_board
from reelscore.data.tables.scales import NumberFormat
from reelscore.data.tables.table import ScoreTable
from reelscore.errors import DataError
from support.results import column, made_result, table_of

NASTY = '=cmd|"/c calc"!A1 <script>alert(1)</script>\u202e'


@pytest.fixture
def board():
    columns = [
        column("cider", "CIDEr", form=NumberFormat(100, 1), group="words"),
        column("ter", "TER", "low", group="words"),
        column("length", "Length", "neither", ranked=False, form=NumberFormat(1, 2), group="text"),
    ]
    entries = [
        BoardEntry("a1", "Ours", 10**15, kind="organisers"),
        BoardEntry("b1", NASTY, 2 * 10**15, method=NASTY, link="javascript:alert(1)"),
        BoardEntry("c1", "Late", 3 * 10**15, place="late"),
        BoardEntry("d1", "Nearest", 15 * 10**14, kind="baseline"),
    ]
    values = {"a1": 0.30, "b1": 0.40, "c1": 0.90, "d1": 0.10}
    table = table_of(
        {
            id: [
                made_result("cider", v, v - 0.01, v + 0.02, signature=f"cider|{id[:1]}"),
                made_result("ter", 1 - v),
                made_result("length", 8.5),
            ]
            for id, v in values.items()
        }
    )
    return make_board("main", "Main board", table, entries, columns, primary="cider", final="best")


def empty_board(board, **fields):
    return make_board("m", "M", ScoreTable({}), [], board.columns, primary="cider", **fields)


def test_text_fits_a_terminal(board):
    text = board_grid(board).to_text(80)
    assert max(map(len, text.splitlines())) <= 80
    assert "CIDEr" in text
    assert "TER ↓" in text
    assert "40.0" in text
    assert "flattered" in text


def test_csv_is_exact_and_harmless(board):
    rows = list(csv.DictReader(io.StringIO(board_csv(board))))
    assert [row["team"][:2] for row in rows] == ["'=", "Ou", "Ne", "La"]
    assert float(rows[0]["cider"]) == 0.4
    assert [row["rank"] for row in rows] == ["1", "2", "3", ""]
    assert rows[3]["place"] == "late"


def test_json_is_exact_and_reads_back(board):
    data = board_dict(board)
    assert data["rows"][0]["team"] == NASTY
    again = board_of(data)
    assert again.table[again.rows[0].id]["cider"].score == 0.4
    assert board_dict(again) == data


def test_latex_has_a_row_for_each_entry(board):
    latex = board_grid(board).to_latex()
    assert latex.count(r"\\") == 1 + len(board.all_rows)
    assert r"\textbf{40.0}" in latex


def test_pages_hold_no_markup_of_teams(board):
    page = board_html(board)
    assert "<script" not in page
    assert "javascript:" not in page
    assert "\u202e" not in page
    assert "&lt;script&gt;" in page
    assert "<script" not in history_svg(board)


def test_tables_are_accessible(board):
    page = board_html(board)
    assert "<caption>" in page
    assert page.count('scope="row"') == len(board.all_rows)
    assert 'scope="colgroup" colspan="2">words' in page
    assert page.count("aria-sort") == 1
    assert '<time datetime="2001-09-09T01:46:40.000000Z">' in page


def test_best_numbers_are_of_ranked_entries_and_never_of_text_statistics(board):
    page = board_html(board)
    best = [line.partition(">")[2][:4] for line in page.split('class="best"')[1:]]
    assert best == ["40.0", "0.60"]  # CIDEr, and the lowest TER


def test_the_picture_shows_ranked_entries_over_time(board):
    picture = history_svg(board)
    assert picture.count("<circle") == 3
    assert picture.count('class="leader') == 2  # the first, and the one that beat it
    assert history_svg(empty_board(board)) == ""


def test_a_hidden_board_names_teams_alone(board):
    page = board_html(empty_board(board, names=["One", "Two"]))
    assert page.count("scores are not shown yet") == 2
    assert "No entries yet" not in page


def test_data_of_another_version_reads(board):
    """A server may be older or newer than who asks it."""
    data = board_dict(board)
    del data["rows"][0]["entries"], data["notes"], data["columns"][0]["group"]
    data["rows"][1]["colour"] = data["colour"] = data["columns"][0]["colour"] = "red"
    data["rows"][0]["scores"]["cider"]["colour"] = "red"
    again = board_of(data)
    assert [row.entries for row in again.rows] == [1, 1, 1]
    assert again.table["b1"]["cider"] == board.table["b1"]["cider"]
    data["rows"][2]["kind"] = "jury"
    with pytest.raises(DataError, match=r"board 'main' .*'jury'.*rows\[2\].kind"):
        board_of(data)


def test_a_column_that_is_no_score_is_in_every_form(board, monkeypatch):
    age = board_forms.EntryColumn("age", lambda row: f"{row.id} y", "Age", in_text=True)
    monkeypatch.setattr(board_forms, "ENTRY_COLUMNS", (*board_forms.ENTRY_COLUMNS, age))
    assert "b1 y" in board_grid(board).to_text(80)
    assert next(csv.DictReader(io.StringIO(board_csv(board))))["age"] == "b1 y"
    page = board_html(board)
    assert '<td data-value="b1 y">b1 y</td>' in page
    own = [column for column in board_forms.ENTRY_COLUMNS if column.heading]
    behind = sum(not column.leads for column in own)
    assert f'<th colspan="{len(own) + len(board.columns)}" scope="rowgroup">' in page
    assert f'</th><td colspan="{behind}"></td></tr>' in page
