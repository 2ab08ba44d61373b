"""Facts and scene graphs of any tree and any facts: they hold together, whatever comes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reelscore.metrics import score_tuples
from reelscore.text.parser.facts import tree_facts
from reelscore.text.parser.scene_graph import SceneGraph
from reelscore.text.parser.trees import Token, Tree

WORDS = ["a", "the", "of", "to", "next", "front", "in", "couple", "lots", "one", "it", "their"]
WORDS += ["man", "dogs", "red", "run", "🐕", "犬", "(", "'s", "x" * 40, "10", "be", "and", "by"]
TAGS = ["NN", "NNS", "NNP", "JJ", "VBZ", "VBN", "VBG", "IN", "TO", "DT", "CD", "PRP", "PRP$", "POS"]
RELATIONS = ["nsubj", "nsubjpass", "dobj", "iobj", "nmod", "nmod:poss", "nmod:tmod", "amod", "acl"]
RELATIONS += ["compound", "compound:prt", "nummod", "case", "mwe", "conj", "cop", "auxpass", "dep"]
RELATIONS += ["advmod", "root", "acl:relcl", "xcomp"]


@st.composite
def trees(draw):
    """Words with any tags and heads: also loops, several roots, words that hang on themselves."""
    size = draw(st.integers(0, 14))
    return Tree(
        tuple(
            Token(
                word, draw(st.sampled_from(TAGS)), word, draw(st.integers(-1, size - 1)), relation
            )
            for word, relation in draw(
                st.lists(
                    st.tuples(st.sampled_from(WORDS), st.sampled_from(RELATIONS)),
                    min_size=size,
                    max_size=size,
                )
            )
        )
    )


@given(trees())
def test_any_tree_has_facts(tree):
    facts = tree_facts(tree)
    assert facts == tree_facts(tree)
    assert all(1 <= len(fact) <= 3 and all(fact) for fact in facts)


NAMES = ["man", "guy", "cat", "piece", "bicycle", "bike", "motorcycle", "wall", "red", "sit"]
FACTS = st.lists(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map(tuple), max_size=15)


@given(FACTS)
def test_every_word_is_in_the_graph(facts):
    tuples = SceneGraph(facts).tuples
    objects = [each[0].split("/") for each in tuples if len(each) == 1]
    words = [word for each in objects for word in each]
    assert len(words) == len(set(words))  # a word is in one node
    assert set(words) == {
        word for fact in facts for word in (fact[0], fact[-1] if len(fact) == 3 else fact[0])
    }
    assert len(tuples) == len(set(tuples))
    for fact in facts:
        assert score_tuples([fact], tuples).correct == 1


@given(FACTS, FACTS)
def test_more_facts_never_lose_a_match(ours, theirs):
    less = score_tuples(SceneGraph(ours).tuples, SceneGraph(theirs).tuples)
    more = score_tuples(SceneGraph(ours).tuples, SceneGraph([*theirs, *ours]).tuples)
    assert more.correct == more.candidate >= less.correct


def test_the_order_of_references_counts_only_by_ties_of_merging():
    # a bike joins the bicycle it meets first, or the motorcycle
    one = SceneGraph([("motorcycle",), ("bike",), ("bicycle",)]).tuples
    two = SceneGraph([("motorcycle",), ("bicycle",), ("bike",)]).tuples
    assert one == [("motorcycle/bike/bicycle",)]
    assert two == [("motorcycle",), ("bicycle/bike",)]
