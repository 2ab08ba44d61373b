"""A score table written and read back is the same, to the last bit."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reelscore import DataError, MetricResult, ScoreTable
from reelscore.data.tables.table import ItemScores

numbers = st.floats(allow_nan=False, allow_infinity=False)
names = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8
)
intervals = st.none() | st.tuples(numbers, numbers)


@st.composite
def tables(draw):
    systems = draw(st.lists(names, unique=True, min_size=1, max_size=3))
    metrics = draw(st.lists(names, unique=True, min_size=1, max_size=3))
    items = draw(st.lists(names, unique=True, max_size=4))
    return ScoreTable(
        {
            system: {
                name: MetricResult(
                    name,
                    draw(numbers),
                    ItemScores.of({item: draw(numbers) for item in items}),
                    draw(names),
                    draw(intervals),
                )
                for name in metrics
            }
            for system in systems
        }
    )


def read_back(table, name):
    with TemporaryDirectory() as folder:
        table.write(Path(folder, name))
        return ScoreTable.read(Path(folder, name))


@given(tables())
def test_json(table):
    again = read_back(table, "table.json")
    assert again.to_dict() == table.to_dict()
    assert list(again.systems) == table.systems
    assert again.metrics == table.metrics


@given(tables())
def test_csv(table):
    again = read_back(table, "table.csv")
    assert again.systems == table.systems
    for system in table.systems:
        for name, result in table[system].items():
            assert again[system][name].score == result.score
            assert list(again[system][name].items.items()) == list(result.items.items())


ODD = ["a,b", 'a "b"', "a\nb", "a\r\nb", " a ", "\ufeff", "é😀"]


@pytest.mark.parametrize(
    ("item", "ending"),
    [
        *((item, ending) for item in ODD for ending in ("json", "csv")),
        ("a\rb", "json"),
        ("a\rb", "csv"),
    ],
    ids=repr,
)
def test_odd_ids(item, ending):
    result = MetricResult("meteor", 0.5, ItemScores.of({item: 0.1}), "meteor")
    again = read_back(ScoreTable({item: {"meteor": result}}), f"t.{ending}")
    assert again[item]["meteor"].items.to_dict() == {item: 0.1}


BAD = [
    # name, content, what the message says
    ("t.csv", b"", "line 1"),
    ("t.csv", b"a,b\n1,2\n", "line 1"),
    ("t.csv", b"system,item,metric,score\na,,m,x\n", "line 2 has the score 'x'"),
    ("t.csv", b"system,item,metric,score\na,v\n", "line 2"),
    ("t.csv", b"system,item,metric,score\na,v,m,1\na,v,m,2\n", "line 3"),
    ("t.csv", b"system,item,metric,score\na,\xff,m,1\n", "utf-8"),
    ("t.json", b"", "not a score table"),
    ("t.json", b"[]", "not a score table"),
    ("t.json", b'{"systems": {"a": {"m": {"score": "high"}}}}', "not a score table"),
    ("t.json", b'{"systems": {"a": {"m": {}}}}', "not a score table"),
    ("t.txt", b"", ".csv"),
]


@pytest.mark.parametrize(("name", "content", "message"), BAD)
def test_no_score_table(name, content, message, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=message):
        ScoreTable.read(tmp_path / name)
    with pytest.raises(DataError, match="No such file"):
        ScoreTable.read(tmp_path / "none.csv")


def test_the_mean_stands_in_for_a_missing_system_score(tmp_path):
    # a table from elsewhere may have scores of items only
    (tmp_path / "t.csv").write_text("system,item,metric,score\na,v1,m,0.5\na,v2,m,1.0\n")
    assert ScoreTable.read(tmp_path / "t.csv")["a"]["m"].score == 0.75
