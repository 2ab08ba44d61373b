"""The films of a project as the review page sees them, and what is decided there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Literal

import msgspec

from reelscore.corpus.pipeline import ASSEMBLE, SCRIPT, SUBTITLES
from reelscore.corpus.project import Project
from reelscore.corpus.project_files import Decision, Segment, TimedSentence
from reelscore.corpus.release.corpus_size import review_size
from reelscore.corpus.release.film_names import film_headings
from reelscore.corpus.review.actions import Reviewer, suggested_flags
from reelscore.corpus.review.decisions import (
    Passage,
    Reviewed,
    append_decision,
    read_decisions,
    replay,
)
from reelscore.corpus.review.pictures import has_video
from reelscore.corpus.review.sounds import FilmSounds, Voice
from reelscore.errors import DataError, RefusedError

WINDOW = 30.0
"""Seconds that the page shows at once."""

PAPER = {"ad": "under 4 %", "script": "about 19 %"}
"""The share of words that the paper removed by hand, by source."""

# What decisions are applied to, and what names are read from.
_BASE = (*ASSEMBLE.film_files[:-1], SUBTITLES.file, SCRIPT.file)


class ReviewRequest(msgspec.Struct, forbid_unknown_fields=True):
    """What the page asks to decide."""

    version: int  # how many decisions the page has seen
    # What to do; the other fields are its arguments.
    action: Literal[
        "accept", "reject", "move", "edit", "split", "merge", "new", "name", "no-name", "undo"
    ]
    target: str = ""
    start: float = 0.0  # of `move` and `new`
    end: float = 0.0  # of `move` and `new`
    at: float = 0.0  # of `split`
    text: str = ""  # of `edit`; of `name` and `no-name`, the name
    note: str = ""  # of `reject`


@dataclass(frozen=True)
class LostWords:
    """The share of a source's words that review removed, and what the paper says of its own."""

    source: str
    lost: float
    paper: str


@dataclass(frozen=True, kw_only=True)
class FilmSummary:
    """What changes with decisions, beside the passages."""

    version: int  # how many decisions there are
    orphaned: int  # how many are about what is no longer there
    # Words in lower case: names (`name`), and what is marked as none (`no-name`).
    names: dict[str, list[str]]
    report: list[LostWords]  # what review removed, by source


@dataclass(frozen=True, kw_only=True)
class FilmView(FilmSummary):
    """A whole film, as the page shows it."""

    film: str
    seconds: float
    voices: tuple[Voice, ...]
    video: bool
    passages: list[Passage]


@dataclass(frozen=True, kw_only=True)
class DecisionEffect(FilmSummary):
    """What a decision changed."""

    done: str
    undone: str  # the action that was taken back, if one was
    changed: list[Passage]  # the passages that are new or different
    removed: list[str]  # the ids of those that are gone
    target: str | None  # the passage to show next


@dataclass(frozen=True)
class _ReviewedFilm:
    """A film after some decisions."""

    decisions: list[Decision]
    reviewed: Reviewed
    passages: dict[str, Passage]


