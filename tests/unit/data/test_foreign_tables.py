"""Score tables that others made: columns in any order, extra columns, gaps, repeats."""

from __future__ import annotations

import pytest

from reelscore import DataError, ScoreTable, score_systems


@pytest.fixture
def read(tmp_path):
    def read_text(text, name="adequacy.csv", **options):
        path = tmp_path / name
        path.write_bytes(text.encode())
        return ScoreTable.read(path, **options)

    return read_text


def items(table, system="a", metric="adequacy"):
    return table[system][metric].items.to_dict()


@pytest.mark.parametrize(
    "text",
    [
        "system,item,score\na,1,0.5\na,02,1\n",
        "score,item,system\n0.5,1,a\n1,02,a\n",
        "System, Item ,SCORE\r\na,1,0.5\r\na,02,1\r\n",
        "\ufeffsystem;item;score\na;1;0.5\n\na;02;1\n",
        "system\titem\tscore\na\t1\t 0.5\na\t02\t1e0\n",
        '"system","item","score"\n"a","1","0.5"\n"a","02","1"\n',
    ],
    ids=["plain", "order", "case", "semicolons", "tabs", "quotes"],
)
def test_forms(read, text):
    table = read(text)
    assert items(table) == {"1": 0.5, "02": 1.0}
    assert table["a"]["adequacy"].score == 0.75
    assert not table.notes


def test_metric_column(read):
    table = read("metric,system,item,score\nx,a,1,2\ny,a,1,3\n")
    assert table.metrics == ["x", "y"]


def test_systems_only(read):
    table = read("system,score\na,3\nb,4\n")
    assert [table[s]["adequacy"].score for s in "ab"] == [3, 4]
    assert items(table) == {}


def test_extra_columns_are_named(read):
    assert read("system,rater,item,score,\na,r1,1,2,\n").notes == [
        "Columns not used: rater, (no name)."
    ]


@pytest.mark.parametrize("gap", ["", "NA", "nan", " n/a ", "None"])
def test_gaps_are_counted(read, gap):
    table = read(f"system,item,score\na,1,{gap}\na,2,3\n")
    assert items(table) == {"2": 3}
    assert table.notes == ["1 row without a score was left out."]


def test_gaps_in_json(read):
    table = read('{"systems":{"a":{"x":{"score":1,"items":{"1":null,"2":3}}}}}', "t.json")
    assert items(table, metric="x") == {"2": 3}
    assert table.notes == ["1 row without a score was left out."]


def test_repeats(read):
    text = "system,item,score\na,1,2\na,1,3\na,1,7\na,2,1\na,2,2\nb,1,5\n"
    with pytest.raises(DataError, match="line 3 repeats a, 1, adequacy"):
        read(text)
    table = read(text, repeats="mean")
    assert items(table) == {"1": pytest.approx(4), "2": 1.5}
    assert items(table, "b") == {"1": 5}
    assert table.notes == ["2 scores are means of several rows (5 rows in all)."]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no column system"),
        ("a,1,0.5\n", "has no column system"),
        ("system,item\na,1\n", "has no column score"),
        ("system,item,score,score\na,1,2,3\n", "names the column score twice"),
        ("system,item,score\na,1\n", "line 2 has 2 fields, not 3"),
        ("system,item,score\n,1,2\n", "line 2 has no system"),
        ("system,item,score\na,1,good\n", "line 2 has the score 'good'"),
        ("system,item,score\na,1,inf\n", "line 2 has the score 'inf'"),
        ("system,item,score\na,1,NA\n", "it has no score"),
        ("system,item,score\n", "it has no score"),
    ],
)
def test_errors_say_where(read, text, message):
    with pytest.raises(DataError, match=message) as raised:
        read(text)
    assert "Expected CSV with the columns system, item, score" in str(raised.value)


def test_notes_stay_with_the_table(tmp_path):
    """What a reader has to know about the numbers is still there when they are read back."""
    references = {"v1": ["a man runs"], "v2": ["a dog"]}
    table = score_systems({"mine": {"v1": "a man"}}, references, "rouge_l", missing="skip")
    assert table.notes == ["mine: 1 item has no candidate: skipped."]
    table.write(tmp_path / "table.json")
    assert ScoreTable.read(tmp_path / "table.json").notes == table.notes
    assert "mine: 1 item" in ScoreTable.read(tmp_path / "table.json")._repr_html_()


def test_tables_without_notes_are_read(tmp_path):
    (tmp_path / "old.json").write_text('{"systems": {"mine": {"meteor": {"score": 0.5}}}}')
    assert ScoreTable.read(tmp_path / "old.json").notes == []
