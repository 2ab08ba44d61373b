r"""`chapters`: the chapters of long videos, as sites and players have them.

- JSON: ``{"chapters": {"00:00:00": "Intro", "00:01:30": "The recipe"}}``, of one video, with its
  ``duration`` or without; or an object of such objects by video id.
- YouTube's descriptions: lines such as ``0:00 Intro``, among others that have no time.
- WebVTT: ``00:00:00.000 --> 00:01:30.000`` and the title below.
- ffmetadata, as FFmpeg writes and reads it: ``[CHAPTER]`` with ``START``, ``END`` and ``title``.

A chapter without an end runs to the next one's start; the last to the end of its video, which is
infinite as long as nothing says when that is. A file of one video does not name it: its own name
does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from html import unescape
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import NamedTuple

from reelscore.data.formats.json_data_sets import Timed
from reelscore.data.json_documents import RepeatedKeys, json_kind, whole_document
from reelscore.data.reading import Reading
from reelscore.data.source import Source
from reelscore.errors import DataError

_STAMP = r"((?:\d{1,2}:)?\d{1,3}:\d{2}(?:\.\d+)?)(?![\d:])"
_BETWEEN = r"[\s\-–—:|.,>)\]]*"
_TIME_FIRST = re.compile(rf"[^\w(\[]*[(\[]?{_STAMP}(?:\s*[-–—]\s*{_STAMP})?{_BETWEEN}(.*)")
_TIME_LAST = re.compile(rf"(.*?)[\s\-–—:|(\[]+{_STAMP}[)\]]?\s*")
_CUE_TIME = r"((?:\d{2,}:)?\d{2}:\d{2}\.\d{3})"
_CUE = re.compile(rf"\s*{_CUE_TIME}\s+-->\s+{_CUE_TIME}(?:\s.*)?")
_LINE_END = re.compile(r"\r\n|\n|\r")
_COMPRESSED = (".gz", ".xz", ".zst")
_VTT, _FFMETADATA = "WEBVTT", ";FFMETADATA"


class Chapter(NamedTuple):
    """A chapter: when it begins and ends, in seconds, and its title."""

    start: float
    end: float
    title: object


class Chapters(Timed, frozen=True):
    """``chapters``: JSON is told by its shape, the others here."""

    def sniff(self, source: Source, reading: Reading) -> bool:
        """Return whether a text holds chapters; a description has several, from 0:00 on."""
        text = source.head.decode("utf-8", "replace").lstrip()
        if text.startswith((_VTT, _FFMETADATA)):
            return True
        starts = [] if json_kind(source.head) else [start for start, _ in _stamped(text)]
        return len(starts) > 1 and starts[0] == 0 and starts == sorted(set(starts))


def chapters_of_text(source: Source) -> list[Chapter] | None:
    r"""Read the chapters of a file that is no JSON; ``None`` where it has none."""
    head = source.head.decode("utf-8", "replace").lstrip()
    marked = head.startswith((_VTT, _FFMETADATA))
    if not marked and (json_kind(source.head) or not _stamped(head)):
        return None
    text = whole_document(source).decode()
    if not marked:
        return _until_next(_stamped(text))
    read = _of_webvtt if head.startswith(_VTT) else _of_ffmetadata
    chapters = list(read(_LINE_END.split(text), source.path))
    if not chapters:
        raise DataError(f"{source.path}: the file has no chapters; at least one is needed.")
    return chapters


def chapters_of_object(value: Mapping[str, object]) -> list[Chapter]:
    """Read chapters by their starts, from what JSON has for a video.

    Raises:
        ValueError: If a start is no time, or the chapters are no object.

    >>> chapters_of_object({"duration": 90, "chapters": {"00:00:05": "Intro", "01:00": "End"}})
    [Chapter(start=5.0, end=60.0, title='Intro'), Chapter(start=60.0, end=90.0, title='End')]
    """
    chapters, end = value["chapters"], value.get("duration")
    if not isinstance(chapters, Mapping):
        raise ValueError("expected 'chapters' as an object of starts and titles.")
    pairs = chapters.pairs if isinstance(chapters, RepeatedKeys) else chapters.items()
    last = float(end) if isinstance(end, int | float) else inf
    return _until_next([(_seconds(start), title) for start, title in pairs], last)


def video_of_file(path: str) -> str:
    """Return the video that a file of one video is about, by the file's name.

    >>> video_of_file("runs/v1.json"), video_of_file("v1.chapters.vtt.gz")
    ('v1', 'v1')
    """
    name = Path(path).name
    for ending in _COMPRESSED:
        name = name.removesuffix(ending)
    return Path(name).stem.removesuffix(".chapters")


def is_of_one_video(document: Mapping[str, object]) -> bool:
    """Return whether an object holds the chapters of one video, and not videos by their ids.

    >>> is_of_one_video({"chapters": {"0:00": "Intro"}}), is_of_one_video({"v1": {"chapters": {}}})
    (True, False)
    """
    chapters = document.get("chapters")
    return isinstance(chapters, Mapping) and not any(
        isinstance(title, Mapping | list) for title in chapters.values()
    )


def _until_next(begun: Sequence[tuple[float, object]], end: float = inf) -> list[Chapter]:
    starts = [start for start, _ in begun]
    ends = [*starts[1:], end][: len(starts)]
    return [Chapter(start, end, title) for (start, title), end in zip(begun, ends, strict=True)]


def _seconds(time: object) -> float:
    """Read hours, minutes and seconds, or seconds alone."""
    parts = [time] if isinstance(time, int | float) else str(time).strip().split(":")
    try:
        numbers = [*map(int, parts[:-1]), float(parts[-1])]
    except ValueError:
        numbers = []
    if not 0 < len(numbers) < 4 or any(not 0 <= number < 60 for number in numbers[1:]):
        raise ValueError(f"the start {time!r} is no time; expected hh:mm:ss, such as '00:01:30'.")
    return _stamp(":".join(map(str, numbers)))


def _stamped(text: str) -> list[tuple[float, str]]:
    """Find the lines of a description that begin with a time, or where none does end with one."""
    lines = [line.strip() for line in _LINE_END.split(text)]
    first = [match for match in map(_TIME_FIRST.fullmatch, lines) if match]
    last = [match for match in map(_TIME_LAST.fullmatch, lines) if match and not first]
    found = [(match[1], match[3]) for match in first] + [(match[2], match[1]) for match in last]
    return [(_stamp(time), title.strip()) for time, title in found]


def _stamp(time: str) -> float:
    """Read a time that may have more than sixty minutes, as descriptions do."""
    seconds = 0.0
    for number in time.split(":"):
        seconds = 60 * seconds + float(number)
    return seconds


def _of_webvtt(lines: Sequence[str], path: str) -> Iterator[Chapter]:
    for number, line in enumerate(lines, start=1):
        if "-->" not in line:
            continue
        times = _CUE.fullmatch(line)
        if times is None:
            raise DataError(
                f"{path}:{number}: {line.strip()!r} are no times of a chapter; expected such as "
                "'00:00:00.000 --> 00:01:30.000'."
            )
        following = iter(lines[number:])
        title = " ".join(iter(lambda: next(following, "").strip(), ""))  # noqa: B023
        yield Chapter(_stamp(times[1]), _stamp(times[2]), unescape(re.sub("<[^>]*>", "", title)))


def _of_ffmetadata(lines: Sequence[str], path: str) -> Iterator[Chapter]:
    chapters: list[tuple[int, dict[str, str]]] = []
    inside = False
    for number, line in _unbroken(lines):
        if line.startswith("["):
            inside = line.strip() == "[CHAPTER]"
            if inside:
                chapters.append((number, {}))
        elif inside and line[:1] not in (";", "#"):
            parts = re.fullmatch(r"((?:\\[\s\S]|[^\\=])*)=([\s\S]*)", line)
            if parts:
                key, text = (re.sub(r"\\([\s\S])", r"\1", part) for part in parts.groups())
                chapters[-1][1][key.upper()] = text
    begun = []
    for number, own in chapters:
        try:
            base = Fraction(own.get("TIMEBASE", "1/1000000000"))
            start = float(int(own["START"]) * base)
            end = float(int(own["END"]) * base) if "END" in own else None
        except (KeyError, ValueError, ZeroDivisionError):
            raise DataError(
                f"{path}:{number}: the chapter has no time; expected TIMEBASE=1/1000 and a whole "
                "number as START, and as END if there is one."
            ) from None
        begun.append((start, end, own.get("TITLE", "")))
    for chapter, following in pairwise([*begun, (inf, None, "")]):
        start, end, title = chapter
        yield Chapter(start, following[0] if end is None else end, title)


def _unbroken(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    r"""Yield lines with their numbers; one that ends with an odd number of \ goes on below."""
    whole, begin = "", 1
    for number, line in enumerate(lines, start=1):
        whole += line
        if (len(line) - len(line.rstrip("\\"))) % 2:
            whole += "\n"
            continue
        yield begin, whole
        whole, begin = "", number + 1
