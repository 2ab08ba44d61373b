"""Tokenizers: the Penn Treebank step of the COCO tools, without Java.

``ptb`` tokenizes each caption on its own. ``ptb-coco`` repeats what the COCO tools do to the last
token: they hand all captions to the Stanford tokenizer in one file, and its look-ahead crosses
from one caption to the next, so that "plan B." keeps its dot or loses it depending on the caption
that follows. Both lower-case, and drop the punctuation tokens the COCO tools drop. ``none`` takes
the text as it is: captions that were tokenized before. Tokenizers of other languages are in
`reelscore.text.segmenters`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeAlias

from reelscore import _native
from reelscore.errors import DataError, UnknownNameError, check_choice
from reelscore.text.segmenters import DIVIDING, FLORES, SEGMENTERS, maker_of, segment
from reelscore.text.words import Packed, pack

Tokenizer: TypeAlias = str
"""One of `TOKENIZERS`; of ``flores200`` followed by a colon and the path of its model."""

PENN_TREEBANK = ("ptb", "ptb-coco", "none")
TOKENIZERS = (*PENN_TREEBANK, *SEGMENTERS)


def check_tokenizer(name: str) -> None:
    """Refuse a tokenizer that does not exist.

    >>> check_tokenizer("zh")
    """
    head, colon, _ = str(name).partition(":")
    check_choice("tokenizer", head if colon and head == FLORES else name, TOKENIZERS)


def in_signature(tokenizer: Tokenizer) -> str:
    """Spell a tokenizer for a signature: with the package that divides the words, and its version.

    >>> in_signature("ptb"), in_signature("char")
    ('ptb', 'char')
    """
    maker = "" if tokenizer in PENN_TREEBANK else maker_of(tokenizer)
    return f"{tokenizer}@{maker}" if maker else tokenizer


def tokenizer_of(spelling: str) -> Tokenizer:
    """The tokenizer that a signature names; ``ptb`` where it names none that is known.

    >>> tokenizer_of("zh@sacrebleu-2.4.0"), tokenizer_of("raw")
    ('zh', 'ptb')
    """
    name = spelling.rpartition("@")[0] or spelling
    try:
        check_tokenizer(name)
    except UnknownNameError:
        return "ptb"
    return name


def divides_words(tokenizer: Tokenizer) -> bool:
    """Return whether a tokenizer finds words in languages that put no blanks between them.

    >>> divides_words("zh"), divides_words("13a")
    (True, False)
    """
    return tokenizer.partition(":")[0] in DIVIDING


def model_of(tokenizer: Tokenizer) -> str | None:
    """The file that a tokenizer reads; ``None`` for most.

    >>> model_of("flores200:models/spm.model")
    'models/spm.model'
    """
    return tokenizer.partition(":")[2] or None


def thread_count(threads: int | None) -> int:
    """Resolve a thread count: ``None`` means all cores this process may use.

    >>> thread_count(3)
    3
    """
    if threads is not None:
        if not isinstance(threads, int) or threads < 1:
            raise DataError(f"threads={threads!r}: expected a whole number from 1 on, or None.")
        return threads
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def tokenize(
    captions: Iterable[str],
    tokenizer: Tokenizer = "ptb",
    *,
    keep_punctuation: bool = False,
    threads: int | None = None,
) -> list[str]:
    """Tokenize captions; each comes back as its tokens joined by blanks.

    Args:
        captions: The captions: a list, an array, a series or a generator; with ``ptb-coco`` their
            order matters.
        tokenizer: ``ptb``, ``ptb-coco``, ``none``, or one of `reelscore.text.segmenters`.
        keep_punctuation: Keep the tokens the COCO tools drop, such as ``.`` and ``,``. All
            tokenizers but the first two keep them.
        threads: How many threads to use; ``None`` for all cores.

    Returns:
        One string per caption.

    >>> tokenize(["The dog can't swim.", "A man (left) waves!"])
    ["the dog ca n't swim", 'a man -lrb- left -rrb- waves']
    >>> tokenize(["The dog can't swim."], keep_punctuation=True)
    ["the dog ca n't swim ."]
    """
    packed = tokenize_packed(
        pack(captions), tokenizer, keep_punctuation=keep_punctuation, threads=threads
    )
    return packed.unpack()


def tokenize_packed(
    captions: Packed,
    tokenizer: Tokenizer = "ptb",
    *,
    keep_punctuation: bool = False,
    threads: int | None = None,
) -> Packed:
    """Tokenize packed captions; see `tokenize`.

    >>> tokenize_packed(pack(["Two dogs."])).unpack()
    ['two dogs']
    """
    check_tokenizer(tokenizer)
    if tokenizer == "none":
        return captions
    if tokenizer not in PENN_TREEBANK:
        return pack(segment(captions.unpack(), tokenizer))
    return _native.ptb_tokenize(
        captions, tokenizer == "ptb-coco", keep_punctuation, thread_count(threads)
    )
