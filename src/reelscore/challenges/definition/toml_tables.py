"""TOML files read with care: every wrong value is named with its line, no key is passed over."""

from __future__ import annotations

import difflib
import math
import re
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar, overload

from reelscore.data.checks import in_words
from reelscore.errors import DataError
from reelscore.store.values import from_iso

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_Value = TypeVar("_Value", str, int, float, bool)
_NAMES = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}
_HEADER = re.compile(r"\s*\[\[?\s*([\w.\-\"' ]+?)\s*\]\]?\s*(#.*)?$")
_KEY = re.compile(r"\s*([\w\-]+|\"[^\"]*\"|'[^']*')\s*(\.|=)")

Path = tuple[str | int, ...]


class LineProblems:
    """What is wrong in a file: all of it, each with its line."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.messages: list[tuple[int, str]] = []
        self._lines = text.splitlines()

    def add(self, path: Path, message: str) -> None:
        """Note that the value at a path is wrong."""
        self.messages.append((self.line_of(path), message))

    def raise_if_any(self) -> None:
        """Raise one DataError for all of them, in the order of the lines.

        Raises:
            DataError: If there are any.
        """
        if self.messages:
            listed = [f"{self.file}:{line}: {said}" for line, said in sorted(self.messages)]
            raise DataError("\n".join(dict.fromkeys(listed)))

    def line_of(self, path: Path) -> int:
        """Return the line on which a key stands; that of its table where it is not written out.

        >>> lines = ["[[phase]]", "id = 'a'", "[[phase]]", "limits = { total = 1 }"]
        >>> LineProblems("c.toml", chr(10).join(lines)).line_of(("phase", 1, "limits", "total"))
        4
        """
        begin, end = 0, len(self._lines)
        parts = list(path)
        line = 0
        while parts:
            part = parts.pop(0)
            number = parts.pop(0) if parts and isinstance(parts[0], int) else 0
            assert isinstance(part, str)
            assert isinstance(number, int)
            lines = range(begin, end)
            headers = [k for k in lines if self._header(k) == part]
            keys = [k for k in lines if self._key(k) == part]
            inline = re.compile(rf"(?<![\w-]){re.escape(part)}\s*=")
            if number < len(headers):
                line = begin = headers[number]
                end = self._next(begin, end, headers_only=True)
            elif keys:
                line = begin = keys[0]
                end = self._next(begin, end)
                entries = [k for k in range(begin, end) for _ in re.findall(r"\{", self._lines[k])]
                if len(path) > 1 and number < len(entries):  # tables inside a list
                    line = begin = entries[number]
                    later = [k for k in entries if k > begin]
                    end = later[0] if later else end
            else:
                places = [k for k in lines if inline.search(self._lines[k])]
                line = begin = places[0] if places else begin
        return line + 1

    def _next(self, begin: int, end: int, *, headers_only: bool = False) -> int:
        """The line on which the next table begins, or the next key outside of a list."""
        depth = 0
        for k in range(begin, end):
            begins = self._header(k) is not None or (self._key(k) and not headers_only)
            if k > begin and depth <= 0 and begins:
                return k
            bare = re.sub(r"\"[^\"]*\"|'[^']*'|#.*", "", self._lines[k])
            if not headers_only:
                depth += bare.count("[") - bare.count("]")
        return end

    def _header(self, line: int) -> str | None:
        match = _HEADER.match(self._lines[line])
        return match[1] if match else None

    def _key(self, line: int) -> str | None:
        match = _KEY.match(self._lines[line])
        return match[1].strip("\"'") if match else None


class TomlTable:
    """One table of a file: values are taken out by key, and what is left over is an error."""

    def __init__(self, values: Mapping[str, Any], path: Path, problems: LineProblems) -> None:
        self._values = dict(values)
        self._known: list[str] = []
        self.path = path
        self.problems = problems

    def wrong(self, key: str, message: str) -> None:
        """Note that the value of a key is wrong; the message begins with the key."""
        self.problems.add((*self.path, key), message)

    def has(self, key: str) -> bool:
        """Return whether the key is written."""
        return key in self._values

    @overload
    def take(self, key: str, kind: type[_Value]) -> _Value: ...
    @overload
    def take(self, key: str, kind: type[_Value], default: _Value) -> _Value: ...
    def take(self, key: str, kind: type[_Value], default: _Value | None = None) -> _Value:
        """Return a value of one kind; without a default it must be there."""
        self._known.append(key)
        if key not in self._values:
            if default is None:
                where = f"[{self.path[0]}]" if self.path else "the file"
                self.problems.add(self.path, f"{where} has no {key}; expected {_NAMES[kind]}.")
                return kind()
            return default
        value = self._values.pop(key)
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if type(value) is not kind:
            self.wrong(key, f"{key} is {in_words(value)}; expected {_NAMES[kind]}.")
            return kind() if default is None else default
        if isinstance(value, float) and not math.isfinite(value):
            self.wrong(key, f"{key} is {value}; expected a finite number.")
            return kind() if default is None else default
        result: _Value = value
        return result

    def choice(self, key: str, known: Sequence[str], default: str | None = None) -> str:
        """Return one of some words."""
        word = self.take(key, str) if default is None else self.take(key, str, default)
        if word and word not in known:
            self.wrong(key, f"{key} is {word!r}; expected {_listed(known, word)}.")
            return known[0]
        return word or known[0]

    def number(
        self, key: str, default: int | None, least: int = 0, most: int | None = None
    ) -> int | None:
        """Return a whole number within bounds.

        ``None`` where it is not written and none is given.
        """
        if key not in self._values:
            self._known.append(key)
            return default
        value = self.take(key, int, least)
        if value < least or (most is not None and value > most):
            bounds = f"at least {least}" if most is None else f"{least} to {most}"
            self.wrong(key, f"{key} is {value}; expected {bounds}.")
            return default
        return value

    def texts(self, key: str, default: Sequence[str] = (), *, one: bool = False) -> tuple[str, ...]:
        """Return a list of texts; a lone text is a list of one where `one` says so."""
        self._known.append(key)
        value = self._values.pop(key, list(default))
        if one and isinstance(value, str):
            value = [value]
        if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
            self.wrong(key, f"{key} is {in_words(value)}; expected a list of texts.")
            return tuple(default)
        return tuple(value)

    def time(self, key: str) -> int | None:
        """Return a time in microseconds since 1970; it must say which zone it is of."""
        self._known.append(key)
        value = self._values.pop(key, None)
        if value is None:
            return None
        if not isinstance(value, datetime):
            self.wrong(key, f"{key} is {in_words(value)}; expected a time as {_TIME}.")
            return None
        if value.tzinfo is None:
            self.wrong(key, f"{key} has no offset; write {value.isoformat()}Z if it is UTC.")
            return None
        try:
            return from_iso(value.isoformat())
        except DataError as error:
            self.wrong(key, f"{key}: {error}")
            return None

    def table(self, key: str) -> TomlTable:
        """Return a table inside this one; empty where it is not written."""
        self._known.append(key)
        value = self._values.pop(key, {})
        if not isinstance(value, dict):
            self.wrong(key, f"{key} is {in_words(value)}; expected a table.")
            value = {}
        return TomlTable(value, (*self.path, key), self.problems)

    def tables(self, key: str) -> list[TomlTable]:
        """Return a list of tables; empty where it is not written."""
        self._known.append(key)
        value = self._values.pop(key, [])
        if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
            self.wrong(key, f"{key} is {in_words(value)}; expected [[{key}]] tables.")
            value = []
        return [
            TomlTable(each, (*self.path, key, k), self.problems) for k, each in enumerate(value)
        ]

    def any(self, key: str) -> Any:
        """Return a value of any kind; ``None`` where it is not written."""
        self._known.append(key)
        return self._values.pop(key, None)

    def rest(self) -> dict[str, Any]:
        """Return all values that were not taken; nothing is left over then."""
        values, self._values = self._values, {}
        return values

    def done(self) -> None:
        """Refuse what was not taken: each key with the nearest one there is."""
        for key in self._values:
            where = f"[{self.path[0]}]" if self.path else "the file"
            if len(self.path) > 1 and isinstance(self.path[-1], str):
                where = str(self.path[-1])
            near = difflib.get_close_matches(key, self._known, n=1)
            remedy = f"did you mean {near[0]}?" if near else f"known: {', '.join(self._known)}."
            self.wrong(key, f"{where} has no key {key!r}; {remedy}")


_TIME = "2026-09-01T12:00:00Z"


def _listed(known: Sequence[str], word: str) -> str:
    near = difflib.get_close_matches(word, known, n=1)
    words = " or ".join(", ".join(map(repr, known)).rsplit(", ", 1))
    return f"{words} (did you mean {near[0]!r}?)" if near else words


def parse_toml(text: str, file: str) -> TomlTable:
    r"""Read the text of a file.

    Args:
        text: The text.
        file: Its name, for messages.

    Raises:
        DataError: If it is not TOML.

    >>> table = parse_toml('[scoring]\nseed = "x"', "c.toml").table("scoring")
    >>> seed = table.number("seed", 1)
    >>> table.problems.raise_if_any()
    Traceback (most recent call last):
    reelscore.errors.DataError: c.toml:2: seed is a text; expected a whole number.
    """
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        match = re.search(r"^(.*) \(at line (\d+), column \d+\)$", str(error))
        place = f"{file}:{match[2]}" if match else file
        said = match[1] if match else str(error)
        raise DataError(f"{place}: not TOML: {said}.") from None
    return TomlTable(values, (), LineProblems(file, text))
