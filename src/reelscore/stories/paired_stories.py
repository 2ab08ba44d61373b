"""Read the candidates of a system and the stories of the annotators, and pair them by video."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np

from reelscore.data.captions.item_ids import matched, rule_hint
from reelscore.data.captions.languages import language_notes
from reelscore.data.captions.python_captions import has_item, is_frame
from reelscore.data.checks import counted, first_few, has_words
from reelscore.data.file_names import PathLike, expanded
from reelscore.data.formats.chapters import video_of_file
from reelscore.data.reading import part_with
from reelscore.data.stories import NO_CAPTIONS, SPARE_TIME, Stories, Story
from reelscore.data.story_files import (
    names_its_video,
    read_stories,
    read_together,
    stories_of,
)
from reelscore.data.tables.table import Coverage
from reelscore.errors import DataError
from reelscore.metrics.base import Metric
from reelscore.stories.protocol import ACTIVITYNET, Protocol
from reelscore.stories.sentence_scores import ascii_alone

StoriesLike = Stories | Mapping[str, Any] | Iterable[Any] | PathLike

_FIRST = 100  # captions looked at to see what is left of them, and videos to see their times
_FEW = 3  # videos whose times say nothing of all
_OTHER_UNIT = 10  # ratio of times that no captioner comes to in most videos


class PairedStories(msgspec.Struct, frozen=True):
    """Candidates and references of the same videos, in the order of the references."""

    videos: list[str]  # the video ids
    # the system's story of each video, with no captions where there is none
    candidates: list[Story]
    references: list[list[Story]]  # for each video the stories of the annotators that have it
    notes: list[str]  # what the policies did, in a sentence each


def pair_stories(
    candidates: Stories, annotators: Sequence[Stories], protocol: Protocol
) -> PairedStories:
    """Pair stories by video id and apply the protocol's policies.

    Where candidates have the ids of files or lack the ``v_`` of ActivityNet, they are found too.
    """
    if not annotators:
        raise DataError("No references were given; at least one annotator is needed.")
    wanted = dict.fromkeys(video for stories in annotators for video in stories)
    given, unknown = _by_known_id(candidates, wanted)
    if not given:
        raise DataError(
            "Candidates and references have no video in common: "
            f"candidates have {len(unknown):,} ({first_few(unknown)}), "
            f"references {len(wanted):,} ({first_few(list(wanted))})." + rule_hint(unknown, wanted)
        )
    splits = {video: part for stories in annotators for video, part in stories.splits.items()}
    part = part_with(given, splits)
    own = [video for video in wanted if part is None or splits.get(video) == part]
    notes = [*candidates.notes, *(note for each in annotators for note in each.notes)]
    if len(own) < len(wanted):
        share = f"{len(own):,} of {len(wanted):,} videos"
        notes.append(f"References of the split {part} alone ({share}): all candidates are of it.")
        wanted = dict.fromkeys(own)
    if unknown and protocol.unknown == "error":
        raise DataError(
            f"Videos with candidates but without references: {len(unknown):,} "
            f'({first_few(unknown)}). Remove them or pass unknown="skip".'
            + rule_hint(unknown, [video for video in wanted if video not in given])
        )
    bare = [v for v in wanted if not all(len(s[v]) for s in annotators if v in s)]
    if bare:
        raise DataError(
            f"Videos without reference captions: {len(bare):,} ({first_few(bare)}). "
            "Give each at least one, or leave the video out."
        )
    missing = [video for video in wanted if video not in given]
    videos = [v for v in wanted if v in given or protocol.missing == "zero"]
    references = [[stories[v] for stories in annotators if v in stories] for v in videos]
    stories = [given.get(video, NO_CAPTIONS) for video in videos]
    stories, references = _with_ends(videos, stories, references)
    warnings = _unit_warning(stories, references)
    stories, late = _within_durations(videos, stories, references, protocol)
    without = sum(not len(story) for story in given.values())
    starts, stops = np.concatenate([story.segments for story in stories]).T
    instants = int((starts == stops).sum())
    done = "scored zero" if protocol.missing == "zero" else "left out"
    limit = protocol.max_captions if ACTIVITYNET in protocol.scores else sys.maxsize
    long = sum(len(story) > limit for story in given.values())
    late_done = "cut there" if protocol.beyond == "clip" else "kept"
    for count, one, many, what in (
        (len(missing), "video has", "videos have", f"no candidates, of {len(wanted):,}: {done}"),
        (len(unknown), "video has", "videos have", "candidates but no references: left out"),
        (without, "video has", "videos have", "an empty list of candidates: scored zero"),
        (instants, "candidate has", "candidates have", "a segment without length: no overlap"),
        (late, "candidate reaches", "candidates reach", f"beyond the video's end: {late_done}"),
        (
            long,
            "video has",
            "videos have",
            f"more than {limit:,} candidates: the ActivityNet scorer takes the first of them",
        ),
    ):
        if count:
            notes.append(f"{counted(count, one, many)} {what}.")
    return PairedStories(videos, stories, references, [*notes, *warnings])


def _with_ends(
    videos: Sequence[str], stories: Sequence[Story], references: Sequence[Sequence[Story]]
) -> tuple[list[Story], list[list[Story]]]:
    """Let last chapters end with their video, which the references say."""
    ends = [max(_end_of(each) for each in truth) for truth in references]
    endless = [
        video
        for video, truth, end in zip(videos, references, ends, strict=True)
        if not end and any(np.isinf(each.segments).any() for each in truth)
    ]
    if endless:
        raise DataError(
            f"Videos whose last reference chapter has no end: {len(endless):,} "
            f"({first_few(endless)}). Say how long they are, in JSON: "
            '{"VIDEO": {"duration": SECONDS, "chapters": {…}}}.'
        )
    ours = [_ended(story, end) for story, end in zip(stories, ends, strict=True)]
    theirs = [
        [_ended(each, end) for each in truth] for truth, end in zip(references, ends, strict=True)
    ]
    return ours, theirs


def _end_of(story: Story) -> float:
    """Return when a video ends as far as a story says it; 0 where that is open."""
    last = float(story.segments.max(initial=0.0))
    return story.duration or (0.0 if math.isinf(last) else last)


def _ended(story: Story, end: float) -> Story:
    """End open chapters with the video; those that begin later have no length."""
    if not np.isinf(story.segments).any():
        return story
    starts, ends = story.segments.T
    closed = np.where(np.isinf(ends), np.maximum(starts, end), ends)
    return Story(np.column_stack([starts, closed]), story.sentences, story.duration)


def _unit_warning(stories: Sequence[Story], references: Sequence[Sequence[Story]]) -> list[str]:
    """Warn where the times of candidates are of another size than those of references.

    Seconds beside milliseconds, frames or shares of the video overlap nothing, or hardly anything.
    """
    both = [(story, truth) for story, truth in zip(stories, references, strict=True) if len(story)]
    ends = [
        (story.segments.max(), max(each.segments.max() for each in truth))
        for story, truth in both[:: max(1, len(both) // _FIRST)]
    ]
    ratios = sorted(float(own / end) for own, end in ends if end > 0)
    ratio = ratios[len(ratios) // 2] if len(ratios) >= _FEW else 1.0
    if 1 / _OTHER_UNIT < ratio < _OTHER_UNIT:
        return []
    size = f"{ratio:,.0f} times" if ratio > 1 else f"{ratio:.2g} of"
    return [
        f"Warning: in most videos, the last candidate ends at {size} the time of the last "
        "reference; are both in seconds?"
    ]


def story_language_notes(
    paired: PairedStories, protocol: Protocol, metrics: Sequence[Metric]
) -> list[str]:
    """Return which languages the metrics do not read, and what becomes of their characters."""
    texts = {
        "captions": [text for story in paired.candidates for text in story.sentences],
        "references": [
            text for stories in paired.references for story in stories for text in story.sentences
        ],
    }
    notes = language_notes(metrics, texts)
    of_soda = protocol.characters == "ascii" and protocol.soda_scores
    if notes and (of_soda or ACTIVITYNET in protocol.scores):
        sample = ascii_alone(texts["captions"][:_FIRST])
        if not any(map(has_words, sample)):
            who = "This protocol" if of_soda else "The ActivityNet scorer"
            notes.append(f"{who} leaves out characters beyond ASCII: these captions become empty.")
    return notes


def on_shared_videos(
    systems: Mapping[str, Stories], annotators: Sequence[Stories]
) -> tuple[dict[str, Stories], list[Stories], Coverage]:
    """Leave out the videos that any system has no candidates for.

    Candidates without references stay, for the policy on them to judge.
    """
    wanted = dict.fromkeys(video for stories in annotators for video in stories)
    known = {name: _by_known_id(stories, wanted) for name, stories in systems.items()}
    shared = [video for video in wanted if all(video in given for given, _ in known.values())]
    if not shared:
        raise DataError(
            f"The systems {', '.join(systems)} have no video with references in common."
        )
    kept = {}
    for name, (given, unknown) in known.items():
        stories = systems[name]
        videos = {**{v: given[v] for v in shared}, **{v: stories[v] for v in unknown}}
        kept[name] = replace(stories, by_video=videos)
    truth = [
        replace(stories, by_video={v: stories[v] for v in shared if v in stories})
        for stories in annotators
    ]
    return kept, truth, Coverage(len(shared), len(wanted))


def with_matched_videos(
    candidates: Stories, annotators: Sequence[Stories], match_ids: str | None
) -> Stories:
    """Put candidates under the video ids of the references, by rules as in `reelscore.score`."""
    wanted = dict.fromkeys(video for stories in annotators for video in stories)
    return replace(candidates, by_video=matched(match_ids, candidates.by_video, wanted))


def _by_known_id(
    candidates: Stories, wanted: Mapping[str, None]
) -> tuple[dict[str, Story], list[str]]:
    given: dict[str, Story] = {}
    unknown: list[str] = []
    for video, story in candidates.items():
        known = next((v for v in (video, f"v_{video}") if v in wanted and v not in given), None)
        if known is None:
            unknown.append(video)
        else:
            given[known] = story
    return given, unknown


def _within_durations(
    videos: Sequence[str],
    stories: Sequence[Story],
    references: Sequence[Sequence[Story]],
    protocol: Protocol,
) -> tuple[list[Story], int]:
    """Apply the policy for times beyond the video's end, where the references say it."""
    late_captions = 0
    late_videos: list[str] = []
    kept: list[Story] = []
    for video, story, truth in zip(videos, stories, references, strict=True):
        duration = max((each.duration or 0.0 for each in truth), default=0.0)
        limit = duration + SPARE_TIME if duration else math.inf
        if story.segments.max(initial=0.0) > limit:
            late_captions += int((story.segments > limit).any(axis=1).sum())
            late_videos.append(video)
            if protocol.beyond == "clip":
                segments = np.minimum(story.segments, duration)
                story = Story(segments, story.sentences, story.duration)
        kept.append(story)
    if late_videos and protocol.beyond == "error":
        raise DataError(
            f"Candidates beyond the end of their video: {late_captions:,}, "
            f"in {len(late_videos):,} videos ({first_few(late_videos)}). "
            'Fix them or pass beyond="clip" or beyond="keep".'
        )
    return kept, late_captions


