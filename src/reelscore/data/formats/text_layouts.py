r"""Layouts of text files without a header: `lsmdc`, `msvd` and `lines`.

- ``lsmdc``: six columns with tabs between them: the clip, four times such as 00.01.23.456, and the
  sentence. Rows of the blind test have no sentence.
- ``msvd``: the clip, a blank or a tab, and a caption; several rows of a clip. Clips are named by
  YouTube's id with the seconds of start and end (``mv89psg6zh4_33_46``), or ``vid1300``. A few
  lines about the data may stand before them.
- ``lines``: one caption a line; the id of an item is the number of its line, from 1 on. Only \n and
  \r\n end a line. All other characters that may break lines (CR, VT, FF, U+0085, U+2028) are part
  of the caption, since counting them would shift every caption after them.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import ClassVar, NamedTuple

import msgspec

from reelscore.data.formats import Format
from reelscore.data.json_documents import json_kind
from reelscore.data.reading import (
    CAPTION_FIELDS,
    MISSING_ITEM,
    USUAL,
    Reading,
    Record,
    Request,
    unnumbered,
)
from reelscore.data.source import HEAD_SIZE, Source, decode_line
from reelscore.errors import DataError

_FIRST = 20  # lines that a file is recognised by
_TIME = r"\d\d\.\d\d\.\d\d\.\d\d\d"


class TextLayout(Format, msgspec.Struct, frozen=True):
    """A format whose lines each hold an item id and a caption."""

    title: str  # what the layout is called in notes
    line: re.Pattern[str]  # what a line looks like, with the groups ``item`` and ``caption``
    expected: str  # what a line holds, in words
    heading: int = 0  # how many lines of another kind may come first
    marker: str = ""  # the line that each file must begin with, if any
    unit: ClassVar[str] = ""

    def sniff(self, source: Source, reading: Reading) -> bool:
        """Return whether the marker or, without one, all of the first lines are of the layout."""
        lines = source.head.decode("utf-8", "replace").split("\n")
        whole = lines[:-1] if len(lines) > 1 else lines  # the last may be cut
        first = [line.rstrip("\r") for line in whole[:_FIRST] if line.strip()]
        if self.marker:  # what follows may have faults, which are named
            return first[:1] == [self.marker]
        fit = [self.line.fullmatch(line) is not None for line in first]
        heading = fit.index(True) if True in fit else len(fit)
        return all(fit[heading:]) and 2 * heading < len(fit) and heading <= self.heading

    def read(self, source: Source, request: Request) -> Iterator[Record]:
        """Yield line number, item id and caption of each line; skip blank lines."""
        request.read_as = self.title
        has_begun = False
        for number, line in source.lines():
            try:
                text = decode_line(line, source.path, number).removesuffix("\n").removesuffix("\r")
            except DataError as error:
                request.problems.add(str(error))
                continue
            if self.marker and text.strip() and not has_begun:
                has_begun = True
                if text != self.marker:
                    problem = f"the file does not begin with the line {self.marker!r}"
                    request.problems.add(f"{source.path}:{number}: {problem}.")
            elif match := self.line.fullmatch(text):
                has_begun = True
                if match["caption"] is None and not request.blind:
                    request.problems.add(
                        f"{source.path}:{number}: clip {match['item']!r} has no sentence, as in "
                        "a blind test."
                    )
                else:
                    yield number, match["item"], match["caption"] or ""
            elif text.strip() and (has_begun or number > self.heading):
                problem = f"the line is not of the layout {self.title}; expected {self.expected}"
                request.problems.add(f"{source.path}:{number}: {problem}.")


def lsmdc() -> TextLayout:
    """Return the layout of LSMDC."""
    return TextLayout(
        "LSMDC",
        re.compile(rf"(?P<item>[^\t]+)(?:\t{_TIME}){{4}}(?:\t(?P<caption>[^\t]*))?\t?"),
        "clip, four times and sentence with tabs between them",
    )


def msvd() -> TextLayout:
    """Return the layout of MSVD."""
    return TextLayout(
        "MSVD",
        re.compile(r"(?P<item>[\w-]{11}_\d+_\d+|vid\d+(?=\t))(?:\.avi)?[ \t]+(?P<caption>.*)"),
        "clip and caption with a blank or a tab between them",
        heading=10,
    )


class Lines(Format):
    """``lines``: the lines of a text without any structure."""

    unit = ""

    def sniff(self, source: Source, reading: Reading) -> bool:
        """Return whether a file is text without any structure, so that its lines are captions."""
        return structure_of(source.head) is None

    def read(self, source: Source, request: Request) -> Iterator[Record]:
        """Yield number, number and caption of each line."""
        request.read_as = "plain lines"
        return _records(source.blocks(), 1, source.path, request)

    def captions(self, source: Source, request: Request) -> tuple[list[str], Iterator[Record]]:
        """Return the first captions, which all can be used, and the records from there on.

        As a rule there are none: a few thousand captions are looked at together.
        """
        request.read_as = "plain lines"
        texts: list[str] = []
        blocks = source.blocks()
        for block in blocks:
            lines = _usable_lines(block)
            if lines is None:
                rest = chain([block], blocks)
                return texts, _records(rest, len(texts) + 1, source.path, request)
            texts += lines
        return texts, iter(())


def _usable_lines(block: bytes) -> list[str] | None:
    """Decode the lines of a block; ``None`` if one of them cannot be used."""
    if b"\0" in block:
        return None
    try:
        *lines, last = map(bytes.decode, block.split(b"\n"))
    except UnicodeDecodeError:
        return None
    if b"\r" in block:
        lines = [line.removesuffix("\r") for line in lines]
    return [*lines, last] if last else lines


def _records(blocks: Iterable[bytes], first: int, path: str, request: Request) -> Iterator[Record]:
    """Decode line by line, and say which cannot be."""
    lines = (line for block in blocks for line in io.BytesIO(block))
    for number, line in enumerate(lines, start=first):
        try:
            text = decode_line(line, path, number)
        except DataError as error:
            request.problems.add(str(error))
        else:
            is_windows = text.endswith("\r\n")
            yield number, number, text[:-2] if is_windows else text.removesuffix("\n")


# Text that is not a caption a line: tables, records, subtitles, markup. Read as plain lines, a
# table without a header would be scored with ids and commas in its captions. So what looks as if it
# had columns or records is refused. Ordinary captions hold commas, colons and numbers: ids are a
# column only if nearly all lines begin with one.

_NEARLY_ALL = 0.9
_SEVERAL = 3  # fewer lines may begin alike by chance
_MANY = 20
_ENOUGH = 1000  # lines to judge a file by

_ID = re.compile(r'"?([^\s",;|:]+)"?\s*')
_RECORD = re.compile(r"""\{.*:.*\},?|[\[(]\s*['"].*['"]\s*[\])],?|"[^"]*"(,"[^"]*")+""")
_RECORD_BEGINS = ("{", "[", "(", '"')
_TIMES = re.compile(r"[\d:.,]+ --> [\d:.,]+")


class Structure(NamedTuple):
    """What a file is instead of plain lines, and what to do about it."""

    kind: str
    remedy: str


def structure_of(head: bytes) -> Structure | None:
    r"""Find the structure in the beginning of a text that no format takes; None if it has none."""
    if _is_binary(head):
        return Structure("binary", "Give a text")
    if json_kind(head):
        return Structure("JSON without captions", "Write records with an id and a caption")
    if len(head) == HEAD_SIZE and b"\n" not in head:
        return Structure(f"one line of more than {HEAD_SIZE:,} bytes", "Give each caption a line")
    lines = _first_lines(head)
    return _header_structure(lines) or _record_structure(lines) or _column_structure(lines)


def _is_binary(head: bytes) -> bool:
    # One of the two is an error in a text, reported with its line; both mean that it is not text.
    if b"\0" not in head:
        return False
    try:
        head[:-3].decode()  # the last character may be cut
    except UnicodeDecodeError:
        return True
    return False


def _first_lines(head: bytes) -> list[str]:
    """Lines that are not blank; the last line of a head may be cut, which does no harm."""
    lines = head.decode("utf-8", "replace").split("\n")
    return [line.rstrip("\r") for line in lines[:_ENOUGH] if line.strip()]


def _header_structure(lines: list[str]) -> Structure | None:
    """Find a header row that names columns, but not those that a table needs."""
    first = lines[0] if lines else ""
    if len(lines) > 1 and first.strip().lower() in CAPTION_FIELDS:
        return Structure(f"a table with the only column {first.strip()!r}", "Remove that line")
    for delimiter in ",;\t|":
        names = [cell.strip(' "').lower() for cell in first.split(delimiter)]
        if len(names) == 1:
            continue
        item = USUAL.item_field(names)
        captions = USUAL.has_captions([*names, *map(unnumbered, names)])
        if item and not captions:
            kind = f"a table whose header has no column of captions ({', '.join(names)})"
            return Structure(kind, 'Name that column: caption_field="NAME"')
        if captions and not item and not any(" " in name for name in names):
            kind = f"a table whose header names {MISSING_ITEM} ({', '.join(names)})"
            remedy = 'Name the column of the ids: id_field="NAME"; without one, keep a column'
            return Structure(kind, f"{remedy} of candidates and those of references alone")
    return None


def _record_structure(lines: list[str]) -> Structure | None:
    if any(" --> " in line and _TIMES.match(line) for line in lines):
        return Structure("subtitles with times", "Give the captions without times")
    if _nearly_all(lines, lambda line: line.startswith("<") and line.endswith(">")):
        return Structure("markup", "Give the captions without it")
    if _nearly_all(lines, _is_record):
        return Structure("records, but not JSON", "Write JSON, or a table with a header")
    return None


def _is_record(line: str) -> bool:
    line = line.strip()
    return line.startswith(_RECORD_BEGINS) and _RECORD.fullmatch(line) is not None


def _column_structure(lines: list[str]) -> Structure | None:
    remedy = """Add a header row such as 'id,caption', or name the columns: header="id,caption\""""
    if _nearly_all(lines, lambda line: "\t" in line):
        return Structure("a table without a header (tabs in its lines)", remedy)
    for delimiter in ",;|: ":
        if not _are_nearly_all([line for line in lines if delimiter in line], lines):
            continue
        ids = [match[1] for line in lines if (match := _id_before(delimiter, line))]
        if _are_ids(ids, delimiter, lines):
            begin = f"{ids[0]}{delimiter}"
            return Structure(f"a table without a header (its lines begin like {begin!r})", remedy)
    return None


def _id_before(delimiter: str, line: str) -> re.Match[str] | None:
    return _ID.fullmatch(line.partition(delimiter)[0]) if delimiter in line.lstrip() else None


def _are_ids(words: list[str], delimiter: str, lines: list[str]) -> bool:
    """Return whether the first words of lines are ids, and no part of captions."""
    with_digits = [word for word in words if any(map(str.isdigit, word))]
    if delimiter in ",;|" and _are_nearly_all(with_digits, lines):
        return True
    if len(lines) < _SEVERAL:
        return False
    if delimiter == " ":  # captions may begin with a number: "2 men", "3 dogs"
        counts = all(map(str.isdecimal, with_digits))
        in_order = counts and with_digits == sorted(with_digits, key=int)
        return _are_nearly_all(with_digits, lines) and (
            not counts or in_order or len(lines) >= _MANY
        )
    # words, as in "clipA,a man": only where no two lines begin with the same
    return _are_nearly_all(words, lines) and len({*words}) == len(words)


def _nearly_all(lines: list[str], is_such: Callable[[str], bool]) -> bool:
    return _are_nearly_all([line for line in lines if is_such(line)], lines)


def _are_nearly_all(some: list[str], lines: list[str]) -> bool:
    return len(some) > 0 and len(some) >= _NEARLY_ALL * len(lines)
