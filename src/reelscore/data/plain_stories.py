"""Timed captions about which nothing is unusual, checked all together: most files hold no others.

`story_files` looks at one caption after the other, and says what is wrong with it; this takes ten
times as long.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from reelscore.data.checks import has_words
from reelscore.data.stories import NO_CAPTIONS, FloatArray, Story

_NUMBERS = {int, float}


class PlainStories(NamedTuple):
    """Stories by video id, the parts of the data set that videos belong to, reversed segments."""

    by_video: dict[str, Story]
    splits: dict[str, str]
    reversed: int


def plain_stories(
    videos: Sequence[str], values: Iterable[Any], *, keep_reversed: bool = False
) -> PlainStories | None:
    """Read the captions of videos, given as lists or as timestamps and sentences.

    >>> value = {"duration": 9, "timestamps": [[0, 4.5]], "sentences": ["a man runs"]}
    >>> plain_stories(["v1"], [value]).by_video["v1"].sentences
    ('a man runs',)
    >>> plain_stories(["v1"], [{**value, "timestamps": [[4.5, 0]]}]) is None
    True
    """
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
