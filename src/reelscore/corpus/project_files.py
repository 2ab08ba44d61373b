"""What the files of a project say: a record for each file, and for what is in it.

Each record is read from JSON and written to it as it is. Times are seconds of the film, except
those that are named `ad_…`: seconds of the described track. What a file may lack has a default.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import Literal

from reelscore.corpus.time_map import Break, Piece, TimeMap
from reelscore.errors import DataError
from reelscore.text.names.name_replacement import Anonymised

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


def segment_id(start: float) -> str:
    """Name a segment after its start, so that the name stays while the start does.

    >>> segment_id(3725.04)
    'n01.02.05.040'
    """
    milliseconds = round(start * 1000)
    seconds, milliseconds = divmod(milliseconds, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"n{hours:02}.{minutes:02}.{seconds:02}.{milliseconds:03}"


def unused_id(letter: str, start: float, taken: Container[str]) -> str:
    """Name what begins at a time, with a number where that name is taken.

    >>> unused_id("t", 4.0, {"t00.00.04.000"})
    't00.00.04.000.2'
    """
    name = base = letter + segment_id(start)[1:]
    number = 1
    while name in taken:
        number += 1
        name = f"{base}.{number}"
    return name


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
    """A part of a film with its sentences, as it is and as it is expanded for viewers."""

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
    """What a person decided about a segment or a sentence, and when."""

    at: str  # when, in ISO 8601
    who: str
    target: str  # the id of what it is about
    action: str  # what was done, such as `accept`, `reject` or `move`
    # The target before, as plain data; its `start` and `end` find it again after its id has
    # changed.
    before: dict[str, object] | None = None
    after: dict[str, object] | None = None
    note: str = ""  # a reason in words


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
    details: tuple[Mapping[str, object], ...] = ()


@dataclass(frozen=True)
class AudioTrack:
    """One stream of sound in a file."""

    path: str
    stream: int  # its number among the streams of sound in the file
    codec: str = ""
    layout: str = ""  # its channels, such as `stereo` or `5.1(side)`
    rate: int = 0  # samples a second in the file
    language: str | None = None  # its language, if the file says it
    chosen_by: str = ""  # why this stream: `option`, `disposition`, `language`, `default` or `only`
    # The length that the file states, 0 where it states none; in results, the length of what was
    # decoded.
    seconds: float = 0.0


@dataclass(frozen=True)
class CueLine:
    """What one speaker says in a cue.

    Attributes:
        who: The speaker, where the subtitles name one.
        text: The words.
    """

    who: str | None
    text: str


@dataclass(frozen=True)
class Cue:
    """Words on the screen for a while.

    Attributes:
        start: When they appear, in seconds.
        end: When they vanish.
        lines: What is said, speaker by speaker; none where only sounds were described.

    >>> Cue(1.0, 2.5, (CueLine(None, "Who is there?"), CueLine("ANNA", "Me."))).text
    'Who is there? Me.'
    """

    start: float
    end: float
    lines: tuple[CueLine, ...]

    @property
    def text(self) -> str:
        """All words of the cue."""
        return " ".join(line.text for line in self.lines)


@dataclass(frozen=True)
class InputFile:
    """A file that a result was made from, as it was then."""

    path: str  # where it was: its place in the project, or its full path
    size: int
    sha256: str  # the checksum of its first and its last MiB


@dataclass(frozen=True)
class MadeBy:
    """What made a result: the step, its options, and the version of reelscore."""

    command: str
    parameters: dict[str, object]
    version: str


@dataclass(frozen=True, kw_only=True)
class StepResult:
    """What the results of all steps say: what made them, from what, and what to know about them."""

    made_by: MadeBy | None = None
    inputs: tuple[InputFile, ...] = ()
    report: tuple[Remark, ...] = ()

    @property
    def is_trusted(self) -> bool:
        """Whether nothing in the report speaks against the result."""
        return all(remark.trusted for remark in self.report)


@dataclass(frozen=True, kw_only=True)
class AlignedTracks(StepResult):
    """`align.json`: which time of the film each time of the described track shows.

    Attributes:
        film: The film's sound.
        ad: The described track.
        match: Whether both are of the same film.
        mode: `stretched` where the track was changed in speed but not in pitch.
        rate: Film seconds for each second of the track.
        confidence: How well they fit, from 0 to 1.
        coherent: How well the phases of the waveforms agree, up to 1.
        map: The time map.
        breaks: Where the track and the film part.
    """

    film: AudioTrack | None = None
    ad: AudioTrack | None = None
    match: bool = True
    mode: Literal["coherent", "stretched"] = "coherent"
    rate: float = 1.0
    confidence: float = 0.0
    coherent: float = 0.0
    map: tuple[Piece, ...]
    breaks: tuple[Break, ...] = ()

    @property
    def time_map(self) -> TimeMap:
        """The time map; a `DataError` if it has no pieces."""
        if not self.map:
            raise DataError(
                "The described track was not found in the film, so there is nothing to segment; "
                "see the report of 'reelscore corpus align'."
            )
        return TimeMap(self.map)


@dataclass(frozen=True, kw_only=True)
class NarrationSegments(StepResult):
    """`segments.json`: when the narrator speaks.

    Attributes:
        method: How segments were found.
        detector: What heard the voices, where something did.
        thresholds: The level in dB that a segment must reach, and above which it goes on.
        narrated: Their seconds together.
        segments: The segments.
        turns: The ids of segments that follow each other within half a second.
    """

    method: str = ""
    detector: str = ""
    thresholds: tuple[float, ...] = ()
    narrated: float = 0.0
    segments: tuple[Segment, ...]
    turns: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Subtitles(StepResult):
    """`subtitles.json`: what is said in a film, and when.

    Attributes:
        format: How the subtitles were written, such as `srt`.
        cues: The cues by their starts; a script's elements name them by number, from 0.
    """

    format: str = ""
    cues: tuple[Cue, ...]


@dataclass(frozen=True, kw_only=True)
class Script(StepResult):
    """`script.json`: a script as its elements.

    Attributes:
        format: How it was written: `fountain`, `fdx` or `text`.
        counts: How many elements there are of each kind.
        elements: The elements, in their order.
    """

    format: str = ""
    counts: dict[str, int] = field(default_factory=dict)
    elements: tuple[Element, ...]


@dataclass(frozen=True)
class LineCounts:
    """How many lines of dialogue a script has, and how many of them its film has."""

    all: int = 0
    matched: int = 0


@dataclass(frozen=True, kw_only=True)
class TimedScript(StepResult):
    """`aligned.json`: a script with the times of its film.

    Attributes:
        lines: How many lines of dialogue there are, and how many the film has.
        moved: Numbers of the scenes that the film has elsewhere.
        elements: All elements, those with a time with it.
        sentences: The sentences of descriptions that have a time.
    """

    lines: LineCounts = LineCounts()
    moved: tuple[int, ...] = ()
    elements: tuple[Element, ...]
    sentences: tuple[TimedSentence, ...]


@dataclass(frozen=True, kw_only=True)
class Transcript(StepResult):
    """`transcript.json`: the sentences of a narration."""

    sentences: tuple[TimedSentence, ...]


@dataclass(frozen=True)
class FilmSentence(TimedSentence):
    """A sentence, and its film."""

    film: str = ""


@dataclass(frozen=True, kw_only=True)
class CorpusClips(StepResult):
    """`clips.json`: the clips of all films, and all sentences, the rejected ones included."""

    clips: tuple[FilmClip, ...]
    sentences: tuple[FilmSentence, ...]


@dataclass(frozen=True)
class FilmNames:
    """The names of a film: its cast, its sentences by id, and words that look like names."""

    cast: tuple[str, ...]
    sentences: dict[str, Anonymised]
    unknown: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class CorpusNames(StepResult):
    """`names.json`: the sentences of each film without names."""

    films: dict[str, FilmNames]


@dataclass(frozen=True)
class SameFilm:
    """Two films of a project with the same sound."""

    films: tuple[str, str]
    confidence: float  # that of their alignment


@dataclass(frozen=True)
class SetSize:
    """What a set has: films, clips, its share of the clips, the share wanted, films by genre."""

    films: int
    clips: int
    share: float
    target: float
    genres: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class CorpusSets(StepResult):
    """`splits.json`: training, validation and test."""

    films: dict[str, str] = field(default_factory=dict)  # the set of each film
    clips: dict[str, str]  # the set of each clip
    left_out: int = 0  # how many clips from scripts are in no set
    same_sound: tuple[SameFilm, ...] = ()  # films that are the same by their sound
    not_compared: tuple[str, ...] = ()  # films without a file, or too short
    reached: dict[str, SetSize] = field(default_factory=dict)  # what each set has
