"""Score tables and judgments in every form of Python, through every function that takes them."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from reelscore import DataError, ScoreTable, compare, score_systems, stories
from reelscore.data.tables.table_forms import table_of
from reelscore.meta import (
    audit_captions,
    audit_tables,
    evaluate_metrics,
)
from reelscore.meta.audit import quick_audit
from reelscore.report.html import report_of
from reelscore_studies import compare_writers, difficulties

ITEMS = [f"v{k}" for k in range(8)]
SYSTEMS = ("one", "two")
NUMBERS = {
    system: {item: float((3 * k + 5 * s) % 7) for k, item in enumerate(ITEMS)}
    for s, system in enumerate(SYSTEMS)
}
PEOPLE = {
    system: {item: value + k % 2 for k, (item, value) in enumerate(scores.items())}
    for system, scores in NUMBERS.items()
}
NAMES = ("model", "video_id", "rating")


def columns_of(numbers, names=("system", "item", "score")):
    rows = [(system, item, numbers[system][item]) for system in numbers for item in ITEMS]
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def records(columns):
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def frame(columns):
    return pytest.importorskip("pandas").DataFrame(columns)


def polars_frame(columns):
    return pytest.importorskip("polars").DataFrame(columns)


def data_set(columns):
    return pytest.importorskip("datasets").Dataset.from_dict(columns)


def csv_file(numbers, folder, names):
    path = folder / ("scores.csv" if names[0] == "system" else "human.csv")
    rows = zip(*columns_of(numbers, names).values(), strict=True)
    path.write_text("\n".join(",".join(map(str, row)) for row in [names, *rows]) + "\n")
    return path


# Each makes a table of the numbers, with columns of these names.
FORMS = {
    "a table": lambda numbers, folder, names: ScoreTable.read(csv_file(numbers, folder, names)),
    "a file": csv_file,
    "numbers by system and item": lambda numbers, folder, names: numbers,
    "records": lambda numbers, folder, names: records(columns_of(numbers, names)),
    "a generator": lambda numbers, folder, names: iter(records(columns_of(numbers, names))),
    "columns": lambda numbers, folder, names: columns_of(numbers, names),
    "pandas": lambda numbers, folder, names: frame(columns_of(numbers, names)),
    "polars": lambda numbers, folder, names: polars_frame(columns_of(numbers, names)),
    "datasets": lambda numbers, folder, names: data_set(columns_of(numbers, names)),
}


def pairs(comparisons):
    return [(p.system, p.other, p.p_corrected) for each in comparisons for p in each.pairs]


def values(evaluation):
    return [correlation.value for correlation in evaluation.correlations]


FUNCTIONS = {
    "compare": lambda scores, people: pairs(compare(scores, trials=50, resamples=20)),
    "evaluate_metrics": lambda scores, people: values(
        evaluate_metrics(scores, people, level="pooled", tests=())
    ),
    "audit_tables": lambda scores, people: str(audit_tables(scores, people).verdict),
    "quick_audit": lambda scores, people: str(quick_audit(scores, people)),
    "report_of": lambda scores, people: {
        system: [result.items.to_dict() for result in row.values()]
        for system, row in report_of(scores, people, resamples=20).table.results.items()
    },
}


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    def table(name, numbers):
        return table_of(numbers, name=name)

    return {
        name: function(table("scores", NUMBERS), table("human", PEOPLE))
        for name, function in FUNCTIONS.items()
    }


@pytest.mark.parametrize("form", FORMS)
def test_every_form_in_every_function(form, expected, tmp_path):
    for function in FUNCTIONS:
        scores = FORMS[form](NUMBERS, tmp_path, ("system", "item", "score"))
        people = FORMS[form](PEOPLE, tmp_path, NAMES)
        assert FUNCTIONS[function](scores, people) == expected[function], function


def test_scores_come_back_from_a_frame():
    systems = {"one": {"v1": "a man", "v2": "a dog"}, "two": {"v1": "the man", "v2": "a dog"}}
    table = score_systems(systems, {"v1": ["a man"], "v2": ["the dog"]}, "rouge_l,bleu|n:1")
    for made in (table.to_pandas(), table.to_polars()):
        again = table_of(made)
        assert again.metrics == table.metrics
        for system in systems:
            for name in table.metrics:
                assert again[system][name].score == table[system][name].score
                assert again[system][name].items == table[system][name].items


def test_several_tables(tmp_path):
    paths = []
    for system in SYSTEMS:
        paths.append(tmp_path / f"{system}.json")
        result = {"score": 1.0, "items": NUMBERS[system]}
        paths[-1].write_text(json.dumps({"systems": {system: {"x": result}}}))
    assert table_of(paths).systems == ["one", "two"]
    assert table_of([table_of(paths[0]), str(paths[1])]).systems == ["one", "two"]


def test_results_of_one_system():
    scores = score_systems({"one": {"v1": "a man"}}, {"v1": ["a man"]}, "rouge_l")["one"]
    assert table_of(scores).systems == ["system"]


BAD = {
    "no system": ([{"item": "v1", "score": 1}], "has no column system"),
    "no score": ([{"system": "a", "item": "v1", "note": "x"}], "nor others that hold numbers"),
    "a bad score": ([{"system": "a", "item": "v1", "score": "good"}], "row 1 has the score 'good'"),
    "a score twice": ([{"system": "a", "item": "v", "score": 1}] * 2, "row 2 repeats a, v, score"),
    "a list of numbers": ([1, 2], "scores are a list; expected a data frame, records or a file"),
    "a number": (3, "scores are a number (3)"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_refused(case):
    given, message = BAD[case]
    with pytest.raises(DataError, match=re.escape(message)):
        table_of(given)


# Tables that people made


@pytest.fixture
def read(tmp_path):
    def read_text(text, **options):
        path = tmp_path / "people.csv"
        path.write_text(text)
        return ScoreTable.read(path, repeats="mean", **options)

    return read_text


@pytest.mark.parametrize("item", ["item", "item_id", "clip_id", "video_id", "image_id", "id"])
@pytest.mark.parametrize("score", ["score", "rating", "value", "judgment"])
def test_names_of_columns(read, item, score):
    table = read(f"{score},rater,model,{item}\n70,r1,a,v1\n80,r2,a,v1\n")
    assert table["a"]["people"].items.to_dict() == {"v1": 75}
    assert table.notes[-1] == "Columns not used: rater."


WIDE = (
    "worker_id;Video_ID;system;Adequacy;fluency;caption;seconds\n"
    "1;v1;a;70;5;a man;12\n2;v1;a;80;NA;a man;9\n1;v2;a;30;1;a dog;8\n"
)


def test_a_column_for_each_criterion(read):
    table = read(WIDE)
    assert table.metrics == ["adequacy", "fluency"]
    assert table["a"]["adequacy"].items.to_dict() == {"v1": 75, "v2": 30}
    assert table["a"]["fluency"].items.to_dict() == {"v1": 5, "v2": 1}
    assert table.notes == [
        "1 row without a score was left out.",
        "1 score is the mean of several rows (2 rows in all).",
        "Columns not used: worker_id, caption, seconds.",
    ]


def test_the_score_column_is_chosen(read):
    assert read(WIDE, column="Adequacy").metrics == ["adequacy"]
    assert read(WIDE, column="seconds")["a"]["seconds"].items["v2"] == 8
    both = "system,item,score,z\na,v1,70,0.5\n"
    assert read(both)["a"]["people"].items["v1"] == 70
    assert read(both, column="score")["a"]["people"].items["v1"] == 70
    assert read(both, column="z")["a"]["z"].items["v1"] == 0.5
    long = "system,item,criterion,score\na,v1,adequacy,70\na,v1,fluency,80\n"
    assert read(long, column="fluency")["a"]["fluency"].items["v1"] == 80
    with pytest.raises(LookupError, match="Unknown human score 'style'"):
        read(long, column="style")


def test_records_in_a_file(tmp_path):
    path = tmp_path / "people.json"
    path.write_text(json.dumps(records(columns_of(PEOPLE, NAMES))))
    assert ScoreTable.read(path)["one"]["people"].items.to_dict() == PEOPLE["one"]
    path.write_text(json.dumps([{"model": "a", "video_id": 7, "adequacy": 3, "style": None}]))
    assert ScoreTable.read(path)["a"]["adequacy"].items.to_dict() == {"7": 3}
    path.write_text(json.dumps([{"model": "a", "video_id": 7, "rating": "good"}]))
    with pytest.raises(DataError, match="not a score table: record 1 has the score"):
        ScoreTable.read(path)


def test_criteria_in_python():
    ratings = {"adequacy": [1, 2], "style": [3, np.nan]}
    wide = frame({"model": ["a", "b"], "video_id": [7, 7], **ratings})
    table = table_of(wide)
    assert table["a"]["style"].items.to_dict() == {"7": 3}
    assert "style" not in table["b"]
    assert table_of(wide, column="adequacy").metrics == ["adequacy"]


# Studies of captions, and stories

CAPTIONS = {f"v{k}": f"a man walks {k} dogs" for k in range(12)}
REFERENCES = {item: [text, f"{text} home"] for item, text in CAPTIONS.items()}


@pytest.mark.parametrize("make", [frame, polars_frame, data_set, records])
def test_studies_of_captions(make):
    truth = make({"id": list(REFERENCES), "references": list(REFERENCES.values())})
    ours = make({"id": list(CAPTIONS), "caption": list(CAPTIONS.values())})
    assert difficulties(truth).items == difficulties(REFERENCES).items
    plain = audit_captions({"ours": CAPTIONS}, REFERENCES, {"ours": dict.fromkeys(CAPTIONS, 1.0)})
    audited = audit_captions({"ours": ours}, truth, {"ours": dict.fromkeys(CAPTIONS, 1.0)})
    assert str(audited.verdict) == str(plain.verdict)
    similarity = compare_writers({"ours": ours, "theirs": CAPTIONS}, "rouge_l")
    assert similarity.to_others.tolist() == [1.0, 1.0]


STORY = {
    "video_id": ["v1", "v1", "v2"],
    "start": [0.0, 5.0, 0.0],
    "end": [5.0, 9.0, 4.0],
    "caption": ["a man walks", "he runs", "a dog barks"],
}


@pytest.mark.parametrize("make", [frame, polars_frame, data_set, records])
def test_stories(make):
    story = stories.stories_of(make(STORY))
    assert story["v1"].sentences == ("a man walks", "he runs")
    results = stories.score(make(STORY), make(STORY), "soda_c")
    assert results["soda_c"].items.to_dict() == {"v1": 1.0, "v2": 1.0}
    by_video = make(
        {
            "video_id": ["v1", "v2"],
            "timestamps": [[[0.0, 5.0], [5.0, 9.0]], [[0.0, 4.0]]],
            "sentences": [["a man walks", "he runs"], ["a dog barks"]],
            "duration": [9.0, None],
        }
    )
    assert stories.score(make(STORY), [by_video, make(STORY)], "soda_c")["soda_c"].score == 1.0
    nameless = make({**STORY, "video_id": ["v1", None, "v2"]})
    with pytest.raises(DataError, match="candidates: row 2: no video id"):
        stories.score(nameless, make(STORY))
