"""The caption formats: one module each, named as the user names the format.

A new format is a new module here, with the functions of `Format`. Detection asks every module by
content, never by file name; `lines` comes last, and takes only text without any structure.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Collection, Iterator
from functools import cache
from importlib import import_module
from typing import Protocol, cast

from reelscore.data.fields import Role
from reelscore.data.problems import Problems
from reelscore.data.source import Source
from reelscore.data.structure import structure_of
from reelscore.errors import DataError, UnknownNameError

LINES = "lines"


class Format(Protocol):
    """What a format module has."""

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


@cache
def format_names() -> tuple[str, ...]:
    """List the formats, in the order in which detection tries them.

    >>> format_names()
    ('coco', 'csv', 'json', 'jsonl', 'tsv', 'lines')
    """
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return (*(name for name in names if name != LINES), LINES)


def get_format(name: str) -> Format:
    """Load a format by name.

    Raises:
        UnknownNameError: If there is no such format.
    """
    names = format_names()
    if name not in names:
        raise UnknownNameError.of("format", name, names)
    return cast(Format, import_module(f"{__name__}.{name}"))


def detect_format(source: Source) -> str:
    """Name the format of a file, by its content.

    Raises:
        DataError: If the content is like none of the formats.
    """
    names = format_names()
    for name in names:
        if get_format(name).sniff(source.head):
            return name
    structure = structure_of(source.head)
    assert structure is not None  # text without one is lines
    raise DataError(
        f"{source.path}: the format of the content is unknown (tried {', '.join(names)}): it looks "
        f"like {structure.kind}. {structure.remedy}; if each line is a caption, pass "
        f"format={LINES!r}."
    )
