"""JSON, twice: msgspec for the good files, the standard library to say what is wrong with others.

msgspec is fast and lean, but it stops at the first fault, does not always say where, and keeps
the last of two equal keys. The standard library's decoder is the judge in every doubtful case.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from reelscore.data.checks import in_words
from reelscore.data.formats.json_shape import is_of_other_role, section_for
from reelscore.data.reading import Request
from reelscore.data.source import HEAD_SIZE, Source, check_document, decode_line
from reelscore.errors import DataError

# What msgspec raises on a document that the standard library shall judge.
DOUBTFUL = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

Record = tuple[int, object, object]


class RepeatedKeys(dict[str, Any]):
    """A JSON object in which a key comes twice, with all its key-value pairs."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


def decode_slowly(text: str, path: str, *, line: int | None = None) -> Any:
    """Decode a document, or a line of JSON Lines, with the standard library.

    Args:
        text: The document.
        path: The file, for messages.
        line: The line of the file that it is; ``None`` for a whole file.

    Raises:
        DataError: If the document is malformed; the message has the line and the column.
    """
    import json  # only here: most files never need it

    try:
        return json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        place = f"{path}:{(line or 1) + error.lineno - 1}:{error.colno}"
        hint = " (if it is one object a line, pass format='jsonl')"
        if line is not None:
            hint = " (expected one object a line, with nothing behind it)"
        what = error.msg + (hint if error.msg == "Extra data" else "")
        raise DataError(f"{place}: malformed JSON: {what}.") from None
    except RecursionError:
        raise DataError(f"{path}:{line or 1}: malformed JSON: nested too deeply.") from None
    except ValueError as error:  # an integer of thousands of digits
        raise DataError(f"{path}:{line or 1}: malformed JSON: {error}.") from None


def decode_document(document: bytes, path: str) -> Any:
    """Decode a document; an object in which a key comes twice is a `RepeatedKeys`.

    Args:
        document: The document, in UTF-8.
        path: The file, for messages.

    Raises:
        DataError: As of `decode_slowly`.

    >>> decode_document(b'{"v1": [{"caption": "a man"}]}', "run.json")
    {'v1': [{'caption': 'a man'}]}
    >>> decode_document(b'{"v1": "a man", "v1": "a dog"}', "run.json").pairs
    [('v1', 'a man'), ('v1', 'a dog')]
    """
    try:
        value = msgspec.json.decode(document)
    except DOUBTFUL:
        return decode_slowly(document.decode(), path)
    # What looks like a key may stand within a text; so there are at most that many keys.
    most = len(re.findall(rb'"[ \t\n\r]*:', document))
    return value if _keys_in(value) == most else decode_slowly(document.decode(), path)


def _keys_in(value: Any) -> int:
    """Count the keys of all objects, as far down as most documents have some."""
    count, left = 0, [value]
    while left:
        value = left.pop()
        if type(value) is dict:
            count += len(value)
            left += value.values()
        elif (
            type(value) is list
            and (value and type(value[0]) is dict)  # lists of texts need no closer look
            and {*map(type, value)} == {dict}
        ):
            count += sum(map(len, value))
    return count


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


def whole_document(source: Source) -> bytes:
    """Read a document, and refuse one that is not UTF-8."""
    document = source.document()
    check_document(document, source.path)
    return document


def sections_of(document: bytes, path: str) -> dict[str, memoryview]:
    """Take a document that is one object apart; its values stay undecoded.

    Args:
        document: The document.
        path: The file, for messages.

    Raises:
        DataError: If the document is malformed, or not an object.

    >>> sections = sections_of(b'{"info": 3, "annotations": []}', "coco.json")
    >>> bytes(sections["annotations"])
    b'[]'
    """
    try:
        raw: dict[str, Any] = msgspec.json.decode(document, type=dict[str, msgspec.Raw])
    except DOUBTFUL:
        import json

        whole = decode_slowly(document.decode(), path)
        if not isinstance(whole, dict):
            raise DataError(f"{path}: expected an object; it is {in_words(whole)}.") from None
        return {name: memoryview(json.dumps(value).encode()) for name, value in whole.items()}
    return {name: memoryview(value) for name, value in raw.items()}


def captions_section(document: bytes, path: str, request: Request) -> memoryview:
    """Find the section of a document that holds the captions of a role.

    Raises:
        DataError: If there is none, or it holds the captions of the other role alone.
    """
    sections = sections_of(document, path)
    name = section_for(request.role, sections)
    if name is None:
        raise DataError(
            f"{path}: expected a list of records, alone or as 'annotations', 'predictions' or the "
            f"like; there are {', '.join(sections)}."
        )
    beginning = bytes(sections[name][:HEAD_SIZE])
    if is_of_other_role(name, beginning, request.role, request.reading.fields):
        other = "candidates" if request.role == "references" else "references"
        raise DataError(
            f"{path}: no {request.role[:-1]}, but {other} in {name!r}; is this the right file?"
        )
    return sections[name]


def objects_in(
    document: bytes | memoryview, path: str, place: Callable[[int], str]
) -> Iterator[Any]:
    """Yield the numbered values of a list, one after the other, to spare memory.

    Args:
        document: The list.
        path: The file, for messages.
        place: Names the place of a value.

    Raises:
        DataError: If the document is not a list, or a value is malformed.
    """
    try:
        # Raw values are slices of the document: only one at a time becomes Python objects.
        raw_values = msgspec.json.decode(document, type=list[msgspec.Raw])
    except DOUBTFUL:
        values = decode_slowly(bytes(document).decode(), path)
        if not isinstance(values, list):
            raise DataError(f"{path}: expected a list of records; it is {in_words(values)}.") from (
                None
            )
        yield from enumerate(values, start=1)
        return
    decode = msgspec.json.Decoder().decode
    for number, raw in enumerate(raw_values, start=1):
        try:
            yield number, decode(raw)
        except DOUBTFUL:
            yield number, decode_slowly(bytes(raw).decode(), place(number))


def records_of(
    objects: Iterable[tuple[int, Any]], place: Callable[[int], str], request: Request
) -> Iterator[Record]:
    """Pick item id and the captions of a role out of numbered JSON objects.

    The first object that has both decides under which names they are; all others must follow.
    """
    fields, role, problems = request.reading.fields, request.role, request.problems
    item = ""
    captions: list[str] = []
    wants_split = bool(request.reading.splits)
    for number, value in objects:
        if not isinstance(value, dict):
            problems.add(f"{place(number)}: the record is {in_words(value)}; expected an object.")
            continue
        if not captions:
            fault = fields.fault(value, role)
            if fault and fields.item_field(value) and fields.has_captions(value):
                raise DataError(f"{place(number)}: {fault}.")  # all records will be so
            if fault:
                problems.add(f"{place(number)}: {fault}.")
                continue
            item = fields.item_field(value) or ""
            captions = fields.caption_fields(value, role)
        if wants_split and not request.takes(value.get(item), value.get("split")):
            continue
        try:
            if len(captions) == 1:
                yield number, value[item], value[captions[0]]
            else:
                yield number, value[item], joined(value[name] for name in captions)
        except KeyError as error:
            problems.add(f"{place(number)}: no field {error.args[0]!r}, which other records have.")


def joined(values: Iterable[Any]) -> list[Any]:
    """Put captions, and lists of them, into one list.

    >>> joined(["a man", ["a person", "somebody"]])
    ['a man', 'a person', 'somebody']
    """
    texts: list[Any] = []
    for value in values:
        texts += value if isinstance(value, list) else [value]
    return texts
