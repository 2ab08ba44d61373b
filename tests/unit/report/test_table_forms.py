"""Scores as numbers, as text, and as tables of other tools."""

from __future__ import annotations

import pickle

import pytest
from msgspec.structs import replace

from reelscore import DataError, compare, examples, score, score_systems
from reelscore.report.tables.leaderboard import leaderboard
from support.latex import read_tables

SYSTEMS, REFERENCES = examples.clips()


@pytest.fixture(scope="module")
def table():
    return score_systems(SYSTEMS, REFERENCES, "bleu,cider,self_bleu")


def test_one_score_is_a_number(table):
    results = score(SYSTEMS["weak"], REFERENCES, "cider")
    assert float(results) == float(results["cider"]) == results["cider"].score
    assert float(results.table("weak")) == results["cider"].score
    assert f"{float(results):.3f}" == "0.337"


def test_several_scores_are_not(table):
    with pytest.raises(DataError, match=r"5 scores .*bleu_4.*choose it: .*results\['cider'\]"):
        float(score(SYSTEMS["weak"], REFERENCES, "bleu,cider"))
    with pytest.raises(DataError, match=r"There are 24 scores \(bleu_1"):
        float(table)


def test_tables_are_equal_by_what_a_reader_sees(table):
    again = score_systems(SYSTEMS, REFERENCES, "bleu,cider,self_bleu")
    assert again == table
    assert replace(table, sources=type(table.sources)()) == table
    assert replace(table, notes=["another"]) != table
    assert pickle.loads(pickle.dumps(table["weak"]["cider"])) == table["weak"]["cider"]
    bleu = table["weak"]["bleu_4"]
    assert replace(bleu, statistics=None) == bleu
    assert replace(bleu, score=0.5) != bleu
    assert bleu != table["weak"]["bleu_3"]
    assert bleu != "bleu_4"


def test_tables_do_not_change(table):
    with pytest.raises(AttributeError):
        table.notes = ["another"]
    with pytest.raises(AttributeError):
        table["weak"]["cider"].score = 1.0


def test_what_a_notebook_shows(table):
    assert repr(table).splitlines()[0] == "<ScoreTable of 4 systems>"
    assert leaderboard(table).to_text() in repr(table)
    one = score(SYSTEMS["weak"], REFERENCES, "bleu|n:1,cider")
    assert repr(one) == "<Scores of 15 items: BLEU-1 0.4097, CIDEr 0.3370>"
    assert repr(one["cider"]).startswith("<MetricResult cider 0.3370 (15 items) cider|n:4")
    for shown in (table._repr_html_(), one._repr_html_()):
        assert "CIDEr</th>" in shown
        assert "0.3370" in shown
    assert "<u>1.0680</u>" in table._repr_html_()


def test_latex_with_marks(table):
    tests = compare(table, "weak", resamples=200, trials=200)
    columns = "CIDEr,Self-BLEU"
    [made] = read_tables(table.to_latex(tests, columns=columns, scale=100, digits=1, sort="CIDEr"))
    up, down = (rf"\textsuperscript{{$\bigtriangle{way}$}}" for way in ("up", "down"))
    assert [row[0] for row in made.rows] == ["system", "human", "strong", "weak", "broken"]
    assert made.rows[1][1] == rf"\textbf{{161.6}}{up}"
    assert made.rows[4][1] == f"3.9{down}"
    assert r"better, $\bigtriangledown$ worse than weak, p \textless{} 0.05" in made.caption
    assert "-- not tested: Self-BLEU" in made.caption
    [letters] = read_tables(table.to_latex(compare(table, resamples=200, trials=200)))
    assert letters.rows[1][0] == "a human"
    assert letters.rows[1][-2].endswith(r"\textsuperscript{bcd}")


def test_markdown_and_pandas(table):
    assert table.to_markdown(columns="CIDEr").splitlines()[2] == "| human | **1.6159** |"
    frame = score(SYSTEMS["weak"], REFERENCES, "cider").to_pandas("weak")
    assert frame[frame.item.isna()][["system", "metric"]].values.tolist() == [["weak", "cider"]]
    assert len(frame) == 16
    latex = score(SYSTEMS["weak"], REFERENCES, "cider").to_latex("weak")
    assert read_tables(latex)[0].rows == [["system", "CIDEr"], ["weak", "0.3370"]]
