"""Pieces of words as BERT reads them: the numbers that the package tokenizers gives.

That package brings 45 MB of others to download models with, none of which is needed here. This
reads the same ``tokenizer.json`` where it describes an uncased BERT; others need the package.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from reelscore.errors import MissingExtraError

_LONGEST_WORD = 100  # characters; longer words are unknown
_PREFIX = "##"  # of pieces within a word
_SPACES = re.compile("[\t\n\r\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
_IDEOGRAPHS = re.compile(
    "[\u4e00-\u9fff\u3400-\u4dbf\U00020000-\U0002a6df\U0002a700-\U0002b73f"
    "\U0002b740-\U0002b81f\U0002b920-\U0002ceaf\uf900-\ufaff\U0002f800-\U0002fa1f]"
)
_ASCII_WORDS = re.compile(r"[0-9a-z]+|[!-/:-@\[-`{-~]")
_ASCII_REMOVED = dict.fromkeys([*range(9), 0xB, 0xC, *range(0xE, 0x20), 0x7F])

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


@dataclass(frozen=True, slots=True)
class Encoding:
    """Pieces of a text, or of two.

    Attributes:
        ids: Their numbers.
        type_ids: 0 for those of the first text, 1 for those of the second.
        word_ids: The word that each is part of; none for marks.
    """

    ids: list[int]
    type_ids: list[int]
    word_ids: list[int | None]


class WordPieces:
    """Cuts texts into pieces. It has the methods of ``tokenizers.Tokenizer`` that are used here."""

    def __init__(self, description: Mapping[str, Any]) -> None:
        self._description = description
        self._numbers: dict[str, int] = description["model"]["vocab"]
        self._unknown = self._numbers[description["model"]["unk_token"]]
        self._marks = {token["content"]: token["id"] for token in description["added_tokens"]}
        self._mark = re.compile("|".join(map(re.escape, self._marks)))
        self._first, self._last = self._marks["[CLS]"], self._marks["[SEP]"]
        self._most: int | None = None
        self._cut: dict[str, list[int]] = {}

    def no_padding(self) -> None:
        """Do nothing: texts are never padded."""

    def no_truncation(self) -> None:
        """Leave texts as long as they are."""
        self._most = None

    def enable_truncation(self, max_length: int, strategy: str = "longest_first") -> None:
        """Cut texts down to so many pieces, marks among them; of two, first the longer one."""
        self._most = max_length

    def save(self, path: str, pretty: bool = False) -> None:
        """Write the description."""
        text = json.dumps(self._description, ensure_ascii=False, indent=2 if pretty else None)
        Path(path).write_text(text, encoding="utf-8")

    def encode_batch(self, texts: Sequence[str], add_special_tokens: bool = True) -> list[Encoding]:
        """Cut texts into pieces, with marks around them if they are wanted."""
        return [self._encoded(self._words(text), add_special_tokens) for text in texts]

    def encode(self, words: Sequence[str], is_pretokenized: bool = True) -> Encoding:
        """Cut a text into pieces that is given as words; all pieces of one have its number."""
        pieces, numbers = [], []
        for number, word in enumerate(words):
            own = [piece for part in self._words(word) for piece in part]
            pieces += own
            numbers += [number] * len(own)
        return self._marked(pieces, numbers)

    def post_process(self, first: Encoding, second: Encoding | None = None) -> Encoding:
        """Put marks around a text; two are put into one, with a mark between them."""
        if second is None:
            return self._marked(first.ids, [number or 0 for number in first.word_ids])
        a, b = first.ids, second.ids
        if self._most is not None:
            one, other = _lengths(len(a), len(b), self._most - 3)
            a, b = a[:one], b[:other]
        ids = [self._first, *a, self._last, *b, self._last]
        types = [0] * (len(a) + 2) + [1] * (len(b) + 1)
        words = [None, *first.word_ids[: len(a)], None, *second.word_ids[: len(b)], None]
        return Encoding(ids, types, words)

    def _encoded(self, words: Iterable[list[int]], marked: bool) -> Encoding:
        pieces, numbers = [], []
        for number, own in enumerate(words):
            pieces += own
            numbers += [number] * len(own)
        if marked:
            return self._marked(pieces, numbers)
        pieces = pieces[: self._most]
        return Encoding(pieces, [0] * len(pieces), [*numbers[: self._most]])

    def _marked(self, pieces: list[int], numbers: list[int]) -> Encoding:
        if self._most is not None:
            pieces = pieces[: self._most - 2]
        ids = [self._first, *pieces, self._last]
        return Encoding(ids, [0] * len(ids), [None, *numbers[: len(pieces)], None])

    def _words(self, text: str) -> Iterator[list[int]]:
        """Yield the pieces of each word. Marks such as [SEP] may stand in the text."""
        if "[" not in text:
            yield from map(self._pieces, _split(text))
            return
        place = 0
        for mark in self._mark.finditer(text):
            yield from map(self._pieces, _split(text[place : mark.start()]))
            yield [self._marks[mark[0]]]
            place = mark.end()
        yield from map(self._pieces, _split(text[place:]))

    def _pieces(self, word: str) -> list[int]:
        pieces = self._cut.get(word)
        if pieces is None:
            if len(self._cut) > 200_000:
                self._cut.clear()
            pieces = self._cut[word] = self._longest_pieces(word)
        return pieces

    def _longest_pieces(self, word: str) -> list[int]:
        """Take the longest piece from the front again and again; all or nothing."""
        if len(word) > _LONGEST_WORD:
            return [self._unknown]
        pieces, begin = [], 0
        while begin < len(word):
            prefix = _PREFIX if begin else ""
            for end in range(len(word), begin, -1):
                number = self._numbers.get(prefix + word[begin:end])
                if number is not None:
                    break
            else:
                return [self._unknown]
            pieces.append(number)
            begin = end
        return pieces


def open_tokenizer(path: Path) -> Any:
    """Open a ``tokenizer.json``: by `WordPieces` where it can, else by the package tokenizers."""
    description = json.loads(path.read_text(encoding="utf-8"))
    if _is_uncased_bert(description):
        return WordPieces(description)
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise MissingExtraError.of(
            f"{path}: not of an uncased BERT, which needs the package tokenizers", "tokenizers"
        ) from None
    return Tokenizer.from_file(str(path))


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
        and not any(
            token["normalized"] or token["lstrip"] or token["rstrip"] or token["single_word"]
            for token in description["added_tokens"]
        )
    )


def _split(text: str) -> list[str]:
    """Words and marks of punctuation, in lower case and without accents."""
    if text.isascii():
        return _ASCII_WORDS.findall(text.translate(_ASCII_REMOVED).lower())
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


def _lengths(first: int, second: int, most: int) -> tuple[int, int]:
    """How long two texts may be together, the longer one cut first."""
    if first + second <= most:
        return first, second
    short, long = min(first, second), max(first, second)
    long = max(short, most - short) if short <= most else short
    if short + long > most:
        short = most // 2
        long = short + most % 2
    return (long, short) if first > second else (short, long)
