"""`json`: one object that maps each item id to its caption or to its list of captions."""

from __future__ import annotations

from collections.abc import Iterator

from reelscore.data.checks import in_words
from reelscore.data.encoding import check_document
from reelscore.data.fields import Role
from reelscore.data.json_kinds import json_kind
from reelscore.data.problems import Problems
from reelscore.data.source import Source
from reelscore.errors import DataError


def sniff(head: bytes) -> bool:
    """Tell whether a file begins like a JSON object that is neither COCO nor JSON Lines."""
    return json_kind(head) == "json"


def fields(head: bytes) -> list[str]:
    """An object of item ids has no names."""
    return []


def place(path: str, number: int) -> str:
    """Name an entry by its number in the object, from 1 on."""
    return f"{path}: entry {number}"


def read(source: Source, problems: Problems, role: Role) -> Iterator[tuple[int, object, object]]:
    """Yield number, item id and caption or captions of each entry; report repeated ids."""
    import msgspec

    from reelscore.data.json_decoding import DOUBTFUL

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
        yield from _read_slowly(document, source.path, problems)


def _read_slowly(
    document: bytes, path: str, problems: Problems
) -> Iterator[tuple[int, object, object]]:
    from reelscore.data.json_decoding import RepeatedKeys, decode_slowly

    whole = decode_slowly(document.decode(), path)
    if not isinstance(whole, dict):
        raise DataError(f"{path}: expected an object of item ids; it is {in_words(whole)}.")
    pairs = whole.pairs if isinstance(whole, RepeatedKeys) else whole.items()
    seen = set()
    for number, (item, captions) in enumerate(pairs, start=1):
        if item in seen:
            problems.add(
                f"{place(path, number)}: item {item!r} is repeated; "
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
