"""Captions whose trees are written by hand, in place of the model."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from reelscore.text.parser.lexicon import Lexicon
from reelscore.text.parser.trees import Token, Tree

TREES = {
    "A man rides a horse on the beach and waves.": "A/DT/2/det man/NN/3/nsubj rides/VBZ/0/root "
    "a/DT/5/det horse/NN/3/obj on/IN/8/case the/DT/8/det beach/NN/3/obl and/CC/10/cc "
    "waves/VBZ/3/conj ././3/punct",
    "She plays the guitar.": "She/PRP/2/nsubj plays/VBZ/0/root the/DT/4/det guitar/NN/2/obj "
    "././2/punct",
    "Dogs.": "Dogs/NNS/0/root ././1/punct",
    "...": ".../NFP/0/root",
}


def tree(text: str) -> Tree:
    tokens = []
    for word in TREES[text].split():
        form, tag, head, relation = word.rsplit("/", 3)
        lemma = Lexicon.load().lemma(form, tag).text
        tokens.append(Token(form, tag, lemma, int(head) - 1, relation))
    return Tree(tuple(tokens))


def parsed_captions(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Write a file of captions, and put a parser that knows them in place of the model."""
    parser = SimpleNamespace(ud_trees=lambda texts, threads: [tree(text) for text in texts])
    monkeypatch.setitem(sys.modules, "reelscore.text.parser.networks", parser)
    content = {"b": next(iter(TREES)), "a": " ".join(list(TREES)[1:3]), "c": ["...", ""]}
    (folder / "captions.json").write_text(json.dumps(content))
    return "captions.json"
