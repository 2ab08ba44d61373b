"""What describers and their editors want to know: how dense a narration is, and where is room.

Speech is in film time: narration as segments or sentences, dialogue as the cues of subtitles.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reelscore.corpus.project_files import segment_id
from reelscore.corpus.time_map import Span, gaps_between, joined_spans, shared_seconds

_FAST = 180.0  # words a minute from which on listeners lose the thread


@dataclass(frozen=True)
class Narration:
    """What the narrator says, and when; the words are empty where nobody transcribed them.

    >>> Narration(4.0, 6.0, "Someone opens the door.").words_per_minute
    120.0
    """

    start: float
    end: float
    text: str = ""

    @property
    def words_per_minute(self) -> float | None:
        """How fast it is spoken; None without words or without length."""
        words = len(self.text.split())
        return (
            round(60 * words / (self.end - self.start), 1)
            if words and (self.end > self.start)
            else None
        )


def to_webvtt(narration: Iterable[Narration]) -> str:
    r"""Write a narration as WebVTT, for a track of the kind `descriptions`."""
    parts = ["WEBVTT\n"]
    for number, each in enumerate(narration, start=1):
        text = " ".join(each.text.split()) or "(narration)"
        text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        parts.append(f"{number}\n{_stamp(each.start)} --> {_stamp(each.end)}\n{text}\n")
    return "\n".join(parts)


def _stamp(seconds: float) -> str:
    return segment_id(seconds)[1:].replace(".", ":", 2)


@dataclass(frozen=True)
class FastPassage:
    """A passage that is spoken faster than 180 words a minute."""

    start: float
    end: float
    words_per_minute: float | None


@dataclass(frozen=True)
class NarrationOverlap:
    """A passage over dialogue, and for how many seconds."""

    start: float
    end: float
    seconds: float


@dataclass(frozen=True)
class Room:
    """A time without speech, and how many words would fit at 160 words a minute."""

    start: float
    end: float
    words: int


@dataclass(frozen=True)
class NarrationReport:
    """How dense a narration is, how fast, where it covers dialogue, and where is room."""

    seconds: float  # how long the film is
    narrated: float  # seconds of narration
    density: float  # the share of the film that is narrated
    passages: int  # how many there are
    words_per_minute: float | None  # over all passages with words; None without any
    fast: tuple[FastPassage, ...]  # passages faster than 180 words a minute
    dialogue: float  # seconds of dialogue
    overlap: float  # seconds of narration over dialogue
    overlaps: tuple[NarrationOverlap, ...]  # the passages over dialogue
    gaps: tuple[Room, ...]  # where another description would fit


def accessibility_report(
    narration: Sequence[Narration],
    dialogue: Sequence[Span] = (),
    *,
    seconds: float | None = None,
    least_gap: float = 3.0,
    margin: float = 0.25,
) -> NarrationReport:
    """Measure how dense a narration is, how fast, where it covers dialogue, and where is room.

    Args:
        narration: The narration.
        dialogue: When people speak.
        seconds: How long the film is; until the last word if not given.
        least_gap: The shortest silence, in seconds, that a description would fit in.
        margin: How much silence to leave before and after speech.

    >>> said = [Narration(10.0, 12.0, "Someone opens the door."), Narration(30.0, 31.0)]
    >>> result = accessibility_report(said, [(11.5, 14.0)], seconds=40.0, least_gap=9)
    >>> result.density, result.words_per_minute, result.overlap
    (0.075, 120.0, 0.5)
    >>> [gap.start for gap in result.gaps]
    [0.25, 14.25]
    """
    spoken = joined_spans((each.start, each.end) for each in narration)
    talk = joined_spans(dialogue)
    length = seconds or max((end for _, end in [*spoken, *talk]), default=0.0)
    narrated = sum(end - start for start, end in spoken)
    worded = [each for each in narration if each.words_per_minute is not None]
    worded_seconds = sum(each.end - each.start for each in worded)
    words = sum(len(each.text.split()) for each in worded)
    over = [(each, shared_seconds((each.start, each.end), talk)) for each in narration]
    return NarrationReport(
        seconds=round(length, 3),
        narrated=round(narrated, 3),
        density=round(narrated / length, 4) if length else 0.0,
        passages=len(narration),
        words_per_minute=round(60 * words / worded_seconds, 1) if worded_seconds else None,
        fast=tuple(
            FastPassage(each.start, each.end, each.words_per_minute)
            for each in worded
            if (each.words_per_minute or 0.0) > _FAST
        ),
        dialogue=round(sum(end - start for start, end in talk), 3),
        overlap=round(sum(shared_seconds(span, talk) for span in spoken), 3),
        overlaps=tuple(
            NarrationOverlap(each.start, each.end, round(shared, 3))
            for each, shared in over
            if shared > 0
        ),
        gaps=tuple(
            Room(round(start, 3), round(end, 3), int((end - start) * 160 / 60))
            for start, end in _gaps([*spoken, *talk], length, least_gap, margin)
        ),
    )


def _gaps(speech: Sequence[Span], length: float, least: float, margin: float) -> list[Span]:
    inside = [(max(0.0, start), min(end, length)) for start, end in gaps_between(speech)]
    gaps = [(start + margin, end - margin) for start, end in inside]
    return [(start, end) for start, end in gaps if end - start >= least]
