"""References of a split: from files into what is kept, and from that to scorers and readers."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from reelscore.challenges.definition.records import Kind, Split
from reelscore.data.captions.caption_files import references_of_files
from reelscore.data.captions.paired_captions import Paired, lone_references
from reelscore.data.reading import Reading, listed_splits
from reelscore.data.stories import NO_CAPTIONS, Stories, Story
from reelscore.data.story_files import read_stories
from reelscore.errors import DataError


@dataclass(frozen=True)
class SplitContent:
    """Items and references as they are kept."""

    kind: Kind  # captions or stories
    items: bytes  # the ids, with the durations of videos, as JSON
    references: bytes  # the references in the order of the items, as JSON
    count: int  # how many items there are

    @property
    def digest(self) -> str:
        """What signatures and draws depend on."""
        return hashlib.sha256(self.items + b"\0" + self.references).hexdigest()


def read_split(split: Split, folder: Path) -> SplitContent:
    """Read the references of a split."""
    paths = [folder / name for name in split.files]
    if split.kind == "stories":
        return _stories_content([_of_part(read_stories(path), split) for path in paths])
    reading = Reading(split.format or None, split=split.part or None)
    references, _ = references_of_files(paths, reading)
    lone_references(references)  # checks that none is empty
    items = msgspec.json.encode({"items": list(references)})
    texts = msgspec.json.encode({"references": list(references.values())})
    return SplitContent("captions", items, texts, len(references))


def _of_part(stories: Stories, split: Split) -> Stories:
    """Return the stories of the part that a split names; all where it names none."""
    parts = stories.splits
    if not split.part:
        return stories
    if split.part not in parts.values():
        listed = listed_splits(parts.values()) or "none"
        raise DataError(f"split {split.id!r}: no video is of part {split.part!r}; parts: {listed}.")
    wanted = {video: stories[video] for video in stories if parts.get(video) == split.part}
    return replace(stories, by_video=wanted)


def _stories_content(annotators: Sequence[Stories]) -> SplitContent:
    videos = list(dict.fromkeys(video for stories in annotators for video in stories))
    durations: dict[str, float] = {}
    for stories in annotators:
        for video, story in stories.items():
            if story.duration is not None:
                durations[video] = max(durations.get(video, 0.0), story.duration)
    written = [{video: _kept(story) for video, story in own.items()} for own in annotators]
    items = msgspec.json.encode({"items": videos, "durations": durations})
    return SplitContent("stories", items, msgspec.json.encode({"annotators": written}), len(videos))


def captions_references(items: bytes, references: bytes) -> Paired:
    """Return references of captions as scorers take them, in the order of the items."""
    ids: list[str] = msgspec.json.decode(items)["items"]
    texts: list[list[str]] = msgspec.json.decode(references)["references"]
    return lone_references(dict(zip(ids, texts, strict=True)))


def stories_references(references: bytes) -> list[Stories]:
    """Return references of stories as scorers take them, of each annotator."""
    return [
        Stories({video: story_of(value) for video, value in stories.items()})
        for stories in msgspec.json.decode(references)["annotators"]
    ]


def _kept(story: Story) -> dict[str, Any]:
    """Return what is kept of a story; `story_of` makes it again."""
    rows = zip(story.segments.tolist(), story.sentences, strict=True)
    captions = [[*times, sentence] for times, sentence in rows]
    return {"duration": story.duration, "captions": captions}


def story_of(value: dict[str, Any]) -> Story:
    """Make a story of what is kept of it.

    >>> story_of({"duration": 9.0, "captions": [[0.0, 4.5, "a man runs"]]}).sentences
    ('a man runs',)
    """
    rows = value["captions"]
    if not rows:
        return NO_CAPTIONS
    segments = np.array([row[:2] for row in rows], dtype=np.float64)
    return Story(segments, tuple(row[2] for row in rows), value.get("duration"))


def check_disjoint(contents: dict[str, SplitContent], phase: str, splits: Sequence[str]) -> None:
    """Refuse splits of one phase that share items: one file holds them all."""
    owner: dict[str, str] = {}
    for split in splits:
        for item in msgspec.json.decode(contents[split].items)["items"]:
            if owner.setdefault(item, split) != split:
                raise DataError(
                    f"phase {phase!r}: item {item!r} is in the splits {owner[item]!r} and "
                    f"{split!r}; one file holds both, so ids must differ."
                )
