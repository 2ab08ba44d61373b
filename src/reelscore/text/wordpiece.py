"""Pieces of words as BERT reads them: the numbers that the package tokenizers gives.

That package brings 45 MB of others to download models with, none of which is needed here. This
reads the same ``tokenizer.json`` where it describes an uncased BERT; others need the package.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reelscore import _native
from reelscore._packages import need

Pieces: TypeAlias = tuple[NDArray[np.uint32], NDArray[np.int64]]

_LONGEST_WORD = 100  # characters; longer words are unknown
_PREFIX = "##"  # of pieces within a word
_SPACES = re.compile("[\t\n\r\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
_IDEOGRAPHS = re.compile(
    "[\u4e00-\u9fff\u3400-\u4dbf\U00020000-\U0002a6df\U0002a700-\U0002b73f"
    "\U0002b740-\U0002b81f\U0002b920-\U0002ceaf\uf900-\ufaff\U0002f800-\U0002fa1f]"
)

# What the package does not know as marks and punctuation, since they came to Unicode later.
_LATER_RANGES = """
61d 7fd 890-891 898-89f 8ca-8e2 9fd-9fe a76 afa-aff b55 c04 c3c c77 c84 d00 d3b-d3c d81 eba 180f
1885-1886 1abf-1ace 1b7d-1b7e 1df6-1dfb 2e43-2e4f 2e52-2e5d a82c a8c5 a8ff a9bd 10d24-10d27
10eab-10ead 10f46-10f50 10f55-10f59 10f82-10f89 11070 11073-11074 110c2 110cd 111c9 111cf 1123e
1133b 11438-1143f 11442-11444 11446 1144b-1144f 1145a-1145b 1145d-1145e 11660-1166c 116b9
1182f-11837 11839-1183b 1193b-1193c 1193e 11943-11946 119d4-119d7 119da-119db 119e0 119e2
11a01-11a0a 11a33-11a38 11a3b-11a47 11a51-11a56 11a59-11a5b 11a8a-11a96 11a98-11a9c 11a9e-11aa2
11c30-11c36 11c38-11c3d 11c3f 11c41-11c45 11c70-11c71 11c92-11ca7 11caa-11cb0 11cb2-11cb3
11cb5-11cb6 11d31-11d36 11d3a 11d3c-11d3d 11d3f-11d45 11d47 11d90-11d91 11d95 11d97 11ef3-11ef4
11ef7-11ef8 11fff 12ff1-12ff2 13430-13438 16e97-16e9a 16f4f 16fe2 16fe4 1cf00-1cf2d 1cf30-1cf46
1e000-1e006 1e008-1e018 1e01b-1e021 1e023-1e024 1e026-1e02a 1e130-1e136 1e2ae 1e2ec-1e2ef
1e944-1e94a 1e95e-1e95f
"""
_LATER = frozenset(
    chr(code)
    for part in _LATER_RANGES.split()
    for first, _, last in [part.partition("-")]
    for code in range(int(first, 16), int(last or first, 16) + 1)
)
_EARLIER = {"\u166d": "Po", "\u1734": "Mn"}  # which have another category today


class Frame(NamedTuple):
    """Marks around the texts that an encoder reads together."""

    marks: tuple[list[int], ...]  # those before each text, and after the last
    types: tuple[int, ...]  # the type of the tokens of each part: marks, text, marks, and so on


class WordPieces:
    """Cuts texts into pieces as an uncased BERT reads them.

    Attributes:
        single: The marks around a text.
        pair: The marks around two.
    """

    def __init__(self, description: Mapping[str, Any]) -> None:
        self._description = description
        numbers: dict[str, int] = description["model"]["vocab"]
        marks = {token["content"]: token["id"] for token in description["added_tokens"]}
        self._mark = re.compile(f"({'|'.join(map(re.escape, marks))})")
        self._pieces = _native.WordPieces(
            *_numbered(numbers), numbers[description["model"]["unk_token"]], *_numbered(marks)
        )
        first, last = [marks["[CLS]"]], [marks["[SEP]"]]
        self.single = Frame((first, last), (0, 0, 0))
        self.pair = Frame((first, last, last), (0, 0, 0, 1, 1))

    def save(self, path: str) -> None:
        """Write the description."""
        Path(path).write_text(json.dumps(self._description, ensure_ascii=False), encoding="utf-8")

    def cut(self, texts: Sequence[str], threads: int = 1) -> Pieces:
        """Cut texts into pieces, without marks around them; marks such as [SEP] may stand in one.

        Returns:
            The numbers of all pieces, and where those of each text begin, with the end of the last.
        """
        plain = [text if text.isascii() else self._plain(text) for text in texts]
        pieces = self._pieces.cut(_native.pack(plain), threads)
        return pieces.ids, pieces.offsets

    def _plain(self, text: str) -> str:
        """Return a text's words and marks, which need only be divided at blanks."""
        parts = self._mark.split(text)
        words = (part if k % 2 else " ".join(_split(part)) for k, part in enumerate(parts))
        return " ".join(words)


