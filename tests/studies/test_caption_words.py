"""Labels for captioners, from sentences made by hand."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("reelscore_parser")

from reelscore.errors import UnknownNameError
from reelscore.text.parser.lexicon import Lexicon
from reelscore.text.parser.roles import Clause, Filler, Sentence
from reelscore.text.parser.senses import Senses
from reelscore.text.parser.trees import Token
from reelscore_studies.baselines.labels.caption_words import labels
from support.trees_by_hand import parsed_captions


def filler(lemma: str, tag: str = "NN") -> Filler | None:
    if lemma == "-":
        return None
    senses = Lexicon.load().senses(lemma, "n") if tag == "NN" else ()
    return Filler(0, lemma, lemma, tag, senses[0] if senses else None)


def sentence(roles: str) -> Sentence:
    """A sentence of one clause: subject, verb, object and location."""
    subject, verb, obj, location = roles.split()
    clause = Clause(filler(subject), filler(verb, "VBZ"), filler(obj), filler(location))
    words = tuple(Token(word, "NN", word, -1, "root") for word in roles.split() if word != "-")
    return Sentence(roles, words, (Senses(Lexicon.load(), "first").apply(clause),))


CAPTIONS = {
    "a": [sentence("man play guitar stage"), sentence("man play - stage")],
    "b": [sentence("dog play - garden")],
    "c": [sentence("she sing - stage")],
    "d": [sentence("dog - - garden")],  # no verb: labels are found by their words
    "e": [sentence("man sing - bedroom")],
}


def test_groups_and_counts_are_of_items() -> None:
    table = labels(CAPTIONS, minimum=2)
    assert [(label.group, label.name, label.items) for label in table.labels] == [
        ("verbs", "play", 2),
        ("verbs", "sing", 2),
        ("objects", "dog", 2),
        ("objects", "man", 2),
        ("places", "garden", 2),
        ("places", "stage", 2),
    ]
    assert table.items == list(CAPTIONS)
    assert table.matrix.toarray().tolist() == [
        [1, 0, 0, 1, 0, 1],
        [1, 0, 1, 0, 1, 0],
        [0, 1, 0, 0, 0, 1],
        [0, 0, 1, 0, 1, 0],
        [0, 1, 0, 1, 0, 0],
    ]
    assert table.failed == ["d"]


def test_labels_without_group_are_reported() -> None:
    table = labels(CAPTIONS, minimum=1, groups=["verbs"])
    assert {label.group for label in table.labels} == {"verbs"}
    assert table.dropped["she"] == 1
    assert table.dropped["stage"] == 2


def test_lists_of_the_user_decide() -> None:
    table = labels(CAPTIONS, minimum=1, places=["Garden"], objects=["guitar"])
    names = {label.name: label.group for label in table.labels if label.group != "verbs"}
    assert names == {"garden": "places", "guitar": "objects"}


def test_labels_can_be_senses() -> None:
    table = labels(CAPTIONS, minimum=2, kind="sense", groups=["verbs", "places"])
    assert [label.name for label in table.labels] == [
        "play.v.1",
        "sing.v.1",
        "garden.n.1",
        "stage.n.1",
    ]


def test_unknown_groups_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'places'"):
        labels(CAPTIONS, groups=["place"])


def test_labels_of_a_file(run, folder, monkeypatch):
    captions = parsed_captions(folder, monkeypatch)
    _, out, _ = run("caption", "words", captions, "--minimum", 1, "--groups", "verbs")
    data = json.loads(out)
    assert [label["name"] for label in data["labels"]] == ["play", "ride", "wave"]
    assert data["items"] == {"b": [1, 2], "a": [0], "c": []}
    assert data["dropped"]["horse"] == 1
