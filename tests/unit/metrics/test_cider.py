"""CIDEr, plain and D, and document frequencies from a file."""

from __future__ import annotations

import json
import math

import pytest

from reelscore import DataError, UnknownNameError, score
from reelscore.metrics.cider import Cider, write_frequencies

REFERENCES = {"v1": ["a man runs", "the man is running"], "v2": ["a dog sleeps"]}
CANDIDATES = {"v1": "a man runs", "v2": "a dog"}


def cider(candidates, references, metric="cider", **options):
    return score(candidates, references, metric, **options)["cider"]


def test_by_hand():
    # Two items, one word each, different: every weight is log 2, the cosine of order 1 is 1 and
    # there are no longer n-grams, so that the mean over four orders is 1/4, times 10.
    scores = cider({"v1": "cat", "v2": "dog"}, {"v1": ["cat"], "v2": ["dog"]})
    assert scores.items.to_dict() == pytest.approx({"v1": 2.5, "v2": 2.5}, rel=1e-12)


def test_length_penalty_and_clipping_by_hand():
    # "cat cat" against "cat": the vectors are parallel, so plain CIDEr finds no difference
    references = {"v1": ["cat"], "v2": ["dog"]}
    candidates = {"v1": "cat cat", "v2": "dog"}
    plain = cider(candidates, references, "cider|n:1|variant:plain").items["v1"]
    clipped = cider(candidates, references, "cider|n:1").items["v1"]
    assert plain == pytest.approx(10.0, rel=1e-12)
    # clipped: min(2, 1) * 1 / (2 * 1), and a Gaussian of one word's difference
    assert clipped == pytest.approx(10 * 0.5 * math.exp(-1 / (2 * 36)), rel=1e-12)
    narrow = cider(candidates, references, "cider|n:1|sigma:1").items["v1"]
    assert narrow == pytest.approx(10 * 0.5 * math.exp(-1 / 2), rel=1e-12)


def test_one_item_scores_zero():
    # every n-gram is in every document, so every weight is log(1/1)
    assert cider({"v": "a man"}, {"v": ["a man"]}).score == 0.0


def test_ngrams_of_all_references_weigh_nothing():
    references = {"v1": ["a man"], "v2": ["a man"]}
    assert cider({"v1": "a man", "v2": "a man"}, references).score == 0.0


DEGENERATE = [
    ({"v1": "", "v2": "a dog"}, REFERENCES, "empty candidate"),
    ({"v1": "a man", "v2": "a dog"}, {"v1": [""], "v2": ["a dog"]}, "empty reference"),
    ({"v1": "", "v2": ""}, {"v1": [""], "v2": [""]}, "nothing at all"),
    ({"v1": "x", "v2": "x"}, REFERENCES, "no match"),
]


@pytest.mark.parametrize(("candidates", "references", "why"), DEGENERATE)
def test_degenerate(candidates, references, why):
    scores = cider(candidates, references, empty="zero")
    assert scores.items["v1"] == 0.0, why
    assert math.isfinite(scores.score)


def test_long_captions():
    words = [f"w{k}" for k in range(10_000)]
    references = {"v1": [" ".join(words)], "v2": ["a dog"]}
    scores = cider({"v1": " ".join(words), "v2": "x"}, references)
    assert scores.items["v1"] == pytest.approx(10.0, rel=1e-9)


def test_frequencies_from_a_file_are_those_counted(tmp_path):
    path = tmp_path / "df.json"
    write_frequencies(path, REFERENCES)
    metric = Cider(frequencies=str(path))
    assert cider(CANDIDATES, REFERENCES, [metric]).items.to_dict() == pytest.approx(
        cider(CANDIDATES, REFERENCES).items.to_dict(), rel=1e-12
    )
    # ... and they make a single item comparable
    alone = cider({"v1": "a man runs"}, {"v1": REFERENCES["v1"]}, [metric])
    assert alone.score == pytest.approx(cider(CANDIDATES, REFERENCES).items["v1"], rel=1e-12)


def test_frequencies_are_counted_once_per_item(tmp_path):
    path = tmp_path / "df.json"
    write_frequencies(path, {"v1": ["a a man", "a man"], "v2": ["a dog"]}, n=2)
    stored = json.loads(path.read_text())
    assert stored["documents"] == 2
    assert stored["frequencies"]["a"] == 2  # in both items, four times in all
    assert stored["frequencies"]["a man"] == 1
    assert "a a man" not in stored["frequencies"]  # of order 3


def test_references_to_count_are_checked(tmp_path):
    with pytest.raises(DataError):
        write_frequencies(tmp_path / "df.json", {"v1": 3})


def test_more_frequent_than_documents(tmp_path):
    # frequencies of another corpus may exceed the number of documents given; no NaN may come of it
    path = tmp_path / "df.json"
    path.write_text('{"documents": 2, "frequencies": {"a": 50, "man": 1e7, "": 3}}')
    scores = cider(CANDIDATES, REFERENCES, f"cider|frequencies:{path}")
    assert math.isfinite(scores.score)


BAD_FILES = [
    ("", "not a file of document frequencies", "empty"),
    ("[]", "not a file of document frequencies", "a list"),
    ('{"documents": 3}', "frequencies", "a field is missing"),
    ('{"documents": "x", "frequencies": {}}', "documents", "no number"),
    ('{"documents": 3, "frequencies": {"a": null}}', "frequencies", "no number"),
]


@pytest.mark.parametrize(("content", "message", "why"), BAD_FILES)
def test_bad_frequency_files(tmp_path, content, message, why):
    path = tmp_path / "df.json"
    path.write_text(content)
    with pytest.raises(DataError, match=message):
        cider(CANDIDATES, REFERENCES, f"cider|frequencies:{path}")


def test_no_frequency_file(tmp_path):
    with pytest.raises(DataError, match="No such file"):
        cider(CANDIDATES, REFERENCES, f"cider|frequencies:{tmp_path / 'none.json'}")


BAD = [
    ("n:0", DataError),
    ("n:10", DataError),
    ("sigma:0", DataError),
    ("sigma:-3", DataError),
    ("sigma:nan", DataError),
    ("variant:x", UnknownNameError),
]


@pytest.mark.parametrize(("parameters", "error"), BAD)
def test_bad_parameters(parameters, error):
    with pytest.raises(error):
        cider(CANDIDATES, REFERENCES, f"cider|{parameters}")
