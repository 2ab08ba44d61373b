"""Read stories from the formats of dense captioning.

Six shapes are told apart by content, and any of them may hold candidates or references:

- candidates of ActivityNet Captions: ``{"results": {video: [{"sentence", "timestamp"}, …]}}``;
- its truth: ``{video: {"duration", "timestamps": […], "sentences": […]}}``;
- the annotations of YouCook2: ``{"database": {video: {"duration", "subset", "annotations":
  [{"segment", "sentence"}, …]}}}``;
- TimeChat's output: ``{"video.mp4": [{"caption", "timestamp"}, …]}``;
- JSON Lines: an object for each caption, or for each video, with the id under ``video_id``; or the
  samples of lmms-eval, a model's answer to a segment in a line;
- chapters, in the forms of `reelscore.data.formats.chapters`.

Every segment and sentence is checked here, so that the scores never meet a bad one.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from reelscore.data.captions.python_captions import columns_of
from reelscore.data.checks import (
    Problems,
    counted,
    has_words,
    id_fault,
    id_text,
    in_words,
    is_missing,
    text_fault,
)
from reelscore.data.file_names import PathLike, expanded
from reelscore.data.formats.chapters import (
    Chapter,
    chapters_of_object,
    chapters_of_text,
    is_of_one_video,
    video_of_file,
)
from reelscore.data.json_documents import (
    RepeatedKeys,
    decode_document,
    decode_json_line,
    glimpse,
    plain_record,
    whole_document,
)
from reelscore.data.reading import ITEM_FIELDS
from reelscore.data.source import Source
from reelscore.data.stories import NO_CAPTIONS, Stories, Story, StoryPolicies, plain_stories
from reelscore.errors import DataError

# One video's or one caption's part of a file: place, video id, value.
Entry = tuple[str, Any, Any]

_VIDEO_FIELDS = ("video", *ITEM_FIELDS)
_TIME_FIELDS = ("timestamp", "segment")
_SENTENCE_FIELDS = ("sentence", "caption", "text", "prediction")
_OF_A_VIDEO = {"timestamps", "annotations", "chapters"}
_VIDEO_ENDINGS = (".mp4", ".mkv", ".webm", ".avi", ".mov")


def read_stories(
    path: PathLike, policies: StoryPolicies | None = None, *, video: str | None = None
) -> Stories:
    """Read timed captions from a file in any of the formats; it may be compressed.

    Args:
        path: The file; or a folder or a pattern, whose files are read as one.
        policies: What to do with reversed segments, negative times and blank sentences; errors
            by default.
        video: The video that is of interest; others are left out where they are bad, and a note
            says so.

    Raises:
        DataError: If the file cannot be read or any caption in it is bad. All bad captions are
            counted, the first few are named.

    >>> from reelscore import examples
    >>> stories = read_stories(examples.path("stories/annotator_1.json"))
    >>> stories
    <5 stories, 25 captions>
    >>> stories["v_dogwash"].segments.tolist()
    [[0.0, 14.8], [15.0, 44.2], [45.1, 66.05]]
    """
    return read_together(expanded([path]), os.fspath(path), policies, video=video)


def read_together(
    paths: Iterable[PathLike],
    name: str,
    policies: StoryPolicies | None = None,
    *,
    video: str | None = None,
) -> Stories:
    """Read files that have different videos; other arguments as in `read_stories`."""
    entries: list[Entry] = []
    names = []
    for path in paths:
        with Source(path) as source:
            entries += _entries_in(source)
            names.append(source.path)
    name = names[0] if len(names) == 1 else name
    return _collect(entries, name, policies or StoryPolicies(), video)


def names_its_video(path: PathLike) -> bool:
    """Return whether a file holds the chapters of one video, whose id is the file's name."""
    with Source(path) as source:
        head = glimpse(source.head)
        if head and isinstance(head[0], dict):
            return is_of_one_video(head[0])
        return chapters_of_text(source) is not None


def stories_in(source: Source, policies: StoryPolicies) -> Stories:
    """Read timed captions from an open file; see `read_stories`."""
    return _collect(_entries_in(source), source.path, policies, None)


