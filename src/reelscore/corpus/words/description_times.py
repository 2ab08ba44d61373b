"""Times of the descriptions of a script: they share what lies between the lines around them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from reelscore.corpus.project_files import Element, TimedSentence
from reelscore.text.parser.sentences import split_sentences

_LONGEST = 120.0  # seconds between two lines; farther apart they say little
_PER_WORD = 0.45  # seconds, from one line alone
_NEIGHBOURS = 2  # lines on each side that make the score
_DROPPED = 0.35  # how likely a line that is not matched is in the film all the same
_LOST = 0.35  # a scene with a smaller share of its words matched is hardly in the film


@dataclass(frozen=True)
class SpokenLine:
    """A line of dialogue: its words, how many are in the film, and when.

    >>> SpokenLine(4, 3, 1.0, 2.5).is_matched, SpokenLine(4, 0, None, None).is_matched
    (True, False)
    """

    words: int
    matched: int
    start: float | None
    end: float | None

    @property
    def is_matched(self) -> bool:
        """Whether the film has it."""
        return self.start is not None


@dataclass(frozen=True)
class _Bound:
    """A line that is matched, as a bound of what stands beside it."""

    place: int
    scene: int
    time: float


def timed_descriptions(
    elements: Sequence[Element],
    lines: Mapping[int, SpokenLine],
    moved: frozenset[int],
    min_score: float = 0.5,
) -> tuple[list[Element], list[TimedSentence]]:
    """Add times and scores to the descriptions of a script, and part them into sentences.

    Lines are given by their places in `elements`.
    """
    places = sorted(lines)
    matched = [place for place in places if lines[place].is_matched]
    lost = _lost_scenes(elements, lines)
    timed, sentences = list(elements), []
    weights = [
        _weight(element, lines.get(place), element.scene in lost)
        for place, element in enumerate(elements)
    ]
    script = _Script(elements, weights, moved)
    for place, element in enumerate(elements):
        if element.kind != "description":
            continue
        at = bisect_left(matched, place)
        before, after = matched[max(0, at - 1) : at], matched[at : at + 1]
        first = _bound(elements, before[0], lines[before[0]].end) if before else None
        last = _bound(elements, after[0], lines[after[0]].start) if after else None
        span, reason = script.span(place, first, last)
        score = _score(place, places, lines)
        accepted = span is not None and score >= min_score and element.scene not in lost
        if reason is None and not accepted:
            reason = "low-score"
        start, end = (None, None) if span is None else (round(span[0], 3), round(span[1], 3))
        timed[place] = replace(
            element, start=start, end=end, score=score, accepted=accepted, reason=reason
        )
        sentences += _sentences(timed[place])
    return timed, sentences


def _bound(elements: Sequence[Element], place: int, time: float | None) -> _Bound:
    assert time is not None
    return _Bound(place, elements[place].scene, time)


def _lost_scenes(elements: Sequence[Element], lines: Mapping[int, SpokenLine]) -> set[int]:
    words: dict[int, list[int]] = {}
    for place, line in lines.items():
        here = words.setdefault(elements[place].scene, [0, 0])
        here[0] += line.matched
        here[1] += line.words
    return {scene for scene, (matched, total) in words.items() if matched < _LOST * total}


def _score(place: int, places: Sequence[int], lines: Mapping[int, SpokenLine]) -> float:
    """Return the share of matched words in the lines beside a description, as the paper does."""
    at = bisect_left(places, place)
    near = [lines[each] for each in places[max(0, at - _NEIGHBOURS) : at + _NEIGHBOURS]]
    total = sum(line.words for line in near)
    return round(sum(line.matched for line in near) / total, 4) if total else 0.0


def _weight(element: Element, line: SpokenLine | None, is_lost: bool) -> float:
    """Return how many seconds an element probably takes."""
    if is_lost:
        return 0.0
    if line is not None:
        return 0.0 if line.is_matched else _DROPPED * (0.36 * line.words + 0.3)
    if element.kind == "description":
        return sum(_sentence_weight(each) for each in split_sentences(element.text))
    return 0.0


def _sentence_weight(sentence: str) -> float:
    return 0.3 * len(sentence.split()) + 1.4


class _Script(NamedTuple):
    """A script between the lines that are matched."""

    elements: Sequence[Element]
    weights: Sequence[float]  # how many seconds each probably takes
    moved: frozenset[int]  # scenes that the film has elsewhere

    def span(
        self, place: int, first: _Bound | None, last: _Bound | None
    ) -> tuple[tuple[float, float] | None, str | None]:
        """Return when a description happens, or why nobody knows."""
        scene = self.elements[place].scene
        if first is None or last is None:
            reason = "edge"
        elif last.time < first.time or any(
            each.scene != scene and {each.scene, scene} & self.moved for each in (first, last)
        ):
            reason = "order"
        elif last.time - first.time > _LONGEST:
            reason = "far"
        else:
            total = sum(self.weights[first.place + 1 : last.place]) or 1.0
            rate = (last.time - first.time) / total
            start = first.time + rate * sum(self.weights[first.place + 1 : place])
            return (start, start + rate * self.weights[place]), None
        span = self._one_sided(place, first, last)
        return span, None if span else reason

    def _one_sided(
        self, place: int, first: _Bound | None, last: _Bound | None
    ) -> tuple[float, float] | None:
        """Return when a description happens by one line of its scene alone."""
        scene, own = self.elements[place].scene, self._seconds(place, place + 1)
        spans = []
        if first is not None and first.scene == scene:
            away = self._seconds(first.place + 1, place)
            spans.append((away, first.time + away))
        if last is not None and last.scene == scene:
            away = self._seconds(place + 1, last.place)
            spans.append((away, last.time - away - own))
        usable = [(away, start) for away, start in spans if start >= 0]
        if not usable:
            return None
        _, start = min(usable)
        return start, start + own

    def _seconds(self, start: int, end: int) -> float:
        return sum(
            _PER_WORD * len(element.text.split()) if element.kind == "description" else weight
            for element, weight in zip(
                self.elements[start:end], self.weights[start:end], strict=True
            )
        )


def _sentences(element: Element) -> list[TimedSentence]:
    """Part a description with a time into its sentences, each with its share of the time."""
    if element.start is None or element.end is None:
        return []
    texts = split_sentences(element.text)
    weights = [_sentence_weight(text) for text in texts]
    rate = (element.end - element.start) / (sum(weights) or 1.0)
    sentences, start = [], element.start
    for number, (text, weight) in enumerate(zip(texts, weights, strict=True)):
        end = start + rate * weight
        sentences.append(
            TimedSentence(
                f"{element.id}.{number}",
                text,
                round(start, 3),
                round(end, 3),
                "script",
                parent=element.id,
                state="accepted" if element.accepted else "proposed",
            )
        )
        start = end
    return sentences
