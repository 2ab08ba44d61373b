"""TOML compared with msgspec structs: all faults at once, each with its key and the remedy.

msgspec itself stops at the first fault, and knows no remedy.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from types import NoneType
from typing import Annotated, Any, Literal, TypeGuard, get_args, get_origin

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import FieldInfo, fields

from reelscore._records import resolved
from reelscore.data.checks import in_words
from reelscore.errors import DataError

_EXPECTED: dict[object, str] = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    tuple: "a list of texts",
    dict: "a table",
}


def parse_toml(text: str, file: str) -> dict[str, Any]:
    r"""Read TOML."""
    try:
        content: dict[str, Any] = msgspec.toml.decode(text)
    except msgspec.DecodeError as error:
        said, _, place = str(error).partition(" (at ")
        line = re.match(r"line (\d+)", place)
        raise DataError(f"{file}{f':{line[1]}' if line else ''}: not TOML: {said}") from None
    return content


def own_value(kind: Any, value: object) -> object:
    """Make a value of a type that msgspec does not know, which has a method ``of``."""
    return kind.of(value)


def table_faults(known: Sequence[FieldInfo], table: object, path: str = "") -> Iterator[str]:
    """Yield what is wrong with a table."""
    if not isinstance(table, dict):
        yield f"{path} is {in_words(table)}; expected a table."
        return
    place = "the file" if not path else f"[{path}]" if path.isalpha() else path
    yield from unknown_keys([field.encode_name for field in known], table, place)
    for field in known:
        name = field.encode_name
        if name in table:
            yield from _value_faults(field.type, table[name], f"{path}.{name}".lstrip("."))
        elif field.required:
            yield f"{place} has no {name}; expected {_expected(field.type, name)}."


def unknown_keys(known: Sequence[str], table: Iterable[str], place: str) -> Iterator[str]:
    """Yield the keys that a table may not have, each with the nearest one."""
    for key in table:
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            remedy = f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}."
            yield f"{place} has no key {key!r}; {remedy}"


def _value_faults(kind: object, value: object, path: str) -> Iterator[str]:
    """Yield what is wrong with a value, or inside it."""
    bare, _ = _without_bounds(kind)
    parts: Sequence[object] = get_args(bare) or [None]
    if _is_table(bare):
        yield from table_faults(fields(bare), value, path)
    elif _is_table(parts[0]) and value and isinstance(value, list):
        for k, item in enumerate(value):
            yield from table_faults(fields(parts[0]), item, f"{path}[{k}]")
    elif get_origin(bare) is dict and isinstance(value, dict):
        for key, item in value.items():
            yield from _value_faults(parts[-1], item, f"{path}.{key}")
    else:
        try:
            msgspec.convert(value, resolved(kind), dec_hook=own_value)
        except msgspec.ValidationError as error:
            is_other_kind = ", got `" in str(error) or error.__cause__ is not None
            shown = in_words(value) if is_other_kind else repr(value)
            expected = _expected(kind, path, None if is_other_kind else value)
            fault = str(error.__cause__ or "") or f"is {shown}; expected {expected}."
            yield f"{path} {fault}"


def _expected(kind: object, name: str, value: object = None) -> str:
    """Return what a type expects; of a value of the right kind, within which bounds."""
    bare, bounds = _without_bounds(kind)
    if bounds.description:
        return bounds.description
    if get_origin(bare) is Literal:
        words = " or ".join(", ".join(map(repr, get_args(bare))).rsplit(", ", 1))
        near = difflib.get_close_matches(str(value), get_args(bare), n=1)
        return f"{words} (did you mean {near[0]!r}?)" if near else words
    if _is_table(next(iter(get_args(bare)), None)):
        return f"at least one [[{name}]]"
    if value is None:
        return _EXPECTED[get_origin(bare) or bare]
    return f"at least {bounds.ge:,}" if bounds.le is None else f"{bounds.ge:,} to {bounds.le:,}"


def _without_bounds(kind: object) -> tuple[object, Meta]:
    """Return a type without its bounds and None, and the bounds."""
    if get_origin(kind) is Annotated:
        base, bounds = get_args(kind)
        return _without_bounds(base)[0], bounds
    if NoneType in get_args(kind):
        return _without_bounds(get_args(kind)[0])
    return kind, Meta()


def _is_table(kind: object) -> TypeGuard[type[Struct]]:
    return isinstance(kind, type) and issubclass(kind, Struct)