def _entries_in(source: Source) -> list[Entry]:
    if _is_json_lines(source.head):
        return list(_entries_of_lines(source))
    chapters = chapters_of_text(source)
    if chapters is not None:
        return [(source.path, video_of_file(source.path), chapters)]
    document = decode_document(whole_document(source), source.path)
    return _entries_of_document(document, source.path, video_of_file(source.path))


def stories_of(
    data: Mapping[str, object] | Iterable[object],
    name: str = "stories",
    policies: StoryPolicies | None = None,
    *,
    video: str | None = None,
) -> Stories:
    """Check timed captions given as plain data, in any of the shapes a file may have.

    Args:
        data: What `json.load` gives for such a file; or records, a data frame or a data set with
            a row for each caption or each video, as in JSON Lines.
        name: What to call it in messages.
        policies, video: As in `read_stories`.

    >>> stories_of({"v1": [{"sentence": "a man runs", "timestamp": [0, 4.5]}]})["v1"].sentences
    ('a man runs',)
    >>> stories_of({"v1": [{"sentence": "a man runs", "timestamp": [9, 4.5]}]})
    Traceback (most recent call last):
    reelscore.errors.DataError: stories: video 'v1', caption 1: ends (4.5) before it starts (9.0).
    Fix it, or pass reversed_segments="swap" or reversed_segments="zero".
    """
    entries = _entries_of_document if isinstance(data, Mapping) else _entries_of_records
    return _collect(list(entries(data, name)), name, policies or StoryPolicies(), video)


def _entries_of_records(data: object, name: str) -> Iterator[Entry]:
    columns = columns_of(data, name)
    for number, row in enumerate(zip(*columns.values(), strict=True), start=1):
        cells = {
            key: cell.tolist() if hasattr(cell, "tolist") else cell
            for key, cell in zip(columns, row, strict=True)
            if not is_missing(cell)
        }
        yield _entry(cells, f"{name}: row {number}")


def _entry(record: Mapping[str, object], place: str) -> Entry:
    record = plain_record(record) if isinstance(record, dict) else record
    field = _field(record, _VIDEO_FIELDS)
    if field is None:
        raise DataError(f"{place}: no video id; expected one of {', '.join(_VIDEO_FIELDS)}.")
    captions = record.get("captions")
    return place, record[field], captions if isinstance(captions, list) else record


def _is_json_lines(head: bytes) -> bool:
    import msgspec

    line = head.lstrip().split(b"\n", 1)[0]
    try:
        record = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return isinstance(record, dict) and _field(plain_record(record), _VIDEO_FIELDS) is not None


def _entries_of_lines(source: Source) -> Iterator[Entry]:
    for number, line in source.lines():
        if line.isspace():
            continue
        place = f"{source.path}:{number}"
        record = decode_json_line(line, source.path, number)
        yield _entry(record if isinstance(record, dict) else {}, place)


def _entries_of_document(document: object, name: str, video: str = "") -> list[Entry]:
    if isinstance(document, Mapping):
        if is_of_one_video(document):
            if not video:
                raise DataError(
                    f"{name}: the chapters of one video, without its id; give an object of videos, "
                    'such as {"v1": {"chapters": {…}}}.'
                )
            return [(name, video, document)]
        sections = (document.get(section) for section in ("results", "database"))
        document = next((each for each in sections if isinstance(each, Mapping)), document)
    if not isinstance(document, Mapping):
        raise DataError(f"{name}: expected an object of video ids; it is {in_words(document)}.")
    pairs = document.pairs if isinstance(document, RepeatedKeys) else document.items()
    return [(name, video, value) for video, value in pairs]