class ReviewFilm:
    """One film at the desk. Files that change beside it are seen at the next request."""

    def __init__(self, folder: Path, film_id: str, who: str) -> None:
        self.id, self.who = film_id, who
        self._folder = folder
        self._place = folder / "films" / film_id
        self._lock = Lock()
        self._state: _ReviewedFilm | None = None
        self._seen: tuple[object, object] = (None, None)  # of the files that the state is made of
        self._load()

    # What there is

    def _load(self) -> None:
        """Read what the steps made."""
        project = self._project = Project.open(self._folder)
        self._segments: Sequence[Segment] = project.segments(self.id)
        self._sentences: Sequence[TimedSentence] = project.sentences(self.id)
        self._scores = {element.id: element.score for element in project.elements(self.id)}
        self.sounds = FilmSounds(project, self.id)
        self.seconds = project.seconds(self.id)
        subtitles = project.result(SUBTITLES, self.id)
        self._cues = [
            (cue.start, cue.end, cue.text)
            for cue in (subtitles.cues if subtitles else ())
            if cue.lines
        ]
        film = project.film(self.id).film
        self.video = _video(project.folder / film) if film else None

    def _now(self) -> _ReviewedFilm:
        """Return the film as it is now."""
        file = self._place / "decisions.jsonl"
        base = _signature(*(self._place / name for name in _BASE), self._folder / "corpus.json")
        signature = base, _signature(file)
        if self._state is None or signature != self._seen:
            if base != self._seen[0]:
                self._load()
            decisions = read_decisions(file)
            reviewed = replay(self._segments, self._sentences, decisions)
            passages = {each.id: self._with_flags(each) for each in reviewed.passages()}
            self._state, self._seen = _ReviewedFilm(decisions, reviewed, passages), signature
        return self._state

    def _with_flags(self, passage: Passage) -> Passage:
        flags = suggested_flags(passage.text, passage.start, passage.end, self.seconds)
        doubt = passage.confidence
        if passage.origin == "script":
            doubt = self._scores.get(passage.parent or "")
        return replace(passage, confidence=doubt, flags=flags)

    def state(self) -> FilmView:
        """Describe the whole film: all passages, and everything that changes with decisions."""
        with self._lock:
            state = self._now()
            return FilmView(
                film=self.id,
                seconds=self._length(state),
                voices=self.sounds.voices,
                video=self.video is not None,
                passages=list(state.passages.values()),
                **vars(self._summary(state)),
            )

    def _length(self, state: _ReviewedFilm) -> float:
        last = max((passage.end for passage in state.passages.values()), default=0.0)
        return self.seconds or max(last, *(end for _, end, _ in self._cues), WINDOW)

    def _summary(self, state: _ReviewedFilm) -> FilmSummary:
        names, no_names = film_headings(self._project, self.id)
        sizes = review_size(state.reviewed.sentences)
        return FilmSummary(
            version=len(state.decisions),
            orphaned=len(state.reviewed.orphaned),
            names={"name": [name.lower() for name in names], "no-name": sorted(no_names)},
            report=[LostWords(name, size.words_lost, PAPER[name]) for name, size in sizes.items()],
        )

    def cues(self, start: float, end: float) -> list[tuple[float, float, str]]:
        """List the subtitles of some seconds."""
        return [cue for cue in self._cues if cue[0] < end and cue[1] > start]

    # What is decided

    def decide(self, request: ReviewRequest) -> DecisionEffect:
        """Write a decision down, and return what it changed."""
        with self._lock:
            before = self._now()
            if request.version != len(before.decisions):
                raise RefusedError(
                    "conflict",
                    "This film was changed elsewhere meanwhile, so nothing was done. The page "
                    "shows it as it is now: look, then decide again.",
                )
            desk = Reviewer(
                before.reviewed, before.decisions, self.who, self.seconds, self.sounds.time_map
            )
            decision = _decision(desk, request)
            file = self._project.place(self.id, "decisions.jsonl")
            append_decision(file, decision, version=request.version)
            after = self._now()
            changed = [
                passage
                for name, passage in after.passages.items()
                if before.passages.get(name) != passage
            ]
            removed = [name for name in before.passages if name not in after.passages]
            target, instead = decision.target, changed[0].id if changed else None
            return DecisionEffect(
                done=decision.action,
                undone=str((decision.after or {}).get("action", "")),
                changed=changed,
                removed=removed,
                target=target if target in after.passages else instead,
                **vars(self._summary(after)),
            )


def _decision(desk: Reviewer, request: ReviewRequest) -> Decision:
    target, text = request.target, request.text
    decisions: dict[str, Callable[[], Decision]] = {
        "accept": lambda: desk.accept(target),
        "reject": lambda: desk.reject(target, request.note),
        "move": lambda: desk.move(target, request.start, request.end),
        "edit": lambda: desk.edit(target, text),
        "split": lambda: desk.split(target, request.at),
        "merge": lambda: desk.merge(target),
        "new": lambda: desk.new(request.start, request.end),
        "name": lambda: desk.name(target, text, True),
        "no-name": lambda: desk.name(target, text, False),
        "undo": desk.undo,
    }
    return decisions[request.action]()


def _video(path: Path) -> Path | None:
    """Return a file back if it has pictures; words can be reviewed without."""
    try:
        return path if has_video(path) else None
    except DataError:
        return None


def _signature(*files: Path) -> list[tuple[int, int] | None]:
    """Return what changes when files do."""
    stats = [path.stat() if path.exists() else None for path in files]
    return [None if stat is None else (stat.st_mtime_ns, stat.st_size) for stat in stats]


class ReviewFilms:
    """The films of a project, each opened when it is first asked for."""

    def __init__(self, project: Project, films: list[str], who: str) -> None:
        self.project, self.names, self.who = project, films, who
        self._films: dict[str, ReviewFilm] = {}
        self._lock = Lock()

    def film(self, film_id: str) -> ReviewFilm:
        """Return a film."""
        if film_id not in self.names:
            raise DataError(f"There is no film {film_id!r} to review here.")
        with self._lock:
            if film_id not in self._films:
                self._films[film_id] = ReviewFilm(self.project.folder, film_id, self.who)
            return self._films[film_id]
