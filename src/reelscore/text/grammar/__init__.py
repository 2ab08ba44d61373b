"""Captions as grammar: dependency trees, and what is read from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reelscore._lazy import lazy_names

if TYPE_CHECKING:
    from reelscore.text.grammar.facts import tree_facts
    from reelscore.text.grammar.lexicon import Lexicon, Sense
    from reelscore.text.grammar.roles import Clause, Filler, Sentence
    from reelscore.text.grammar.scene_graph import SceneGraph
    from reelscore.text.grammar.sentences import parse
    from reelscore.text.grammar.trees import Token, Tree, read_trees, write_tree

__all__ = [
    "Clause",
    "Filler",
    "Lexicon",
    "SceneGraph",
    "Sense",
    "Sentence",
    "Token",
    "Tree",
    "parse",
    "read_trees",
    "tree_facts",
    "write_tree",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "text.grammar.facts": "tree_facts",
        "text.grammar.lexicon": "Lexicon Sense",
        "text.grammar.sentences": "parse",
        "text.grammar.roles": "Clause Filler Sentence",
        "text.grammar.scene_graph": "SceneGraph",
        "text.grammar.trees": "Token Tree read_trees write_tree",
    },
)