class PackagePieces:
    """Cuts texts into pieces by the package tokenizers, for any other encoder.

    Attributes:
        single: The marks around a text.
        pair: The marks around two.
    """

    def __init__(self, tokenizer: Any) -> None:
        tokenizer.no_padding()
        tokenizer.no_truncation()
        self._tokenizer = tokenizer
        text = tokenizer.encode("a", add_special_tokens=False)
        if not text.ids:
            raise ValueError("the tokenizer has no tokens for the letter a")
        self.single, self.pair = (
            _frame(tokenizer.post_process(*texts), len(texts)) for texts in ([text], [text, text])
        )

    def save(self, path: str) -> None:
        """Write the tokenizer."""
        self._tokenizer.save(path, pretty=False)

    def cut(self, texts: Sequence[str], threads: int = 1) -> Pieces:
        """Cut texts into pieces, as `WordPieces.cut` does."""
        ids = [e.ids for e in self._tokenizer.encode_batch(list(texts), add_special_tokens=False)]
        offsets = np.cumsum([0, *map(len, ids)], dtype=np.int64)
        return np.fromiter(chain.from_iterable(ids), np.uint32, count=int(offsets[-1])), offsets


def _numbered(numbers: Mapping[str, int]) -> tuple[_native.Packed, NDArray[np.uint32]]:
    return _native.pack(list(numbers)), np.array([*numbers.values()], np.uint32)


def _frame(encoding: Any, texts: int) -> Frame:
    """Read the marks off texts that have some around them."""
    own = [place for place, is_mark in enumerate(encoding.special_tokens_mask) if not is_mark]
    size, ends = len(own) // texts, [0]
    for begin in range(0, len(own), size):
        ends += [own[begin], own[begin + size - 1] + 1]
    parts = list(pairwise([*ends, len(encoding.ids)]))
    marks = tuple(encoding.ids[begin:end] for begin, end in parts[::2])
    return Frame(marks, tuple(max(encoding.type_ids[begin:end], default=0) for begin, end in parts))


def open_tokenizer(path: Path) -> WordPieces | PackagePieces:
    """Open a ``tokenizer.json``: by `WordPieces` where it can, else by the package tokenizers."""
    description = json.loads(path.read_text(encoding="utf-8"))
    if _is_uncased_bert(description):
        return WordPieces(description)
    who = f"{path}: not of an uncased BERT, which needs the package"
    return PackagePieces(need("tokenizers", "tokenizers", who).Tokenizer.from_file(str(path)))


def _is_uncased_bert(description: Mapping[str, Any]) -> bool:
    normalizer, model = description.get("normalizer") or {}, description["model"]
    processor = description.get("post_processor") or {}
    plain = {"clean_text": True, "handle_chinese_chars": True, "lowercase": True}
    return (
        normalizer.get("type") == "BertNormalizer"
        and plain.items() <= normalizer.items()
        and normalizer.get("strip_accents") in (None, True)
        and (description.get("pre_tokenizer") or {}).get("type") == "BertPreTokenizer"
        and model.get("type") == "WordPiece"
        and model.get("continuing_subword_prefix") == _PREFIX
        and model.get("max_input_chars_per_word") == _LONGEST_WORD
        and processor.get("type") in ("TemplateProcessing", "BertProcessing")
        and {"[CLS]", "[SEP]"} <= {token["content"] for token in description["added_tokens"]}
        and all(token["content"].startswith("[") for token in description["added_tokens"])
        and not any(
            token["normalized"] or token["lstrip"] or token["rstrip"] or token["single_word"]
            for token in description["added_tokens"]
        )
    )


def _split(text: str) -> list[str]:
    """Words and marks of punctuation, in lower case and without accents."""
    text = "".join(" " if _SPACES.fullmatch(c) else c for c in text if not _is_removed(c))
    text = _IDEOGRAPHS.sub(r" \g<0> ", text)
    decomposed = unicodedata.normalize("NFD", text)
    words: list[str] = []
    word: list[str] = []
    for character in decomposed:
        if _category(character) == "Mn":
            continue
        for lower in character.lower():
            space = _SPACES.fullmatch(lower)
            alone = _is_punctuation(lower)
            if (space or alone) and word:
                words.append("".join(word))
                word = []
            if alone:
                words.append(lower)
            elif not space:
                word.append(lower)
    if word:
        words.append("".join(word))
    return words


def _is_removed(character: str) -> bool:
    if character in "\t\n\r":
        return False
    return character == "\ufffd" or _category(character) in ("Cc", "Cf", "Co", "Cs")


def _is_punctuation(character: str) -> bool:
    if character.isascii():
        return bool(re.fullmatch(r"[!-/:-@\[-`{-~]", character))
    return _category(character).startswith("P")


@lru_cache(maxsize=10_000)
def _category(character: str) -> str:
    if character in _LATER:
        return "Lo"
    return _EARLIER.get(character) or unicodedata.category(character)
