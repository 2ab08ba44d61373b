"""Facts are read from trees as the official SPICE tool reads them, and merged into graphs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reelscore import MissingExtraError, text
from reelscore.text.parser import networks as parser
from reelscore.text.parser.facts import tree_facts
from reelscore.text.parser.scene_graph import (
    Concept,
    SceneGraph,
    caption_facts,
    match,
    read_concepts,
)
from reelscore.text.parser.trees import Token, Tree

GOLDEN = Path(__file__).parents[2] / "golden" / "spice_coco.json"


def parsed(rows: str) -> Tree:
    """A tree written as word:tag:relation:head, or word=lemma:…, heads counted from 1."""
    tokens = []
    for row in rows.split():
        word, tag, relation, head = row.rsplit(":", 3)
        form, _, lemma = word.partition("=")
        tokens.append(Token(form, tag, lemma or form, int(head) - 1, relation.replace("~", ":")))
    return Tree(tuple(tokens))


def facts_of(rows: str) -> set[tuple[str, ...]]:
    return set(tree_facts(parsed(rows)))


def facts(*lines: str) -> set[tuple[str, ...]]:
    return {tuple(line.split(", ")) for line in lines}


# Captions whose facts were worked out by hand, on trees as they should be.
BY_HAND = {
    "a:DT:det:2 man:NN:nsubj:4 is=be:VBZ:aux:4 riding=ride:VBG:root:0 a:DT:det:6 horse:NN:dobj:4": (
        "man",
        "horse",
        "man, ride, horse",
    ),
    "a:DT:det:3 brown:JJ:amod:3 dog:NN:nsubj:4 runs=run:VBZ:root:0": (
        "dog",
        "dog, brown",
        "dog, run",
    ),
    "two:CD:nummod:3 young:JJ:amod:3 girls=girl:NNS:nsubj:5 are=be:VBP:aux:5 "
    "dancing=dance:VBG:root:0 in:IN:case:8 a:DT:det:8 room:NN:nmod:5": (
        "girl",
        "room",
        "girl, two",
        "girl, young",
        "girl, dance in, room",
    ),
    "a:DT:det:2 man:NN:nsubj:7 wearing=wear:VBG:acl:2 a:DT:det:6 red:JJ:amod:6 hat:NN:dobj:3 "
    "plays=play:VBZ:root:0 the:DT:det:9 guitar:NN:dobj:7 on:IN:case:11 stage:NN:nmod:7": (
        "man",
        "hat",
        "guitar",
        "stage",
        "hat, red",
        "man, wear, hat",
        "man, play, guitar",
        "man, play on, stage",
    ),
    "the:DT:det:2 piano:NN:nsubjpass:4 is=be:VBZ:auxpass:4 played=play:VBN:root:0 by:IN:case:7 "
    "a:DT:det:7 woman:NN:nmod:4": ("piano", "woman", "woman, play, piano"),
    "the:DT:det:2 man:NN:nmod~poss:4 's:POS:case:2 dog:NN:nsubj:8 is=be:VBZ:cop:8 in:IN:case:8 "
    "the:DT:det:8 car:NN:root:0": ("man", "dog", "car", "man, have, dog", "dog, in, car"),
    "a:DT:det:3 basketball:NN:compound:3 player:NN:nsubj:7 and:CC:cc:3 a:DT:det:6 coach:NN:conj:3 "
    "stand:VBP:root:0 next:JJ:advmod:7 to:TO:case:11 a:DT:det:11 bench:NN:nmod:8": (
        "player",
        "coach",
        "bench",
        "player, basketball",
        "player, stand next to, bench",
        "coach, stand next to, bench",
    ),
    "a:DT:det:2 woman:NN:nsubj:3 smiles=smile:VBZ:root:0 and:CC:cc:3 waves=wave:VBZ:conj:3 "
    "at:IN:case:8 the:DT:det:8 camera:NN:nmod:5": (
        "woman",
        "camera",
        "woman, smile",
        "woman, wave at, camera",
    ),
    "boy:NN:nsubj:2 pulls=pull:VBZ:root:0 a:DT:det:4 string:NN:dobj:2 attached=attach:VBN:acl:4 "
    "to:TO:case:8 a:DT:det:8 piece:NN:nmod:5 of:IN:case:10 wood:NN:nmod:8": (
        "boy",
        "string",
        "piece",
        "wood",
        "boy, pull, string",
        "string, attach to, piece",
        "piece, of, wood",
    ),
    "there:EX:expl:2 are=be:VBP:root:0 three:CD:nummod:4 cats=cat:NNS:nsubj:2 on:IN:case:8 "
    "the:DT:det:8 tall:JJ:amod:8 fence:NN:nmod:2": (
        "cat",
        "fence",
        "cat, three",
        "fence, tall",
        "cat, on, fence",
    ),
}


@pytest.mark.parametrize("rows", BY_HAND)
def test_captions_by_hand(rows):
    assert facts_of(rows) == facts(*BY_HAND[rows])


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        pytest.param(
            "a:DT:det:2 couple:NN:nsubj:5 of:IN:case:4 dogs=dog:NNS:nmod:2 run:VBP:root:0",
            ["couple", "dog", "dog, a", "dog, run"],
            id="quantity",
        ),
        pytest.param(
            "a:DT:det:2 boy:NN:nsubj:3 eats=eat:VBZ:root:0 his=he:PRP$:nmod~poss:5 donut:NN:dobj:3",
            ["boy", "donut", "boy, eat, donut", "boy, have, donut"],
            id="possessive pronoun",
        ),
        pytest.param(
            "his=he:PRP$:nmod~poss:2 donut:NN:nsubj:3 falls=fall:VBZ:root:0",
            ["donut", "donut, fall"],
            id="pronoun at the beginning",
        ),
        pytest.param(
            "a:DT:det:2 door:NN:nsubjpass:4 is=be:VBZ:auxpass:4 closed=close:VBN:root:0 "
            "in:IN:case:7 a:DT:det:7 room:NN:nmod:4",
            ["door", "room"],
            id="passive without agent",
        ),
        pytest.param(
            "a:DT:det:2 man:NN:root:0 who:WP:nsubj:4 sings=sing:VBZ:acl~relcl:2",
            ["man"],
            id="relative clause",
        ),
        pytest.param(
            "one:CD:nummod:2 dog:NN:nsubj:3 sleeps=sleep:VBZ:root:0",
            ["dog", "dog, sleep"],
            id="one of a thing",
        ),
        pytest.param(
            "cat:NN:root:0 in:IN:case:3 front:NN:nmod:1 of:IN:case:5 car:NN:nmod:3",
            ["cat", "front", "car", "cat, in front of, car"],
            id="preposition of three words",
        ),
        pytest.param(
            "man:NN:nsubj:2 stands=stand:VBZ:root:0 up:RP:compound~prt:2",
            ["man", "man, stand"],
            id="particle",
        ),
    ],
)
def test_rules(rows, expected):
    assert facts_of(rows) == facts(*expected)


def test_official_tuples_of_official_trees():
    for caption in json.loads(GOLDEN.read_text())["captions"]:
        tree = Tree(tuple(Token(*word) for word in caption["tree"]))
        ours = {tuple(map(frozenset, _words(each))) for each in SceneGraph(tree_facts(tree)).tuples}
        theirs = {tuple(map(frozenset, _words(each))) for each in caption["tuples"]}
        assert ours == theirs, " ".join(word[0] for word in caption["tree"])


def _words(concepts):
    return [text.split("/") for text in concepts]


def test_trees_that_nobody_would_draw():
    assert tree_facts(Tree(())) == []
    loop = parsed("a:NN:dep:2 b:NN:dep:1")
    assert tree_facts(loop) == [("a",), ("b",)]
    hung_on_themselves = parsed("of:IN:nmod:1 of:IN:case:1")
    assert tree_facts(hung_on_themselves) == []


def test_synonyms_are_one_node():
    graph = SceneGraph([("toilet",), ("bathroom",), ("toilet", "in", "bathroom")])
    assert graph.tuples == [("toilet/bathroom",), ("toilet/bathroom", "in", "toilet/bathroom")]
    apart = SceneGraph([("toilet",), ("bathroom",)], synsets=False)
    assert apart.tuples == [("toilet",), ("bathroom",)]


def test_a_word_joins_the_most_similar_node():
    # a bike may be either, and is the more a bicycle
    graph = SceneGraph([("motorcycle",), ("bicycle",), ("bike",)])
    assert graph.tuples == [("motorcycle",), ("bicycle/bike",)]


def test_attributes_and_relations_are_merged_too():
    graph = SceneGraph(
        [("wall", "dark"), ("wall", "blue"), ("car", "beside", "wall"), ("car", "beside", "wall")]
    )
    assert ("wall", "dark/blue") in graph.tuples
    assert graph.tuples.count(("car", "beside", "wall")) == 1


def test_the_first_tuple_that_matches():
    ours = read_concepts([["piece/man"], ["dog"]])
    theirs = read_concepts([["hat"], ["man"], ["slice"]])
    assert match(ours, theirs) == [1, None]
    assert match(ours, theirs, synsets=False) == [None, None]


def test_phrases_have_synsets():
    assert Concept("look at").synsets
    assert not Concept("play on").synsets


def test_graph_of_a_caption(monkeypatch):
    tree = parsed(next(iter(BY_HAND)))
    seen = []

    def teacher_trees(captions, *, threads=None):
        seen.extend(captions)
        return [tree] * len(captions)

    monkeypatch.setattr(parser, "teacher_trees", teacher_trees)
    graph = text.scene_graph("A man is riding a horse.")
    assert graph.tuples == [("man",), ("horse",), ("man", "ride", "horse")]
    assert seen == ["a man is riding a horse"]
    assert caption_facts(["x", "", "x"])[1] == []
    assert seen[1:] == ["x"]  # each caption once, empty ones never


def test_without_a_parser(monkeypatch):
    monkeypatch.setattr(parser, "_parser", parser._parser.__wrapped__)  # not one opened before
    monkeypatch.setattr(parser, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"SPICE needs a parser. To install: pip install"):
        text.scene_graph("A man is riding a horse.")
