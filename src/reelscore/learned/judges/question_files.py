"""Files of questions about videos: those of VDC, and the annotations of CAPability."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from reelscore._records import resolved
from reelscore.data.file_names import expanded
from reelscore.errors import DataError

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


def read_questions(path: str, *, annotations: bool) -> Mapping[str, list[AskedQuestion]]:
    """Read the questions of each item.

    Args:
        path: A file, a folder or a pattern of files.
        annotations: Whether they are CAPability's annotations, or VDC's questions.

    Raises:
        DataError: If they are neither.
    """
    files = [Path(file) for file in expanded([path])]
    try:
        return _read(tuple(files), tuple(f.stat().st_mtime_ns for f in files), annotations)
    except OSError as error:
        raise DataError(f"{path}: questions cannot be read ({error.strerror}).") from error


@lru_cache(maxsize=4)
def _read(
    files: tuple[Path, ...], changed: tuple[int, ...], annotations: bool
) -> Mapping[str, list[AskedQuestion]]:
    questions: dict[str, list[AskedQuestion]] = {}
    expected = (
        "an annotation of CAPability: file_id, task, annotation"
        if annotations
        else 'questions of VDC: {"ID": [{"question", "answer"}, …]}'
    )
    for file in files:
        for number, line in enumerate(file.read_bytes().splitlines(), start=1):
            if not line.strip():
                continue
            try:
                if annotations:
                    item, own = _annotated(line)
                    questions.setdefault(item, []).extend(own)
                else:  # of a video that comes again the later questions count, as in the tool
                    questions |= _of_vdc(line)
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                raise DataError(f"{file}:{number}: expected {expected} ({error}).") from None
    return questions


def _of_vdc(line: bytes) -> dict[str, list[AskedQuestion]]:
    videos = msgspec.json.decode(line, type=resolved(dict[str, list[_VdcQuestion]]))
    return {
        item: [AskedQuestion(each.question, each.answer) for each in own]
        for item, own in videos.items()
    }


def _annotated(line: bytes) -> tuple[str, list[AskedQuestion]]:
    one = msgspec.json.decode(line, type=resolved(_Annotation))
    if one.task not in DIMENSIONS:
        raise msgspec.DecodeError(f"no task {one.task!r}; there are {', '.join(DIMENSIONS)}")
    truths = [str(one.annotation)]
    if isinstance(one.annotation, dict):  # of things and their number or colour
        there = {name: value for name, value in one.annotation.items() if value is not None}
        truths = [f"{name}: {value}" for name, value in there.items()]
    return str(one.file_id), [AskedQuestion(one.task, truth) for truth in truths]
