"""Stories: the timed captions of each video, read from the formats of dense captioning.

Four shapes are told apart by content, and any of them may hold candidates or references:

- candidates of ActivityNet Captions: ``{"results": {video: [{"sentence", "timestamp"}, …]}}``;
- its truth: ``{video: {"duration", "timestamps": […], "sentences": […]}}``;
- TimeChat's output: ``{"video.mp4": [{"caption", "timestamp"}, …]}``;
- JSON Lines: an object for each caption, or for each video, with the id under ``video_id``.

Every segment and sentence is checked here, so that the scores never meet a bad one.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from reelscore.data.checks import id_fault, id_text, in_words, text_fault
from reelscore.data.fields import CAPTION_FIELDS, ITEM_FIELDS
from reelscore.data.problems import Problems
from reelscore.data.source import Source
from reelscore.errors import DataError, UnknownNameError

FloatArray = NDArray[np.float64]
PathLike = str | os.PathLike[str]
ReversedSegments = Literal["error", "swap", "zero"]
OutsideTimes = Literal["error", "clip", "keep"]
EmptySentences = Literal["error", "zero"]

_VIDEO_FIELDS = ("video", *ITEM_FIELDS)
_TIME_FIELDS = ("timestamp", "segment")
_VIDEO_ENDINGS = (".mp4", ".mkv", ".webm", ".avi", ".mov")


@dataclass(frozen=True)
class StoryPolicies:
    """What to do with captions that cannot be scored as they are.

    Attributes:
        reversed_segments: A segment that ends before it starts is an ``error``, has its times
            exchanged (``swap``), or stays and overlaps nothing (``zero``).
        negative: A time before the video's beginning is an ``error``, is set to 0 (``clip``), or
            stays (``keep``).
        empty: A blank sentence is an ``error``, or stays and matches no word (``zero``).
    """

    reversed_segments: ReversedSegments = "error"
    negative: OutsideTimes = "error"
    empty: EmptySentences = "error"

    def __post_init__(self) -> None:
        check_choice("reversed_segments", self.reversed_segments, get_args(ReversedSegments))
        check_choice("negative", self.negative, get_args(OutsideTimes))
        check_choice("empty", self.empty, get_args(EmptySentences))


@dataclass(frozen=True, eq=False)
class Story:
    """The timed captions of one video, in the order of the file.

    Attributes:
        segments: Start and end of each caption in seconds, n × 2.
        sentences: The captions.
        duration: The video's length in seconds, where the file says it.
    """

    segments: FloatArray
    sentences: tuple[str, ...]
    duration: float | None = None

    def __len__(self) -> int:
        """Count the captions."""
        return len(self.sentences)

    def in_time_order(self) -> Story:
        """Sort by start, then end; captions of one segment by their text.

        The text stands in for the order of the file, so that no score depends on that order.

        >>> story = Story(np.array([[5.0, 9.0], [0.0, 5.0]]), ("he runs", "a man stands"))
        >>> story.in_time_order().sentences
        ('a man stands', 'he runs')
        """
        starts, ends = self.segments.T.tolist()
        rows = sorted(zip(starts, ends, self.sentences, range(len(self)), strict=True))
        order = [row[3] for row in rows]
        return Story(self.segments[order], tuple(self.sentences[k] for k in order), self.duration)

    def first(self, count: int) -> Story:
        """Keep the first captions in file order."""
        return Story(self.segments[:count], self.sentences[:count], self.duration)


NO_CAPTIONS = Story(np.empty((0, 2)), ())


@dataclass(frozen=True, eq=False)
class Stories(Mapping[str, Story]):
    """Stories by video id, with what the policies did to them.

    Attributes:
        by_video: The stories.
        policies: How bad captions were treated.
        notes: What that changed, in a sentence each.
    """

    by_video: Mapping[str, Story]
    policies: StoryPolicies = field(default_factory=StoryPolicies)
    notes: Sequence[str] = ()

    def __getitem__(self, video: str) -> Story:
        return self.by_video[video]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_video)

    def __len__(self) -> int:
        return len(self.by_video)

    def __repr__(self) -> str:
        captions = sum(map(len, self.by_video.values()))
        return f"<{len(self)} stories, {captions} captions>"

    def fingerprint(self) -> bytes:
        """Four bytes that tell whether two sets of stories are the same, in any order."""
        digest = hashlib.blake2b(digest_size=4)
        for video in sorted(self):
            story = self[video].in_time_order()
            digest.update("\0".join((video, *story.sentences)).encode())
            digest.update(np.ascontiguousarray(story.segments).data)
        return digest.digest()


def read_stories(path: PathLike, policies: StoryPolicies | None = None) -> Stories:
    """Read timed captions from a file in any of the formats; it may be compressed.

    Args:
        path: The file.
        policies: What to do with reversed segments, negative times and blank sentences; errors
            by default.

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
    with Source(path) as source:
        if _is_json_lines(source.head):
            entries = list(_entries_of_lines(source))
        else:
            entries = list(_entries_of_document(_document(source), source.path))
    return _collect(entries, source.path, policies or StoryPolicies())


