"""The caption formats: coco, csv, json, jsonl, tsv and lines, recognised by their content.

A new format is a class with the methods of `Format`, and an entry in `FORMATS`. Detection asks
every format in that order, by content, never by file name; `lines` comes last, and takes only
text without any structure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Protocol

from reelscore.data.checks import Problems
from reelscore.data.fields import Role
from reelscore.data.formats.delimited import Delimited
from reelscore.data.formats.json import Coco, JsonLines, JsonObject
from reelscore.data.formats.lines import Lines, structure_of
from reelscore.data.source import Source
from reelscore.errors import DataError, check_choice


class Format(Protocol):
    """What a format has."""

    def sniff(self, head: bytes) -> bool:
        """Tell whether a file that begins like this is of the format."""

    def fields(self, head: bytes) -> Collection[str]:
        """Name the fields of the first record; none where the format has no names."""

    def place(self, path: str, number: int) -> str:
        """Name the place of a record, for messages."""

    def read(
        self, source: Source, problems: Problems, role: Role
    ) -> Iterator[tuple[int, object, object]]:
        """Yield number, item id and caption or list of captions of each record, unchecked."""


LINES = "lines"
FORMATS: dict[str, Format] = {
    "coco": Coco(),
    "csv": Delimited(","),
    "json": JsonObject(),
    "jsonl": JsonLines(),
    "tsv": Delimited("\t"),
    LINES: Lines(),
}


def get_format(name: str) -> Format:
    """Give a format by name.

    Raises:
        UnknownNameError: If there is no such format.
    """
    check_choice("format", name, FORMATS)
    return FORMATS[name]


def detect_format(source: Source) -> str:
    """Name the format of a file, by its content.

    Raises:
        DataError: If the content is like none of the formats.
    """
    for name, format in FORMATS.items():
        if format.sniff(source.head):
            return name
    structure = structure_of(source.head)
    assert structure is not None  # text without one is lines
    raise DataError(
        f"{source.path}: the format of the content is unknown (tried {', '.join(FORMATS)}): it "
        f"looks like {structure.kind}. {structure.remedy}; if each line is a caption, pass "
        f"format={LINES!r}."
    )
