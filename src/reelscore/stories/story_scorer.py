"""References and protocol prepared once, and systems scored against them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from msgspec import structs

from reelscore._progress import Progress
from reelscore._version import __version__
from reelscore.data.captions.item_ids import rule_part
from reelscore.data.captions.paired_captions import copy_warning
from reelscore.data.stories import NO_CAPTIONS, Stories, Story
from reelscore.data.tables.table import Coverage, ItemIndex
from reelscore.engines.engine import Engine, Shared
from reelscore.errors import DataError, check_choice
from reelscore.metrics.base import FloatArray, check_processes
from reelscore.metrics.registry import resolve
from reelscore.scoring.scores import Measurement, Scores
from reelscore.stories import video_scores as kinds
from reelscore.stories.activitynet import activitynet_scores
from reelscore.stories.overlaps import caption_counts, chapter_scores
from reelscore.stories.paired_stories import (
    PairedStories,
    pair_stories,
    story_language_notes,
)
from reelscore.stories.protocol import (
    ACTIVITYNET,
    CHAPTERS,
    SODA_SCORES,
    Protocol,
    ReferenceOrder,
)
from reelscore.stories.sentence_scores import (
    PAIRS_AT_ONCE,
    SentenceScore,
    VideoBatch,
    check_higher_is_better,
)
from reelscore.stories.soda import StoryMatching, matchings_of, merged, soda_scores
from reelscore.stories.video_scores import measurement
from reelscore.text.tokens import thread_count

_VIDEOS_AT_ONCE = 200  # matched together, for speed; few enough for memory


class StoryScorer:
    """References and protocol prepared once, for any number of systems.

    Attributes:
        annotators: The references of each annotator.
        protocol: The choices.

    >>> from reelscore import examples
    >>> from reelscore.data.story_files import stories_of
    >>> systems, annotators = examples.stories()
    >>> scorer = StoryScorer([stories_of(each) for each in annotators.values()], Protocol())
    >>> scores = scorer.score(stories_of(systems["shuffled"]))
    >>> round(scores["soda_c"].score, 4)
    0.0437
    """

    def __init__(
        self,
        annotators: list[Stories],
        protocol: Protocol,
        threads: int | None = None,
        common: Coverage | None = None,
        match_ids: str | None = None,
        engine: Engine | None = None,
    ) -> None:
        self.annotators = annotators
        self.protocol = protocol
        self._common = common
        self._match_ids = match_ids
        self._engine = None if engine is None or engine.is_local else engine
        self._threads = thread_count(threads)
        self._metrics = resolve(protocol.metrics) if ACTIVITYNET in protocol.scores else []
        for metric in self._metrics:
            check_higher_is_better(metric)
        names = [metric.name for metric in self._metrics]
        if twice := [name for name in names if names.count(name) > 1]:
            raise DataError(
                f"{twice[0]} is named in two variants; the ActivityNet scorer takes one of each "
                "metric. Score the stories twice."
            )
        self._f: SentenceScore | None = None
        if protocol.soda_scores:
            self._f = self._sentence_score()
            if self._engine is not None:
                check_processes([self._f.metric])

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what it was made from, for a worker that has one processor."""
        choices = (self.protocol, 1, self._common, self._match_ids)
        return type(self), (self.annotators, *choices)

    @cached_property
    def _shared(self) -> Shared[StoryScorer]:
        """This scorer on the workers of the engine."""
        assert self._engine is not None
        return self._engine.broadcast(self)

    def _sentence_score(self) -> SentenceScore:
        stories = (story for each in self.annotators for story in each.values())
        sentences = (sentence for story in stories for sentence in story.sentences)
        return SentenceScore(self.protocol, sentences, self._threads)

    def notes(self) -> list[str]:
        """Return what there is to say of the metric, such as what its answers cost."""
        return [] if self._f is None else self._f.notes()

    def score(self, candidates: Stories, progress: Progress | None = None) -> Scores:
        """Score one system."""
        paired = pair_stories(candidates, self.annotators, self.protocol)
        parts = []
        spans = list(_batches(paired))
        if progress is not None:
            progress(0, len(paired.videos))
        batches = (_Videos(paired.candidates[b:e], paired.references[b:e]) for b, e in spans)
        values_of_batches = (
            map(self._values, batches)
            if self._engine is None
            else self._engine.map(_values_on_worker, batches, self._shared)
        )
        for (_, end), of_batch in zip(spans, values_of_batches, strict=True):
            parts.append(of_batch)
            if progress is not None:
                progress(end, len(paired.videos))
        values = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
        videos = ItemIndex(paired.videos)
        context = self._context(candidates, len(paired.videos))
        measured = [
            measurement(self._soda_kind(name), videos, values[name], context)
            for name in self.protocol.soda_scores
        ]
        if ACTIVITYNET in values:
            measured.append(self._activitynet(videos, values[ACTIVITYNET], context))
        if CHAPTERS in values:
            measured.append(self._chapters(videos, values[CHAPTERS], context))
        metrics = dict.fromkeys([*self._metrics, *([self._f.metric] if self._f else [])])
        notes = [*paired.notes, *_copy_warning(paired)]
        notes += story_language_notes(paired, self.protocol, list(metrics))
        return Scores(measured, notes)

    def video_of(self, video: str) -> str:
        """Return the id of a video in the references, which may begin with ``v_`` or not."""
        known = {each for stories in self.annotators for each in stories}
        found = next((each for each in _spellings(video) if each in known), video)
        check_choice("video", found, known)
        return found

    def matchings(
        self, candidates: Stories, video: str, score: str = "soda_c", *, tiou: float = 0.0
    ) -> list[StoryMatching]:
        """Show how SODA matches one video: once for each annotator, or once where they are merged.

        Args:
            candidates: The system's stories.
            video: The video's id as the references have it; see `video_of`.
            score: ``soda_a``, ``soda_b`` or ``soda_c``.
            tiou: The threshold of ``soda_a``.

        >>> from reelscore import examples
        >>> from reelscore.data.story_files import stories_of
        >>> systems, annotators = examples.stories()
        >>> scorer = StoryScorer([stories_of(each) for each in annotators.values()], Protocol())
        >>> first, second = scorer.matchings(stories_of(systems["concise"]), "v_dogwash")
        >>> [(each.candidate, each.reference, round(each.iou, 2)) for each in first.matches]
        [(0, 0, 0.92), (2, 1, 0.47), (3, 2, 0.9)]
        """
        video = self.video_of(video)
        truth = [Stories({video: each[video]}) for each in self.annotators if video in each]
        own = (candidates[each] for each in _spellings(video) if each in candidates)
        story = next(own, NO_CAPTIONS)
        paired = pair_stories(Stories({video: story}), truth, self.protocol)
        return self._matched(paired, [0], score, tiou)[0]

    def all_matchings(
        self, candidates: Stories, score: str = "soda_c", *, tiou: float = 0.0
    ) -> Iterator[tuple[str, list[StoryMatching]]]:
        """Yield each video's id and matchings; arguments as in `matchings`."""
        paired = pair_stories(candidates, self.annotators, self.protocol.but(missing="zero"))
        for begin in range(0, len(paired.videos), _VIDEOS_AT_ONCE):
            places = range(begin, min(begin + _VIDEOS_AT_ONCE, len(paired.videos)))
            matched = self._matched(paired, places, score, tiou)
            yield from zip(paired.videos[begin : places.stop], matched, strict=True)

    def _matched(
        self, paired: PairedStories, places: Sequence[int], score: str, tiou: float
    ) -> list[list[StoryMatching]]:
        """Match some videos, each with each of its annotators."""
        check_choice("score=", score, SODA_SCORES)
        self._f = self._f or self._sentence_score()
        truth = [paired.references[place] for place in places]
        if self.protocol.annotators == "merge":
            truth = [[merged(stories)] for stories in truth]
        matchings = iter(
            matchings_of(
                [
                    (paired.candidates[place], story)
                    for place, stories in zip(places, truth, strict=True)
                    for story in stories
                ],
                self._f,
                score,
                tiou=tiou,
            )
        )
        return [[next(matchings) for _ in stories] for stories in truth]

    def _values(self, videos: _Videos) -> dict[str, FloatArray]:
        """Score some videos; sentence pairs that both frameworks need are measured once."""
        batch = VideoBatch(*videos, self.protocol, self._threads)
        values = {} if self._f is None else soda_scores(batch, self._f)
        if ACTIVITYNET in self.protocol.scores:
            values[ACTIVITYNET] = activitynet_scores(batch, self._metrics)
        if CHAPTERS in self.protocol.scores:
            values[CHAPTERS] = chapter_scores(*videos, self.protocol)
        return values

    def _soda_kind(self, name: str) -> kinds.VideoScores:
        assert self._f is not None
        choices = (
            self._f.signature(),
            self.protocol.meteor_order,
            self.protocol.reference_order,
            self.protocol.characters,
            self.protocol.annotators,
        )
        if name == "soda_a":
            return kinds.SodaA(*choices, _listed(self.protocol.tious))
        return kinds.SodaB(*choices) if name == "soda_b" else kinds.SodaC(*choices)

    def _activitynet(
        self, videos: ItemIndex, values: FloatArray, context: dict[str, object]
    ) -> Measurement:
        protocol = self.protocol
        kind = kinds.ActivityNet(
            protocol.variant,
            _listed(protocol.tious),
            protocol.max_captions,
            protocol.epsilon,
            tuple(self._metrics),
        )
        by_tiou = kinds.scores_by_tiou(kind, protocol.tious, values)
        context = {**context, "tok": "ptb-coco"}
        return measurement(kind, videos, values.mean(axis=1), context, by_tiou)

    def _chapters(
        self, videos: ItemIndex, values: FloatArray, context: dict[str, object]
    ) -> Measurement:
        protocol = self.protocol
        kind = kinds.ChapterScores(
            _listed(protocol.chapter_tious),
            _listed(protocol.within),
            protocol.opening,
            protocol.epsilon,
        )
        untitled = {key: value for key, value in context.items() if key != "tok"}
        return measurement(kind, videos, values, untitled)

    def _context(self, candidates: Stories, videos: int) -> dict[str, object]:
        protocol = self.protocol
        return {
            "tok": "raw" if self._f is not None and self._f.as_written else protocol.tokenizer,
            "videos": videos,
            "refs": len(self.annotators),
            "data": _fingerprint(self.annotators, protocol.reference_order),
            "missing": protocol.missing,
            **rule_part(self._match_ids),
            **({"common": self._common} if self._common else {}),
            "unknown": protocol.unknown,
            "beyond": protocol.beyond,
            **structs.asdict(candidates.policies),
            "v": __version__,
        }


