"""Topics of verbs: counts, entropy, and scores by topic."""

from __future__ import annotations

import math

import pytest

pytest.importorskip("reelscore_parser")

from reelscore.errors import UnknownNameError
from reelscore.text.parser.lexicon import Lexicon
from reelscore.text.parser.roles import Clause, Filler, Sentence
from reelscore.text.parser.trees import Token
from reelscore_studies.analysis.topics import topic_scores, topic_table


def sentence(*verbs: str) -> Sentence:
    """A caption with these verbs; `cop` is a copula."""
    tokens, clauses = [], []
    for index, verb in enumerate(verbs):
        lemma = "be" if verb == "cop" else verb
        relation = "cop" if verb == "cop" else "root"
        tokens.append(Token(lemma, "VBZ", lemma, -1, relation))
        senses = Lexicon.load().senses(lemma, "v")
        filler = Filler(index, lemma, lemma, "VBZ", senses[0] if senses else None)
        clauses.append(Clause(None, filler, None, None))
    return Sentence(" ".join(verbs), tuple(tokens), tuple(clauses))


CAPTIONS = {
    "a": [sentence("walk"), sentence("walk", "sit"), sentence("sit")],
    "b": [sentence("walk"), sentence("run"), sentence("be")],
    "c": [sentence("cop"), sentence("blorp"), sentence("cop", "walk")],
}
SCORES = {"one": {"a": 1.0, "b": 0.0, "c": 0.5}, "two": {"a": 0.0, "b": 0.0, "c": 0.25}}


def test_verbs_are_counted_by_topic() -> None:
    table = topic_table(CAPTIONS)
    assert [(topic.name, topic.verbs, topic.frequent) for topic in table.topics] == [
        ("motion", 5, ("walk", "run")),
        ("contact", 2, ("sit",)),
        ("stative", 1, ("be",)),  # the main verb counts, copulas do not
        ("none", 1, ("blorp",)),
    ]
    assert (table.captions, table.without_verb, table.with_one, table.with_several) == (9, 1, 7, 1)
    expected = -(0.8 * math.log2(0.8) + 0.2 * math.log2(0.2))
    assert table.topics[0].entropy == pytest.approx(expected, abs=1e-12)
    assert table.topics[0].share == 5 / 9


def test_an_item_counts_once_split_over_its_references_with_one_verb() -> None:
    by_topic = topic_scores(CAPTIONS, SCORES, resamples=50)
    assert list(by_topic.scores) == ["motion", "contact", "stative", "none"]
    assert by_topic.items == {"motion": 3, "contact": 1, "stative": 1, "none": 1}
    assert by_topic.weights["motion"] == pytest.approx(1 / 2 + 2 / 3 + 1 / 2)
    mean = (1.0 / 2 + 0.0 * 2 / 3 + 0.5 / 2) / (1 / 2 + 2 / 3 + 1 / 2)
    assert by_topic.scores["motion"]["one"].mean == pytest.approx(mean, abs=1e-12)
    assert by_topic.best("motion") == "one"
    assert by_topic.scores["motion"]["one"].low <= mean <= by_topic.scores["motion"]["one"].high
    assert by_topic.references == 7


def test_the_first_verb_of_every_reference() -> None:
    by_topic = topic_scores(CAPTIONS, SCORES, units="first", resamples=50)
    assert by_topic.references == 8
    assert by_topic.weights["contact"] == pytest.approx(1 / 3)
    with pytest.raises(UnknownNameError, match="first, single"):
        topic_scores(CAPTIONS, SCORES, units="all")
