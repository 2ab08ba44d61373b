"""Words with hyphens are parsed in parts and are one word of the tree."""

from __future__ import annotations

import pytest

pytest.importorskip("reelscore_parser")

from reelscore.text.parser.lexicon import Lexicon
from reelscore.text.parser.networks import joined, parts
from reelscore.text.parser.trees import ROOT, Token, Tree


def tree(*rows: tuple[str, str, int, str]) -> Tree:
    lemma = Lexicon.load().lemma
    return Tree(tuple(Token(f, t, lemma(f, t).text, h, r) for f, t, h, r in rows))


def test_parts_become_one_word() -> None:
    groups = parts(["red-haired", "man", "wears", "t-shirts", "-"])
    assert groups[0] == ["red", "-", "haired"]
    assert groups[-1] == ["-"]
    whole = joined(
        tree(
            ("red", "JJ", 2, "amod"),
            ("-", "HYPH", 0, "punct"),
            ("haired", "JJ", 3, "amod"),
            ("man", "NN", 4, "nsubj"),
            ("wears", "VBZ", ROOT, "root"),
            ("t", "NN", 7, "compound"),
            ("-", "HYPH", 5, "punct"),
            ("shirts", "NNS", 4, "obj"),
            ("-", ":", 4, "punct"),
        ),
        groups,
        Lexicon.load(),
    )
    assert [(t.text, t.tag, t.lemma, t.head, t.relation) for t in whole.tokens] == [
        ("red-haired", "JJ", "haired", 1, "amod"),
        ("man", "NN", "man", 2, "nsubj"),
        ("wears", "VBZ", "wear", ROOT, "root"),
        ("t-shirts", "NNS", "t-shirt", 2, "obj"),
        ("-", ":", "-", 2, "punct"),
    ]


def test_a_word_never_hangs_below_itself() -> None:
    # "a" hangs on "x", which hangs on "b": joined, "a-b" must stay the root
    groups = [["a", "-", "b"], ["x"]]
    crossed = tree(("a", "NN", 3, "amod"), ("-", "HYPH", 2, "punct"), ("b", "NN", ROOT, "root"),
                   ("x", "NN", 2, "nmod"))  # fmt: skip
    whole = joined(crossed, groups, Lexicon.load())
    assert [token.head for token in whole.tokens] == [ROOT, 0]


def test_words_that_the_parser_did_not_read_are_left_out() -> None:
    groups = parts(["men", "t-shirt", "dogs"])
    cut = tree(("men", "NNS", ROOT, "root"), ("t", "NN", 0, "dep"))
    assert len(joined(cut, groups, Lexicon.load()).tokens) == 2
