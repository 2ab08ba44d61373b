"""`csv` and `tsv`: values separated by commas, semicolons, bars or tabs, with a header row.

Quoted fields may hold line breaks. A table without a header needs the names of its columns from
the user. One that holds candidates beside references, and nothing else, is in order: its rows are
its items. `msvd-csv` is MSVD's corpus as it was published: an item is a part of a video, and
descriptions in other languages than English are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import ClassVar

import msgspec

from reelscore.data.checks import counted, is_written_list
from reelscore.data.formats import Format
from reelscore.data.json_documents import NoCaption, texts_of
from reelscore.data.reading import (
    IN_ORDER,
    ROLE_FIELDS,
    USUAL,
    FieldNames,
    Reading,
    Record,
    Request,
    choosing,
    same_name,
    several_caption_fields,
    unnumbered,
)
from reelscore.data.source import Source, decode_line
from reelscore.errors import DataError

_FIRST = 100  # lines that show how a table is separated
_DELIMITERS = "\t,;|"


def header_cells(head: bytes, delimiter: str) -> list[str]:
    r"""Split the first line of a file as a header; names are compared in lower case.

    >>> header_cells(b"Video_ID, Caption\nv1,a man", ",")
    ['video_id', 'caption']
    """
    line = head.partition(b"\n")[0].decode("utf-8", "replace")
    return [column_name(cell) for cell in line.split(delimiter)]


def column_kinds(header: Sequence[str]) -> list[str]:
    r"""Name the columns of a header; numbered columns lose their number.

    >>> column_kinds(["id", "caption 1", "caption_2"])
    ['id', 'caption', 'caption']
    """
    return [unnumbered(name) for name in header]


def _names(header: Sequence[str]) -> list[str]:
    """All names that columns go by: numbered ones also without their number."""
    return list(dict.fromkeys([*column_kinds(header), *header]))


class Delimited(Format, msgspec.Struct, frozen=True):
    """A format of tables, by the delimiters it may have."""

    delimiters: str
    unit: ClassVar[str] = ""

    def sniff(self, source: Source, reading: Reading) -> bool:
        """Return whether a file begins with a header that names an item id and captions.

        If the user names the columns, tell whether the lines have as many.
        """
        if _has_header(source, reading, self.delimiters):
            return True
        return bool(reading.columns) and _delimiter_of_rows(source, reading, self.delimiters) != ""

    def fields(self, source: Source, reading: Reading) -> list[str]:
        """Name the columns, numbered ones without their number too."""
        return _names(self._header(source, reading)[1])

    def _header(self, source: Source, reading: Reading) -> tuple[str, list[str]]:
        """The delimiter and the names of the columns."""
        if not reading.columns:
            delimiter = _delimiter_of_header(source, reading.fields, self.delimiters)
            return delimiter, header_cells(source.head, delimiter)
        delimiter = _has_header(source, reading, self.delimiters)
        if delimiter:
            raise DataError(
                f"{source.path}: the table has a header "
                f"({', '.join(header_cells(source.head, delimiter))}); leave header= out, and "
                'choose from these: id_field="NAME", caption_field="NAME".'
            )
        delimiter = _delimiter_of_rows(source, reading, self.delimiters) or self.delimiters[0]
        return delimiter, [column_name(name) for name in reading.columns]

    def read(self, source: Source, request: Request) -> Iterator[Record]:
        """Yield line number, item id and captions of each row.

        One caption column yields texts. Several, numbered ones yield lists without the empty cells,
        since a table has no other way to give one item fewer references than another.
        """
        columns = request.reading.columns
        delimiter, header = self._header(source, request.reading)
        rows = _rows(source, request, delimiter)
        if columns:
            request.read_as = f"a table without a header ({', '.join(columns)})"
        else:
            header = [column_name(cell) for cell in next(rows, (1, header))[1]]
        item, captions = _columns(header, source.path, request)
        if item is None:
            request.read_as = f"a table of captions {IN_ORDER}"
        split = header.index("split") if "split" in header and request.reading.splits else None
        for number, (line, row) in enumerate(
            _as_wide(rows, header, source.path, request, delimiter), start=1
        ):
            key = number if item is None else row[item]
            if split is not None and not request.takes(key, row[split]):
                continue
            if len(captions) > 1:
                yield line, key, [row[column] for column in captions if row[column]]
            elif (records := _records_in(row[captions[0]])) is not None:
                try:
                    yield line, key, texts_of(records, request.reading.fields, request.role)
                except NoCaption as fault:
                    request.problems.add(f"{source.path}:{line}: {fault}.")
            elif is_written_list(row[captions[0]]):
                request.problems.add(
                    f"{source.path}:{line}: the cell holds a list of captions; give each "
                    "a row or a numbered column of its own, or write JSON Lines."
                )
            else:
                yield line, key, row[captions[0]]


def _records_in(cell: str) -> list[object] | None:
    """Read a cell in which a program wrote a list of records as JSON."""
    if not cell.startswith("[{"):
        return None
    try:
        return msgspec.json.decode(cell, type=list[object])
    except msgspec.DecodeError:
        return None


class MsvdCorpus(Format):
    """``msvd-csv``: MSVD's table of videos, times, languages and descriptions."""

    unit = ""
    _ITEM = ("videoid", "start", "end")
    _TEXT = ("language", "description")

    def sniff(self, source: Source, reading: Reading) -> bool:
        """Return whether the header is that of MSVD's corpus."""
        names = {same_name(name) for name in header_cells(source.head, ",")}
        return reading.fields == USUAL and names >= {*self._ITEM, *self._TEXT}

    def read(self, source: Source, request: Request) -> Iterator[Record]:
        """Yield line number, clip and description of each row in English."""
        rows = _rows(source, request, ",")
        header = [same_name(cell.strip()) for cell in next(rows, (1, []))[1]]
        if missing := [name for name in (*self._ITEM, *self._TEXT) if name not in header]:
            raise DataError(f"{source.path}:1: no column {missing[0]!r}, as in MSVD's corpus.")
        item = [header.index(name) for name in self._ITEM]
        language, text = (header.index(name) for name in self._TEXT)
        others = 0
        for line, row in _as_wide(rows, header, source.path, request, ","):
            if row[language].strip().lower() in ("", "english"):
                yield line, "_".join(row[column].strip() for column in item), row[text]
            else:
                others += 1
        left_out = f"; {counted(others, 'description')} in other languages left out"
        request.read_as = "MSVD's corpus, in English" + (left_out if others else "")


