"""Captions in shards: which files there are, whose captions they hold, and bad records in them.

Shards are Parquet files and JSON Lines of any number and size; `shard_blocks` reads them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import structs

from reelscore.data.checks import counted
from reelscore.data.file_names import PathLike, is_file, shard_files
from reelscore.data.formats import detect_format, get_format
from reelscore.data.formats.parquet import damage_explained, need_pyarrow
from reelscore.data.reading import Reading, Role, same_name
from reelscore.data.source import EmptyFileError, Source
from reelscore.errors import DataError

SYSTEM = "system"
STREAMED = ("parquet", "jsonl")  # the formats that are read in blocks
_ROW_BITS = 40
_LINE_BYTES = 100  # of a record in JSON Lines, roughly
_COMPRESSED_BYTES = 25  # the same where it is compressed


class BadRow(NamedTuple):
    """A record that cannot be used, and why."""

    file: str
    row: int
    item: str | None
    reason: str

    def __str__(self) -> str:
        item = (
            "" if self.item is None or repr(self.item) in self.reason else f"item {self.item!r}: "
        )
        return f"{self.file}: row {self.row}: {item}{self.reason}"


class Remedies(msgspec.Struct, frozen=True):
    """What errors tell the user to do, which depends on what was called."""

    record: str  # about a record that cannot be used
    missing: str  # about an item without a caption


BY_ARGUMENTS = Remedies(
    "Fix it, or collect such records: bad_rows='FILE'.",
    'Add it, pass missing="zero" or missing="skip", or collect such items: bad_rows="FILE".',
)


class BadRows(msgspec.Struct):
    """What happens to records that cannot be used."""

    kept: bool = False  # whether they are collected, instead of being an error
    remedies: Remedies = BY_ARGUMENTS  # what an error tells the user to do
    rows: list[BadRow] = msgspec.field(default_factory=list)  # those collected

    def add(self, bad: BadRow) -> None:
        """Collect a record, or refuse it."""
        if not self.kept:
            raise DataError(f"{bad}. {self.remedies.record}")
        self.rows.append(bad)


class Shard(msgspec.Struct, frozen=True):
    """One file of captions."""

    number: int  # its place among the shards of its role
    path: str  # the file
    format: str  # ``parquet`` or ``jsonl``
    role: Role  # whether it holds candidates or references
    system: str | None  # the system whose captions it holds; ``None`` if its records say it
    # how to read it; its split is ``None`` where records name no parts of a data set
    reading: Reading
    rows: int  # how many records it has, roughly
    name: str | None = None  # what messages call it, where the user does not know the file

    @property
    def shown(self) -> str:
        """What messages call it."""
        return self.name or self.path


def place_of(number: int, row: int) -> int:
    """The number of a row among all rows of all shards, in the order of reading."""
    return (number << _ROW_BITS) | row


def named_place(place: int, shards: Sequence[Shard]) -> tuple[str, int]:
    """The file and the row of a place."""
    return shards[place >> _ROW_BITS].shown, row_of(place)


def row_of(place: int) -> int:
    """The row of a place in its file."""
    return place & ((1 << _ROW_BITS) - 1)


def shards_of(
    files: Mapping[str, PathLike] | Iterable[PathLike],
    role: Role,
    reading: Reading | None = None,
) -> list[Shard]:
    """List the shards that files, folders and patterns stand for; their content tells the format.

    Files without a record are left out: programs on many machines write them beside the others.
    """
    reading = reading or Reading()
    if isinstance(files, Mapping):
        groups: list[tuple[str | None, list[PathLike]]] = [
            (name, shard_files([own])) for name, own in files.items()
        ]
    else:
        groups = [(None, shard_files(files))]
    shards: list[Shard] = []
    for system, paths in groups:
        before = len(shards)
        for path in paths:
            if glance := _glance(path, reading):
                shards.append(_shard(len(shards), path, glance, role, system, reading))
        if paths and len(shards) == before:
            first, *others = paths
            also = f" and {counted(len(others), 'other file')}" if others else ""
            raise DataError(
                f"{os.fspath(first)}{also}: there are no captions in {'them' if others else 'it'}; "
                "at least one is needed."
            )
    return shards


class _Glance(msgspec.Struct, frozen=True):
    """What is known of a file before it is read: its format, its fields, roughly its rows."""

    format: str
    fields: Sequence[str]
    rows: int


def _glance(path: PathLike, reading: Reading) -> _Glance | None:
    """Look at the beginning of a file; ``None`` if it has no record."""
    try:
        source = Source(path, reading.encoding)
    except EmptyFileError:
        return None
    with source:
        if source.is_blank:
            return None
        kind = reading.format or detect_format(source, reading)
        if kind == "parquet" and not source.is_compressed:
            with open_parquet(source.path) as file:
                fields, rows = file.schema_arrow.names, file.metadata.num_rows
            return _Glance(kind, fields, rows) if rows else None
        if kind not in STREAMED:
            return _Glance(kind, (), 0)
        of_a_line = _COMPRESSED_BYTES if source.is_compressed else _LINE_BYTES
        rows = max(1, Path(source.path).stat().st_size // of_a_line)
        return _Glance(kind, list(get_format(kind).fields(source, reading)), rows)


def _shard(
    number: int,
    path: PathLike,
    glance: _Glance,
    role: Role,
    system: str | None,
    reading: Reading,
) -> Shard:
    """Make a shard of a file, if it has what is needed."""
    name, fields = os.fspath(path), glance.fields
    if glance.format not in STREAMED:
        raise DataError(
            f"{name}: read as {glance.format}, which is not read in pieces; large sets are Parquet "
            "or JSON Lines."
        )
    if fault := reading.fields.fault(fields, role):
        raise DataError(f"{name}: {fault}.")
    if role == "candidates" and system is None and system_field(fields) is None:
        raise DataError(
            f"{name}: no field 'system' says whose captions these are; there are "
            f"{', '.join(fields)}. Name the system: NAME=FILE."
        )
    own = reading if "split" in fields else structs.replace(reading, split=None)
    return Shard(number, name, glance.format, role, system, own, glance.rows)


def streamed(paths: Iterable[PathLike], reading: Reading | None = None) -> bool:
    """Return whether files, folders and patterns stand for shards alone, by their content."""
    reading = reading or Reading()
    for path in shard_files(paths):
        if not is_file(path):  # a pipe is empty after one look
            return False
        glance = _glance(path, reading)
        if glance is not None and glance.format not in STREAMED:
            return False
    return True


def names_systems(path: PathLike, reading: Reading) -> bool | None:
    """Return whether the records of a file have a field for the system.

    ``None`` without records.
    """
    glance = _glance(path, reading)
    return None if glance is None else system_field(glance.fields) is not None


def write_shards(
    folder: Path, systems: Mapping[str, Mapping[str, str]], references: Mapping[str, Sequence[str]]
) -> tuple[dict[str, PathLike], list[PathLike]]:
    """Write captions in memory as shards: give the file of each system, and that of references."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    candidates: dict[str, PathLike] = {}
    for number, (name, captions) in enumerate(systems.items()):
        candidates[name] = folder / f"candidates-{number}.parquet"
        own = {"item": [*captions], "caption": [*captions.values()]}
        pq.write_table(pa.table(own), candidates[name])
    truth = folder / "references.parquet"
    pq.write_table(
        pa.table({"item": [*references], "caption": [list(each) for each in references.values()]}),
        truth,
    )
    return candidates, [truth]


def system_field(names: Iterable[str]) -> str | None:
    """Find the field that says which system wrote a caption.

    >>> system_field(["System", "item", "caption"])
    'System'
    """
    return next((name for name in names if same_name(name) == SYSTEM), None)


def names_of(role: Role) -> tuple[str, ...]:
    """The columns of a block."""
    return (
        (SYSTEM, "item", "caption", "place")
        if role == "candidates"
        else ("item", "caption", "place")
    )


def open_parquet(path: str) -> Any:
    """Open a Parquet file."""
    need_pyarrow(f"{path}: reading Parquet")
    import pyarrow.parquet as pq

    if not Path(path).exists():
        raise DataError(f"{path}: no such file.")
    with damage_explained(path):
        return pq.ParquetFile(path, memory_map=True)
