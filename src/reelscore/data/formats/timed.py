"""`activitynet` and `youcook2`: timed captions of long videos, each segment an item of its own.

The files are those of `reelscore.data.story_files`. An item is named by its video and its times,
``v_abc@0.5-12.25``: captions of other segments, as a second annotator has them, are other items.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import msgspec

from reelscore.data.formats import Numbered
from reelscore.data.reading import Record, Request
from reelscore.data.source import Source


class Timed(Numbered, msgspec.Struct, frozen=True):
    """A format of timed captions.

    Attributes:
        title: What it is called in notes.
    """

    title: str
    unit: ClassVar[str] = "caption"

    def read(self, source: Source, request: Request) -> Iterator[Record]:
        """Yield number, segment and sentence of each caption."""
        from reelscore.data.stories import StoryPolicies
        from reelscore.data.story_files import stories_in

        request.read_as = f"{self.title}, an item for each segment ('reelscore stories' uses times)"
        as_they_are = StoryPolicies(reversed_segments="zero", negative="keep", empty="zero")
        stories = stories_in(source, as_they_are)
        number = 0
        for video, story in stories.items():
            for (start, end), sentence in zip(story.segments, story.sentences, strict=True):
                number += 1
                item = f"{video}@{_seconds(start)}-{_seconds(end)}"
                if request.takes(item, stories.splits.get(video)):
                    yield number, item, sentence


def _seconds(time: float) -> str:
    return f"{round(float(time), 2)}".removesuffix(".0")
