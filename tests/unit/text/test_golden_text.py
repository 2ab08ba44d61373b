"""Stems and METEOR's normaliser against stored answers of other tools (tests/golden)."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from reelscore import _native
from reelscore.text.meteor_data import meteor_index
from reelscore.text.words import pack

GOLDEN = Path(__file__).parents[2] / "golden"
PARAMETERS = (0.85, 0.2, 0.6, 0.75)


def stored(name):
    path = GOLDEN / name
    if not path.exists():
        pytest.skip(f"{path} is not there")
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content["provenance"]["tool"]  # who gave the answers
    return content["cases"]


def test_stems():
    # In a language without synonyms and paraphrases two words match if and only if they are the
    # same or have the same stem: all pairs of words tell all stems apart.
    builder = _native.MeteorIndexBuilder()
    builder.add_function_words(b"the\n")
    builder.add_prefixes(b"Mr\n")
    builder.add_exceptions(b"man\nmen\n")
    builder.add_synsets(b"xyzzy\n00000001\n")
    builder.add_paraphrases(b"0.1\nxyzzy\nplugh\n")
    index = _native.MeteorIndex.open(builder.finish())
    # words METEOR would cut up (at an apostrophe, a hyphen) cannot be tried, nor can 225, which is
    # the same word as 20s to METEOR
    cases = {word: stem for word, stem in stored("stems.json") if word.isalnum() and word != "225"}
    words, stems = list(cases), np.array(list(cases.values()))
    assert len(words) > 500
    one, two = (grid.ravel() for grid in np.indices((len(words),) * 2))
    packed = pack(words)
    scores = _native.meteor_pairs(
        index, packed, packed, one.astype(np.int64), two.astype(np.int64), PARAMETERS, 2
    )
    wrong = (scores > 0) != (stems[one] == stems[two])
    assert [(words[one[k]], words[two[k]]) for k in np.flatnonzero(wrong)[:10]] == []


def test_normaliser():
    index = meteor_index()
    for text, expected in stored("meteor_normalize.json"):
        words = _native.meteor_alignment(index, text, "", PARAMETERS)[0]
        # METEOR does not take a vertical tab for white space
        assert words == [word for word in re.split("[ \t\n\r\f]", expected.lower()) if word], text
