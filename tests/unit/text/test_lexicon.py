"""The lexicon: WordNet 3.0 as compiled, lemmas by tag, topics of verbs."""

from __future__ import annotations

from collections import Counter

import pytest

pytest.importorskip("reelscore_parser")

from reelscore.text.parser.lexicon import FILES, Lexicon

VERB_SYNSETS = {
    "change": 2383,
    "contact": 2196,
    "communication": 1548,
    "motion": 1408,
    "social": 1106,
    "possession": 847,
    "stative": 756,
    "cognition": 695,
    "creation": 694,
    "body": 547,
    "perception": 461,
    "competition": 459,
    "emotion": 343,
    "consumption": 243,
    "weather": 81,
}


def test_verb_synsets_are_those_of_wordnet_3_0() -> None:
    files = Counter(FILES[number] for number in Lexicon.load().section("v.files"))
    assert files == {f"verb.{topic}": count for topic, count in VERB_SYNSETS.items()}


@pytest.mark.parametrize(
    ("form", "tag", "lemma"),
    [
        ("men", "NNS", "man"),
        ("leaves", "VBZ", "leave"),
        ("leaves", "NNS", "leaf"),
        ("glass", "NN", "glass"),
        ("hugging", "VBG", "hug"),
        ("lay", "VBD", "lie"),
        ("lay", "VB", "lay"),
        ("singing", "VBG", "sing"),  # not singe, which is rarer
        ("riding", "VBG", "ride"),
        ("Is", "VBZ", "be"),
        ("'s", "VBZ", "be"),
        ("'s", "POS", "'s"),
        ("happiest", "JJS", "happy"),
        ("The", "DT", "the"),
        ("up", "RP", "up"),
    ],
)
def test_lemma_depends_on_the_tag(form: str, tag: str, lemma: str) -> None:
    assert Lexicon.load().lemma(form, tag) == (lemma, True)


def test_unknown_words_keep_their_form_and_are_marked() -> None:
    assert Lexicon.load().lemma("Blorping", "VBG") == ("blorping", False)
    assert Lexicon.load().senses("blorp", "v") == ()


@pytest.mark.parametrize(
    ("verb", "topic"),
    [
        ("look_at", "cognition"),
        ("look_up", "communication"),
        ("nod", "communication"),
        ("turn", "motion"),
        ("walk", "motion"),
        ("sit", "contact"),
        ("be", "stative"),
        ("start", "change"),
        ("blorp", None),
    ],
)
def test_topic_of_the_first_sense(verb: str, topic: str | None) -> None:
    first = next(iter(Lexicon.load().senses(verb, "v")), None)
    assert (first and first.topic) == topic


def test_shoot_has_the_sense_of_the_paper() -> None:
    film = Lexicon.load().senses("shoot", "v")[3]
    assert (film.name, film.topic, film.key) == ("shoot.v.4", "communication", "shoot%2:32:01")


def test_kinds_of_nouns() -> None:
    lexicon = Lexicon.load()
    jacket, boy = lexicon.senses("jacket", "n")[0], lexicon.senses("boy", "n")[0]
    assert lexicon.is_a(jacket, "footwear", "clothing")
    assert not lexicon.is_a(boy, "clothing")
    assert lexicon.is_a(boy, "person")


def test_every_lemma_is_found_again() -> None:
    lexicon = Lexicon.load()
    verbs = list(lexicon.lemmas("v"))
    assert verbs == sorted(verbs)
    assert all(lexicon.count(verb, "v") is not None for verb in verbs)
