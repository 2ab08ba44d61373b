"""What a corpus is made of: pieces of time, segments, sentences, clips, decisions, findings.

Times are seconds of the film, except those that are named `ad_…`: seconds of the described track.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["proposed", "accepted", "rejected", "edited"]
Kind = Literal[
    "heading",
    "description",
    "dialogue",
    "parenthetical",
    "transition",
    "note",
    "lyric",
    "title",
    "page",
]

UNSURE = 0.5
"""Segments with less confidence wait for a person."""


@dataclass(frozen=True)
class Piece:
    """A stretch of the described track that shows a stretch of the film.

    A time of the track is the film's `film_start + (ad - ad_start) * rate`.

    >>> Piece(ad_start=10.0, ad_end=20.0, film_start=12.0, rate=1.0).film_end
    22.0
    """

    ad_start: float
    ad_end: float
    film_start: float
    rate: float

    @property
    def film_end(self) -> float:
        """The time of the film at which the stretch ends."""
        return self.film_start + (self.ad_end - self.ad_start) * self.rate


@dataclass(frozen=True)
class Segment:
    """A stretch in which the narrator speaks.

    Attributes:
        id: Made of its start, so that it stays the same while the start does.
        start: When it begins.
        end: When it ends.
        ad_start: When it begins in the described track.
        ad_end: When it ends there.
        level_db: How loud it is, in dB below the loud parts of the track.
        confidence: From 0 to 1; below `UNSURE` a person should look at it first.
        source: Whether it was found (`ad`) or drawn by hand (`hand`).
        state: What people decided about it.

    >>> segment = Segment("n00.00.04.000", 4.0, 6.5, 4.4, 6.9, -8.1, 0.9)
    >>> segment.state
    'proposed'
    """

    id: str
    start: float
    end: float
    ad_start: float
    ad_end: float
    level_db: float
    confidence: float
    source: Literal["ad", "hand"] = "ad"
    state: State = "proposed"


@dataclass(frozen=True)
class Element:
    """A part of a script, such as a heading or a line of dialogue, with its time if it has one.

    >>> Element("e1", 1, "dialogue", "ANNA", "Who is there?").accepted
    False
    """

    id: str
    scene: int
    kind: Kind
    who: str | None
    text: str
    extensions: tuple[str, ...] = ()
    start: float | None = None
    end: float | None = None
    score: float | None = None
    cues: tuple[int, ...] = ()
    accepted: bool = False
    reason: str | None = None
    line: int | None = None


@dataclass(frozen=True)
class TimedSentence:
    """A sentence of a narration or of a script's description.

    >>> TimedSentence("s1", "Anna opens the door.", 4.0, 6.5, "ad").state
    'proposed'
    """

    id: str
    text: str
    start: float | None
    end: float | None
    origin: Literal["ad", "script"]
    parent: str | None = None
    flags: tuple[str, ...] = ()
    state: State = "proposed"


@dataclass(frozen=True)
class FilmClip:
    """A part of a film with its sentences, as it is and as it is expanded for viewers.

    >>> FilmClip("f_1", "f", 4.0, 5.0, 3.5, 5.5, ("s1",), "ad").expanded_end
    5.5
    """

    id: str
    film: str
    start: float
    end: float
    expanded_start: float
    expanded_end: float
    sentences: tuple[str, ...]
    origin: Literal["ad", "script"]


@dataclass(frozen=True)
class Decision:
    """What a person decided about a segment or a sentence, and when.

    Attributes:
        at: When, in ISO 8601.
        who: Who decided.
        target: The id of what it is about.
        action: What was done, such as `accept`, `reject` or `move`.
        before: The target before, as plain data; its `start` and `end` find it again after
            its id has changed.
        after: The target after.
        note: A reason in words.

    >>> Decision("2026-01-01T00:00:00Z", "ada", "n1", "accept").note
    ''
    """

    at: str
    who: str
    target: str
    action: str
    before: dict[str, object] | None = None
    after: dict[str, object] | None = None
    note: str = ""


@dataclass(frozen=True)
class Remark:
    """Something to know about a result, by its code.

    Attributes:
        code: What kind of finding, such as `rate` or `no-match`.
        message: What was found and what to do, in words.
        trusted: Whether the result can be trusted in spite of it.
        details: Numbers and times behind the message.

    >>> Remark("mono", "Left and right are equal.").trusted
    True
    """

    code: str
    message: str
    trusted: bool = True
    details: tuple[dict[str, object], ...] = ()
