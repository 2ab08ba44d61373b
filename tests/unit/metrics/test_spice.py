"""SPICE: tuples are compared as the official tool compares them; the rest is bookkeeping."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reelscore import (
    DataError,
    MissingExtraError,
    UnknownNameError,
    parse_signature,
    score,
    score_systems,
)
from reelscore.errors import install_command
from reelscore.metrics import score_tuples, spice
from reelscore.metrics.spice import COLOURS, NUMBERS, SIZES, Spice
from reelscore.text.parser import networks as parser
from reelscore.text.parser.scene_graph import SceneGraph
from reelscore.text.parser.trees import ROOT, Token, Tree

RIDES = [("man",), ("horse",), ("man", "ride", "horse")]
PARSER = "reelscore-parser-1.0.0-00000000"


def graph(*facts):
    return SceneGraph(tuple(fact.split(", ")) for fact in facts).tuples


@pytest.mark.parametrize(
    ("candidate", "references", "counts", "f"),
    [
        (RIDES, RIDES, (3, 3, 3), 1),
        (
            RIDES,
            graph("person", "horse", "horse, brown", "person, ride, horse"),
            (1, 3, 4),
            2 / 7,
        ),
        (
            graph("automobile", "road", "automobile, drive down, road"),
            graph("car", "road", "car, red", "car, drive down, road"),
            (3, 3, 4),
            6 / 7,
        ),
        (
            graph("girl", "room", "girl, two", "girl, young", "girl, dance in, room"),
            graph(
                *("girl", "bedroom", "girl, two", "girl, young", "girl, dance"),
                "girl, dance in, bedroom",
            ),
            (3, 5, 6),
            6 / 11,
        ),
        (
            graph("bicycle", "wall", "bicycle, lean on, wall"),
            graph("bike", "wall", "bike, lean on, wall", "bicycle", "bicycle, near, wall"),
            (3, 3, 4),
            6 / 7,
        ),
    ],
)
def test_scores_by_hand(candidate, references, counts, f):
    agreement = score_tuples(candidate, references)
    assert (agreement.correct, agreement.candidate, agreement.reference) == counts
    assert agreement.f == pytest.approx(f, abs=1e-12)


def test_nothing_to_compare():
    for candidate, references in (([], RIDES), (RIDES, []), ([], [])):
        assert score_tuples(candidate, references)[:4] == (0, 0, 0, 0)


def test_several_tuples_may_match_one():
    # man and cat are both like guy: recall is 2, and F is not cut off at 1
    agreement = score_tuples([("cat",), ("man",)], [("cat/man/guy",)])
    assert (agreement.precision, agreement.recall, agreement.f) == (1, 2, pytest.approx(4 / 3))


WORDS = st.sampled_from(["man", "guy", "cat", "dog", "car", "automobile", "wall", "red", "dark"])
FACTS = st.lists(st.lists(WORDS, min_size=1, max_size=3).map(tuple), max_size=12)


@given(FACTS, FACTS)
def test_bounds(candidate, references):
    ours, theirs = SceneGraph(candidate).tuples, SceneGraph(references).tuples
    agreement = score_tuples(ours, theirs)
    assert 0 <= agreement.precision <= 1
    assert agreement.recall >= 0
    assert agreement.f <= 1 or agreement.correct > agreement.reference
    assert score_tuples(ours, ours).f >= bool(ours)


@given(FACTS)
def test_without_synsets_the_same_facts_score_one(facts):
    tuples = SceneGraph(facts, synsets=False).tuples
    assert score_tuples(tuples, tuples, synsets=False).f == bool(tuples)


@pytest.fixture
def tuple_file(tmp_path):
    lines = [
        {
            "test": "two red cars",
            "test_tuples": [["car"], ["car", "two"], ["car", "red"]],
            "refs": ["two automobiles", "a small blue car"],
            "ref_tuples": [
                {"tuple": ["automobile/car"], "truth_value": True},
                {"tuple": ["automobile/car", "two"], "truth_value": True},
                {"tuple": ["automobile/car", "small"], "truth_value": False},
                {"tuple": ["automobile/car", "blue"], "truth_value": False},
            ],
        },
        {"test": "a dog runs", "test_tuples": [["dog"], ["dog", "run"]]},
        {"test": "a puppy sleeps", "test_tuples": [["puppy"], ["puppy", "sleep"]]},
        {"test": "...", "test_tuples": []},
    ]
    path = tmp_path / "tuples.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


CANDIDATES = {"v1": "two red cars", "v2": "a puppy sleeps"}
REFERENCES = {"v1": ["two automobiles", "a small blue car"], "v2": ["a dog runs", "a puppy sleeps"]}


def test_tuples_made_elsewhere(tuple_file):
    results = score(CANDIDATES, REFERENCES, metrics=f"spice|tuples:{tuple_file}")
    assert results["spice"].items.to_dict() == pytest.approx({"v1": 4 / 7, "v2": 2 * 2 / (2 + 4)})
    assert results["spice"].score == pytest.approx((4 / 7 + 2 / 3) / 2)
    assert "parser:" not in results["spice"].signature
    assert "|files:" in results["spice"].signature
    assert parse_signature(results["spice"].signature) == Spice(tuples=str(tuple_file))


def test_kinds_count_only_items_that_have_them(tuple_file):
    results = score(CANDIDATES, REFERENCES, metrics=f"spice|tuples:{tuple_file}")
    assert results["spice_cardinality"].items.to_dict() == {"v1": 1}
    assert results["spice_colour"].items.to_dict() == {"v1": 0}
    assert results["spice_cardinality"].score == 1
    assert "spice_relation" not in results  # the references state none
    alone = score(CANDIDATES, REFERENCES, metrics=f"spice|kinds:none|tuples:{tuple_file}")
    assert list(alone) == ["spice"]
    assert "|kinds:none|" in alone["spice"].signature
    assert alone["spice"].items.to_dict() == results["spice"].items.to_dict()
    again = results.with_intervals(resamples=20)
    assert again["spice"].interval is not None
    assert again["spice_cardinality"].interval is None  # some draws have no item with a number


def test_statistics_of_an_item(tuple_file):
    [measurement] = score(CANDIDATES, REFERENCES, f"spice|tuples:{tuple_file}").measurements
    row = measurement.statistics[0]
    assert row[:6] == pytest.approx([4 / 7, 2 / 3, 1 / 2, 2, 3, 4])
    assert row[-1] == 1
    assert row[6:11] == pytest.approx([1, 1, 1, 1, 1])  # objects
    assert row[16:21] == pytest.approx([0, 0, 0, 0, 0])  # relations: of no weight
    assert np.isnan(measurement.metric.scores(row)[3])


def test_synonyms_can_be_left_out(tuple_file):
    metric = f"spice|synsets:none|kinds:none|tuples:{tuple_file}"
    assert score(CANDIDATES, REFERENCES, metrics=metric)["spice"].items["v1"] == 0


def test_captions_the_file_does_not_have(tuple_file):
    with pytest.raises(DataError, match=r"has no tuples of the caption 'a cat'"):
        score({"v1": "a cat"}, {"v1": ["a dog runs"]}, metrics=f"spice|tuples:{tuple_file}")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[]", "expected an object with 'test' and 'test_tuples'"),
        ('{"test_tuples": []}', "'test' is None; expected the caption"),
        ('{"refs": "a", "ref_tuples": []}', "expected a list of captions"),
        ('{"test": "a", "test_tuples": [["a", 3]]}', "is no tuple"),
        ('{"test": "a", "test_tuples": [[]]}', "is no tuple"),
        ('{"test": "a", "test_tuples": 7}', "is no tuple"),
    ],
)
def test_files_that_are_none(tmp_path, line, message):
    path = tmp_path / "bad.jsonl"
    path.write_text(line)
    with pytest.raises(DataError, match=message) as error:
        score({"v": "a"}, {"v": ["a"]}, metrics=f"spice|tuples:{path}")
    assert f"{path}:1" in str(error.value)


@pytest.mark.parametrize("bad", ["synsets:wordnet", "text:coco", "kinds:some"])
def test_parameters(bad):
    with pytest.raises(UnknownNameError, match=bad.partition(":")[0]):
        parse_signature(f"spice|{bad}")


def noun_and_verb(caption):
    """A parse for tests: the last word is a verb, the one before its subject."""
    *_, noun, verb = ["", *caption.split()]
    subject = Token(noun, "NN", noun, 1, "nsubj")
    return Tree((subject, Token(verb, "VBZ", verb.removesuffix("s"), ROOT, "root")))


@pytest.fixture
def parsed(monkeypatch):
    """Stand in for the parser; the captions it was given."""
    seen = []

    def teacher_trees(captions, *, threads=None):
        seen.extend(captions)
        return [noun_and_verb(caption) for caption in captions]

    monkeypatch.setattr(parser, "teacher_trees", teacher_trees)
    monkeypatch.setattr(spice, "teacher_name", lambda: PARSER)
    return seen


def test_signature(parsed):
    result = score({"v": "A dog runs."}, {"v": ["a puppy runs"]}, metrics="spice")["spice"]
    assert result.signature.startswith(
        f"spice|parser:{PARSER}|rules:1|synsets:meteor-1.5|text:ptb|kinds:all|tuples:none|"
        "tok:ptb|items:1|"
    )
    assert parse_signature(result.signature) == Spice()
    assert parsed == ["a puppy runs", "a dog runs"]


def test_text_as_written(parsed):
    score({"v": "A dog runs ."}, {"v": ["A dog, runs"]}, metrics="spice|text:raw")
    assert parsed == ["a dog , runs", "a dog runs ."]


def test_references_are_parsed_once_for_all_systems(parsed):
    systems = {name: {"v": "a cat runs", "w": "a cat runs"} for name in ("one", "two")}
    table = score_systems(systems, {"v": ["a dog runs"], "w": ["a dog runs"]}, metrics="spice")
    assert parsed == ["a dog runs", "a cat runs"]
    assert table["one"]["spice"].items.to_dict() == {"v": 0, "w": 0}


def test_captions_without_words(parsed):
    results = score({"v": "..."}, {"v": ["a dog runs"]}, metrics="spice", empty="zero")
    assert results["spice"].score == 0
    assert parsed == ["a dog runs"]


def test_threads_change_nothing(parsed):
    one, four = (
        score({"v": "a cat runs"}, {"v": ["a dog runs", "a cat sits"]}, "spice", threads=threads)
        for threads in (1, 4)
    )
    assert one.to_dict() == four.to_dict()


def test_without_a_parser(monkeypatch):
    monkeypatch.setattr(parser, "find_spec", lambda name: None)
    parser._parser.cache_clear()
    with pytest.raises(MissingExtraError) as error:
        score({"v": "a dog"}, {"v": ["a dog"]}, metrics="spice")
    command = install_command("reelscore[parser]", "reelscore-parser")
    assert str(error.value) == f"SPICE needs a parser. To install: {command}"


def test_word_lists():
    assert len(NUMBERS) == 10
    assert not COLOURS & SIZES


def test_comparison_of_two_captions(parsed):
    comparison = Spice().compare("A puppy runs.", ["a dog runs", "a puppy sits"])
    assert comparison.candidate == [("puppy",), ("puppy", "run")]
    assert comparison.references == [("dog",), ("puppy",), ("dog", "run"), ("puppy", "sit")]
    assert comparison.matches == [1, None]
