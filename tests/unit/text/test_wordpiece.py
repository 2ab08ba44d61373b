"""Pieces of words, against the package tokenizers."""

from __future__ import annotations

import json
import random
import sys
import unicodedata
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from benchmarks.data import read_lines, trecvid_2020
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from reelscore import MissingExtraError, examples
from reelscore.learned.networks.token_lists import TextTokens
from reelscore.text.wordpiece import PackagePieces, WordPieces, open_tokenizer
from support.tiny_models import bert_like

MODELS = Path(__file__).parents[3] / "models"
FILES = [
    MODELS / "bertha" / "reelscore_bertha" / "tokenizer.json",
    MODELS / "parser" / "reelscore_parser" / "pieces.json",
]
ALPHABET = [
    *map(chr, [*range(32, 0x250), *range(0x300, 0x370), 9, 10, 0xFEFF]),
    *"’中😀\u200d\ufe0f\xa0\xadİΣßẞÅ①ﬁ한\u1100\u1161\u166d\u1734\u0890",
    *["[SEP]", "[CLS]", "[UNK]", "[sep]", "the", "running", "unaffable", " "] * 8,
]


def random_texts(count):
    rng = random.Random(7)
    texts = ["".join(rng.choices(ALPHABET, k=rng.randint(0, 30))) for _ in range(count)]
    return ["", " ", "a" * 100, "a" * 101, "é" * 101, "\0", *texts]


def caption_texts():
    references = json.loads((examples.path("clips") / "references.json").read_text())
    return [str(value) for value in references.values()]


@cache
def opened(file):
    ours = open_tokenizer(file)
    assert isinstance(ours, WordPieces)
    theirs = Tokenizer.from_file(str(file))
    theirs.no_padding()
    theirs.no_truncation()
    return theirs, ours


@pytest.fixture(params=FILES, ids=["bertha", "parser"])
def both(request):
    opened.cache_clear()  # tests change settings of theirs
    return opened(request.param)


def lists(pieces):
    ids, offsets = pieces
    return [own.tolist() for own in np.split(ids, offsets[1:-1])]


def content(tokens):
    return [
        tuple(part.tolist() for part in tokens.take([k])[:2]) for k in range(len(tokens.counts))
    ]


def plain(encodings):
    return [e.ids for e in encodings]


@pytest.mark.parametrize("longest", [5, 16, 64])
def test_texts(both, longest):
    texts = [*random_texts(1_500), *caption_texts()]
    theirs, ours = both
    alone = theirs.encode_batch(texts, add_special_tokens=False)
    assert lists(ours.cut(texts)) == plain(alone)
    theirs.enable_truncation(longest, strategy="longest_first")
    tokens = TextTokens(ours, longest)
    singles = tokens.singles(texts)
    assert content(singles) == [(e.ids, e.type_ids) for e in theirs.encode_batch(texts)]
    assert singles.is_cut.tolist() == [len(e.ids) > longest - 2 for e in alone]
    cut = theirs.encode_batch(texts, add_special_tokens=False)
    expected = [theirs.post_process(a, b) for a, b in pairwise(cut)]
    pairs = tokens.pairs(texts[:-1], texts[1:])
    assert content(pairs) == [(e.ids, e.type_ids) for e in expected]
    assert pairs.lengths.tolist() == [len(e.ids) for e in expected]
    assert pairs.is_cut.tolist() == [
        len(a.ids) + len(b.ids) > longest - 3 for a, b in pairwise(alone)
    ]


def test_pieces_of_the_package(both):
    """Its tokenizers cut texts and set marks as ours do, seen through the same two calls."""
    texts = random_texts(300)
    wrapped, ours = PackagePieces(both[0]), both[1]
    assert (wrapped.single, wrapped.pair) == (ours.single, ours.pair)
    assert lists(wrapped.cut(texts)) == lists(ours.cut(texts))


def test_marks_of_another_kind(tmp_path):
    pytest.importorskip("torch", reason="the model is made by torch")
    bert_like(tmp_path, "roberta")
    theirs = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    texts = ["a man", "", "two dogs bark"]
    tokens = TextTokens(open_tokenizer(tmp_path / "tokenizer.json"), 12)
    theirs.enable_truncation(12)
    assert content(tokens.singles(texts)) == [
        (e.ids, e.type_ids) for e in theirs.encode_batch(texts)
    ]
    both = [(e.ids, e.type_ids) for e in theirs.encode_batch(list(pairwise(texts)))]
    assert content(tokens.pairs(texts[:-1], texts[1:])) == both


def test_threads_change_nothing(both):
    texts = random_texts(2_000)
    alone, together = (both[1].cut(texts, threads) for threads in (1, 3))
    assert all(map(np.array_equal, alone, together))


@given(st.lists(st.text(st.characters(max_codepoint=0x24F), max_size=40), min_size=1, max_size=6))
def test_any_latin_texts(texts):
    theirs, ours = opened(FILES[0])
    assert lists(ours.cut(texts)) == plain(theirs.encode_batch(texts, add_special_tokens=False))


@pytest.mark.shared
def test_captions_of_trecvid(shared, both):
    texts = [text for path in trecvid_2020()[1] for text in read_lines(path)]
    theirs, ours = both
    assert lists(ours.cut(texts, 2)) == plain(theirs.encode_batch(texts, add_special_tokens=False))


@pytest.mark.full
def test_many_texts(both):
    texts = random_texts(60_000)
    theirs, ours = both
    assert lists(ours.cut(texts)) == plain(theirs.encode_batch(texts, add_special_tokens=False))


def test_kinds_of_characters(both):
    """Every character that Unicode 14 calls a mark, a sign, punctuation, a control or a space."""
    codes = [
        code
        for code in range(0x1F000)
        if unicodedata.category(chr(code)) not in ("Cn", "Lo", "Co", "Cs", "So", "Sm", "Ll", "Lu")
    ]
    theirs, ours = both
    texts = [f"ab{chr(code)}cd" for code in codes]
    expected = plain(theirs.encode_batch(texts, add_special_tokens=False))
    mine = lists(ours.cut(texts))
    assert [
        hex(code)
        for code, a, b in zip(codes, expected, mine, strict=True)
        if a != b and unicodedata.unidata_version <= "14"
    ] == []


def test_what_is_written_is_read_again(both, tmp_path):
    theirs, ours = both
    ours.save(str(tmp_path / "tokenizer.json"))
    again = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert again.encode("a man's dog").ids == theirs.encode("a man's dog").ids


def test_other_tokenizers_need_the_package(tmp_path, monkeypatch):
    description = json.loads(FILES[0].read_text(encoding="utf-8"))
    description["normalizer"]["lowercase"] = False
    file = tmp_path / "tokenizer.json"
    file.write_text(json.dumps(description), encoding="utf-8")
    assert isinstance(open_tokenizer(file), PackagePieces)
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(MissingExtraError, match="pip install tokenizers"):
        open_tokenizer(file)
