"""The films of a project as the review page sees them, and what is decided there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Literal

import msgspec

from reelscore.corpus.names.film_names import film_headings
from reelscore.corpus.project import Project
from reelscore.corpus.project_files import Decision, Segment, TimedSentence
from reelscore.corpus.release.clip_assembly import FILES, film_seconds
from reelscore.corpus.release.corpus_size import review_size
from reelscore.corpus.review.actions import Reviewer, suggested_flags
from reelscore.corpus.review.decision_log import append_decision, read_decisions
from reelscore.corpus.review.pictures import has_video
from reelscore.corpus.review.replay import Passage, Reviewed, replay
from reelscore.corpus.review.sounds import FilmSounds
from reelscore.errors import DataError, RefusedError

WINDOW = 30.0
"""Seconds that the page shows at once."""

PAPER = {"ad": "under 4 %", "script": "about 19 %"}
"""The share of words that the paper removed by hand, by source."""

_BASE = (*FILES[:-1], "subtitles.json", "script.json")  # what decisions are applied to


class ReviewRequest(msgspec.Struct, forbid_unknown_fields=True):
    """What the page asks to decide.

    Attributes:
        version: How many decisions the page has seen.
        action: What to do; the other fields are its arguments.
        target: The passage.
        start: Of `move` and `new`.
        end: Of `move` and `new`.
        at: Of `split`.
        text: Of `edit`; of `name` and `no-name`, the name.
        note: Of `reject`.
    """

    version: int
    action: Literal[
        "accept", "reject", "move", "edit", "split", "merge", "new", "name", "no-name", "undo"
    ]
    target: str = ""
    start: float = 0.0
    end: float = 0.0
    at: float = 0.0
    text: str = ""
    note: str = ""


@dataclass(frozen=True)
class _ReviewedFilm:
    """A film after some decisions."""

    decisions: list[Decision]
    reviewed: Reviewed
    passages: dict[str, dict[str, Any]]


class ReviewFilm:
    """One film at the desk. Files that change beside it are seen at the next request.

    Args:
        folder: The project folder.
        film_id: The film.
        who: Who decides.
    """

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
        self._segments: list[Segment] = project.segments(self.id)
        self._sentences: list[TimedSentence] = project.sentences(self.id)
        self._scores = {element.id: element.score for element in project.elements(self.id)}
        self.sounds = FilmSounds(project, self.id)
        self.seconds = film_seconds(project, self.id)
        cues = (project.result(self.id, "subtitles") or {}).get("cues", ())
        self._cues = [
            (cue["start"], cue["end"], " ".join(line["text"] for line in cue["lines"]))
            for cue in cues
            if cue["lines"]
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
            passages = {passage.id: self._plain(passage) for passage in reviewed.passages()}
            self._state, self._seen = _ReviewedFilm(decisions, reviewed, passages), signature
        return self._state

    def _plain(self, passage: Passage) -> dict[str, Any]:
        flags = suggested_flags(passage.text, passage.start, passage.end, self.seconds)
        doubt = passage.confidence
        if passage.origin == "script":
            doubt = self._scores.get(passage.parent or "")
        return {**vars(passage), "confidence": doubt, "flags": flags}

    def state(self) -> dict[str, Any]:
        """Describe the whole film: all passages, and everything that changes with decisions."""
        with self._lock:
            state = self._now()
            return {
                "film": self.id,
                "seconds": self._length(state),
                "voices": self.sounds.voices,
                "video": self.video is not None,
                "passages": list(state.passages.values()),
                **self._summary(state),
            }

    def _length(self, state: _ReviewedFilm) -> float:
        last = max((passage["end"] for passage in state.passages.values()), default=0.0)
        return self.seconds or max(last, *(end for _, end, _ in self._cues), WINDOW)

    def _summary(self, state: _ReviewedFilm) -> dict[str, Any]:
        names, no_names = film_headings(self._project, self.id)
        sizes = review_size(vars(sentence) for sentence in state.reviewed.sentences)
        return {
            "version": len(state.decisions),
            "orphaned": len(state.reviewed.orphaned),
            "names": {"name": [name.lower() for name in names], "no-name": sorted(no_names)},
            "report": [
                {"source": source, "lost": size["words_lost"], "paper": PAPER[source]}
                for source, size in sizes.items()
            ],
        }

    def cues(self, start: float, end: float) -> list[tuple[float, float, str]]:
        """List the subtitles of some seconds."""
        return [cue for cue in self._cues if cue[0] < end and cue[1] > start]

    # What is decided

    def decide(self, request: ReviewRequest) -> dict[str, Any]:
        """Write a decision down, then say what it changed.

        Raises:
            RefusedError: If there are decisions that the page has not seen.
            DataError: If it cannot be done.
        """
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
            return {
                "done": decision.action,
                "undone": (decision.after or {}).get("action", ""),
                "changed": changed,
                "removed": removed,
                "target": _shown_next(decision, changed, after.passages),
                **self._summary(after),
            }


def _shown_next(
    decision: Decision, changed: list[dict[str, Any]], passages: Mapping[str, object]
) -> str | None:
    """Name the passage that a decision was about, or the one that stands for it now."""
    if decision.target in passages:
        return decision.target
    return changed[0]["id"] if changed else None


def _decision(desk: Reviewer, request: ReviewRequest) -> Decision:
    target = request.target
    if request.action == "accept":
        return desk.accept(target)
    if request.action == "reject":
        return desk.reject(target, request.note)
    if request.action == "move":
        return desk.move(target, request.start, request.end)
    if request.action == "edit":
        return desk.edit(target, request.text)
    if request.action == "split":
        return desk.split(target, request.at)
    if request.action == "merge":
        return desk.merge(target)
    if request.action == "new":
        return desk.new(request.start, request.end)
    if request.action == "undo":
        return desk.undo()
    return desk.name(target, request.text, request.action == "name")


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
    """The films of a project, each opened when it is first asked for.

    Args:
        project: The project.
        films: The films that are reviewed.
        who: Who decides.
    """

    def __init__(self, project: Project, films: list[str], who: str) -> None:
        self.project, self.names, self.who = project, films, who
        self._films: dict[str, ReviewFilm] = {}
        self._lock = Lock()

    def film(self, film_id: str) -> ReviewFilm:
        """Return a film.

        Raises:
            DataError: If it is not among those that are reviewed.
        """
        if film_id not in self.names:
            raise DataError(f"There is no film {film_id!r} to review here.")
        with self._lock:
            if film_id not in self._films:
                self._films[film_id] = ReviewFilm(self.project.folder, film_id, self.who)
            return self._films[film_id]