def _collect(entries: list[Entry], name: str, policies: StoryPolicies, only: str | None) -> Stories:
    """Check and gather captions; those of other videos than the only one of interest may be bad."""
    if all(type(video) is str for _, video, _ in entries):
        videos = [_without_ending(video) for _, video, _ in entries]
        values = (value for _, _, value in entries)
        keeps = policies.reversed_segments == "zero"
        plain = plain_stories(videos, values, keep_reversed=keeps) if videos else None
        if plain is not None:
            notes = _CaptionReader(policies, plain.reversed).notes()
            return Stories(plain.by_video, policies, notes, plain.splits)
    refused, tolerated = Problems(name), _Tolerated(name)
    reader = _CaptionReader(policies)
    captions: dict[str, list[tuple[float, float, str]]] = {}
    durations: dict[str, float | None] = {}
    splits: dict[str, str] = {}
    for place, video_id, value in entries:
        fault = id_fault(video_id)
        if fault:
            problems = refused if only is None else tolerated.of(f"{place}, {video_id!r}")
            problems.add(f"{place}: the video id {fault}.")
            continue
        video = _without_ending(id_text(video_id))
        problems = refused if only is None or _same_video(video, only) else tolerated.of(video)
        if isinstance(value, Mapping) and isinstance(value.get("subset"), str):
            splits[video] = value["subset"]
        is_one_caption = isinstance(value, Mapping) and not _OF_A_VIDEO & {*value}
        if video in captions and not is_one_caption:
            problems.add(
                f"{place}: video {video!r} is repeated; give all its captions in one place."
            )
            continue
        story = captions.setdefault(video, [])
        if isinstance(value, Mapping) and video not in durations:
            durations[video] = _duration(value, f"{place}: video {video!r}", problems)
        try:
            own = _captions(value)
        except _Unusable as error:
            problems.add(f"{place}: video {video!r}: {error}")
            continue
        for rank, caption in enumerate(own, start=len(story) + 1):
            try:
                story.append(reader.read(caption))
            except _Unusable as error:
                problems.add(f"{place}: video {video!r}, caption {rank}: {error}")
    refused.raise_if_any()
    if not captions:
        raise DataError(f"{name}: there are no videos; at least one is needed.")
    stories = {
        video: _story(rows, durations.get(video)) if rows else NO_CAPTIONS
        for video, rows in captions.items()
        if video not in tolerated.videos
    }
    return Stories(stories, policies, [*reader.notes(), *tolerated.notes()], splits)


class _Tolerated(Problems):
    """Problems of videos that are not of interest: those videos are left out."""

    def __init__(self, subject: str) -> None:
        super().__init__(subject)
        self.videos: set[str] = set()
        self._video = ""

    def of(self, video: str) -> Problems:
        """Expect problems of a video."""
        self._video = video
        return self

    def add(self, message: str) -> None:
        """Count one, and leave its video out."""
        super().add(message)
        self.videos.add(self._video)

    def notes(self) -> list[str]:
        """Return what is left out."""
        if not self.count:
            return []
        others = "1 other video is" if len(self.videos) == 1 else f"{len(self.videos)} others are"
        return [f"{self.subject}: {others} left out, as captions cannot be used. {self.first[0]}"]


def _same_video(video: str, other: str) -> bool:
    """Return whether two ids name one video: ActivityNet's may lack their beginning."""
    return video.removeprefix("v_") == other.removeprefix("v_")


def _story(rows: list[tuple[float, float, str]], duration: float | None) -> Story:
    segments = np.array([(start, end) for start, end, _ in rows], dtype=np.float64)
    return Story(segments, tuple(sentence for _, _, sentence in rows), duration)


def _captions(value: object) -> Sequence[object]:
    """Take a video's value apart into caption objects."""
    if isinstance(value, list | tuple):
        return value
    if not isinstance(value, Mapping):
        raise _Unusable(f"is {in_words(value)}; expected a list of captions.")
    if isinstance(value.get("annotations"), list):
        annotations: list[object] = value["annotations"]
        return annotations
    if "chapters" in value:
        try:
            return chapters_of_object(value)
        except ValueError as error:
            raise _Unusable(str(error)) from None
    if "timestamps" not in value:
        return [value]
    times, sentences = value["timestamps"], value.get("sentences")
    if not (isinstance(times, list) and isinstance(sentences, list)):
        raise _Unusable("expected 'timestamps' and 'sentences' as two lists.")
    if len(times) != len(sentences):
        raise _Unusable(f"there are {len(times)} timestamps and {len(sentences)} sentences.")
    return [
        {"timestamp": time, "sentence": sentence}
        for time, sentence in zip(times, sentences, strict=True)
    ]


def _duration(value: Mapping[str, Any], where: str, problems: Problems) -> float | None:
    duration = value.get("duration")
    if duration is None:
        return None
    if not _is_number(duration) or not math.isfinite(duration) or duration < 0:
        problems.add(f"{where}: the duration is {duration!r}; expected a number of seconds.")
        return None
    return float(duration)


