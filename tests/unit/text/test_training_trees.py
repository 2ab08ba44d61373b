"""The trees that the parser learns from: made-up captions, and web text worded as captions."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

from reelscore.text.parser.trees import ROOT, Token, Tree

pytest.importorskip("lemminflect", reason="lemminflect inflects the words of made-up captions")
pytest.importorskip("reelscore_parser")

SCRIPTS = Path(__file__).parents[3] / "models" / "parser"


@pytest.fixture(autouse=True)
def scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    if not SCRIPTS.is_dir():
        pytest.skip("the parser's training scripts are in the repository alone")
    monkeypatch.syspath_prepend(str(SCRIPTS))
    for name in ("caption_grammar", "caption_words", "revoicing"):
        monkeypatch.delitem(sys.modules, name, raising=False)


def assert_tree(tree: Tree) -> None:
    """One root, and every word hangs below it."""
    assert [token.head for token in tree.tokens].count(ROOT) == 1
    assert all(token.text and token.tag and token.lemma for token in tree.tokens)
    for index in range(len(tree.tokens)):
        steps = 0
        while tree.tokens[index].head != ROOT:
            index, steps = tree.tokens[index].head, steps + 1
            assert steps <= len(tree.tokens), "the words hang in a circle"


def test_made_up_captions_are_trees() -> None:
    from caption_grammar import CaptionGrammar

    grammar = CaptionGrammar(1)
    captions = [grammar.caption() for _ in range(300)]
    for tree in captions:
        assert_tree(tree)
    relations = {token.relation for tree in captions for token in tree.tokens}
    assert {"nsubj", "obj", "obl", "acl", "amod", "conj", "case", "det"} <= relations
    texts = {" ".join(token.text for token in tree.tokens) for tree in captions}
    assert len(texts) > 290


def test_the_seed_decides_a_made_up_caption() -> None:
    from caption_grammar import CaptionGrammar

    first, again, other = (CaptionGrammar(seed).caption() for seed in (1, 1, 2))
    assert first == again != other


def test_web_text_in_the_voice_of_captions() -> None:
    from revoicing import revoiced

    tree = Tree(
        (
            Token("I", "PRP", "I", 1, "nsubj"),
            Token("washed", "VBD", "wash", ROOT, "root"),
            Token("the", "DT", "the", 4, "det"),
            Token("old", "JJ", "old", 4, "amod"),
            Token("car", "NN", "car", 1, "obj"),
        )
    )
    made = [revoiced(tree, random.Random(seed)) for seed in range(20)]
    kept = [tree for tree in made if tree is not None]
    assert kept
    for one in kept:
        assert_tree(one)
        [verb] = [token for token in one.tokens if token.relation == "root"]
        assert (verb.text, verb.tag) == ("washes", "VBZ")
        [subject] = [token for token in one.tokens if token.relation == "nsubj"]
        assert subject.text.lower() in ("he", "she", "someone")
