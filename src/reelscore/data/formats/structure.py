"""Text that is not a caption a line: tables, records, subtitles, markup.

Read as plain lines, a table without a header would be scored with ids and commas in its captions.
So what looks as if it had columns or records is refused. Ordinary captions hold commas, colons and
numbers: ids are a column only if nearly all lines begin with one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from reelscore.data.json_documents import json_kind
from reelscore.data.reading import CAPTION_FIELDS, USUAL, missing_item_field, unnumbered
from reelscore.data.source import HEAD_SIZE

_NEARLY_ALL = 0.9
_SEVERAL = 3  # fewer lines may begin alike by chance
_MANY = 20
_ENOUGH = 1000  # lines to judge a file by

_ID = re.compile(r'"?([^\s",;|:]+)"?\s*')
_RECORD = re.compile(r"""\{.*:.*\},?|[\[(]\s*['"].*['"]\s*[\])],?|"[^"]*"(,"[^"]*")+""")
_RECORD_BEGINS = ("{", "[", "(", '"')
_TIMES = re.compile(r"[\d:.,]+ --> [\d:.,]+")


class Structure(NamedTuple):
    """What a file is instead of plain lines, and what to do about it."""

    kind: str
    remedy: str


def structure_of(head: bytes) -> Structure | None:
    r"""Find the structure in the beginning of a text that no format takes; None if it has none."""
    if _is_binary(head):
        return Structure("binary", "Give a text")
    if json_kind(head):
        return Structure("JSON without captions", "Write records with an id and a caption")
    if len(head) == HEAD_SIZE and b"\n" not in head:
        return Structure(f"one line of more than {HEAD_SIZE:,} bytes", "Give each caption a line")
    lines = _first_lines(head)
    return _header(lines) or _records(lines) or _columns(lines)


def _is_binary(head: bytes) -> bool:
    # One of the two is an error in a text, reported with its line; both mean that it is not text.
    if b"\0" not in head:
        return False
    try:
        head[:-3].decode()  # the last character may be cut
    except UnicodeDecodeError:
        return True
    return False


def _first_lines(head: bytes) -> list[str]:
    """Lines that are not blank; the last line of a head may be cut, which does no harm."""
    lines = head.decode("utf-8", "replace").split("\n")
    return [line.rstrip("\r") for line in lines[:_ENOUGH] if line.strip()]


def _header(lines: list[str]) -> Structure | None:
    """Find a header row that names columns, but not those that a table needs."""
    first = lines[0] if lines else ""
    if len(lines) > 1 and first.strip().lower() in CAPTION_FIELDS:
        return Structure(f"a table with the only column {first.strip()!r}", "Remove that line")
    for delimiter in ",;\t|":
        names = [cell.strip(' "').lower() for cell in first.split(delimiter)]
        if len(names) == 1:
            continue
        item = USUAL.item_field(names)
        captions = USUAL.has_captions([*names, *map(unnumbered, names)])
        if item and not captions:
            kind = f"a table whose header has no column of captions ({', '.join(names)})"
            return Structure(kind, 'Name that column: caption_field="NAME"')
        if captions and not item and not any(" " in name for name in names):
            kind = f"a table whose header names {missing_item_field()} ({', '.join(names)})"
            remedy = 'Name the column of the ids: id_field="NAME"; without one, keep a column'
            return Structure(kind, f"{remedy} of candidates and those of references alone")
    return None


def _records(lines: list[str]) -> Structure | None:
    if any(" --> " in line and _TIMES.match(line) for line in lines):
        return Structure("subtitles with times", "Give the captions without times")
    if _nearly_all(lines, lambda line: line.startswith("<") and line.endswith(">")):
        return Structure("markup", "Give the captions without it")
    if _nearly_all(lines, _is_record):
        return Structure("records, but not JSON", "Write JSON, or a table with a header")
    return None


def _is_record(line: str) -> bool:
    line = line.strip()
    return line.startswith(_RECORD_BEGINS) and _RECORD.fullmatch(line) is not None


def _columns(lines: list[str]) -> Structure | None:
    remedy = """Add a header row such as 'id,caption', or name the columns: header="id,caption\""""
    if _nearly_all(lines, lambda line: "\t" in line):
        return Structure("a table without a header (tabs in its lines)", remedy)
    for delimiter in ",;|: ":
        if not _are_nearly_all([line for line in lines if delimiter in line], lines):
            continue
        ids = [match[1] for line in lines if (match := _id_before(delimiter, line))]
        if _are_ids(ids, delimiter, lines):
            begin = f"{ids[0]}{delimiter}"
            return Structure(f"a table without a header (its lines begin like {begin!r})", remedy)
    return None


def _id_before(delimiter: str, line: str) -> re.Match[str] | None:
    return _ID.fullmatch(line.partition(delimiter)[0]) if delimiter in line.lstrip() else None


def _are_ids(words: list[str], delimiter: str, lines: list[str]) -> bool:
    """Return whether the first words of lines are ids, and no part of captions."""
    with_digits = [word for word in words if any(map(str.isdigit, word))]
    if delimiter in ",;|" and _are_nearly_all(with_digits, lines):
        return True
    if len(lines) < _SEVERAL:
        return False
    if delimiter == " ":  # captions may begin with a number: "2 men", "3 dogs"
        counts = all(map(str.isdecimal, with_digits))
        in_order = counts and with_digits == sorted(with_digits, key=int)
        return _are_nearly_all(with_digits, lines) and (
            not counts or in_order or len(lines) >= _MANY
        )
    # words, as in "clipA,a man": only where no two lines begin with the same
    return _are_nearly_all(words, lines) and len({*words}) == len(words)


def _nearly_all(lines: list[str], is_such: Callable[[str], bool]) -> bool:
    return _are_nearly_all([line for line in lines if is_such(line)], lines)


def _are_nearly_all(some: list[str], lines: list[str]) -> bool:
    return len(some) > 0 and len(some) >= _NEARLY_ALL * len(lines)
