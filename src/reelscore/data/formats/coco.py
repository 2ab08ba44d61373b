"""`coco`: annotations ({"annotations": [{"image_id", "caption"}, …]}) or results (the list alone).

Records may also have the other names of `fields`. Every other section is passed over.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from reelscore.data.checks import in_words
from reelscore.data.encoding import check_document
from reelscore.data.fields import Role
from reelscore.data.json_kinds import first_fields, json_kind
from reelscore.data.problems import Problems
from reelscore.data.source import Source
from reelscore.errors import DataError


def sniff(head: bytes) -> bool:
    """Tell whether a file begins like COCO annotations or results."""
    return json_kind(head) == "coco"


def fields(head: bytes) -> list[str]:
    """Name the fields of the first record."""
    return first_fields(head)


def place(path: str, number: int) -> str:
    """Name a record by its number in the list, from 1 on."""
    return f"{path}: record {number}"


def read(source: Source, problems: Problems, role: Role) -> Iterator[tuple[int, object, object]]:
    """Yield number, item id and caption of each record."""
    from reelscore.data.json_decoding import records_of

    document = source.document()
    check_document(document, source.path)
    return records_of(_objects(document, source.path), partial(place, source.path), problems, role)


def _objects(document: bytes, path: str) -> Iterator[tuple[int, Any]]:
    import msgspec

    from reelscore.data.json_decoding import DOUBTFUL, Annotations, decode_slowly

    try:
        # Raw records are slices of the document: only one at a time becomes Python objects.
        whole = msgspec.json.decode(document, type=list[msgspec.Raw] | Annotations)
    except DOUBTFUL:
        yield from enumerate(_records(decode_slowly(document.decode(), path), path), start=1)
        return
    decode = msgspec.json.Decoder().decode
    raw_records = whole.annotations if isinstance(whole, Annotations) else whole
    for number, raw in enumerate(raw_records, start=1):
        try:
            yield number, decode(raw)
        except DOUBTFUL:
            yield number, decode_slowly(bytes(raw).decode(), place(path, number))


def _records(whole: Any, path: str) -> list[Any]:
    records = whole.get("annotations") if isinstance(whole, dict) else whole
    if isinstance(records, list):
        return records
    found = in_words(records if isinstance(whole, dict) else whole)
    raise DataError(
        f"{path}: expected a list of records, alone or as 'annotations'; it is {found}."
    )
