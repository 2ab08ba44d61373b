"""METEOR 1.5: the jar's answers, and what the examples are about."""

from __future__ import annotations

import json
import math
import random
import time
from pathlib import Path

import pytest

from reelscore import DataError, score

GOLDEN = Path(__file__).parents[2] / "golden" / "meteor.json"
SPECIFICATION = GOLDEN.parent / "specification"


def meteor(candidate, references, **options):
    options = {"tokenizer": "none", "empty": "zero", **options}
    return score({"v": candidate}, {"v": references}, "meteor", **options)


# The jar's answers from the specification, section 13: statistics in groups, and the score.
FROM_THE_SPEC = [
    (
        "a cat chases a dog",
        ["a dog chases a cat"],
        "5 5 2 2 / 3 3 2 2 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0 / 3 5 5",
        0.45827172913153946,
        "three chunks",
    ),
    (
        "a man jump",
        ["a man jumping"],
        "3 3 1 1 / 1 1 1 1 / 1 1 0 0 / 0 0 0 0 / 0 0 0 0 / 1 3 3",
        0.8285714285714284,
        "a stem; whole in one chunk, so no penalty",
    ),
    (
        "he adds salt",
        ["he added salt"],
        "3 3 1 1 / 1 1 1 1 / 0 0 0 0 / 1 1 0 0 / 0 0 0 0 / 1 3 3",
        0.9142857142857143,
        "this Snowball gives ad and add, so that a synonym is found instead",
    ),
    (
        "two woman",
        ["two women"],
        "2 2 1 1 / 0 0 1 1 / 0 0 0 0 / 1 1 0 0 / 0 0 0 0 / 1 2 2",
        0.8500000000000001,
        "WordNet's morphology",
    ),
    (
        "the man will sleep",
        ["the man is going to sleep"],
        "4 6 2 3 / 2 2 1 1 / 0 0 0 0 / 0 0 0 0 / 0 1 1 2 / 1 4 6",
        0.8489722966934763,
        "a paraphrase of several words",
    ),
    (
        "a man jumping",
        ["man a jumps"],
        "3 3 1 1 / 1 1 1 1 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0 / 2 2 2",
        0.22857142857142856,
        "a match that is not exact and opens a chunk is refused",
    ),
    (
        "the 225",
        ["the 20s"],
        "2 2 1 1 / 1 1 1 1 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0 / 1 2 2",
        1.0,
        "equal hashes in Java: the same word",
    ),
    (
        "a dog",
        ["a dog sleeps", "a dog barks"],
        "2 3 1 1 / 1 1 1 1 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0 / 1 2 2",
        0.29170666383042776,
        "the first of two as good references",
    ),
    (
        "xyzzy",
        ["a dog sleeps on the mat", "cats"],
        "1 6 0 3 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0",
        0.0,
        "no match: the lengths of the first reference are kept",
    ),
    ("", ["a dog"], "0 2 0 1" + " / 0 0 0 0" * 4 + " / 0 0 0", 0.0, "empty candidate"),
    ("a dog", [""], "2 0 1 0" + " / 0 0 0 0" * 4 + " / 0 0 0", 0.0, "empty reference"),
    ("", [""], "0 0 0 0" + " / 0 0 0 0" * 4 + " / 0 0 0", 0.0, "both empty: 0, not 1"),
    (
        "a dog",
        ["", "a dog"],
        "2 2 1 1 / 1 1 1 1 / 0 0 0 0 / 0 0 0 0 / 0 0 0 0 / 1 2 2",
        1.0,
        "an empty reference beside a real one is harmless",
    ),
]


@pytest.mark.parametrize(
    ("candidate", "references", "statistics", "expected", "why"), FROM_THE_SPEC
)
def test_examples_of_the_specification(candidate, references, statistics, expected, why):
    scores = meteor(candidate, references)
    numbers = [float(number) for number in statistics.replace("/", " ").split()]
    assert scores.measurements[0].statistics[0, :23].tolist() == numbers, why
    assert scores["meteor"].score == expected, why  # to the last bit


def test_all_worked_examples():
    *examples, together, perfect = json.loads((SPECIFICATION / "meteor_examples.json").read_text())
    assert len(examples) == 37
    candidates = {str(k): each["hyp"] for k, each in enumerate(examples)}
    references = {str(k): each["refs"] for k, each in enumerate(examples)}
    scores = score(candidates, references, "meteor", tokenizer="none", empty="zero")
    rows = scores.measurements[0].statistics[:, :23].tolist()
    for k, each in enumerate(examples):
        assert rows[k] == [float(x) for x in each["stats"].split()], each["case"]
        assert scores["meteor"].items[str(k)] == float(each["score"]), each["case"]
        alone = meteor(each["hyp"], each["refs"])["meteor"].score
        assert alone == float(each["aggregate_of_one"]), each["case"]
    assert scores["meteor"].score == float(together["eval_last_line"])
    assert perfect["eval"][-1] == "1.0"  # see test_perfect_captions_aggregate_to_one


