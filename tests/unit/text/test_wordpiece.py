"""Pieces of words, against the package tokenizers."""

from __future__ import annotations

import json
import random
import sys
import unicodedata
from pathlib import Path

import pytest
from tokenizers import Tokenizer

from reelscore import MissingExtraError, examples
from reelscore.text.wordpiece import WordPieces, open_tokenizer

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


@pytest.fixture(params=FILES, ids=["bertha", "parser"])
def both(request):
    ours = open_tokenizer(request.param)
    assert isinstance(ours, WordPieces)
    return Tokenizer.from_file(str(request.param)), ours


def content(encodings):
    return [(e.ids, e.type_ids, e.word_ids) for e in encodings]


@pytest.mark.parametrize("longest", [None, 5, 16, 64])
def test_texts(both, longest):
    texts = [*random_texts(1_500), *caption_texts()]
    for tokenizer in both:
        tokenizer.no_padding()
        if longest:
            tokenizer.enable_truncation(longest, strategy="longest_first")
    theirs, ours = both
    assert content(ours.encode_batch(texts)) == content(theirs.encode_batch(texts))
    alone = [tokenizer.encode_batch(texts, add_special_tokens=False) for tokenizer in both]
    assert content(alone[1]) == content(alone[0])
    shifted = [
        [tokenizer.post_process(a, b) for a, b in zip(own, own[3:], strict=False)]
        for tokenizer, own in zip(both, alone, strict=True)
    ]
    assert content(shifted[1]) == content(shifted[0])


def test_words(both):
    theirs, ours = both
    for text in random_texts(1_000):
        words = text.split()
        mine, expected = ours.encode(words), theirs.encode(words, is_pretokenized=True)
        assert (mine.ids, mine.word_ids) == (expected.ids, expected.word_ids)


@pytest.mark.full
def test_many_texts(both):
    texts = random_texts(60_000)
    theirs, ours = both
    assert content(ours.encode_batch(texts)) == content(theirs.encode_batch(texts))


def test_kinds_of_characters(both):
    """Every character that Unicode 14 calls a mark, a sign, punctuation, a control or a space."""
    codes = [
        code
        for code in range(0x1F000)
        if unicodedata.category(chr(code)) not in ("Cn", "Lo", "Co", "Cs", "So", "Sm", "Ll", "Lu")
    ]
    theirs, ours = both
    texts = [f"ab{chr(code)}cd" for code in codes]
    expected, mine = theirs.encode_batch(texts), ours.encode_batch(texts)
    assert [
        hex(code)
        for code, a, b in zip(codes, expected, mine, strict=True)
        if a.ids != b.ids and unicodedata.unidata_version <= "14"
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
    assert isinstance(open_tokenizer(file), Tokenizer)
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(MissingExtraError, match="pip install tokenizers"):
        open_tokenizer(file)
