"""The formats in JSON, told apart by the first kilobytes of a file, which may end anywhere."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Any

from reelscore.data.fields import ROLE_FIELDS, USUAL, FieldNames, Role, same_name

_ENOUGH = 1 << 13
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_WORDS = ("true", "false", "null", "NaN", "Infinity")
_COCO_SECTIONS = ("info", "images", "licenses", "annotations", "type")
_ANY_ROLE = ("annotations", "results", "data")


def json_kind(head: bytes, fields: FieldNames = USUAL) -> str:
    """Name the JSON format that a file begins like: a format, "other" or "".

    "other" is JSON that holds no captions, such as a list of numbers; "" is no JSON at all, even
    if it begins with a bracket.

    Args:
        head: The beginning of the file.
        fields: Where records keep their item id and captions.

    >>> json_kind(b'{"v1": ["a man", "a person"], "v2": ["a d')
    'json'
    >>> json_kind(b'{"video_id": "v1", "caption": "a man"}')
    'jsonl'
    >>> json_kind(b'{"predictions": ["a man"], "references": [["a per')
    'lists'
    >>> json_kind(b"[music] a man dances")
    ''
    """
    if not head.lstrip().startswith((b"[", b"{")):
        return ""
    match _tokens(head):
        case ["[", "{" | "]", *_]:
            values = glimpse(head)[0]
            return "vatex" if values and _is_vatex(values[0]) else "coco"
        case ["[", "[", *_]:
            return "lists"
        case ["[", first, "," | "]", *_] if first.startswith('"'):
            return "lists"
        case ["[", first, ",", *_] if first.isdecimal():
            return "other"
        case ["{", "}", *_]:
            return "json"
        case ["{", key, ":", *_] if key.startswith('"'):
            values = glimpse(head)
            if len(values) > 1 and isinstance(values[1], dict):
                return "jsonl"
            return _object_kind(values[0], fields)
    return ""


def _object_kind(first: dict[str, Any], fields: FieldNames) -> str:
    """Name the format of a file that is one object."""
    match first:
        case {"database": dict()}:
            return "youcook2"
        case {"images": [{"sentences": list()}, *_]}:
            return "karpathy"
        case {"videos": list()} | {"sentences": [dict(), *_]}:
            return "msrvtt"
    if any(_are_records(first.get(name)) for name in _COCO_SECTIONS):
        return "coco"
    if fields.are_of_record(first):
        item = fields.item_field(first) or USUAL.item_field(first) or ""
        return "lists" if isinstance(first.get(item), list | dict) else "jsonl"
    for value in map(first.get, sections_in(first)):
        match value:
            case [dict(), *_]:
                return "coco"
            case [str() | list(), *_]:
                return "lists"
            case dict() if not has_times(value):
                return "json"
    return "activitynet" if has_times(first) else "json"


def sections_in(names: Collection[str]) -> list[str]:
    """Find the keys under which an object keeps captions of several items.

    >>> sections_in(["version", "results", "gts"])
    ['results', 'gts']
    """
    wanted = {same_name(name) for name in (*_ANY_ROLE, *ROLE_FIELDS["candidates"])}
    wanted |= {same_name(name) for name in ROLE_FIELDS["references"]}
    return [name for name in names if same_name(name) in wanted]


def section_for(role: Role, names: Collection[str]) -> str | None:
    """Choose the section that holds the captions of a role, or records with captions of both.

    >>> section_for("references", ["res", "gts"]), section_for("references", ["predictions"])
    ('gts', 'predictions')
    """
    other: Role = "references" if role == "candidates" else "candidates"
    keys = {same_name(name): name for name in names}
    order = (*ROLE_FIELDS[role], *_ANY_ROLE, *ROLE_FIELDS[other])
    return next((keys[same_name(name)] for name in order if same_name(name) in keys), None)


def is_of_other_role(name: str, beginning: bytes, role: Role, fields: FieldNames) -> bool:
    """Return whether a section holds captions of the other role, and none of this one.

    >>> is_of_other_role("predictions", b'[{"id": 1, "caption": "a"}]', "references", USUAL)
    True
    """
    other: Role = "references" if role == "candidates" else "candidates"
    if same_name(name) not in map(same_name, ROLE_FIELDS[other]):
        return False
    values = glimpse(beginning)
    return not (values and fields.role_fields(record_fields(values[0]), role))


def has_times(value: dict[str, Any]) -> bool:
    """Return whether an object of videos holds timed captions.

    >>> has_times({"v1": {"timestamps": [[0, 4]], "sentences": ["a man"]}})
    True
    """
    if isinstance(value.get("results"), dict):
        value = value["results"]
    match next(iter(value.values()), None):
        case {"timestamps": _}:
            return True
        case [{"timestamp": _} | {"segment": _} | {"start": _, "end": _}, *_]:
            return True
    return False


def record_fields(value: Any) -> list[str]:
    """Name the fields of the first record in a list of records, or in an object of records.

    >>> record_fields([{"id": "v1", "prediction": "a man"}])
    ['id', 'prediction']
    """
    while isinstance(value, list | dict) and value:
        first = value[0] if isinstance(value, list) else next(iter(value.values()))
        if isinstance(value, dict) and not isinstance(first, list | dict):
            return list(value)
        if isinstance(first, dict):
            return list(first)
        value = first
    return []


def _is_vatex(record: Any) -> bool:
    return isinstance(record, dict) and bool({"enCap", "chCap"} & record.keys())


def _are_records(value: Any) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list) and (not value or isinstance(value[0], dict))
    )


def glimpse(head: bytes) -> list[Any]:
    """Read the values at the beginning of a file of JSON, as far as they go.

    Numbers, true, false and null are left as ``None``. What is malformed is not noticed here.

    >>> glimpse(b'{"id": 7, "captions": ["a man", "a per')
    [{'id': None, 'captions': ['a man']}]
    """
    return _values(head[:_ENOUGH])


@lru_cache(maxsize=4)
def _tokens(head: bytes) -> list[str]:
    return _TOKEN.findall(head[:_ENOUGH].decode("utf-8", "replace"))


@lru_cache(maxsize=4)
def _values(head: bytes) -> list[Any]:
    values: list[Any] = []
    open_values: list[tuple[Any, list[str]]] = [(values, [])]  # each with the key that waits
    for token in _tokens(head):
        whole, key = open_values[-1]
        if token in ",:":
            continue
        if token in "}]":
            if len(open_values) > 1:
                open_values.pop()
            continue
        if token[0] not in '{["-0123456789' and token not in _WORDS:
            continue  # part of a text that is cut, or no JSON
        if isinstance(whole, dict) and not key:
            key.append(token.strip('"'))
            continue
        value: Any = {} if token == "{" else [] if token == "[" else None
        if token.startswith('"'):
            value = token[1:-1]
        if isinstance(whole, dict):
            whole[key.pop()] = value
        else:
            whole.append(value)
        if token in "{[":
            open_values.append((value, []))
    return values
