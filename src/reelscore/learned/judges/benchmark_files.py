"""Files of benchmarks: DREAM-1K's clips, VDC's questions, and the annotations of CAPability.

DREAM-1K's file has a JSON object a line: the description that people wrote, its events, the subset
that the clip is from, and how many subjects, shots and events it has. Clips are known by their
description, which no two share. Two layouts are read, that of Tarsier and that of Tarsier 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from reelscore._records import resolved
from reelscore.data.file_names import expanded
from reelscore.data.json_documents import plain_record
from reelscore.errors import DataError

Content = Mapping[str, Any]  # by description or item

SUBSETS = ("movie_animation", "movie_live_action", "vertical_video", "videvo", "youtube")
# the least number of each group of clips, and what the group is called
_FEW = {1: "≤1", 2: "2", 3: "3", 4: "≥4"}
_BUCKETS = {
    "subjects": _FEW,
    "shots": _FEW,
    "events": {1: "≤3", 4: "4–5", 6: "6–7", 8: "≥8"},
}
# groups by their scores, with what tables call them
GROUPS = {subset: subset.replace("_", " ") for subset in SUBSETS} | {
    f"{what}_{least}": f"{words} {what}"
    for what, names in _BUCKETS.items()
    for least, words in names.items()
}


class _About(msgspec.Struct):
    events: list[str]
    n_subjects: int
    n_shots: int
    n_events: int


class _Line(msgspec.Struct):
    dataset: str
    extra_info: _About


class Clip(NamedTuple):
    """The events of a description, and the groups of its clip, by their numbers in `GROUPS`."""

    events: list[str]
    groups: list[int]


# Of each dimension of CAPability: in what respect an annotation is true, when a caption does not
# say it, and when it is wrong. Of some, one that tells others but not this one counts as wrong.
_NUMBER = ("it does not name them, or gives no number but some or many", "it gives another number")
DIMENSIONS = {
    "object_category": ("what is there", "it names no thing at all", "it names others only"),
    "object_number": ("how many there are", *_NUMBER),
    "object_color": ("a colour", "it does not name the thing, or no colour", "it names another"),
    "spatial_relation": ("where things are", "it does not say so", "it places them otherwise"),
    "scene": ("the place", "it says nothing of any place", "it names other places only"),
    "camera_angle": ("the angle of the camera", "it names no angle", "it names other angles only"),
    "OCR": ("text that can be read", "it does not mention the text", "it quotes it wrongly"),
    "style": ("the style of the picture", "it names no style", "it names other styles only"),
    "character_identification": ("who is shown", "it names nobody", "it gives other names only"),
    "dynamic_object_number": ("how many there are", *_NUMBER),
    "action": ("what is done", "it tells no action at all", "it tells other actions only"),
    "camera_movement": ("how the camera moves", "it tells none", "it tells other movements only"),
    "event": ("what happens", "it does not tell of it", "it tells of it wrongly"),
}


class AskedQuestion(NamedTuple):
    """A question about a video."""

    question: str  # of annotations, the dimension
    truth: str  # the right answer; of annotations, what is true


class _VdcQuestion(msgspec.Struct):
    question: str
    answer: str


class _Annotation(msgspec.Struct):
    file_id: str | int
    task: str
    annotation: str | int | dict[str, Any]


def dream_clips(path: str) -> Mapping[str, Clip]:
    """Read DREAM-1K's clips, by their descriptions."""
    return _read(path, [path], _dream, "DREAM-1K's file")


def read_questions(path: str, *, annotations: bool) -> Mapping[str, list[AskedQuestion]]:
    """Read VDC's questions or CAPability's annotations by item: a file, a folder or a pattern."""
    return _read(path, expanded([path]), _capability if annotations else _vdc, "questions")


def _read(
    path: str,
    files: Sequence[str | PathLike[str]],
    read: Callable[[tuple[Path, ...]], Content],
    what: str,
) -> Content:
    """Read files once, and again when they have changed."""
    paths = tuple(map(Path, files))
    try:
        return _kept(read, paths, tuple(file.stat().st_mtime_ns for file in paths))
    except OSError as error:
        raise DataError(f"{path}: {what} cannot be read ({error.strerror}).") from error


@lru_cache(maxsize=4)
def _kept(
    read: Callable[[tuple[Path, ...]], Content], files: tuple[Path, ...], changed: tuple[int, ...]
) -> Content:
    return read(files)


def _lines(files: tuple[Path, ...]) -> Iterator[tuple[str, bytes]]:
    """Yield the lines that are not empty, each with its place."""
    for file in files:
        for number, line in enumerate(file.read_bytes().splitlines(), start=1):
            if line.strip():
                yield f"{file}:{number}", line


def _dream(files: tuple[Path, ...]) -> Mapping[str, Clip]:
    clips: dict[str, Clip] = {}
    names = list(GROUPS)
    for place, line in _lines(files):
        try:
            value: dict[str, Any] = msgspec.json.decode(line, type=dict[str, Any])
            about = msgspec.convert(value, resolved(_Line))
            description = msgspec.convert(plain_record(value)["reference"], str)
        except (msgspec.DecodeError, UnicodeDecodeError, KeyError) as error:
            raise DataError(
                f"{place}: not a line of DREAM-1K ({error}); expected a description, "
                "'dataset', and 'extra_info' with the events and their number."
            ) from None
        subset = about.dataset.rpartition("/")[2]
        if subset not in SUBSETS:
            raise DataError(
                f"{place}: DREAM-1K has no subset {about.dataset!r}; expected one of "
                f"{', '.join(SUBSETS)}."
            )
        if description in clips:
            raise DataError(f"{place}: the description of an earlier clip comes again.")
        groups = [names.index(subset)]
        for what, bounds in _BUCKETS.items():
            count = getattr(about.extra_info, f"n_{what}")
            groups.append(
                names.index(f"{what}_{max(low for low in bounds if low <= max(count, 1))}")
            )
        clips[description] = Clip(about.extra_info.events, groups)
    return clips


def _vdc(files: tuple[Path, ...]) -> Mapping[str, list[AskedQuestion]]:
    questions: dict[str, list[AskedQuestion]] = {}
    for place, line in _lines(files):
        with _expected(place, 'questions of VDC: {"ID": [{"question", "answer"}, …]}'):
            videos = msgspec.json.decode(line, type=resolved(dict[str, list[_VdcQuestion]]))
        # of a video that comes again the later questions count, as in the tool
        questions |= {
            item: [AskedQuestion(each.question, each.answer) for each in asked]
            for item, asked in videos.items()
        }
    return questions


def _capability(files: tuple[Path, ...]) -> Mapping[str, list[AskedQuestion]]:
    questions: dict[str, list[AskedQuestion]] = {}
    for place, line in _lines(files):
        with _expected(place, "an annotation of CAPability: file_id, task, annotation"):
            one = msgspec.json.decode(line, type=resolved(_Annotation))
            if one.task not in DIMENSIONS:
                names = ", ".join(DIMENSIONS)
                raise msgspec.DecodeError(f"no task {one.task!r}; there are {names}")
        truths = [str(one.annotation)]
        if isinstance(one.annotation, dict):  # of things and their number or colour
            there = {name: value for name, value in one.annotation.items() if value is not None}
            truths = [f"{name}: {value}" for name, value in there.items()]
        asked = [AskedQuestion(one.task, truth) for truth in truths]
        questions.setdefault(str(one.file_id), []).extend(asked)
    return questions


@contextmanager
def _expected(place: str, what: str) -> Iterator[None]:
    """Raise what was expected, where a line cannot be read."""
    try:
        yield
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{place}: expected {what} ({error}).") from None
