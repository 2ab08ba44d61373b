"""Stories: the timed captions of each video, and the policies for those that are bad."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import chain
from operator import lt
from typing import Any, Literal, NamedTuple, get_args

import msgspec
import numpy as np
from numpy.typing import NDArray

from reelscore.data.checks import has_words
from reelscore.errors import check_choice

FloatArray = NDArray[np.float64]
ReversedSegments = Literal["error", "swap", "zero"]
OutsideTimes = Literal["error", "clip", "keep"]
EmptySentences = Literal["error", "zero"]
SPARE_TIME = 0.1  # seconds that a caption may end after its video: data sets round times


class StoryPolicies(msgspec.Struct, frozen=True):
    """What to do with captions that cannot be scored as they are.

    Attributes:
        reversed_segments: A segment that ends before it starts is an ``error``, has its times
            exchanged (``swap``), or stays and overlaps nothing (``zero``).
        negative: A time before the video's beginning is an ``error``, is set to 0 (``clip``), or
            stays (``keep``).
        empty: A sentence without a word is an ``error``, or stays and matches none (``zero``).
    """

    reversed_segments: ReversedSegments = "error"
    negative: OutsideTimes = "error"
    empty: EmptySentences = "error"

    def __post_init__(self) -> None:
        check_choice("reversed_segments=", self.reversed_segments, get_args(ReversedSegments))
        check_choice("negative=", self.negative, get_args(OutsideTimes))
        check_choice("empty=", self.empty, get_args(EmptySentences))


class Story(msgspec.Struct, frozen=True, eq=False):
    """The timed captions of one video, in the order of the file.

    Attributes:
        segments: Start and end of each caption in seconds, n × 2; infinite is the end of a last
            chapter that runs to an end of the video which the file does not say.
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
        order = self.time_order()
        if order == [*range(len(self))]:
            return self
        return Story(self.segments[order], tuple(self.sentences[k] for k in order), self.duration)

    def time_order(self) -> list[int]:
        """Where each caption of `in_time_order` stands in this story.

        >>> Story(np.array([[5.0, 9.0], [0.0, 5.0]]), ("he runs", "a man stands")).time_order()
        [1, 0]
        """
        starts, ends = self.segments.T.tolist()
        numbers = range(len(self))
        if all(map(lt, starts, starts[1:])):  # as in nearly all stories
            return [*numbers]
        return [row[3] for row in sorted(zip(starts, ends, self.sentences, numbers, strict=True))]

    def paragraph(self) -> str:
        """Return the captions as one text, in the order of time, each ended by a mark.

        >>> Story(np.array([[5.0, 9.0], [0.0, 5.0]]), ("he runs", " A man stands.")).paragraph()
        'A man stands. he runs.'
        """
        sentences = [each.strip() for each in self.in_time_order().sentences]
        return " ".join(each if each[-1:] in ".!?" else f"{each}." for each in sentences if each)

    def first(self, count: int) -> Story:
        """Keep the first captions in file order."""
        if len(self) <= count:
            return self
        return Story(self.segments[:count], self.sentences[:count], self.duration)


NO_CAPTIONS = Story(np.empty((0, 2)), ())


@dataclass(frozen=True, eq=False)
class Stories(Mapping[str, Story]):
    """Stories by video id, with what the policies did to them.

    Attributes:
        by_video: The stories.
        policies: How bad captions were treated.
        notes: What that changed, in a sentence each.
        splits: The part of the data set that each video belongs to, where the file says it.
    """

    by_video: Mapping[str, Story]
    policies: StoryPolicies = field(default_factory=StoryPolicies)
    notes: Sequence[str] = ()
    splits: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, video: str) -> Story:
        return self.by_video[video]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_video)

    def __len__(self) -> int:
        return len(self.by_video)

    def __repr__(self) -> str:
        captions = sum(map(len, self.by_video.values()))
        return f"<{len(self)} stories, {captions} captions>"

    def fingerprint(self, *, in_file_order: bool = False) -> bytes:
        """Four bytes that tell whether two sets of stories are the same.

        Args:
            in_file_order: Whether the order of captions in the file counts; that of videos
                never does.
        """
        digest = blake2b(digest_size=4)
        for video in sorted(self.by_video):
            story = self.by_video[video]
            if not in_file_order:
                story = story.in_time_order()
            digest.update("\0".join((video, *story.sentences)).encode())
            digest.update(story.segments.tobytes())
        return digest.digest()


_NUMBERS = {int, float}


class PlainStories(NamedTuple):
    """Stories by video id, the parts of the data set that videos belong to, reversed segments."""

    by_video: dict[str, Story]
    splits: dict[str, str]
    reversed: int


def plain_stories(
    videos: Sequence[str], values: Iterable[Any], *, keep_reversed: bool = False
) -> PlainStories | None:
    """Read the captions of videos, given as lists or as timestamps and sentences."""
    times: list[Any] = []
    sentences: list[Any] = []
    ends: list[int] = []
    durations: list[float | None] = []
    splits: dict[str, str] = {}
    try:
        for video, value in zip(videos, values, strict=True):
            if type(value) is list:
                own_times = [caption["timestamp"] for caption in value]
                own_sentences = [caption["sentence"] for caption in value]
                durations.append(None)
            else:
                own_times, own_sentences = value["timestamps"], value["sentences"]
                durations.append(value.get("duration"))
                if isinstance(value.get("subset"), str):
                    splits[video] = value["subset"]
                if not (
                    type(own_times) is type(own_sentences) is list and "annotations" not in value
                ):
                    return None
                if len(own_times) != len(own_sentences):
                    return None
            times += own_times
            sentences += own_sentences
            ends.append(len(times))
    except (KeyError, TypeError, AttributeError):
        return None
    lengths = [duration for duration in durations if duration is not None]
    usable = {*map(type, lengths)} <= _NUMBERS and all(0 <= each < math.inf for each in lengths)
    if not (usable and _are_ids(videos) and _are_texts(sentences)):
        return None
    segments = _segments(times)
    if segments is None:
        return None
    reversed = int((segments[:, 1] < segments[:, 0]).sum())
    if reversed and not keep_reversed:
        return None
    stories = {}
    begin = 0
    for video, end, duration in zip(videos, ends, durations, strict=True):
        if begin == end:
            stories[video] = NO_CAPTIONS
        else:
            length = None if duration is None else float(duration)
            stories[video] = Story(segments[begin:end], tuple(sentences[begin:end]), length)
        begin = end
    return PlainStories(stories, splits, reversed)


def _are_ids(videos: Sequence[str]) -> bool:
    together = "".join(videos)
    plain = together.isascii() and "\0" not in together
    return plain and len({*videos}) == len(videos) and all(map(str.strip, videos))


def _are_texts(sentences: list[Any]) -> bool:
    try:
        together = "\n".join(sentences)
        together.encode()
    except (TypeError, UnicodeEncodeError):  # something else than text; half a character
        return False
    if "\0" in together:
        return False
    return all(map(has_words, [text for text in sentences if not text.lstrip()[:1].isalnum()]))


def _segments(times: list[Any]) -> FloatArray | None:
    """Start and end of each caption, n × 2; ``None`` if not all are numbers from 0 on."""
    if not times:
        return np.empty((0, 2))
    if {*map(type, times)} != {list} or {*map(len, times)} != {2}:
        return None
    if not {*map(type, chain.from_iterable(times))} <= _NUMBERS:
        return None
    try:
        segments = np.array(times, dtype=np.float64)
    except OverflowError:  # an integer of hundreds of digits
        return None
    return segments if ((segments >= 0) & (segments < math.inf)).all() else None
