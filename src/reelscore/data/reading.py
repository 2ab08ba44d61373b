"""How to read files where their content does not tell: the options that every reader takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

import msgspec

from reelscore.data.checks import Problems
from reelscore.data.fields import FieldNames, Role
from reelscore.errors import DataError

IN_ORDER = "in order"  # ends what a file was read as, where its items have no ids


class Reading(msgspec.Struct, frozen=True, dict=True):
    """How to read caption files.

    Attributes:
        format: The format of all files; by default each file's content tells.
        id_field: The field or column of the item ids; of several, separated by commas, the first
            that a file has.
        caption_field: The field of a system's captions, likewise.
        reference_field: The field of the references; of several, all that a file has.
        header: The names of the columns of tables that have no header, separated by commas.
        encoding: The encoding of files that are not UTF-8.
        split: Which parts of a data set to take, separated by commas, from files that name them.

    >>> Reading(id_field="clip, video").fields.item
    ('clip', 'video')
    """

    format: str | None = None
    id_field: str | None = None
    caption_field: str | None = None
    reference_field: str | None = None
    header: str | None = None
    encoding: str | None = None
    split: str | None = None

    def __post_init__(self) -> None:
        for option in ("id_field", "caption_field", "reference_field", "header", "split"):
            text = getattr(self, option)
            if text is not None and not all(_parts(text)):
                raise DataError(f'{option}="{text}" has an empty name.')
        if self.header is not None and len(_parts(self.header)) < 2:
            raise DataError(
                f'header="{self.header}" names one column; expected several, such as "id,caption".'
            )
        if self.encoding is not None:
            _check_encoding(self.encoding)

    @cached_property
    def fields(self) -> FieldNames:
        """The fields the user names."""
        named = (self.id_field, self.caption_field, self.reference_field)
        return FieldNames(*(_parts(text) if text else () for text in named))

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of a table without a header."""
        return _parts(self.header) if self.header else ()

    @cached_property
    def splits(self) -> tuple[str, ...]:
        """The parts of a data set to take; all if there are none."""
        return _parts(self.split) if self.split else ()


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(","))


def _check_encoding(name: str) -> None:
    import codecs

    try:
        codecs.lookup(name)
        "a".encode(name)
    except (LookupError, ValueError):
        raise DataError(
            f'Unknown encoding "{name}"; expected one such as latin-1, cp1252, utf-16 or gb18030.'
        ) from None


class Request(msgspec.Struct):
    """What is wanted of one file, and what its reader found out about it.

    Attributes:
        role: Whether candidates or references are wanted.
        problems: The bad records.
        reading: How to read the file.
        splits: The part of the data set that each item belongs to, where the file says it.
        read_as: What the file was read as, where a reader of the scores has to know it.
        blind: Whether items of a blind test, which have no caption, are taken with an empty one.
    """

    role: Role
    problems: Problems
    reading: Reading = msgspec.field(default_factory=Reading)
    splits: dict[str, str] = msgspec.field(default_factory=dict)
    read_as: str = ""
    blind: bool = False

    def takes(self, item: object, split: object) -> bool:
        """Note the part of the data set that an item is in, and tell whether it is wanted."""
        if not isinstance(split, str):
            return True
        self.splits[str(item)] = split
        return not self.reading.splits or split in self.reading.splits

    def taken(self) -> dict[str, str]:
        """The part of each item that was taken, where the file says it."""
        wanted = self.reading.splits
        return {i: part for i, part in self.splits.items() if not wanted or part in wanted}

    def check_splits(self, path: str) -> None:
        """Refuse a part of the data set that the file does not have.

        Raises:
            DataError: If the file names parts, and none that is wanted.
        """
        there = set(self.splits.values())
        if there and self.reading.splits and not there & set(self.reading.splits):
            raise DataError(
                f'{path}: no item has split="{self.reading.split}"; '
                f"there are {listed_splits(self.splits.values())}."
            )


def part_with(items: Iterable[str], splits: Mapping[str, str]) -> str | None:
    """Name the part of a data set that all items belong to; ``None`` if there is no such part.

    Args:
        items: The items that have candidates.
        splits: The part of each item of the data set; of one part alone, nothing is said.

    >>> part_with(["v2"], {"v1": "train", "v2": "test"})
    'test'
    >>> part_with(["v1", "v2"], {"v1": "train", "v2": "test"})
    """
    if len({*splits.values()}) < 2:
        return None
    parts = {splits.get(item) for item in items}
    return parts.pop() if len(parts) == 1 else None


def listed_splits(splits: Iterable[str]) -> str:
    """Name the parts of a data set with their sizes.

    >>> listed_splits(["train", "train", "test"])
    'train (2 items), test (1 item)'
    """
    from collections import Counter

    counts = Counter(splits).items()
    return ", ".join(f"{name} ({n:,} {'item' if n == 1 else 'items'})" for name, n in counts)
