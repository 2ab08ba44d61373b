"""Captions in every form of Python, through every function that takes captions."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import reelscore
from reelscore import DataError, Reward, Scorer, check, score, score_systems
from reelscore.metrics.cider import write_frequencies

IDS = ["v1", "v2", "v3"]
CAPTIONS = ["a man rides", "two dogs play", "a woman cooks rice"]
REFERENCES = [
    ["a man is riding a horse", "a rider"],
    ["two dogs play in the snow", "dogs are playing"],
    ["a woman cooks", "someone makes rice"],
]
COLUMNS = {"video_id": IDS, "caption": CAPTIONS}
REFERENCE_COLUMNS = {"video_id": IDS, "references": REFERENCES}
RECORDS = [{"video_id": item, "caption": text} for item, text in zip(IDS, CAPTIONS, strict=True)]
LONG = [
    {"video_id": item, "caption": text}
    for item, texts in zip(IDS, REFERENCES, strict=True)
    for text in texts
]
PLAIN = dict(zip(IDS, CAPTIONS, strict=True)), dict(zip(IDS, REFERENCES, strict=True))


def records(columns):
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def coco(texts):
    return [{"caption": text} for text in texts]


def pandas_frame(columns):
    return pytest.importorskip("pandas").DataFrame(columns)


def indexed_frame(columns):
    return pandas_frame(columns).set_index("video_id")


def pandas_series(columns):
    return indexed_frame(columns).iloc[:, -1]


def array_cells(columns):
    """As pandas reads lists from Parquet."""
    cells = [np.array(texts, dtype=object) for texts in columns["references"]]
    return pandas_frame({**columns, "references": cells})


def polars_frame(columns):
    return pytest.importorskip("polars").DataFrame(columns)


def data_set(columns):
    return pytest.importorskip("datasets").Dataset.from_dict(columns)


def arrow_table(columns):
    return pytest.importorskip("pyarrow").table(columns)


# What each form makes of candidates and of references, with a folder for files.
FORMS = {
    "mapping": lambda folder: PLAIN,
    "lists of one, as COCO's res and gts": lambda folder: (
        {item: [text] for item, text in PLAIN[0].items()},
        PLAIN[1],
    ),
    "COCO's objects": lambda folder: (
        {item: coco([text]) for item, text in PLAIN[0].items()},
        {item: coco(texts) for item, texts in PLAIN[1].items()},
    ),
    "records": lambda folder: (RECORDS, records(REFERENCE_COLUMNS)),
    "a record for each reference": lambda folder: (RECORDS, LONG),
    "COCO annotations": lambda folder: (
        RECORDS,
        {"images": [], "annotations": [{"id": k, **each} for k, each in enumerate(LONG)]},
    ),
    "generators of records": lambda folder: (iter(RECORDS), (each for each in LONG)),
    "columns": lambda folder: (COLUMNS, REFERENCE_COLUMNS),
    "pandas": lambda folder: (pandas_frame(COLUMNS), pandas_frame(REFERENCE_COLUMNS)),
    "pandas, a row for each reference": lambda folder: (
        pandas_frame(COLUMNS),
        pandas_frame(LONG),
    ),
    "pandas, numbered columns": lambda folder: (
        pandas_frame(COLUMNS),
        pandas_frame(
            {
                "video_id": IDS,
                "Reference 1": [texts[0] for texts in REFERENCES],
                "Reference 2": [texts[1] for texts in REFERENCES],
            }
        ),
    ),
    "pandas, cells of arrays": lambda folder: (
        pandas_frame(COLUMNS),
        array_cells(REFERENCE_COLUMNS),
    ),
    "pandas, ids in the index": lambda folder: (
        indexed_frame(COLUMNS),
        indexed_frame(REFERENCE_COLUMNS),
    ),
    "pandas series": lambda folder: (pandas_series(COLUMNS), pandas_series(REFERENCE_COLUMNS)),
    "polars": lambda folder: (polars_frame(COLUMNS), polars_frame(REFERENCE_COLUMNS)),
    "polars, lazy": lambda folder: (
        polars_frame(COLUMNS).lazy(),
        polars_frame(REFERENCE_COLUMNS).lazy(),
    ),
    "pyarrow": lambda folder: (arrow_table(COLUMNS), arrow_table(REFERENCE_COLUMNS)),
    "datasets": lambda folder: (data_set(COLUMNS), data_set(REFERENCE_COLUMNS)),
    "datasets, streamed": lambda folder: (
        data_set(COLUMNS).to_iterable_dataset(),
        data_set(REFERENCE_COLUMNS).to_iterable_dataset(),
    ),
    "files": lambda folder: (
        written(folder / "run.json", PLAIN[0]),
        str(written(folder / "refs.json", PLAIN[1])),
    ),
    "several files": lambda folder: (
        [
            written(folder / "part1.json", {"v1": CAPTIONS[0]}),
            written(folder / "part2.json", {"v2": CAPTIONS[1], "v3": CAPTIONS[2]}),
        ],
        [
            str(written(folder / f"{k}.json", {i: texts[k] for i, texts in PLAIN[1].items()}))
            for k in range(2)
        ],
    ),
}


def written(path, content):
    path.write_text(json.dumps(content))
    return path


def item_scores(scores):
    return {name: result.items.to_dict() for name, result in scores.items()}


def by_scorer(candidates, references):
    scorer = Scorer(references, METRICS)
    scorer.update(candidates)
    return item_scores(scorer.compute())


def by_reward(candidates, references):
    rewards = Reward("rouge_l", references)(candidates)
    return dict(zip(IDS, rewards.tolist(), strict=True))


METRICS = "rouge_l,cider"
FUNCTIONS = {
    "score": lambda c, r: item_scores(score(c, r, METRICS)),
    "score_systems": lambda c, r: item_scores(score_systems({"mine": c}, r, METRICS)["mine"]),
    "Scorer": by_scorer,
    "Reward": by_reward,
    "check": lambda c, r: [(f.check, f.count) for f in check(c, r)],
}
TAKES_FILES = {"score", "score_systems", "check"}  # for captions: batches come from a program


@pytest.fixture(scope="module")
def expected():
    return {name: function(*PLAIN) for name, function in FUNCTIONS.items()}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_in_every_function(form, expected, tmp_path):
    for function in FUNCTIONS:
        candidates, references = FORMS[form](tmp_path)
        if "files" in form and function not in TAKES_FILES:
            candidates = PLAIN[0]
        if form == "several files" and function == "check":
            candidates = PLAIN[0]  # it names the file that is checked
        assert FUNCTIONS[function](candidates, references) == expected[function], function


@pytest.mark.parametrize("form", FORMS)
def test_document_frequencies(form, tmp_path):
    write_frequencies(tmp_path / "plain.df", PLAIN[1])
    write_frequencies(tmp_path / "form.df", FORMS[form](tmp_path)[1])
    assert (tmp_path / "form.df").read_bytes() == (tmp_path / "plain.df").read_bytes()


# Captions in order, without ids

ORDERED = {
    "lists": (CAPTIONS, REFERENCES),
    "tuples": (tuple(CAPTIONS), tuple(map(tuple, REFERENCES))),
    "arrays": (np.array(CAPTIONS), REFERENCES),
    "a generator": ((text for text in CAPTIONS), REFERENCES),
    "pandas and a list": (lambda: pandas_frame(COLUMNS)["caption"], REFERENCES),
    "polars": (
        lambda: polars_frame(COLUMNS)["caption"],
        lambda: polars_frame(REFERENCE_COLUMNS)["references"],
    ),
    "columns of a data set": (
        lambda: data_set(COLUMNS)["caption"],
        lambda: data_set(REFERENCE_COLUMNS)["references"],
    ),
    "records without ids": ([{"prediction": text} for text in CAPTIONS], REFERENCES),
}


@pytest.mark.parametrize("form", ORDERED)
def test_captions_in_order(form):
    candidates, references = (
        side() if type(side) is type(written) else side for side in ORDERED[form]
    )
    results = score(candidates, references, METRICS)
    assert list(results["cider"].items) == ["1", "2", "3"]
    assert results["cider"].score == score(*PLAIN, METRICS)["cider"].score


def test_one_reference_each():
    ones = [texts[0] for texts in REFERENCES]
    by_id = score(PLAIN[0], dict(zip(IDS, ones, strict=True)), METRICS)
    assert by_id["cider"].score == score(CAPTIONS, ones, METRICS)["cider"].score
    assert "refs:1|" in by_id["cider"].signature


def test_order_beside_a_file_of_lines(tmp_path):
    lines = tmp_path / "refs.txt"
    lines.write_text("".join(f"{texts[0]}\n" for texts in REFERENCES))
    ones = [texts[0] for texts in REFERENCES]
    expected = score(CAPTIONS, ones, METRICS)["cider"].score
    assert score(CAPTIONS, lines, METRICS)["cider"].score == expected
    assert score(CAPTIONS, str(lines), METRICS)["cider"].score == expected
    with pytest.raises(DataError, match="2 candidates and 3 references, given in order"):
        score(CAPTIONS[:2], lines)


def test_the_index_of_a_frame_counts_beside_ids():
    frame = pandas_frame(COLUMNS)
    references = frame["caption"]
    for kept in (frame["caption"].iloc[[2, 0]], frame[["caption"]].iloc[[2, 0]]):
        results = score(kept, references, "rouge_l", missing="skip")
        assert results["rouge_l"].items.to_dict() == {"0": 1.0, "2": 1.0}
    assert list(score(references, references, "rouge_l")["rouge_l"].items) == ["0", "1", "2"]


# Both in one form


@pytest.mark.parametrize("make", [records, pandas_frame, polars_frame, data_set, dict, arrow_table])
def test_references_beside_candidates(make):
    both = {"id": [7, 8, 9], "prediction": CAPTIONS, "references": REFERENCES}
    results = score(make(both), metrics=METRICS)
    assert results["cider"].score == score(*PLAIN, METRICS)["cider"].score
    assert list(results["cider"].items) == ["7", "8", "9"]
    assert results.notes == (
        "References were not given: the table of candidates holds them beside the candidates.",
    )
    assert [f.check for f in check(make(both))] == [f.check for f in check(*PLAIN)]


@pytest.mark.parametrize("make", [records, pandas_frame, polars_frame, data_set, dict])
def test_systems_in_one_table(make):
    table = make(
        {
            "system": ["one"] * 3 + ["two"] * 3,
            "video_id": IDS * 2,
            "caption": CAPTIONS + [texts[0] for texts in REFERENCES],
        }
    )
    scores = score_systems(table, PLAIN[1], METRICS)
    assert scores.systems == ["one", "two"]
    assert scores["one"]["cider"].score == score(*PLAIN, METRICS)["cider"].score


def test_systems_named_after_their_files(tmp_path):
    paths = [written(tmp_path / f"{name}.json", PLAIN[0]) for name in ("one", "two")]
    assert score_systems(paths, PLAIN[1], "rouge_l").systems == ["one", "two"]
    with pytest.raises(DataError, match="Two files have the same name"):
        score_systems([paths[0], str(paths[0])], PLAIN[1])


# Ids of several kinds


@pytest.mark.parametrize(
    "ids",
    [[7, 8, 9], ["7", "8", "9"], np.array([7, 8, 9]), [np.int32(7), np.str_("8"), 9]],
    ids=["integers", "texts", "an array", "of NumPy"],
)
def test_ids_are_texts_or_integers(ids):
    references = dict(zip(["7", "8", "9"], REFERENCES, strict=True))
    for candidates in (
        dict(zip(ids, CAPTIONS, strict=True)),
        pandas_frame({"id": ids, "caption": CAPTIONS}),
        pandas_frame({"caption": CAPTIONS}).set_index(np.array(ids))["caption"],
    ):
        assert list(score(candidates, references, "rouge_l")["rouge_l"].items) == ["7", "8", "9"]


# What is refused, and in which words

NAN = float("nan")
BAD = {
    "lengths": (CAPTIONS[:2], REFERENCES, "2 candidates and 3 references, given in order"),
    "order beside ids": (
        CAPTIONS,
        PLAIN[1],
        "candidates are 3 captions in order, without ids; the references have ids "
        "(first: 'v1', 'v2', 'v3'). Give both by id, or both in order.",
    ),
    "ids beside order": (PLAIN[0], REFERENCES, "The references are 3 captions in order"),
    "no caption": (
        {"v1": None},
        PLAIN[1],
        "candidates: the caption of item 'v1' is null; expected text. Fill it",
    ),
    "an empty cell": (
        lambda: pandas_frame({"id": ["v1", "v2"], "caption": ["a man", None]}),
        PLAIN[1],
        "candidates: row 2: the caption of item 'v2' is missing (nan); expected text. Fill it",
    ),
    "an empty cell of the nullable kind": (
        lambda: pandas_frame({"id": ["v1"], "caption": [None]}).convert_dtypes(),
        PLAIN[1],
        "the caption of item 'v1' is",
    ),
    "a null of polars": (
        lambda: polars_frame({"id": ["v1", "v2"], "caption": ["a man", None]}),
        PLAIN[1],
        "candidates: row 2: the caption of item 'v2' is null; expected text. Fill it",
    ),
    "references without text": (
        PLAIN[0],
        {**PLAIN[1], "v2": NAN},
        "the references of item 'v2' are missing (nan); expected a text or a list of texts",
    ),
    "a reference without text": (
        PLAIN[0],
        {**PLAIN[1], "v2": ["a", None]},
        "reference 2 of item 'v2' is null",
    ),
    "several captions": (
        {**PLAIN[0], "v1": ["a", "b"]},
        PLAIN[1],
        "item 'v1' has 2 captions; a system gives one caption per item (are these references?)",
    ),
    "an item twice": (
        [*RECORDS, RECORDS[0]],
        PLAIN[1],
        "candidates: record 4: item 'v1' has a candidate already",
    ),
    "an id twice": ({7: "a man", "7": "a dog"}, {7: ["a"]}, "the ids 7 and '7' are the same item"),
    "an id that is no integer": (
        lambda: pandas_frame({"id": [7.0, NAN], "caption": ["a man", "a dog"]}),
        PLAIN[1],
        "row 1: the item id is the number 7.0; expected text or an integer: int(7.0).",
    ),
    "a record without a caption": (
        [RECORDS[0], {"video_id": "v2"}],
        PLAIN[1],
        "candidates: record 2: item 'v2' has no caption, which other records have",
    ),
    "a record without an id": (
        [RECORDS[0], {"caption": "a man"}],
        PLAIN[1],
        "candidates: record 2: no item id, which other records have",
    ),
    "a column of another name": (
        lambda: pandas_frame({"id": IDS, "words": CAPTIONS}),
        PLAIN[1],
        "candidates: no caption; expected one of caption, text",
    ),
    "several columns": (
        lambda: pandas_frame({"id": IDS, "caption": CAPTIONS, "prediction": CAPTIONS}),
        PLAIN[1],
        "captions in several fields (caption, prediction)",
    ),
    "pairs": (
        [("v1", "a man")],
        [["a man"]],
        "pairs of id and caption? Give pairs as dict(pairs)",
    ),
    "a set": ({"a man"}, PLAIN[1], "candidates are a set, which has no order"),
    "a number": (7, PLAIN[1], "candidates are a number (7); expected captions by id"),
    "splits of a data set": (
        lambda: pytest.importorskip("datasets").DatasetDict({"test": data_set(COLUMNS)}),
        PLAIN[1],
        "several data sets (test); choose one of them, such as data['test']",
    ),
    "nothing": ([], [], "There are no candidates; at least one is needed."),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_refused(case):
    candidates, references, message = BAD[case]
    with pytest.raises(DataError, match=re.escape(message)):
        score(candidates() if callable(candidates) else candidates, references)


def test_batches_need_ids():
    scorer, reward = Scorer(PLAIN[1]), Reward("rouge_l", PLAIN[1])
    for take in (scorer.update, reward):
        with pytest.raises(DataError, match=r"captions have no ids, only an order.*by id"):
            take(CAPTIONS)
        with pytest.raises(DataError, match="3 ids and 2 captions"):
            take(IDS, CAPTIONS[:2])
        with pytest.raises(
            DataError, match="captions: entry 2: the caption of item 'v2' is missing"
        ):
            take(IDS, [CAPTIONS[0], NAN, CAPTIONS[2]])
    for made in (Scorer, lambda given: Reward("rouge_l", given)):
        with pytest.raises(DataError, match="references have no ids, only an order"):
            made(REFERENCES)


def test_texts_that_are_files_and_texts_that_are_captions(tmp_path):
    run, refs = written(tmp_path / "run.json", PLAIN[0]), written(tmp_path / "refs.json", PLAIN[1])
    with pytest.raises(DataError, match=r"If '.*run.json' is a file, pass Path\("):
        score([str(run)], str(refs))
    with pytest.raises(DataError, match="The references are 1 captions in order, without ids"):
        score(PLAIN[0], ["a man rides a horse"])
    with pytest.raises(DataError, match="references have no ids, only an order"):
        Scorer(["a man rides a horse"])
    with pytest.raises(DataError, match=r"refs2.json: no such file"):
        score(PLAIN[0], [str(refs), str(tmp_path / "refs2.json")])


def test_nothing_is_loaded_for_it():
    import subprocess
    import sys

    script = "import sys, reelscore\nreelscore.score(['a man'], ['a man'])\nprint(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"pandas", "polars", "datasets", "pyarrow"} & set(loaded)
    assert reelscore.score


def test_references_that_were_written_as_text():
    """A column of lists that was in a CSV file: pandas reads texts."""
    for form in (pandas_frame, records, polars_frame):
        columns = {**COLUMNS, "references": list(map(str, REFERENCES))}
        with pytest.raises(DataError, match=r"item 'v1' are a list that was written as text"):
            score(form(columns), metrics="rouge_l")


def test_words_of_a_reference_in_place_of_references():
    texts = {f"v{k}": f"a man rides horse {k} on the beach" for k in range(1, 6)}
    words = {item: text.split() for item, text in texts.items()}
    warning = (
        "Warning: 40 of 40 references are a single word; if they are the words of one caption, "
        "join them."
    )
    assert warning in score(texts, words, "rouge_l").notes
    scorer = Scorer(words, "rouge_l")
    scorer.update(texts)
    assert warning in scorer.compute().notes
    # single words of people, and a language without blanks
    assert not score(texts, {item: [item] for item in texts}, "rouge_l").notes
    chinese = {item: ["一个男人在骑马", "男人骑马", "骑马"] for item in texts}
    assert not any("single word" in note for note in score(texts, chinese, "rouge_l").notes)


def test_references_with_markers_of_a_model():
    texts = {f"v{k}": f"a man rides horse {k} on the beach" for k in range(1, 6)}
    marked = {item: [f"<sos> {text} <eos>", text] for item, text in texts.items()}
    [note] = score(dict.fromkeys(texts, "a man rides"), marked, "rouge_l").notes
    assert note == (
        "references: Warning: 5 captions hold a marker of a model, such as '<sos>'. "
        "'reelscore check' shows more."
    )
    marked = {item: [text, text, text] for item, text in texts.items()}
    marked["v1"][0] += " <eos>"  # a slip, and no defect of the file
    assert not score(dict.fromkeys(texts, "a man rides"), marked, "rouge_l").notes


def test_one_system_in_place_of_several():
    with pytest.raises(DataError, match=r"systems are texts \('a man rides', …\), and no files"):
        score_systems(*PLAIN, "rouge_l")


@pytest.mark.parametrize(
    ("joined", "said"), [(" ||| ", "'|'"), ("; ", "';'"), ("\n", "line breaks"), ("\t", "tabs")]
)
def test_several_references_in_one_text(joined, said):
    references = {item: joined.join(texts) for item, texts in PLAIN[1].items()}
    [note] = score(PLAIN[0], references, "rouge_l").notes
    assert note == (
        f"Warning: most references hold {said}; if these are several references in one text, "
        "divide them: a list for each item."
    )


def test_the_same_references_for_all():
    texts = {f"v{k}": f"a man rides horse {k} on the beach" for k in range(6)}
    [note] = score(texts, {item: ["a man", "a horse"] for item in texts}, "rouge_l").notes
    assert note == "Warning: only 2 of 12 references differ."
    own = {item: [text, text] for item, text in texts.items()}
    assert not score(dict.fromkeys(texts, "a man rides"), own, "rouge_l").notes
