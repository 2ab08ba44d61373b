"""Words with hyphens: parsed in parts, as the treebank has them, and whole in the tree.

The parser has learned *T - shirt*; the lexicon knows *t-shirt*, and a reader wants one word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from reelscore.text.grammar.lexicon import Lexicon
from reelscore.text.grammar.trees import ROOT, Token, Tree

_HYPHENATED = re.compile(r"\w+(-\w+)+")


def parts(words: Sequence[str]) -> list[list[str]]:
    """The parts of each word: several of one with hyphens, else the word itself.

    >>> parts(["a", "T-shirt"])
    [['a'], ['T', '-', 'shirt']]
    """
    return [re.findall("[^-]+|-", w) if _HYPHENATED.fullmatch(w) else [w] for w in words]


def joined(tree: Tree, groups: Sequence[Sequence[str]], lexicon: Lexicon) -> Tree:
    """The tree of the words whose `parts` were parsed.

    A word hangs where the part nearest to the root does. Its lemma is that of the whole, if the
    lexicon has it, else that of the last of two parts.
    """
    if all(len(group) == 1 for group in groups):
        return tree
    word_of = [number for number, group in enumerate(groups) for _ in group]
    depth = [_depth(tree, index) for index in range(len(tree.tokens))]
    tokens: list[Token] = []
    start = 0
    for group in groups:
        places = range(start, min(start + len(group), len(tree.tokens)))
        start += len(group)
        if not places:  # the parser reads only so many words
            break
        # the part nearest to the root: what hangs below the word then cannot be above it
        top = min(places, key=depth.__getitem__)
        token = tree.tokens[top]
        head = token.head if token.head == ROOT else word_of[token.head]
        if len(group) > 1:
            token = _whole("".join(group), token, tree.tokens[places[-1]], lexicon)
        tokens.append(replace(token, head=head))
    return Tree(tuple(tokens))


def _depth(tree: Tree, index: int) -> int:
    """How many arcs lead from the root to a word."""
    steps = 0
    while tree.tokens[index].head != ROOT:
        index, steps = tree.tokens[index].head, steps + 1
    return steps


def _whole(text: str, head: Token, last: Token, lexicon: Lexicon) -> Token:
    noun = lexicon.lemma(text, "NNS")
    if noun.known and not head.relation.startswith(("amod", "advmod")):
        tag = "NN" if noun.text == text.lower() else "NNS"
        return replace(head, text=text, tag=tag, lemma=noun.text)
    tag = last.tag if last.tag.startswith(("NN", "VB")) else head.tag
    lemma = last.lemma if text.count("-") == 1 else text.lower()  # a "one-year-old" is no "old"
    return replace(head, text=text, tag=tag, lemma=lemma)