def test_golden():
    if not GOLDEN.exists():
        pytest.skip(f"{GOLDEN} is not there")
    stored = json.loads(GOLDEN.read_text(encoding="utf-8"))
    cases = stored["cases"]
    assert len(cases) > 200
    scores = score(
        {str(k): case["candidate"] for k, case in enumerate(cases)},
        {str(k): case["references"] for k, case in enumerate(cases)},
        "meteor",
        tokenizer="none",
        empty="zero",
    )
    rows = scores.measurements[0].statistics
    for k, case in enumerate(cases):
        assert rows[k, :23].tolist() == case["statistics"], case
        assert scores["meteor"].items[str(k)] == case["score"], case
    first = rows[: stored["aggregate_cases"]]
    assert scores.measurements[0].metric.aggregate(first)[0] == stored["aggregate"]


def test_the_corpus_score_is_no_mean():
    candidates = {"v1": "a man runs", "v2": "a dog"}
    references = {"v1": ["a man runs"], "v2": ["the cat sleeps on a mat"]}
    result = score(candidates, references, "meteor")["meteor"]
    assert result.items["v1"] == 1.0
    assert result.score != pytest.approx(sum(result.items.values()) / 2)


def test_perfect_captions_aggregate_to_one():
    # captions whole in one chunk add no chunk, or six of them would be punished for six
    captions = {f"v{k}": text for k, text in enumerate(["a man runs", "two dogs", "a red car"])}
    result = score(captions, {item: [text] for item, text in captions.items()}, "meteor")["meteor"]
    assert result.score == 1.0


def test_the_separator_of_the_jars_protocol():
    # pycocoevalcap takes ||| out of candidates
    plain = meteor("a man runs", ["a man runs"])["meteor"].score
    assert meteor("a man ||| runs", ["a man runs"])["meteor"].score == plain
    assert meteor("a man|||runs", ["a manruns"])["meteor"].score == plain


def test_double_blanks_of_a_candidate():
    # pycocoevalcap replaces them by one before it sends a candidate; to the normaliser "'  '" is
    # two apostrophes and "' '" one that hides the other. The jar's answer, by tests/parity:
    candidate, reference = (
        "\u201c\xe9\xe9 1\u0130aA\u4e2d'  '.x",
        "\u2019-A\xb4.-.\u201c\xb4'\u2014x",
    )
    expected = [6, 10, 2, 5, 0, 0, 2, 2, *[0] * 12, 2, 2, 2]
    options = {"metrics": "meteor", "tokenizer": "none"}
    alone = score({"v": candidate}, {"v": [reference]}, **options)
    beside = score({"v": candidate, "w": "a|b"}, {"v": [reference], "w": ["a"]}, **options)
    for scores in (alone, beside):  # nor may a neighbour change anything
        assert scores.measurements[0].statistics[0, :23].tolist() == expected


def test_parameters_matter():
    one = score({"v": "a man"}, {"v": ["a man runs fast"]}, "meteor")["meteor"].score
    for parameter in ("alpha:0.5", "beta:0.5", "gamma:0.3", "delta:0.5"):
        other = score({"v": "a man"}, {"v": ["a man runs fast"]}, f"meteor|{parameter}")["meteor"]
        assert other.score != one, parameter
        assert 0 <= other.score <= 1


def test_many_references():
    rng = random.Random(3)
    words = ["a", "man", "the", "dog", "runs", "sleeps", "car", "red", "on"]
    references = [" ".join(rng.choices(words, k=8)) for _ in range(5000)]
    scores = meteor("a man runs", [*references, "a man runs"])["meteor"]
    assert scores.score == 1.0


def test_long_captions():
    words = [f"w{k}" for k in range(10_000)]
    started = time.process_time()
    same = meteor(" ".join(words), [" ".join(words)])
    assert same["meteor"].score == 1.0
    assert same.measurements[0].statistics[0, 20:23].tolist() == [1, 10_000, 10_000]
    swapped = meteor(" ".join([*words[5000:], *words[:5000]]), [" ".join(words)])
    assert swapped.measurements[0].statistics[0, 20] == 2  # two chunks
    assert time.process_time() - started < 60


def test_a_long_caption_of_few_words():
    # every word matches every other: the worst case of the search
    scores = meteor("a man " * 300, ["a man " * 300])
    assert scores["meteor"].score == 1.0


@pytest.mark.parametrize(
    "parameter", ["alpha:2", "alpha:nan", "beta:-1", "gamma:nan", "delta:5", "delta:nan"]
)
def test_bad_parameters(parameter):
    with pytest.raises(DataError):
        score({"v": "a"}, {"v": ["a"]}, f"meteor|{parameter}")


def test_scores_are_numbers():
    # 0/0 in the formula must not come out as NaN
    for candidate, reference in [("the", "the"), ("the", "dog"), (".", "."), ("😀", "😀")]:
        assert math.isfinite(meteor(candidate, [reference])["meteor"].score)
