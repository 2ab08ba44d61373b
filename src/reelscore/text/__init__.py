"""From captions to words: packed strings, PTB tokens, word ids, grammar, damages by rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reelscore._lazy import lazy_names

if TYPE_CHECKING:
    from reelscore._cache import cache_directory
    from reelscore.text.damages.exploits import exploit, exploit_kinds
    from reelscore.text.damages.rules import damage, damage_forms, damage_kinds
    from reelscore.text.grammar.scene_graph import scene_graph
    from reelscore.text.grammar.sentences import parse
    from reelscore.text.meteor_data import language_index
    from reelscore.text.packed import Packed
    from reelscore.text.tokens import tokenize
    from reelscore.text.words import CaptionBatch, Captions, Pairing, Words

__all__ = [
    "CaptionBatch",
    "Captions",
    "Packed",
    "Pairing",
    "Words",
    "cache_directory",
    "damage",
    "damage_forms",
    "damage_kinds",
    "exploit",
    "exploit_kinds",
    "language_index",
    "parse",
    "scene_graph",
    "tokenize",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "text.damages.exploits": "exploit exploit_kinds",
        "text.damages.rules": "damage damage_forms damage_kinds",
        "text.grammar.sentences": "parse",
        "text.grammar.scene_graph": "scene_graph",
        "_cache": "cache_directory",
        "text.meteor_data": "language_index",
        "text.packed": "Packed",
        "text.tokens": "tokenize",
        "text.words": "CaptionBatch Captions Pairing Words",
    },
)
