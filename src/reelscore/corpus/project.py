"""A project folder: films, the results of each step, and where everything stands.

Everything is plain JSON, written aside and renamed; media stay where they are. A result is *fresh*
while the same command on the same inputs would make it, and *stale* when an input has changed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from reelscore.corpus.project_files import UNSURE, Element, Segment, TimedSentence
from reelscore.corpus.results import (
    fingerprint,
    is_fresh,
    is_trusted,
    origin,
    read_result,
    write_result,
)
from reelscore.corpus.review.decision_log import read_decisions
from reelscore.corpus.review.replay import Passage, Reviewed, replay
from reelscore.corpus.sound.time_map import Span, doubt_overlaps
from reelscore.errors import DataError, UnknownNameError

_Record = TypeVar("_Record")

LAYOUT = 1
"""The version of the layout of project folders."""

State = Literal["open", "done", "stale", "failed", "needs review"]

RESULTS = {
    "align": "align.json",
    "segment": "segments.json",
    "subtitles": "subtitles.json",
    "script": "script.json",
    "script times": "aligned.json",
    "transcript": "transcript.json",
}
"""The steps of a film, in their order, and the file of each step's result."""

NEEDS = {"segment": ("align",), "script times": ("script", "subtitles"), "transcript": ("segment",)}
"""The steps whose results a step reads."""

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True)
class Film:
    """A film of a project.

    Attributes:
        id: Its name in the project: letters, digits, dots, dashes and underscores.
        title: Its title.
        year: When it came out.
        genre: Its genre.
        film: The file of the film, or of its sound.
        ad: The file of the described track.
        film_stream: The number of the film's stream of sound; chosen if not given.
        ad_stream: The number of the described stream; chosen if not given.
        licence: What one may do with the film.

    >>> Film("sintel", title="Sintel", year=2010).genre
    ''
    """

    id: str
    title: str = ""
    year: int | None = None
    genre: str = ""
    film: str | None = None
    ad: str | None = None
    film_stream: int | None = None
    ad_stream: int | None = None
    licence: str = ""


