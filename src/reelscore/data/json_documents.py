"""JSON, twice: msgspec for the good files, the standard library to say what is wrong with others.

msgspec is fast and lean, but it stops at the first fault, does not always say where, and keeps
the last of two equal keys. The standard library's decoder is the judge in every doubtful case.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from reelscore.data.checks import Problems, in_words
from reelscore.data.fields import (
    Role,
    caption_fields,
    has_captions,
    item_field,
    missing_caption_field,
    missing_item_field,
    several_caption_fields,
)
from reelscore.data.source import decode_line
from reelscore.errors import DataError

# What msgspec raises on a document that the standard library shall judge.
DOUBTFUL = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

Record = tuple[int, object, object]


class Annotations(msgspec.Struct):
    """The one section of a COCO file that counts; its records are still undecoded."""

    annotations: list[msgspec.Raw]


class RepeatedKeys(dict[str, Any]):
    """A JSON object in which a key comes twice, with all its key-value pairs."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


def decode_slowly(text: str, path: str, *, line: int = 1) -> Any:
    """Decode a document that begins on some line of a file, with the standard library.

    Args:
        text: The document.
        path: The file, for messages.
        line: The line of the file that the document begins on.

    Raises:
        DataError: If the document is malformed; the message has the line and the column.
    """
    try:
        return json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        place = f"{path}:{line + error.lineno - 1}:{error.colno}"
        hint = " (if it is one object a line, pass format='jsonl')"
        what = error.msg + (hint if error.msg == "Extra data" else "")
        raise DataError(f"{place}: malformed JSON: {what}.") from None
    except RecursionError:
        raise DataError(f"{path}:{line}: malformed JSON: nested too deeply.") from None
    except ValueError as error:  # an integer of thousands of digits
        raise DataError(f"{path}:{line}: malformed JSON: {error}.") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    whole = dict(pairs)
    return whole if len(whole) == len(pairs) else RepeatedKeys(pairs)


def decode_json_line(line: bytes, path: str, number: int) -> Any:
    """Decode one line of a file.

    >>> decode_json_line(b'{"id": 7}', "run.jsonl", 1)
    {'id': 7}
    """
    try:
        return msgspec.json.decode(line)
    except DOUBTFUL:
        return decode_slowly(decode_line(line, path, number), path, line=number)


def records_of(
    objects: Iterable[tuple[int, Any]],
    place: Callable[[int], str],
    problems: Problems,
    role: Role,
) -> Iterator[Record]:
    """Pick item id and the captions of a role out of numbered JSON objects.

    The first object that has both decides under which names they are; all others must follow.
    """
    names: tuple[str, str] | None = None
    for number, value in objects:
        if not isinstance(value, dict):
            problems.add(f"{place(number)}: the record is {in_words(value)}; expected an object.")
            continue
        if names is None:
            fault = _fields_fault(value, role)
            if fault and item_field(value) and has_captions(value):  # all records will be so
                raise DataError(f"{place(number)}: {fault}.")
            if fault:
                problems.add(f"{place(number)}: {fault}.")
                continue
            names = item_field(value) or "", caption_fields(value, role)[0]
        item, captions = names
        if item in value and captions in value:
            yield number, value[item], value[captions]
        else:
            missing = item if item not in value else captions
            problems.add(f"{place(number)}: no field {missing!r}, which other records have.")


def _fields_fault(record: dict[str, Any], role: Role) -> str | None:
    if item_field(record) is None:
        return missing_item_field()
    captions = caption_fields(record, role)
    if not captions:
        return missing_caption_field(record, role)
    return several_caption_fields(captions, role) if len(captions) > 1 else None
