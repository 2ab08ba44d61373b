"""The timelines of videos as columns of a page."""

from __future__ import annotations

from collections.abc import Sequence

from reelscore.report.html.contents import Report
from reelscore.report.pages import Payload
from reelscore.report.safe_text import legible
from reelscore.stories.timelines import MatchedStories, TimedCaption, Timeline


def add_stories(payload: Payload, report: Report, items: Sequence[str]) -> dict[str, object]:
    """Add the timelines of all systems, video by video."""
    systems = report.table.systems
    columns = _TimelineColumns()
    for video in items:
        shown = [report.timelines.get(name, {}).get(video) for name in systems]
        columns.add_video(shown)
    columns.add_to(payload)
    first = next(
        timeline for by_video in report.timelines.values() for timeline in by_video.values()
    )
    return {"method": first.method, "annotators": columns.annotators}


class _TimelineColumns:
    """Numbers and texts, in the order in which the page reads them."""

    def __init__(self) -> None:
        self.annotators: list[str] = []
        self._comparisons: list[int] = []  # of each video, its annotators
        self._names: list[int] = []  # of each comparison, the annotator's number
        self._counts: list[int] = []  # of each story, its captions
        self._sentences: list[str] = []
        self._times: list[float] = []
        self._matches: list[int] = []  # of each system and annotator
        self._pairs: list[tuple[int, int]] = []
        self._values: list[float] = []  # IoU and f of each pair
        self._scores: list[float] = []  # precision, recall, F1 of each system and annotator

    def add_video(self, shown: Sequence[Timeline | None]) -> None:
        """Add a video: the truth of each annotator, then each system's story and matches."""
        known = next((timeline for timeline in shown if timeline is not None), None)
        comparisons: Sequence[MatchedStories] = () if known is None else known.comparisons
        self._comparisons.append(len(comparisons))
        for each in comparisons:
            if each.annotator not in self.annotators:
                self.annotators.append(each.annotator)
            self._names.append(self.annotators.index(each.annotator))
            self._story(each.references)
        for timeline in shown:
            own = () if timeline is None else timeline.comparisons
            self._story(own[0].candidates if own else ())
            for k in range(len(comparisons)):
                self._matched(own[k] if own else None)

    def _story(self, captions: Sequence[TimedCaption]) -> None:
        self._counts.append(len(captions))
        for caption in captions:
            self._sentences.append(legible(caption.sentence))
            self._times += (caption.start, caption.end)

    def _matched(self, comparison: MatchedStories | None) -> None:
        pairs = () if comparison is None else comparison.matches
        self._matches.append(len(pairs))
        for pair in pairs:
            assert pair.reference is not None
            assert pair.candidate is not None
            self._pairs.append((_number(pair.reference), _number(pair.candidate)))
            self._values += (pair.iou, pair.f)
        none = (0.0, 0.0, 0.0)
        self._scores += (
            none if comparison is None else (comparison.precision, comparison.recall, comparison.f1)
        )

    def add_to(self, payload: Payload) -> None:
        payload.numbers("story comparisons", self._comparisons, "u1")
        payload.numbers("story annotators", self._names, "u1")
        payload.numbers("story counts", self._counts, "u2")
        payload.texts("story sentences", self._sentences)
        payload.numbers("story times", self._times, "f4")
        payload.numbers("story matches", self._matches, "u2")
        payload.numbers("story pairs", [k for pair in self._pairs for k in pair], "u2")
        payload.numbers("story values", self._values, "f4")
        payload.numbers("story scores", self._scores, "f4")


def _number(caption: TimedCaption) -> int:
    """Return the caption's place in its story, from 0: R1 is the first reference."""
    return int(caption.name[1:]) - 1