def stories_of(
    data: Mapping[str, Any], name: str = "stories", policies: StoryPolicies | None = None
) -> Stories:
    """Check timed captions given as plain data, in any of the shapes a JSON file may have.

    Args:
        data: What `json.load` gives for such a file.
        name: What to call it in messages.
        policies: As in `read_stories`.

    >>> stories_of({"v1": [{"sentence": "a man runs", "timestamp": [0, 4.5]}]})["v1"].sentences
    ('a man runs',)
    >>> stories_of({"v1": [{"sentence": "a man runs", "timestamp": [9, 4.5]}]})
    Traceback (most recent call last):
    reelscore.errors.DataError: stories: video 'v1', caption 1: ends (4.5) before it starts (9.0).
    Mend it, or choose reversed_segments="swap" or "zero".
    """
    if not isinstance(data, Mapping):
        raise DataError(f"{name}: expected a mapping of video ids; it is {in_words(data)}.")
    return _collect(list(_entries_of_document(data, name)), name, policies or StoryPolicies())


def check_choice(option: str, value: object, known: Sequence[str]) -> None:
    """Refuse a value that is none of the choices.

    >>> check_choice("missing", "zero", ["zero", "skip"])
    """
    if value not in known:
        raise UnknownNameError.of(f"{option}=", str(value), known)


# An entry is one video's or one caption's part of a file: place, video id, value.
Entry = tuple[str, Any, Any]


def _document(source: Source) -> Any:
    from reelscore.data.encoding import check_document
    from reelscore.data.json_decoding import decode_slowly

    document = source.document()
    check_document(document, source.path)
    return decode_slowly(document.decode(), source.path)


def _is_json_lines(head: bytes) -> bool:
    import msgspec

    line = head.lstrip().split(b"\n", 1)[0]
    try:
        record = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return isinstance(record, dict) and _field(record, _VIDEO_FIELDS) is not None


def _entries_of_lines(source: Source) -> Iterator[Entry]:
    from reelscore.data.json_decoding import decode_json_line

    for number, line in source.lines():
        if line.isspace():
            continue
        place = f"{source.path}:{number}"
        record = decode_json_line(line, source.path, number)
        name = _field(record, _VIDEO_FIELDS) if isinstance(record, dict) else None
        if name is None:
            raise DataError(f"{place}: no video id; expected one of {', '.join(_VIDEO_FIELDS)}.")
        value = record.get("captions") if isinstance(record.get("captions"), list) else record
        yield place, record[name], value


def _entries_of_document(document: Any, name: str) -> Iterator[Entry]:
    from reelscore.data.json_decoding import RepeatedKeys

    if isinstance(document, Mapping) and isinstance(document.get("results"), Mapping):
        document = document["results"]
    if not isinstance(document, Mapping):
        raise DataError(f"{name}: expected an object of video ids; it is {in_words(document)}.")
    pairs = document.pairs if isinstance(document, RepeatedKeys) else document.items()
    for video, value in pairs:
        yield name, video, value


def _collect(entries: list[Entry], name: str, policies: StoryPolicies) -> Stories:
    problems = Problems(name)
    reader = _CaptionReader(policies)
    captions: dict[str, list[tuple[float, float, str]]] = {}
    durations: dict[str, float | None] = {}
    for place, video_id, value in entries:
        fault = id_fault(video_id)
        if fault:
            problems.add(f"{place}: the video id {fault}.")
            continue
        video = _without_ending(id_text(video_id))
        is_one_caption = isinstance(value, Mapping) and "timestamps" not in value
        if video in captions and not is_one_caption:
            problems.add(f"{place}: video {video!r} is there already; give all its captions once.")
            continue
        story = captions.setdefault(video, [])
        if isinstance(value, Mapping) and video not in durations:
            durations[video] = _duration(value, f"{place}: video {video!r}", problems)
        for rank, caption in enumerate(_captions(value), start=len(story) + 1):
            where = f"{place}: video {video!r}, caption {rank}"
            read = reader.read(caption, lambda what, where=where: problems.add(f"{where}: {what}"))
            if read is not None:
                story.append(read)
    problems.raise_if_any()
    if not captions:
        raise DataError(f"{name}: there are no videos; at least one is needed.")
    stories = {
        video: _story(rows, durations.get(video)) if rows else NO_CAPTIONS
        for video, rows in captions.items()
    }
    return Stories(stories, policies, reader.notes())


def _story(rows: list[tuple[float, float, str]], duration: float | None) -> Story:
    segments = np.array([(start, end) for start, end, _ in rows], dtype=np.float64)
    return Story(segments, tuple(sentence for _, _, sentence in rows), duration)


