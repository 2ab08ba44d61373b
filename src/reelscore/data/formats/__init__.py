"""The caption formats, recognised by their content.

A new format is a class derived from `Format`, and an entry in `FORMATS`. A format in JSON is told
by its shape (`json_kind`); a format of text tells by itself whether a file is of it. `lines` comes
last, and takes only text without any structure. File names never count.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cache
from importlib import import_module
from typing import ClassVar, cast

from reelscore.data.reading import USUAL, Reading, Record, Request
from reelscore.data.source import PARQUET, Source
from reelscore.errors import DataError, check_choice


class Format:
    """A format, with what most have: records named by their number from 1 on, fields without names.

    Each has a `read` of its own; those of text also tell whether a file is theirs.
    """

    unit: ClassVar[str] = "record"  # what one is called; "" where numbers are of lines

    def sniff(self, source: Source, reading: Reading) -> bool:
        """Return whether a file of text that begins like this is of the format."""
        raise NotImplementedError

    def fields(self, source: Source, reading: Reading) -> Collection[str]:
        """Name the fields of the first record; none where the format has no names."""
        return []

    def place(self, path: str, number: int) -> str:
        """Name the place of a record, for messages."""
        return f"{path}: {self.unit} {number}" if self.unit else f"{path}:{number}"

    def read(self, source: Source, request: Request) -> Iterator[Record]:
        """Yield number, item id and caption or list of captions of each record, unchecked."""
        raise NotImplementedError


LINES = "lines"
TIMED = ("activitynet", "youcook2", "chapters")
_OF_TEXT = ("chapters", "delimited", "python_literals", "text_layouts")  # told by themselves
# Of each format its module, what makes it there, and from what; imported for the first such file.
# Those of text are tried in this order.
FORMATS: dict[str, tuple[str, ...]] = {
    "coco": ("json_data_sets", "Coco"),
    "json": ("json_layouts", "Mapping"),
    "jsonl": ("json_layouts", "JsonLines"),
    "lists": ("json_layouts", "Lists"),
    "msrvtt": ("json_data_sets", "Msrvtt"),
    "vatex": ("json_data_sets", "Vatex"),
    "karpathy": ("json_data_sets", "Karpathy"),
    "activitynet": ("json_data_sets", "Timed", "timed captions"),
    "youcook2": ("json_data_sets", "Timed", "YouCook2"),
    "chapters": ("chapters", "Chapters", "chapters"),
    "parquet": ("parquet", "Parquet"),
    "python": ("python_literals", "PythonLiteral"),
    "msvd-csv": ("delimited", "MsvdCorpus"),
    "csv": ("delimited", "Delimited", ",;|"),
    "tsv": ("delimited", "Delimited", "\t"),
    "lsmdc": ("text_layouts", "lsmdc"),
    "msvd": ("text_layouts", "msvd"),
    LINES: ("text_layouts", "Lines"),
}


def _check_named_fields(name: str, source: Source, reading: Reading) -> None:
    """Refuse to read plain lines where the user names fields: they are wrong, or the file is."""
    named = reading.fields
    if name == LINES and (named != USUAL or reading.columns):
        wanted = ", ".join((*named.item, *named.caption, *named.reference, *reading.columns))
        begin = source.head.partition(b"\n")[0].decode("utf-8", "replace").strip()
        raise DataError(
            f"{source.path}: the fields {wanted} were named, but the file has no such header and "
            f"no such records; it begins with {begin[:60]!r}. If each line is a caption, pass "
            f"format={LINES!r}."
        )


@cache
def get_format(name: str) -> Format:
    """Return a format by name."""
    check_choice("format", name, FORMATS)
    module, make, *arguments = FORMATS[name]
    return cast(Format, getattr(import_module(f"{__name__}.{module}"), make)(*arguments))


def detect_format(source: Source, reading: Reading | None = None) -> str:
    """Name the format of a file, by its content."""
    from reelscore.data.formats.text_layouts import structure_of
    from reelscore.data.json_documents import json_kind

    reading = reading or Reading()
    if source.head.startswith(PARQUET):
        return "parquet"
    kind = json_kind(source.head, reading.fields)
    if kind in FORMATS:
        return kind
    for name in (name for name, (module, *_) in FORMATS.items() if module in _OF_TEXT):
        if get_format(name).sniff(source, reading):
            _check_named_fields(name, source, reading)
            return name
    structure = structure_of(source.head)
    assert structure is not None  # text without one is lines
    raise DataError(
        f"{source.path}: the format of the content is unknown: it looks like {structure.kind}. "
        f"{structure.remedy}; if each line is a caption, pass format={LINES!r}."
    )
