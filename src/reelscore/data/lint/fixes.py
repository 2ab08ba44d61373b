"""Fixes that change no word: they are made in a new file, and each is reported."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import NamedTuple

from reelscore.data.lint.defects import decoded_again
from reelscore.data.lint.findings import Captions
from reelscore.data.lint.patterns import CONTROL, MARKER

_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.IGNORECASE | re.DOTALL)
_MARKER = re.compile(MARKER, re.IGNORECASE)
_CONTROL = re.compile(CONTROL)


class Fix(NamedTuple):
    """A caption before and after its fixes, and the checks that asked for them."""

    item: str
    checks: tuple[str, ...]
    before: str
    after: str


def _without_markers(text: str) -> str:
    return _MARKER.sub(" ", _THOUGHT.sub(" ", text))


def _spaced(text: str) -> str:
    return " ".join(text.split())


# In this order: an entity may stand for a blank, and a marker leaves blanks behind.
_FIXES: list[tuple[str, Callable[[str], str]]] = [
    ("mojibake", decoded_again),
    ("html", html.unescape),
    ("control", lambda text: _CONTROL.sub("", text)),
    ("markers", _without_markers),
    ("spaces", _spaced),
]


def fixed(captions: Captions) -> tuple[list[str], list[Fix]]:
    """Fix what can be fixed without changing a word.

    Markers that stand for a word, such as ``<unk>``, stay: without them the caption would seem
    better than it is.

    Args:
        captions: The captions.

    Returns:
        All captions in their order, and what was changed.

    >>> texts, fixes = fixed(Captions(["v1", "v2"], ["a  cafÃ© &amp; a <unk><eos>", "a man"]))
    >>> texts
    ['a café & a <unk>', 'a man']
    >>> fixes[0].checks
    ('mojibake', 'html', 'markers', 'spaces')
    """
    texts, fixes = [], []
    for item, before in zip(captions.items, captions.texts, strict=True):
        after, checks = _fixed_text(before)
        texts.append(after)
        if checks:
            fixes.append(Fix(item, checks, before, after))
    return texts, fixes


def _fixed_text(text: str) -> tuple[str, tuple[str, ...]]:
    checks = []
    for check, fix in _FIXES:
        after = fix(text)
        if after != text:
            checks.append(check)
            text = after
    return text, tuple(checks)
