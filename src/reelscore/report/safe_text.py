"""Captions and names as people can read them: harmless, short, of known width, in lines.

Captions come from files of all kinds. Characters that would steer a terminal, break XML or turn
the direction of writing are replaced before a caption is shown anywhere.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Sequence
from itertools import takewhile

_SEPARATORS = "._-/: "
_LEAST_PREFIX = 8  # characters; a shorter prefix is no trouble to read
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def legible(text: str) -> str:
    r"""Put a text on one line and replace characters that cannot be shown.

    >>> legible("a man\r\n runs\x1b[31m")
    'a man runs�[31m'
    """
    line = " ".join(text.split())
    if line.isascii() and line.isprintable():
        return line
    return "".join(map(_shown, line))


def _shown(character: str) -> str:
    if character in _TURNING or unicodedata.category(character) in ("Cc", "Cs", "Cn"):
        return _REPLACEMENT
    return character


def cells(text: str) -> int:
    """Count the columns a text takes in a terminal.

    >>> cells("a dog"), cells("犬"), cells("e\u0301")
    (5, 2, 1)
    """
    return sum(_cells(character) for character in text)


def _cells(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def lines_of(text: str, width: int) -> list[str]:
    """Break a text into lines of at most `width` columns, between words if possible."""
    lines = [""]
    for word in legible(text).split():
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if cells(joined) <= width:
            lines[-1] = joined
            continue
        if lines[-1]:
            lines.append("")
        for character in word:
            if lines[-1] and cells(lines[-1]) + _cells(character) > width:
                lines.append("")
            lines[-1] += character
    return lines


def shortened(text: str, width: int) -> str:
    """Cut a text that is too wide, and say so by three dots.

    >>> shortened("a man runs through the park", 12)
    'a man runs …'
    """
    text = legible(text)
    if cells(text) <= width:
        return text
    while cells(text) > width - 1:
        text = text[:-1]
    return text + "…"


def short_names(names: Sequence[str], width: int) -> list[str]:
    """Cut names that are too wide so that what tells them apart stays."""
    names = list(map(legible, names))
    if max(map(cells, names), default=0) <= width:
        return names
    if prefix := common_prefix(names):
        names = [f"…{name.removeprefix(prefix)}" for name in names]
    short = [cut_within(name, width) for name in names]
    return short if len(set(short)) == len(set(names)) else names


def cut_within(name: str, width: int) -> str:
    """Cut a name in the middle, where names of runs differ least.

    >>> cut_within("captionerofmanywords1", 12)
    'captio…ords1'
    """
    if cells(name) <= width:
        return name
    half = (width - 1) // 2
    return f"{name[: width - 1 - half]}…{name[-half:]}"


def common_prefix(names: Collection[str]) -> str:
    """Find what all names begin with, to be said once; it ends between two words of a name."""
    if len(set(names)) < 2:
        return ""
    starts = [name[:-1] for name in names]  # so that something is left of each
    same = takewhile(lambda pair: pair[0] == pair[1], zip(min(starts), max(starts), strict=False))
    shared = "".join(character for character, _ in same)
    end = max(map(shared.rfind, _SEPARATORS)) + 1
    return shared[:end] if end >= _LEAST_PREFIX else ""


def system_names(systems: Sequence[str]) -> dict[str, str]:
    """Return what a page calls each system: its name without what all names begin with.

    >>> system_names(["vtt20.en-en.RUC_AIM3", "vtt20.en-en.RUCMM"])
    {'vtt20.en-en.RUC_AIM3': 'RUC_AIM3', 'vtt20.en-en.RUCMM': 'RUCMM'}
    """
    names = {system: legible(system) for system in systems}
    prefix = common_prefix(names.values())
    return {system: name.removeprefix(prefix) for system, name in names.items()}


def shared_beginning(systems: Collection[str]) -> str:
    """Return in a sentence what `system_names` leaves out; empty where that is nothing.

    >>> shared_beginning(["vtt20.en-en.RUC_AIM3", "vtt20.en-en.RUCMM"])
    "The systems' names begin with “vtt20.en-en.”, left out here."
    """
    prefix = common_prefix([legible(system) for system in systems])
    return f"The systems' names begin with “{prefix}”, left out here." if prefix else ""


def rows_of(spans: Sequence[tuple[float, float]]) -> list[int]:
    """Return for each span the first row in which it overlaps no span before it.

    >>> rows_of([(0, 5), (3, 8), (5, 9)])
    [0, 1, 0]
    """
    rows: list[list[tuple[float, float]]] = []
    chosen = []
    for begin, end in spans:
        free = (all(e <= begin or b >= end for b, e in row) for row in rows)
        row = next((k for k, is_free in enumerate(free) if is_free), len(rows))
        if row == len(rows):
            rows.append([])
        rows[row].append((begin, end))
        chosen.append(row)
    return chosen