class _Unusable(ValueError):
    """Why a caption cannot be used: the rest of a sentence that names its place."""


class _CaptionReader:
    """Turns caption objects into start, end and sentence, and counts what the policies change."""

    def __init__(self, policies: StoryPolicies, reversed: int = 0) -> None:
        self._policies = policies
        self._reversed = reversed
        self._negative = self._empty = 0

    def read(self, caption: object) -> tuple[float, float, str]:
        """Read one caption, or say why it cannot be used."""
        if isinstance(caption, Chapter):
            sentence = caption.title
        elif isinstance(caption, Mapping):
            name = _field(caption, _SENTENCE_FIELDS)
            if name is None:
                raise _Unusable(f"no sentence; expected one of {', '.join(_SENTENCE_FIELDS)}.")
            sentence = caption[name]
        else:
            raise _Unusable(f"is {in_words(caption)}; expected an object.")
        fault = text_fault(sentence)
        if fault:
            raise _Unusable(f"the sentence {fault}.")
        assert isinstance(sentence, str)
        if not has_words(sentence):
            self._check_empty(sentence)
        times = caption[:2] if isinstance(caption, Chapter) else _times(caption)
        start, end = self._check_negative(*self._check_order(*times))
        return start, end, sentence

    def _check_order(self, start: float, end: float) -> tuple[float, float]:
        if end >= start:
            return start, end
        self._reversed += 1
        if self._policies.reversed_segments == "error":
            raise _Unusable(
                f"ends ({end}) before it starts ({start}). "
                'Fix it, or pass reversed_segments="swap" or reversed_segments="zero".'
            )
        return (end, start) if self._policies.reversed_segments == "swap" else (start, end)

    def _check_negative(self, start: float, end: float) -> tuple[float, float]:
        if start >= 0 and end >= 0:
            return start, end
        self._negative += 1
        if self._policies.negative == "error":
            raise _Unusable(
                f"the time {min(start, end)} is negative. "
                'Fix it, or pass negative="clip" or negative="keep".'
            )
        return (
            (max(start, 0.0), max(end, 0.0)) if self._policies.negative == "clip" else (start, end)
        )

    def _check_empty(self, sentence: str) -> None:
        self._empty += 1
        if self._policies.empty == "error":
            what = f" ({sentence!r} has no words)" if sentence.strip() else ""
            raise _Unusable(f'the sentence is empty{what}. Fix it, or pass empty="zero".')

    def notes(self) -> list[str]:
        """Return what the policies did, in a sentence each."""
        swapped = self._policies.reversed_segments == "swap"
        clipped = self._policies.negative == "clip"
        counts = [
            (self._reversed, "the end before the start", "swapped" if swapped else "no overlap"),
            (self._negative, "a negative time", "set to 0" if clipped else "kept"),
            (self._empty, "no text", "kept"),
        ]
        return [
            f"{counted(count, 'caption has', 'captions have')} {what}: {done}."
            for count, what, done in counts
            if count
        ]


def _times(caption: Mapping[str, object]) -> tuple[float, float]:
    name = _field(caption, _TIME_FIELDS)
    if name is not None:
        times = caption[name]
    elif "start" in caption and "end" in caption:
        times = [caption["start"], caption["end"]]
    else:
        raise _Unusable("no timestamp; expected 'timestamp': [start, end].")
    if not (isinstance(times, list | tuple) and len(times) == 2 and all(map(_is_number, times))):
        raise _Unusable(f"the timestamp is {times!r}; expected [start, end] in seconds.")
    start, end = map(float, times)
    if not (math.isfinite(start) and math.isfinite(end)):
        raise _Unusable(f"the timestamp is [{start}, {end}]; expected finite numbers.")
    return start, end


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.floating | np.integer) and not isinstance(value, bool)


def _field(record: Mapping[str, object], names: Sequence[str]) -> str | None:
    return next((name for name in names if name in record), None)


def _without_ending(video: str) -> str:
    """A video id, also where it is given as a file name."""
    if video.endswith(_VIDEO_ENDINGS):
        for ending in _VIDEO_ENDINGS:
            video = video.removesuffix(ending)
    return video
