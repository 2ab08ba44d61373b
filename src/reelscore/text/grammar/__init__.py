"""Captions as grammar: dependency trees, and what is read from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reelscore._lazy import lazy_names

if TYPE_CHECKING:
    from reelscore.text.grammar.lexicon import Lexicon, Sense
    from reelscore.text.grammar.trees import Token, Tree, read_trees, write_tree

__all__ = ["Lexicon", "Sense", "Token", "Tree", "read_trees", "write_tree"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "text.grammar.lexicon": "Lexicon Sense",
        "text.grammar.trees": "Token Tree read_trees write_tree",
    },
)