class _Videos(NamedTuple):
    """Some videos: the system's story of each, and those of its annotators."""

    candidates: list[Story]
    references: list[list[Story]]


def _values_on_worker(videos: _Videos, scorer: StoryScorer) -> dict[str, FloatArray]:
    return scorer._values(videos)


def _copy_warning(paired: PairedStories) -> list[str]:
    """Warn where nearly all sentences of a system are sentences of the video's references."""
    videos = [k for k, story in enumerate(paired.candidates) for _ in story.sentences]
    sentences = [sentence for story in paired.candidates for sentence in story.sentences]
    truth = [[text for each in stories for text in each.sentences] for stories in paired.references]
    return copy_warning(sentences, lambda place: truth[videos[place]])


def _batches(paired: PairedStories) -> Iterator[tuple[int, int]]:
    """Cut the videos into runs with a limited number of caption pairs."""
    begin = cells = 0
    for k, (story, truth) in enumerate(zip(paired.candidates, paired.references, strict=True)):
        own = len(story) * sum(caption_counts(truth))
        if k > begin and cells + own > PAIRS_AT_ONCE:
            yield begin, k
            begin, cells = k, 0
        cells += own
    yield begin, len(paired.videos)


def _listed(tious: tuple[float, ...]) -> str:
    return "/".join(f"{tiou:g}" for tiou in tious)


def _fingerprint(annotators: list[Stories], order: ReferenceOrder) -> str:
    """Eight hex digits; the order of the annotators changes them only if it changes scores."""
    parts = [stories.fingerprint(in_file_order=order == "file") for stories in annotators]
    if order == "time":
        parts.sort()
    return blake2b(b"".join(parts), digest_size=4).hexdigest()


def _spellings(video: str) -> tuple[str, ...]:
    """Return the ids that may stand for a video: ActivityNet's may lack their beginning."""
    return video, f"v_{video}", video.removeprefix("v_")
