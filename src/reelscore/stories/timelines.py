"""The timeline of one video: who said what when, and what SODA matched with what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from reelscore.data.stories import Stories, Story
from reelscore.stories.paired_stories import StoriesLike, annotators_of, candidates_of
from reelscore.stories.protocol import Protocol, protocol_of
from reelscore.stories.soda import StoryMatching
from reelscore.stories.story_scorer import StoryScorer


class TimedCaption(msgspec.Struct, frozen=True):
    """One caption of a timeline."""

    name: str  # ``R`` for a reference, ``C`` for a candidate, and its number in time order
    start: float  # when it begins, in seconds
    end: float  # when it ends
    sentence: str  # what it says
    matched: bool  # whether it has a partner


class Pair(msgspec.Struct, frozen=True):
    """A row of a timeline: a matched pair, or one caption that nothing was matched with."""

    reference: TimedCaption | None  # the reference; ``None`` beside an unmatched candidate
    candidate: TimedCaption | None  # the candidate; ``None`` beside an unmatched reference
    iou: float = 0.0  # their overlap; 0 where one is missing
    f: float = 0.0  # the score of their sentences; 0 where one is missing

    @property
    def captions(self) -> list[TimedCaption]:
        """The one or two captions."""
        return [caption for caption in (self.reference, self.candidate) if caption is not None]


class MatchedStories(msgspec.Struct, frozen=True):
    """The candidates beside the references of one annotator."""

    annotator: str  # what to call the annotator
    references: tuple[TimedCaption, ...]  # the references, in time order
    candidates: tuple[TimedCaption, ...]  # the candidates, in time order
    matches: tuple[Pair, ...]  # the matched pairs, in time order
    precision: float  # SODA's precision in this video, against this annotator
    recall: float  # its recall
    f1: float  # its F1
    system: str = ""  # what to call the system, where several are shown

    @property
    def summary(self) -> str:
        """Return the scores in a line.

        >>> MatchedStories("annotator 1", (), (), (), 0.5, 0.25, 1 / 3).summary
        'annotator 1: precision 0.5000, recall 0.2500, F1 0.3333'
        """
        name = f"{self.system}, {self.annotator}" if self.system else self.annotator
        return f"{name}: precision {self.precision:.4f}, recall {self.recall:.4f}, F1 {self.f1:.4f}"

    def rows(self) -> list[Pair]:
        """All captions in time order, matched ones together."""
        alone = [Pair(caption, None) for caption in self.references if not caption.matched]
        alone += [Pair(None, caption) for caption in self.candidates if not caption.matched]
        return sorted([*self.matches, *alone], key=lambda pair: pair.captions[0].start)


class Timeline(msgspec.Struct, frozen=True):
    """One video of one system, or of several, beside each annotator."""

    video: str  # the video's id, with ``v_`` before it or without
    system: str  # what to call the system
    score: str  # ``soda_a``, ``soda_b`` or ``soda_c``
    f: str  # the sentence score
    begin: float  # where the time axis begins, in seconds
    end: float  # where it ends
    # one for each annotator, or one where they are merged; of several systems one after the other
    # for each annotator
    comparisons: tuple[MatchedStories, ...]
    notes: tuple[str, ...] = ()  # what was left out, in a sentence each

    @property
    def by_annotator(self) -> list[list[MatchedStories]]:
        """The comparisons with each annotator: one for each system."""
        groups: dict[str, list[MatchedStories]] = {}
        for each in self.comparisons:
            groups.setdefault(each.annotator, []).append(each)
        return list(groups.values())

    @property
    def method(self) -> str:
        """Return by which score and which f captions were matched."""
        return f"SODA ({self.score[-1]}), f: {self.f}"

    @property
    def title(self) -> str:
        """Return what was scored and how, in a line.

        >>> Timeline("v_1", "ours", "soda_c", "meteor", 0.0, 9.0, ()).title
        'v_1 · ours · SODA (c), f: meteor'
        """
        return f"{self.video} · {self.system} · {self.method}"


def timeline(
    candidates: StoriesLike,
    references: StoriesLike | Iterable[StoriesLike],
    video: str,
    score: str = "soda_c",
    *,
    system: str = "candidates",
    tiou: float = 0.5,
    preset: str | None = None,
    **choices: Any,
) -> Timeline:
    """Show how SODA matches one video, to be shown by `reelscore.report.timeline.drawings`.

    Args:
        candidates: The system's stories, as in `reelscore.stories.score`.
        references: The truth; several for several annotators.
        video: The video's id.
        score: ``soda_a``, ``soda_b`` or ``soda_c``.
        system: What to call the system.
        tiou: The threshold of ``soda_a``, which scores average over several.
        preset: A named protocol to start from.
        choices: Choices of the protocol, as in `reelscore.stories.score`.

    Raises:
        UnknownNameError: The references have no such video.

    >>> from reelscore import examples
    >>> systems, annotators = examples.stories()
    >>> shown = timeline(systems["concise"], annotators.values(), "v_dogwash")
    >>> [(pair.reference.name, pair.candidate.name, round(pair.iou, 2))
    ...  for pair in shown.comparisons[0].matches]
    [('R1', 'C1', 0.92), ('R2', 'C3', 0.47), ('R3', 'C4', 0.9)]
    >>> [caption.name for caption in shown.comparisons[0].candidates if not caption.matched]
    ['C2']
    """
    systems = {system: candidates}
    return side_by_side(systems, references, video, score, tiou=tiou, preset=preset, **choices)


def side_by_side(
    systems: Mapping[str, StoriesLike],
    references: StoriesLike | Iterable[StoriesLike],
    video: str,
    score: str = "soda_c",
    *,
    tiou: float = 0.5,
    preset: str | None = None,
    **choices: Any,
) -> Timeline:
    """Show how SODA matches one video of several systems; arguments as in `timeline`.

    Args:
        systems: Stories by the system's name.
        references: As there.
        video: As there; other videos are left out where they cannot be read.
        score, tiou, preset, choices: As there.

    Raises:
        UnknownNameError: The references have no such video.

    >>> from reelscore import examples
    >>> systems, annotators = examples.stories()
    >>> shown = side_by_side(systems, annotators["annotator_1"], "v_dogwash")
    >>> [(each.system, round(each.f1, 2)) for each in shown.comparisons]
    [('concise', 0.15), ('verbose', 0.05), ('shuffled', 0.04)]
    """
    protocol = protocol_of(preset, choices)
    truth = annotators_of(references, protocol, video=video)
    scorer = StoryScorer(truth, protocol)
    video = scorer.video_of(video)
    read = {
        name: candidates_of(given, protocol, name, video=video) for name, given in systems.items()
    }
    at = tiou if score == "soda_a" else 0.0
    shown = [
        _timeline(video, name, score, scorer, scorer.matchings(stories, video, score, tiou=at))
        for name, stories in read.items()
    ]
    notes = [note for stories in (*truth, *read.values()) for note in stories.notes]
    return _together(shown, notes)


def _together(shown: Sequence[Timeline], notes: Sequence[str]) -> Timeline:
    """Put the timelines of several systems on one axis, those of one annotator together."""
    first = replace(shown[0], notes=tuple(dict.fromkeys(notes)))
    if len(shown) == 1:
        return first
    return replace(
        first,
        system=" | ".join(each.system for each in shown),
        begin=min(each.begin for each in shown),
        end=max(each.end for each in shown),
        comparisons=tuple(
            replace(comparison, system=each.system)
            for of_annotator in zip(*(each.comparisons for each in shown), strict=True)
            for each, comparison in zip(shown, of_annotator, strict=True)
        ),
    )


class Timelines(Mapping[str, Mapping[str, Timeline]]):
    """The timelines of all videos, by system and video; a system is matched when looked at."""

    def __init__(
        self, systems: Mapping[str, Stories], scorer: StoryScorer, score: str, tiou: float = 0.5
    ) -> None:
        self._systems = systems
        self._scorer = scorer
        self._score = score
        self._tiou = tiou if score == "soda_a" else 0.0
        self._made: dict[str, dict[str, Timeline]] = {}

    def __getitem__(self, system: str) -> Mapping[str, Timeline]:
        if system not in self._made:
            matched = self._scorer.all_matchings(
                self._systems[system], self._score, tiou=self._tiou
            )
            self._made[system] = {
                video: _timeline(video, system, self._score, self._scorer, matchings)
                for video, matchings in matched
            }
        return self._made[system]

    def __iter__(self) -> Iterator[str]:
        return iter(self._systems)

    def __len__(self) -> int:
        return len(self._systems)

    def __repr__(self) -> str:
        return f"<timelines of {', '.join(self._systems)}>"


def _timeline(
    video: str,
    system: str,
    score: str,
    scorer: StoryScorer,
    matchings: Sequence[StoryMatching],
) -> Timeline:
    names = _names([video in each for each in scorer.annotators], scorer.protocol)
    segments = [
        time
        for each in matchings
        for story in (each.references, each.candidates)
        for time in (*story.segments.ravel().tolist(), story.duration or 0.0)
    ]
    return Timeline(
        video,
        system,
        score,
        scorer.protocol.f,
        min([0.0, *segments]),
        max([1.0, *segments]),
        tuple(_matched_stories(name, each) for name, each in zip(names, matchings, strict=True)),
    )


def _names(has_video: Sequence[bool], protocol: Protocol) -> list[str]:
    if len(has_video) == 1:
        return ["references"]
    if protocol.annotators == "merge":
        return [f"{sum(has_video)} annotators as one"]
    return [f"annotator {k}" for k, has in enumerate(has_video, start=1) if has]


def _matched_stories(annotator: str, matching: StoryMatching) -> MatchedStories:
    matches = matching.matches
    references = _captions("R", matching.references, {match.reference for match in matches})
    candidates = _captions("C", matching.candidates, {match.candidate for match in matches})
    return MatchedStories(
        annotator,
        tuple(references.values()),
        tuple(candidates.values()),
        tuple(
            Pair(references[each.reference], candidates[each.candidate], each.iou, each.f)
            for each in matches
        ),
        matching.precision,
        matching.recall,
        matching.f1,
    )


def _captions(side: str, story: Story, matched: set[int]) -> dict[int, TimedCaption]:
    """Name the captions in time order, by their place in the story."""
    return {
        place: TimedCaption(
            f"{side}{number}",
            float(story.segments[place, 0]),
            float(story.segments[place, 1]),
            story.sentences[place],
            place in matched,
        )
        for number, place in enumerate(story.time_order(), start=1)
    }
