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
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import ClassVar

import msgspec

from reelscore.data.formats import Format
from reelscore.data.reading import Reading, Record, Request
from reelscore.data.source import Source, decode_line
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
        from reelscore.data.formats.structure import structure_of

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
