"""Cells that begin a formula are made harmless, and come back as they were."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reelscore.data.spreadsheet import harmless, spreadsheet_csv, unquoted

FORMULAS = [
    '=cmd|" /C calc"!A0',
    "+1+1",
    "-1+1",
    "@SUM(1)",
    "\t=1",
    "\r=1",
    "-",
    "-A1",
    "=1",
    "+49 89 1234",
    "-inf",
    "'=1",
]
HARMLESS = ["a dog", "", "'tis a dog", "-0.5", "+3", "1e-5", "-.5", "-1.5E+10", "r-1", "0", " "]


@pytest.mark.parametrize("cell", FORMULAS)
def test_a_formula_becomes_text(cell):
    assert harmless(cell) == f"'{cell}"
    assert unquoted(f"'{cell}") == cell


@pytest.mark.parametrize("cell", [*HARMLESS, -0.5, -1, None, float("-inf")])
def test_all_else_stays(cell):
    assert harmless(cell) is cell


@given(st.text(st.sampled_from("'=+-@\t\r\n1.ea\"; ,"), max_size=6))
def test_every_text_comes_back(cell):
    safe = harmless(cell)
    assert unquoted(safe) == cell
    assert safe[:1] not in ("=", "@", "\t", "\r", "\n")
    if safe[:1] in ("+", "-"):
        float(safe)


@given(st.lists(st.text(st.sampled_from("'=+-@\t\r\n1a\","), max_size=4), min_size=1, max_size=3))
def test_a_table_comes_back(row):
    text = spreadsheet_csv([["x"] * len(row), row])
    read = list(csv.reader(io.StringIO(text, newline="")))
    assert [unquoted(cell) for cell in read[1]] == row or row == [""]
