"""Tell the JSON formats apart by the first kilobytes of a file, which may end anywhere."""

from __future__ import annotations

import re

from reelscore.data.fields import has_captions, item_field

_ENOUGH = 1 << 13
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_COCO_SECTIONS = {"info", "images", "licenses", "annotations", "type"}


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