class Project:
    """A folder in which a corpus is made.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     project = Project.new(Path(folder, "corpus"), "My films")
    ...     project.add_film(Film("sintel", title="Sintel"))
    ...     Project.open(Path(folder, "corpus")).status()["sintel"]["align"]
    'open'
    """

    def __init__(self, folder: Path, content: Mapping[str, Any]) -> None:
        self.folder = folder
        self._content = dict(content)

    @classmethod
    def new(cls, folder: str | Path, name: str | None = None) -> Project:
        """Make a project folder.

        Args:
            folder: Where; it must not hold a project already.
            name: The corpus's name; that of the folder if not given.

        Raises:
            DataError: If there is a project already, or the folder cannot be made.
        """
        place = Path(folder)
        if (place / "corpus.json").exists():
            raise DataError(f"{folder}: there is a project already; choose another folder.")
        try:
            (place / "films").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(f"{folder}: cannot be made ({error.strerror}).") from None
        project = cls(place, {"name": name or place.resolve().name, "layout": LAYOUT})
        project._save([])
        return project

    @classmethod
    def open(cls, folder: str | Path) -> Project:
        """Open a project folder.

        Args:
            folder: The folder.

        Raises:
            DataError: If there is no project, or one of a later version.
        """
        place = Path(folder)
        if not (place / "corpus.json").is_file():
            raise DataError(
                f"{folder}: there is no project (corpus.json); make one with 'reelscore corpus "
                "new', name it with --project, or name files with --film and --ad."
            )
        content = read_result(place / "corpus.json")
        if content.get("layout") != LAYOUT:
            raise DataError(
                f"{place / 'corpus.json'}: layout {content.get('layout')!r} is not known; this "
                f"version reads layout {LAYOUT}. Update reelscore."
            )
        project = cls(place, content)
        _ = project.films  # so that a damaged list is found now
        return project

    @property
    def name(self) -> str:
        """The corpus's name."""
        return str(self._content["name"])

    @property
    def films(self) -> dict[str, Film]:
        """The films by id, in the order in which they were added."""
        try:
            films = msgspec.convert(self._content.get("films", []), list[Film])
        except msgspec.ValidationError as error:
            raise DataError(f"{self.folder / 'corpus.json'}: {error}.") from None
        return {film.id: film for film in films}

    def film(self, film_id: str) -> Film:
        """Return a film.

        Raises:
            UnknownNameError: If there is no such film.
        """
        films = self.films
        if film_id not in films:
            raise UnknownNameError.of("film", film_id, films, "" if films else "There are none.")
        return films[film_id]

    def add_film(self, film: Film) -> None:
        """Add a film.

        Raises:
            DataError: If its id is taken or cannot be the name of a folder.
        """
        if not _ID.fullmatch(film.id):
            raise DataError(
                f"{film.id!r} cannot be a film's id: use letters, digits, dots, dashes and "
                "underscores, 64 at most."
            )
        films = self.films
        if film.id in films:
            raise DataError(f"There is a film {film.id!r} already; choose another id.")
        places = [path and self._place_of(path) for path in (film.film, film.ad)]
        self._save([*films.values(), replace(film, film=places[0], ad=places[1])])

    def change_film(self, film_id: str, **fields: Any) -> Film:
        """Change what is known about a film; fields that are None stay as they are."""
        changes = {name: value for name, value in fields.items() if value is not None}
        for name in {"film", "ad"} & set(changes):
            changes[name] = self._place_of(changes[name])
        film = replace(self.film(film_id), **changes)
        if changes:
            self._save([film if each.id == film_id else each for each in self.films.values()])
        return film

    def _place_of(self, path: str) -> str:
        """Write the place of a file: inside the project by its place in it, else in full."""
        full, folder = Path(path).resolve(), self.folder.resolve()
        if not full.is_file():
            raise DataError(f"{path}: there is no such file.")
        return full.relative_to(folder).as_posix() if full.is_relative_to(folder) else str(full)

    def _save(self, films: list[Film]) -> None:
        self._content["films"] = [asdict(film) for film in films]
        self._content.setdefault("settings", {})
        write_result(self.folder / "corpus.json", self._content)

    # Results of a film's steps

    def place(self, film_id: str, name: str) -> Path:
        """Return the path of a film's file in the project, and make its folder."""
        folder = self.folder / "films" / film_id
        folder.mkdir(parents=True, exist_ok=True)
        return folder / name

    def cache(self, film_id: str) -> Path:
        """Return a folder of a film whose content may be deleted at any time."""
        folder = self.place(film_id, "cache")
        folder.mkdir(exist_ok=True)
        return folder

    def sounds(self, film_id: str) -> tuple[Path, Path]:
        """Return the files of the film and of its described track.

        Raises:
            DataError: If one is not named.
        """
        film = self.film(film_id)
        if film.film is None or film.ad is None:
            missing = "--film" if film.film is None else "--ad"
            raise DataError(f"Film {film_id!r} has no {missing[2:]} file; name it with {missing}.")
        return self.folder / film.film, self.folder / film.ad

    def result(self, film_id: str, step: str) -> dict[str, Any] | None:
        """Read the result of a step; None if there is none yet."""
        path = self.place(film_id, RESULTS[step])
        return read_result(path) if path.exists() else None

    def origin(
        self,
        film_id: str,
        step: str,
        parameters: Mapping[str, Any],
        files: Sequence[str | Path] | None = None,
    ) -> dict[str, Any]:
        """Return what a step's result would be made by and from, now.

        Args:
            film_id: The film.
            step: The step.
            parameters: Its options.
            files: The files it reads beside earlier results; the film's sounds if not given.
        """
        sources = self.sounds(film_id) if files is None else files
        names = [self._place_of(str(path)) for path in sources]
        inputs: dict[str, str | Path] = {name: self.folder / name for name in names}
        for before in NEEDS.get(step, ()):
            name = RESULTS[before]
            inputs[name] = self.place(film_id, name)
        return origin(step, parameters, inputs)

    def fresh_result(
        self, film_id: str, step: str, wanted: Mapping[str, Any]
    ) -> dict[str, Any] | None:
        """Return the result of a step if it is what the same command would make now."""
        result = self.result(film_id, step)
        return result if result is not None and is_fresh(result, wanted) else None

    def write(self, film_id: str, step: str, result: Mapping[str, Any]) -> None:
        """Store the result of a step, all or nothing."""
        write_result(self.place(film_id, RESULTS[step]), result)

    # Where things stand

    def status(self) -> dict[str, dict[str, State]]:
        """Return the state of every step of every film."""
        return {film_id: self._states(film_id) for film_id in self.films}

    def _states(self, film_id: str) -> dict[str, State]:
        states: dict[str, State] = {}
        for step in RESULTS:
            result = self.result(film_id, step)
            if result is None:
                states[step] = "open"
                continue
            follows_stale = any(states[before] == "stale" for before in NEEDS.get(step, ()))
            if follows_stale or not self.is_current(film_id, result):
                states[step] = "stale"
            elif not is_trusted(result):
                states[step] = "failed"
            elif step == "segment" and self.unsure(film_id):
                states[step] = "needs review"
            else:
                states[step] = "done"
        return states

    def is_current(self, film_id: str, result: Mapping[str, Any]) -> bool:
        """Return whether the files that a result was made from are as they were."""
        for recorded in result.get("inputs", ()):
            name = recorded["path"]
            place = self.place(film_id, name) if name in RESULTS.values() else self.folder / name
            if not place.is_file() or msgspec.to_builtins(fingerprint(place, name)) != recorded:
                return False
        return True

    # What the film has, and what people made of it

    def segments(self, film_id: str) -> list[Segment]:
        """Read the narration segments of a film as they were found; none if not made yet.

        Those that lie in the dialogue of the film's subtitles have half the confidence of the file.
        """
        segments = self._records(film_id, "segment", "segments", Segment)
        dialogue = self.dialogue(film_id)
        return doubt_overlaps(segments, dialogue) if dialogue else segments

    def dialogue(self, film_id: str) -> list[Span]:
        """Return the times at which actors speak, by the film's subtitles; none without them."""
        cues = (self.result(film_id, "subtitles") or {}).get("cues", ())
        return [(cue["start"], cue["end"]) for cue in cues if cue["lines"]]

    def elements(self, film_id: str) -> list[Element]:
        """Read the elements of a film's script, with their times; none if not made yet."""
        return self._records(film_id, "script times", "elements", Element)

    def sentences(self, film_id: str) -> list[TimedSentence]:
        """Read the sentences of a film: of its transcript, and of its script where accepted.

        Raises:
            DataError: If a file of the film does not have what it should.
        """
        accepted = {element.id for element in self.elements(film_id) if element.accepted}
        return [
            *self._records(film_id, "transcript", "sentences", TimedSentence),
            *(
                replace(sentence, state="proposed")  # until a person decides
                for sentence in self._records(film_id, "script times", "sentences", TimedSentence)
                if sentence.parent in accepted
            ),
        ]

    def _records(self, film_id: str, step: str, name: str, kind: type[_Record]) -> list[_Record]:
        content = self.result(film_id, step) or {}
        try:
            return msgspec.convert(content.get(name, []), list[kind])  # type: ignore[valid-type]
        except msgspec.ValidationError as error:
            place = self.place(film_id, RESULTS[step])
            raise DataError(f"{place}: not as it should be ({error}); make it again.") from None

    def reviewed(self, film_id: str) -> Reviewed:
        """Return the segments and sentences of a film as people decided."""
        decisions = read_decisions(self.place(film_id, "decisions.jsonl"))
        return replay(self.segments(film_id), self.sentences(film_id), decisions)

    def unsure(self, film_id: str) -> list[Passage]:
        """List the passages of the narration that a person should look at, and nobody has yet."""
        return [
            passage
            for passage in self.reviewed(film_id).passages()
            if passage.confidence is not None
            and passage.confidence < UNSURE
            and passage.state == "proposed"
        ]
