"""On which lines of a JSON file its entries begin, for messages about what people send."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from reelscore.data.json_documents import section_for

_LARGEST = 16 << 20  # bytes; in larger files entries are named by their number alone
_STORIES = ("results", "database")  # sections that hold them
_BETWEEN = re.compile(r"[\s,:]*")
_RECORDS = re.compile(r"\{|\[\s*\{")  # a value that may be a section: others are captions
_PLACE = r""": (?:(?:entry|record) (?P<number>\d+)|video (?P<video>'[^']*'|"[^"]*"))"""


def with_lines(messages: Sequence[str], name: str, content: bytes) -> list[str]:
    r"""Put the line where messages name an entry of a file by its number, or a video by its id.

    A file that is one line, or that cannot be followed, is named as before.

    Args:
        messages: The messages.
        name: The file as they name it.
        content: What is in the file.

    >>> with_lines(["a.json: entry 2: it is empty."], "a.json", b'{"v1": "a",\n "v2": ""}')
    ['a.json:2: it is empty.']
    """
    pattern = re.compile(re.escape(name) + _PLACE)
    if not any(map(pattern.search, messages)):
        return list(messages)
    lines = _entry_lines(content)

    def place(match: re.Match[str]) -> str:
        number, video = match["number"], match["video"]
        line = lines.get(int(number) if number else video)
        if line is None:
            return match[0]
        return f"{name}:{line}" if number else f"{name}:{line}: video {video}"

    return [pattern.sub(place, message) for message in messages]


def _entry_lines(content: bytes) -> dict[int | str, int]:
    """Return the lines of entries by their numbers, and by their keys as messages write them."""
    if len(content) > _LARGEST or b"\n" not in content.strip():
        return {}
    try:
        text = content.decode("utf-8-sig")
        at = _section(text, _after(text, 0))
        lines: dict[int | str, int] = {}
        line, before = 1, 0
        for number, (key, start, _) in enumerate(_entries(text, at), start=1):
            line, before = line + text.count("\n", before, start), start
            lines[number] = line
            lines.setdefault(repr(key), line)
    except (ValueError, IndexError, RecursionError):
        return {}  # no JSON, or not all of it
    return lines


def _section(text: str, at: int) -> int:
    """Return where the list or object of captions begins: the whole, or a section of it."""
    if text[at] == "[":
        return at
    values = {key: value for key, _, value in _entries(text, at) if _RECORDS.match(text, value)}
    names = [name for name in (section_for("candidates", values), *_STORIES) if name in values]
    return values[names[0]] if names else at


def _entries(text: str, at: int) -> Iterator[tuple[str, int, int]]:
    """Yield the key, the beginning and the beginning of the value of each entry at a place."""
    decode = json.JSONDecoder().raw_decode
    is_list = text[at] == "["
    at = _after(text, at + 1)
    while text[at] not in "]}":
        start, key = at, ""
        if not is_list:
            key, end = decode(text, at)
            at = _after(text, end)
        yield key, start, at
        at = _after(text, decode(text, at)[1])


def _after(text: str, at: int) -> int:
    """Skip what stands between the parts of a document."""
    match = _BETWEEN.match(text, at)
    return match.end() if match else at
