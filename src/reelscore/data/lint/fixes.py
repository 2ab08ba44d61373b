"""Fixes that change no word, each reported, and the new file that holds them."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import NamedTuple

from reelscore.data.lint.defects import decoded_again
from reelscore.data.lint.findings import CheckedCaptions
from reelscore.data.lint.patterns import CONTROL, MARKER
from reelscore.errors import DataError

_ENDINGS = (".json", ".jsonl", ".csv", ".tsv", ".txt")
_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.IGNORECASE | re.DOTALL)
_MARKER = re.compile(MARKER, re.IGNORECASE)
_CONTROL = re.compile(CONTROL)


class Fix(NamedTuple):
    """A caption before and after its fixes, and the checks that asked for them."""

    item: str
    checks: tuple[str, ...]
    before: str
    after: str


# In this order: an entity may stand for a blank, and a marker leaves blanks behind.
_FIXES: list[tuple[str, Callable[[str], str]]] = [
    ("mojibake", decoded_again),
    ("html", html.unescape),
    ("control", lambda text: _CONTROL.sub("", text)),
    ("markers", lambda text: _MARKER.sub(" ", _THOUGHT.sub(" ", text))),
    ("spaces", lambda text: " ".join(text.split())),
]


def fixed(captions: CheckedCaptions) -> tuple[list[str], list[Fix]]:
    """Fix what can be fixed without changing a word.

    Markers that stand for a word, such as ``<unk>``, stay: without them the caption would seem
    better than it is.
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


def captions_text(captions: CheckedCaptions, texts: Sequence[str], path: str) -> str:
    r"""Write captions under the ids they have.

    >>> captions_text(CheckedCaptions(["v1"], ["a  man"]), ["a man"], "new.csv")
    'id,caption\nv1,a man\n'
    """
    ending = PurePath(path).suffix
    if ending not in _ENDINGS:
        raise DataError(f"{path}: expected a file that ends in {', '.join(_ENDINGS)}.")
    if captions.timed:
        raise DataError(f"{captions.name}: timed captions cannot be fixed; fix the file itself.")
    if captions.unusable.count or (
        len(set(captions.items)) < len(captions.items) and not captions.several_each
    ):
        raise DataError(
            f"{captions.name}: has records that cannot be used, or ids that are repeated; a fixed "
            "file would hide that. Correct them first."
        )
    if ending == ".txt":
        return _lines(captions, texts)
    pairs = list(zip(captions.items, texts, strict=True))
    if ending == ".json":
        return json.dumps(_by_item(pairs, captions.several_each), ensure_ascii=False, indent=1)
    if ending == ".jsonl":
        records = ({"id": item, "caption": text} for item, text in pairs)
        return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    stream = io.StringIO()
    table = csv.writer(stream, delimiter="," if ending == ".csv" else "\t", lineterminator="\n")
    table.writerows([("id", "caption"), *pairs])
    return stream.getvalue()


def _by_item(pairs: list[tuple[str, str]], several_each: bool) -> dict[str, object]:
    if not several_each:
        return dict(pairs)
    lists: dict[str, list[str]] = {}
    for item, text in pairs:
        lists.setdefault(item, []).append(text)
    return dict(lists)


def _lines(captions: CheckedCaptions, texts: Sequence[str]) -> str:
    if list(captions.items) != [str(number) for number in range(1, len(texts) + 1)]:
        raise DataError(
            f"{captions.name}: plain lines have no ids, but the items are {captions.items[0]!r} "
            "and so on; write .json or .csv."
        )
    return "".join(f"{text}\n" for text in texts)
