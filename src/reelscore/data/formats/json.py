"""The formats in JSON: COCO files, one object of item ids, and JSON Lines.

- ``coco``: annotations ({"annotations": [{"image_id", "caption"}, …]}) or results (the list
  alone); records may also have the other names of `reelscore.data.fields`, and every other
  section is ignored.
- ``json``: one object that maps each item id to its caption or to its list of captions.
- ``jsonl``: one JSON object a line, with an item id and a caption or a list of captions.

They are told apart by the first kilobytes of a file, which may end anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from reelscore.data.checks import Problems, in_words
from reelscore.data.fields import Role, has_captions, item_field
from reelscore.data.source import Source, check_document
from reelscore.errors import DataError

Record = tuple[int, object, object]

_ENOUGH = 1 << 13
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_COCO_SECTIONS = {"info", "images", "licenses", "annotations", "type"}


class Coco:
    """``coco``: a list of records, alone or under "annotations"."""

    def sniff(self, head: bytes) -> bool:
        """Tell whether a file begins like COCO annotations or results."""
        return json_kind(head) == "coco"

    def fields(self, head: bytes) -> list[str]:
        """Name the fields of the first record."""
        return first_fields(head)

    def place(self, path: str, number: int) -> str:
        """Name a record by its number in the list, from 1 on."""
        return f"{path}: record {number}"

    def read(self, source: Source, problems: Problems, role: Role) -> Iterator[Record]:
        """Yield number, item id and caption of each record."""
        from reelscore.data.json_documents import records_of

        document = source.document()
        check_document(document, source.path)
        place = partial(self.place, source.path)
        return records_of(self._objects(document, source.path), place, problems, role)

    def _objects(self, document: bytes, path: str) -> Iterator[tuple[int, Any]]:
        import msgspec

        from reelscore.data.json_documents import DOUBTFUL, Annotations, decode_slowly

        try:
            # Raw records are slices of the document: only one at a time becomes Python objects.
            whole = msgspec.json.decode(document, type=list[msgspec.Raw] | Annotations)
        except DOUBTFUL:
            yield from enumerate(_annotations(decode_slowly(document.decode(), path), path), 1)
            return
        decode = msgspec.json.Decoder().decode
        raw_records = whole.annotations if isinstance(whole, Annotations) else whole
        for number, raw in enumerate(raw_records, start=1):
            try:
                yield number, decode(raw)
            except DOUBTFUL:
                yield number, decode_slowly(bytes(raw).decode(), self.place(path, number))


def _annotations(whole: Any, path: str) -> list[Any]:
    records = whole.get("annotations") if isinstance(whole, dict) else whole
    if isinstance(records, list):
        return records
    kind = in_words(records if isinstance(whole, dict) else whole)
    raise DataError(f"{path}: expected a list of records, alone or as 'annotations'; it is {kind}.")


class JsonObject:
    """``json``: an object of item ids."""

    def sniff(self, head: bytes) -> bool:
        """Tell whether a file begins like a JSON object that is neither COCO nor JSON Lines."""
        return json_kind(head) == "json"

    def fields(self, head: bytes) -> list[str]:
        """An object of item ids has no names."""
        return []

    def place(self, path: str, number: int) -> str:
        """Name an entry by its number in the object, from 1 on."""
        return f"{path}: entry {number}"

    def read(self, source: Source, problems: Problems, role: Role) -> Iterator[Record]:
        """Yield number, item id and caption or captions of each entry; report repeated ids."""
        import msgspec

        from reelscore.data.json_documents import DOUBTFUL

        document = source.document()
        check_document(document, source.path)
        try:
            mapping = msgspec.json.decode(document, type=dict[str, str | list[str]])
        except DOUBTFUL:
            mapping = {}
        strings = sum(1 + (1 if type(value) is str else len(value)) for value in mapping.values())
        if mapping and strings == count_strings(document):
            del document
            for number, (item, captions) in enumerate(mapping.items(), start=1):
                yield number, item, captions
        else:
            yield from self._read_slowly(document, source.path, problems)

    def _read_slowly(self, document: bytes, path: str, problems: Problems) -> Iterator[Record]:
        from reelscore.data.json_documents import RepeatedKeys, decode_slowly

        whole = decode_slowly(document.decode(), path)
        if not isinstance(whole, dict):
            raise DataError(f"{path}: expected an object of item ids; it is {in_words(whole)}.")
        pairs = whole.pairs if isinstance(whole, RepeatedKeys) else whole.items()
        seen = set()
        for number, (item, captions) in enumerate(pairs, start=1):
            if item in seen:
                problems.add(
                    f"{self.place(path, number)}: item {item!r} is repeated; "
                    "give all its captions in one list."
                )
            else:
                seen.add(item)
                yield number, item, captions


def count_strings(document: bytes) -> int:
    r"""Count the strings of a valid JSON document: half its quotes, but for the escaped ones.

    A mapping that has fewer after decoding has lost an entry to a repeated key.

    >>> count_strings(rb'{"a": "say \"hello\"", "b": "\\"}')
    4
    """
    quotes = document.count(b'"')
    if b"\\" in document:
        quotes -= document.replace(rb"\\", b"").count(rb"\"")
    return quotes // 2


class JsonLines:
    """``jsonl``: a record in each line."""

    def sniff(self, head: bytes) -> bool:
        """Tell whether a file begins with an object that is one record, or one of several."""
        return json_kind(head) == "jsonl"

    def fields(self, head: bytes) -> list[str]:
        """Name the fields of the first record."""
        return first_fields(head)

    def place(self, path: str, number: int) -> str:
        """Name a record by its line."""
        return f"{path}:{number}"

    def read(self, source: Source, problems: Problems, role: Role) -> Iterator[Record]:
        """Yield line number, item id and caption or captions of each record; skip blank lines."""
        from reelscore.data.json_documents import records_of

        place = partial(self.place, source.path)
        return records_of(self._objects(source, problems), place, problems, role)

    def _objects(self, source: Source, problems: Problems) -> Iterator[tuple[int, Any]]:
        from reelscore.data.json_documents import decode_json_line

        for number, line in source.lines():
            if line.isspace():
                continue
            try:
                yield number, decode_json_line(line, source.path, number)
            except DataError as error:
                problems.add(str(error))


def json_kind(head: bytes) -> str:
    """Name the JSON format that a file begins like: "coco", "json", "jsonl", "other" or "".

    "other" is JSON that holds no item ids, such as a list of texts; "" is no JSON at all, even if
    it begins with a bracket.

    >>> json_kind(b'{"v1": ["a man", "a person"], "v2": ["a d')
    'json'
    >>> json_kind(b'{"video_id": "v1", "caption": "a man"}')
    'jsonl'
    >>> json_kind(b"[music] a man dances")
    ''
    """
    if not head.lstrip().startswith((b"[", b"{")):
        return ""
    tokens = _TOKEN.findall(head[:_ENOUGH].decode("utf-8", "replace"))
    match tokens:
        case ["[", "{" | "]", *_]:
            return "coco"
        case ["[", first, "," | "]", *_] if first.startswith('"'):
            return "other"
        case ["[", first, ",", *_] if first.isdecimal():
            return "other"
        case ["{", "}", *_]:
            return "json"
        case ["{", key, ":", *_] if key.startswith('"'):
            return _object_kind(tokens)
    return ""


def first_fields(head: bytes) -> list[str]:
    """Name the fields of the first record of a COCO file or of JSON Lines.

    >>> first_fields(b'[{"id": 1, "prediction": "a man", "reference')
    ['id', 'prediction']
    """
    text = head.decode("utf-8", "replace")
    if json_kind(head) == "coco" and '"annotations"' in text:
        text = text[text.index('"annotations"') :]
    begin = text.find("{")
    return list(_top_level(_TOKEN.findall(text[begin : begin + _ENOUGH]))[0]) if begin >= 0 else []


def _object_kind(tokens: list[str]) -> str:
    fields, is_followed_by_another = _top_level(tokens)
    if any(fields.get(name, "").startswith(("{", "[{", "[]")) for name in _COCO_SECTIONS):
        return "coco"
    if is_followed_by_another or (item_field(fields) and has_captions(fields)):
        return "jsonl"
    return "json"


def _top_level(tokens: list[str]) -> tuple[dict[str, str], bool]:
    """The fields of the first object with the beginning of their values; does one follow it?"""
    fields: dict[str, str] = {}
    depth = 0
    for place, token in enumerate(tokens):
        if token in "{[":
            depth += 1
        elif token in "}]":
            depth -= 1
            if depth == 0:
                return fields, tokens[place + 1 : place + 2] == ["{"]
        elif token == ":" and depth == 1:
            fields[tokens[place - 1].strip('"')] = "".join(tokens[place + 1 : place + 3])
    return fields, False