def annotators_of(
    references: StoriesLike | Iterable[StoriesLike], protocol: Protocol, *, video: str | None = None
) -> list[Stories]:
    """Read the truth, of one annotator or of several, in any form `score` takes."""
    if isinstance(references, str | os.PathLike | Mapping) or is_frame(references):
        references = [references]
    files: list[Any] = []
    for each in references:
        files += expanded([each]) if isinstance(each, str | os.PathLike) else [each]
    files = _videos_together(files)
    if files and all(isinstance(each, Mapping) and has_item(each) for each in files):
        files = [files]  # records of one annotator
    names = ["references"] if len(files) == 1 else [f"annotator {k + 1}" for k in range(len(files))]
    return [
        candidates_of(each, protocol, name, video=video)
        for name, each in zip(names, files, strict=True)
    ]


class _Files(dict[str, PathLike]):
    """Files of one video each, by video, that are read as one annotator."""


def _videos_together(files: Sequence[Any]) -> list[Any]:
    """Put files of one video each together; a video that comes again is another annotator's."""
    annotators: list[Any] = []
    for file in files:
        is_path = isinstance(file, str | os.PathLike)
        if len(files) == 1 or not is_path or not names_its_video(file):
            annotators.append(file)
            continue
        video = video_of_file(os.fspath(file))
        several = (each for each in annotators if isinstance(each, _Files))
        free = next((each for each in several if video not in each), None)
        if free is None:
            annotators.append(free := _Files())
        free[video] = file
    return annotators


def candidates_of(
    given: StoriesLike, protocol: Protocol, name: str = "candidates", *, video: str | None = None
) -> Stories:
    """Read one set of stories in any form `score` takes; messages call it by the name."""
    if isinstance(given, Stories):
        return given
    if isinstance(given, str | os.PathLike):
        return read_stories(given, protocol.policies, video=video)
    if isinstance(given, _Files):
        return read_together(given.values(), name, protocol.policies, video=video)
    return stories_of(given, name, protocol.policies, video=video)
