"""Tokenizers: the Penn Treebank step of the COCO tools, without Java.

``ptb`` tokenizes each caption on its own. ``ptb-coco`` repeats what the COCO tools do to the last
token: they hand all captions to the Stanford tokenizer in one file, and its look-ahead crosses
from one caption to the next, so that "plan B." keeps its dot or loses it depending on the caption
that follows. Both lower-case, and drop the punctuation tokens the COCO tools drop. ``none`` takes
the text as it is: captions that were tokenized before.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal, get_args

from reelscore import _native
from reelscore.errors import check_choice
from reelscore.text.packed import Packed, pack

Tokenizer = Literal["ptb", "ptb-coco", "none"]


def thread_count(threads: int | None) -> int:
    """Resolve a thread count: ``None`` means all cores this process may use.

    >>> thread_count(3)
    3
    """
    if threads is not None:
        return max(1, threads)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def tokenize(
    captions: Sequence[str],
    tokenizer: Tokenizer = "ptb",
    *,
    keep_punctuation: bool = False,
    threads: int | None = None,
) -> list[str]:
    """Tokenize captions; each comes back as its tokens joined by blanks.

    Args:
        captions: The captions; with ``ptb-coco`` their order matters.
        tokenizer: ``ptb``, ``ptb-coco`` or ``none``.
        keep_punctuation: Keep the tokens the COCO tools drop, such as ``.`` and ``,``.
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
    check_choice("tokenizer", tokenizer, get_args(Tokenizer))
    if tokenizer == "none":
        return captions
    return Packed(
        *_native.ptb_tokenize(
            captions.data,
            captions.offsets,
            tokenizer == "ptb-coco",
            keep_punctuation,
            thread_count(threads),
        )
    )
