"""Captions parsed by the shipped model: any text, alone or among others, offline."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest

pytest.importorskip("reelscore_parser")
pytest.importorskip("onnxruntime")

from reelscore import examples
from reelscore.errors import DataError, UnknownNameError
from reelscore.text import parse
from reelscore_studies.analysis.topics import topic_table
from reelscore_studies.parser.parser_check import gold_accuracy, parse_gold, read_gold

# At least so many in a hundred, of the captions with known roles that development may look at.
LEAST = {"subject": 95, "verb": 92, "object": 88, "location": 89, "all four": 82}


def lemmas(caption: str) -> list[tuple[str | None, ...]]:
    [sentence] = parse([caption])
    return [clause.lemmas for clause in sentence.clauses]


def test_clauses_of_a_caption() -> None:
    assert lemmas("A man wearing a red hat plays the guitar on stage and smiles.") == [
        ("man", "play", "guitar", "stage"),
        ("man", "wear", "hat", None),
        ("man", "smile", None, None),
    ]


def test_several_sentences_give_the_clauses_of_each_in_order() -> None:
    [sentence] = parse(["A dog barks. A cat sleeps on the sofa!"])
    assert [clause.lemmas for clause in sentence.clauses] == [
        ("dog", "bark", None, None),
        ("cat", "sleep", None, "sofa"),
    ]
    assert sentence.tokens[sentence.clauses[1].subject.head].text == "cat"
    assert [len(tree.tokens) for tree in sentence.trees] == [4, 7]


@pytest.mark.parametrize("caption", ["", "   ", "...", "?!", "🐶🐶", "犬が走る", "a" * 600])
def test_texts_without_sentences_do_not_fail(caption: str) -> None:
    [sentence] = parse([caption])
    assert sentence.text == caption


@pytest.mark.parametrize("caption", ["", "   ", "...", "?!"])
def test_texts_without_words_have_no_clauses(caption: str) -> None:
    assert lemmas(caption) == []


def test_long_and_mixed_texts_do_not_fail() -> None:
    [long, mixed] = parse(["a man runs and " * 80, "Ein Hund 🐕 läuft über the street мимо"])
    assert long.clauses[0].lemmas[:2] == ("man", "run")
    assert mixed.tokens


def test_captions_do_not_depend_on_others_or_on_threads() -> None:
    systems, references = examples.clips()
    captions = [*systems["strong"].values(), *(t for texts in references.values() for t in texts)]
    together = parse(captions)
    assert parse(captions, threads=2) == together
    assert [parse([caption])[0] for caption in captions[:10]] == together[:10]


def test_items_keep_their_captions() -> None:
    parsed = parse({"b": "a dog runs", "a": ["a cat sleeps", ""]})
    assert list(parsed) == ["b", "a"]
    assert [sentence.text for sentence in parsed["a"]] == ["a cat sleeps", ""]


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(DataError, match="Expected a list of captions"):
        parse("a dog runs")
    with pytest.raises(UnknownNameError, match="keep, person"):
        parse(["a dog"], pronouns="drop")


def test_no_network_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the network was asked for")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert lemmas("a dog runs") == [("dog", "run", None, None)]


def test_the_parser_is_loaded_when_it_is_used() -> None:
    code = (
        "import sys, reelscore, reelscore.text, reelscore.text.parser; "
        "assert not {'onnxruntime', 'tokenizers'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_topics_of_the_embedded_example() -> None:
    table = topic_table(parse(examples.clips()[1]))
    assert [(topic.name, topic.verbs) for topic in table.topics[:4]] == [
        ("motion", 27),
        ("contact", 16),
        ("competition", 9),
        ("social", 5),
    ]
    assert table.topics[0].frequent == ("jump", "dance", "fall")
    assert (table.captions, table.without_verb, table.with_one) == (45, 0, 18)


@pytest.mark.shared
def test_roles_of_captions_with_known_roles(shared) -> None:
    gold = read_gold(shared / "movie" / "svo_dev.json")
    shares, _ = gold_accuracy(gold, parse_gold(gold))
    for name, least in LEAST.items():
        assert 100 * shares[name].value >= least, name


@pytest.mark.shared
def test_verbs_that_wordnet_lacks_are_few(shared) -> None:
    folder = shared / "trecvid-vtt-ha" / "single-annotator" / "2019" / "references"
    lines = next(iter(sorted(folder.iterdir()))).read_text("utf-8").splitlines()[:200]
    table = topic_table({str(k): [s] for k, s in enumerate(parse(lines))})
    assert sum(topic.share for topic in table.topics if topic.name == "none") <= 0.05