def _rows(source: Source, request: Request, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each row with the line that it begins in, up to one that is malformed."""
    import csv

    rows = csv.reader(_text_lines(source, request), delimiter=delimiter, strict=True)
    line = 1
    try:
        for row in rows:
            yield line, row
            line = rows.line_num + 1
    except csv.Error as error:
        what = (
            "a carriage return outside quotes"
            if "new-line" in str(error)
            else f"unbalanced or misplaced quotes, or a runaway field ({error}); quotes that "
            'are part of a caption are doubled, in a field in quotes: """no"" he says"'
        )
        place = f"{source.path}:{line}"
        request.problems.add(f"{place}: malformed table, in the row from here: {what}.")


def _as_wide(
    rows: Iterator[tuple[int, list[str]]],
    header: Sequence[str],
    path: str,
    request: Request,
    delimiter: str,
) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that have as many fields as the header; blank ones are left out."""
    for line, row in rows:
        if len(row) == len(header):
            yield line, row
        elif row:
            request.problems.add(
                f"{path}:{line}: the row has {len(row)} fields, the header "
                f"{len(header)}; put fields that hold {delimiter!r} in quotes."
            )


def _has_header(source: Source, reading: Reading, delimiters: str) -> str:
    """The delimiter of a header that names an item id and captions; empty if there is none."""
    for delimiter in delimiters:
        header = header_cells(source.head, delimiter)
        if reading.fields.are_of_record(_names(header)) or _is_in_order(header, reading.fields):
            return delimiter
    return ""


def _is_in_order(header: Sequence[str], fields: FieldNames) -> bool:
    """Return whether all columns hold captions, some of them a system's: rows need no ids."""
    kinds = {*column_kinds(header)}
    wanted = [own.caption_fields(kinds, role) for own in (fields, USUAL) for role in ROLE_FIELDS]
    has_systems = fields.caption or fields.role_fields(kinds, "candidates")
    return bool(has_systems) and len(kinds) > 1 and kinds == {*chain(*wanted)}


def _delimiter_of_header(source: Source, fields: FieldNames, delimiters: str) -> str:
    """The delimiter that makes the most sense of a header, be it incomplete."""

    def merit(delimiter: str) -> tuple[bool, bool, int]:
        names = _names(header_cells(source.head, delimiter))
        return fields.has_captions(names), fields.item_field(names) is not None, len(names)

    return max(delimiters, key=merit)


def _delimiter_of_rows(source: Source, reading: Reading, delimiters: str) -> str:
    """The delimiter by which the first lines have as many columns as the user names, or none."""
    lines = source.head.decode("utf-8", "replace").split("\n")
    whole = lines[:-1] if len(lines) > 1 else lines  # the last may be cut
    first = [line for line in whole[:_FIRST] if line.strip()]
    fewest = len(reading.columns) - 1

    def merit(delimiter: str) -> tuple[int, int]:
        counts = [line.count(delimiter) for line in first]
        return sum(count == fewest for count in counts), sum(count > fewest for count in counts)

    best = max(_DELIMITERS, key=merit)
    return best if best in delimiters and 2 * sum(merit(best)) > len(first) else ""


def _text_lines(source: Source, request: Request) -> Iterator[str]:
    for number, line in source.lines():
        try:
            yield decode_line(line, source.path, number)
        except DataError as error:
            request.problems.add(str(error))
            yield line.decode("utf-8", "replace")  # keeps the rows in step; never returned


def _columns(header: list[str], path: str, request: Request) -> tuple[int | None, list[int]]:
    """The places of the item id, if there is one, and of the captions."""
    fields, role = request.reading.fields, request.role
    item = fields.item_field(header)
    kinds = column_kinds(header)
    known = kinds if item is None or item in kinds else [*kinds, item]
    named = fields.reference if role == "references" else fields.caption
    wanted = fields.caption_fields([*kinds, *header] if named else kinds, role)
    if role == "candidates" and len(wanted) > 1:  # a system's captions are in no numbered columns
        wanted = [name for name in wanted if name in header] or wanted
    captions = [
        column
        for name in wanted
        for column, kind in enumerate(kinds)
        if name in (kind, header[column]) and header[column] != item
    ]
    names = [header[column] for column in captions]
    if not captions or (item is None and not _is_in_order(header, fields)):
        fault = fields.fault(known, role) or "no caption"
        raise DataError(f"{path}:1: {fault}.")
    if (len(wanted) > 1 and not named) or len(set(names)) < len(names):
        raise DataError(f"{path}:1: {several_caption_fields(names, role)}{choosing(names, role)}.")
    return None if item is None else header.index(item), captions


def column_name(cell: str) -> str:
    """Read a cell of a header: names are compared without quotes, in lower case."""
    return cell.strip().strip('"').strip().lower()