def _captions(value: Any) -> Iterator[Any]:
    """Take a video's value apart into caption objects; what is none is handed on as it is."""
    if isinstance(value, Mapping) and "timestamps" in value:
        times, sentences = value["timestamps"], value.get("sentences")
        if not (isinstance(times, list) and isinstance(sentences, list)):
            yield "timestamps and sentences must be two lists"
        elif len(times) != len(sentences):
            yield f"there are {len(times)} timestamps and {len(sentences)} sentences"
        else:
            for time, sentence in zip(times, sentences, strict=True):
                yield {"timestamp": time, "sentence": sentence}
    elif isinstance(value, Mapping):
        yield value
    elif isinstance(value, list | tuple):
        yield from value
    else:
        yield f"the video's value is {in_words(value)}; expected a list of captions"


def _duration(value: Mapping[str, Any], where: str, problems: Problems) -> float | None:
    duration = value.get("duration")
    if duration is None:
        return None
    if not _is_number(duration) or not math.isfinite(duration) or duration < 0:
        problems.add(f"{where}: the duration is {duration!r}; expected a number of seconds.")
        return None
    return float(duration)


class _CaptionReader:
    """Turns caption objects into start, end and sentence, and counts what the policies change."""

    def __init__(self, policies: StoryPolicies) -> None:
        self._policies = policies
        self._reversed = self._negative = self._empty = 0

    def read(self, caption: Any, refuse: Callable[[str], None]) -> tuple[float, float, str] | None:
        """Read one caption, or say why it cannot be used."""
        if not isinstance(caption, Mapping):
            is_reason = isinstance(caption, str)
            refuse(f"{caption}." if is_reason else f"is {in_words(caption)}; expected an object.")
            return None
        name = _field(caption, CAPTION_FIELDS)
        if name is None:
            return refuse(f"no sentence; expected one of {', '.join(CAPTION_FIELDS)}.")
        fault = text_fault(caption[name])
        if fault:
            return refuse(f"the sentence {fault}.")
        times = _times(caption)
        if isinstance(times, str):
            return refuse(times)
        return self._apply_policies(*times, caption[name], refuse)

    def _apply_policies(
        self, start: float, end: float, sentence: str, refuse: Callable[[str], None]
    ) -> tuple[float, float, str] | None:
        policies = self._policies
        if end < start:
            self._reversed += 1
            if policies.reversed_segments == "error":
                return refuse(
                    f"ends ({end}) before it starts ({start}). "
                    'Mend it, or choose reversed_segments="swap" or "zero".'
                )
            if policies.reversed_segments == "swap":
                start, end = end, start
        if start < 0 or end < 0:
            self._negative += 1
            if policies.negative == "error":
                return refuse(
                    f"the time {min(start, end)} is negative. "
                    'Mend it, or choose negative="clip" or "keep".'
                )
            if policies.negative == "clip":
                start, end = max(start, 0.0), max(end, 0.0)
        if not sentence or sentence.isspace():
            self._empty += 1
            if policies.empty == "error":
                return refuse('the sentence is empty. Mend it, or choose empty="zero".')
        return start, end, sentence

    def notes(self) -> list[str]:
        reversed_to = {"swap": "times exchanged", "zero": "no overlap"}
        negative_to = {"clip": "set to 0", "keep": "kept"}
        counted = [
            (self._reversed, "with the end before the start", self._policies.reversed_segments),
            (self._negative, "with a negative time", self._policies.negative),
            (self._empty, "without text", self._policies.empty),
        ]
        done = {**reversed_to, **negative_to, "zero": "scored zero"}
        done_reversed = {**done, **reversed_to}
        return [
            f"{count:,} {'caption' if count == 1 else 'captions'} {what}: "
            f"{(done_reversed if k == 0 else done)[policy]}."
            for k, (count, what, policy) in enumerate(counted)
            if count
        ]


def _times(caption: Mapping[str, Any]) -> tuple[float, float] | str:
    name = _field(caption, _TIME_FIELDS)
    if name is not None:
        times = caption[name]
    elif "start" in caption and "end" in caption:
        times = [caption["start"], caption["end"]]
    else:
        return "no timestamp; expected 'timestamp': [start, end]."
    if not (isinstance(times, list | tuple) and len(times) == 2 and all(map(_is_number, times))):
        return f"the timestamp is {times!r}; expected [start, end] in seconds."
    start, end = map(float, times)
    if not (math.isfinite(start) and math.isfinite(end)):
        return f"the timestamp is [{start}, {end}]; expected finite numbers."
    return start, end


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.floating | np.integer) and not isinstance(value, bool)


def _field(record: Mapping[str, Any], names: Sequence[str]) -> str | None:
    return next((name for name in names if name in record), None)


def _without_ending(video: str) -> str:
    """A video id, also where it is given as a file name."""
    for ending in _VIDEO_ENDINGS:
        video = video.removesuffix(ending)
    return video
