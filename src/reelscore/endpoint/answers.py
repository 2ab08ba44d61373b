"""Answers as records: the JSON that a model is asked for, and how its answer is read.

Read strictly, an answer is one JSON object of the form that was asked for and nothing else. Read
leniently, the object may stand anywhere in the answer, or, where the form has a single number, that
number. An answer with two that differ cannot be used: nobody chooses for the model.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

import msgspec

from reelscore._records import resolved
from reelscore.endpoint.http import shortened
from reelscore.errors import DataError

Record = TypeVar("Record", bound=msgspec.Struct)
Reading = Literal["strict", "lenient"]
_WORDS = {"integer": "NUMBER", "number": "NUMBER", "string": "TEXT", "boolean": "true | false"}
_NUMBER = re.compile(r"(?<![\w.,-])-?\d+(?:\.\d+)?(?![\w-]|[.,]\d)")


class NumberToken(msgspec.Struct, frozen=True, array_like=True):
    """A token of an answer that has a digit, and what else could have stood there."""

    place: int  # where in the answer it begins
    token: str  # the token
    # the likeliest tokens there, with the logarithms of their probabilities
    chances: dict[str, float]


@dataclass(frozen=True)
class AnswerForm(Generic[Record]):
    """The form of an answer.

    Attributes:
        kind: The record that is read, which forbids unknown fields. What has a default is asked
            for all the same; an answer read leniently may lack it.
    """

    kind: type[Record]

    @property
    def request(self) -> str:
        """The sentence that asks for such an answer."""
        return f"Answer in JSON: {_shape(self.schema())}."

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema, as the strictest servers take it: whole, all fields required."""
        [root], parts = msgspec.json.schema_components([self.kind])
        whole: dict[str, Any] = _whole(root, parts)
        return whole

    def read(self, content: str, reading: Reading = "strict") -> Record:
        """Read an answer.

        Raises:
            DataError: If it cannot be read.
        """
        try:
            return msgspec.convert(_DECODER.decode(content), resolved(self.kind))
        except _FAULTS as error:
            fault = str(error)
        if reading == "lenient":
            found = [*self._objects(content)] or [*self._numbers(content)]
            if found and all(other == found[0] for other in found):
                return found[0]
            fault = "several that differ" if found else "nothing of that form is in it"
        raise DataError(f"the answer {shortened(content)!r} cannot be read ({fault})")

    def expected(
        self, answer: Record, content: str, tokens: Sequence[NumberToken]
    ) -> dict[str, float]:
        """Return the mean of each number over what the model could have written in its place.

        A number of several tokens moves by what the mean over each of them moves it.
        """
        means = {}
        for name, field in self.schema()["properties"].items():
            if _WORDS.get(field.get("type")) != "NUMBER":
                continue
            low, high = field.get("minimum", -math.inf), field.get("maximum", math.inf)
            written = float(getattr(answer, name))
            named = re.search(rf'"{re.escape(name)}"\s*:\s*"?(-?[\d.]+)', content)
            begin, end = named.span(1) if named else self._place(content, written)
            mean = written
            for token in tokens:
                if begin <= token.place + len(token.token) - 1 and token.place < end:
                    mean += _mean(token, content, begin, end, low, high) - written
            means[name] = min(max(mean, low), high)
        return means

    @staticmethod
    def _place(content: str, written: float) -> tuple[int, int]:
        return next(
            (match.span() for match in _NUMBER.finditer(content) if float(match[0]) == written),
            (0, 0),
        )

    def _objects(self, content: str) -> Iterator[Record]:
        """Yield the objects of the form in a text, whatever else they hold."""
        place = content.find("{")
        while place >= 0:
            end = place + 1
            try:
                said, after = _DECODER.raw_decode(content, place)
                own = {name: said[name] for name in self.kind.__struct_fields__ if name in said}
                yield msgspec.convert(own, resolved(self.kind), strict=False)
                end = after
            except _FAULTS:
                pass
            place = content.find("{", end)

    def _numbers(self, content: str) -> Iterator[Record]:
        """Yield the numbers in a text that may be the only one of the form."""
        fields = self.schema()["properties"]
        numbers = [
            name for name, field in fields.items() if _WORDS.get(field.get("type")) == "NUMBER"
        ]
        if len(numbers) != 1:
            return
        low, high = (fields[numbers[0]].get(bound, "") for bound in ("minimum", "maximum"))
        # "from 0 to 100" and "/100" tell the scale
        scale = rf"\b{low}\s*(?:to|and|[-–])\s*{high}\b|(?<=\d)\s*(?:/|out of|of)\s*{high}\b"
        for number in _NUMBER.findall(re.sub(scale, "", content) if high != "" else content):
            with suppress(*_FAULTS):
                yield msgspec.convert({numbers[0]: number}, resolved(self.kind), strict=False)


def _mean(token: NumberToken, content: str, begin: int, end: int, low: float, high: float) -> float:
    """Average a number over the digits that may stand in the place of a token's."""
    total = weights = 0.0
    first = _DIGITS.search(token.token)
    assert first is not None
    before = content[begin : token.place + first.start()]
    after = content[token.place + first.end() : end]
    for other, chance in {token.token: 0.0, **token.chances}.items():
        digits = _DIGITS.fullmatch(other.strip(' "}'))
        if digits and low <= (value := float(f"{before}{digits[0]}{after}")) <= high:
            total, weights = total + math.exp(chance) * value, weights + math.exp(chance)
    return total / weights


def _whole(part: Any, parts: dict[str, Any]) -> Any:
    """Write a schema without references, titles and defaults; objects have all their fields."""
    if isinstance(part, list):
        return [_whole(each, parts) for each in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        return _whole(parts[part["$ref"].rpartition("/")[2]], parts)
    whole = {name: _whole(own, parts) for name, own in part.items() if name not in _UNUSED}
    if fields := part.get("properties"):
        whole["properties"] = {name: _whole(own, parts) for name, own in fields.items()}
        whole |= {"required": [*fields], "additionalProperties": False}
    return whole


_UNUSED = ("title", "description", "default")


def _shape(schema: dict[str, Any]) -> str:
    """Show how JSON of a schema looks."""
    if fields := schema.get("properties"):
        return (
            f"{{{', '.join(f'{json.dumps(name)}: {_shape(own)}' for name, own in fields.items())}}}"
        )
    if "items" in schema:
        return f"[{_shape(schema['items'])}, …]"
    choices = schema.get("enum")
    return " | ".join(map(json.dumps, choices)) if choices else _WORDS[schema["type"]]


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse an object with a field that comes twice, of which the last would count."""
    if len(read := dict(pairs)) < len(pairs):
        raise ValueError("a field comes twice")
    json.dumps(pairs, ensure_ascii=False).encode()  # refuses half characters
    return read


def _refused(word: str) -> None:
    raise ValueError(f"{word} is no number")


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_refused)
_DIGITS = re.compile(r"[0-9]+")
_FAULTS = (ValueError, RecursionError, msgspec.MsgspecError)
