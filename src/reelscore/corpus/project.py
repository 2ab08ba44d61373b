"""A project folder: films, the results of each step, and where everything stands.

Everything is plain JSON, written aside and renamed; media stay where they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from reelscore._progress import Progress
from reelscore.corpus.pipeline import (
    ALIGN,
    SCRIPT_TIMES,
    SEGMENT,
    STEPS,
    SUBTITLES,
    TRANSCRIPT,
    R,
    Step,
    StepWork,
    fingerprint,
    is_same_origin,
    read_file,
    steps_of,
    write_file,
)
from reelscore.corpus.project_files import (
    UNSURE,
    Element,
    Segment,
    StepResult,
    Subtitles,
    TimedSentence,
)
from reelscore.corpus.review.decisions import Passage, Reviewed, read_decisions, replay
from reelscore.corpus.time_map import Span, gaps_between, shared_seconds
from reelscore.corpus.words.subtitles import check_end
from reelscore.errors import DataError, UnknownNameError

LAYOUT = 1
"""The version of the layout of project folders."""

StepState = Literal["open", "done", "stale", "failed", "needs review"]

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


@dataclass
class _ProjectFile:
    """`corpus.json`: the corpus's name and its films."""

    name: str = ""
    layout: int = 0
    films: list[Film] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)


class Project:
    """A folder in which a corpus is made.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     project = Project.new(Path(folder, "corpus"), "My films")
    ...     project.add_film(Film("sintel", title="Sintel"))
    ...     Project.open(Path(folder, "corpus")).status()["sintel"]["align"]
    'open'
    """

    def __init__(self, folder: Path, content: _ProjectFile) -> None:
        self.folder = folder
        self._content = content

    @classmethod
    def new(cls, folder: str | Path, name: str | None = None) -> Project:
        """Make a project folder, of the folder's name if no other is given.

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
        project = cls(place, _ProjectFile(name or place.resolve().name, LAYOUT))
        project._save()
        return project

    @classmethod
    def open(cls, folder: str | Path) -> Project:
        """Open a project folder.

        Raises:
            DataError: If there is no project, or one of a later version.
        """
        file = Path(folder, "corpus.json")
        if not file.is_file():
            raise DataError(
                f"{folder}: there is no project (corpus.json); make one with 'reelscore corpus "
                "new', name it with --project, or name files with --film and --ad."
            )
        content = read_file(file, _ProjectFile)
        if content.layout != LAYOUT:
            raise DataError(
                f"{file}: layout {content.layout!r} is not known; this version reads layout "
                f"{LAYOUT}. Update reelscore."
            )
        return cls(file.parent, content)

    @classmethod
    @contextmanager
    def temporary(cls, *films: Film) -> Iterator[Project]:
        """Make a project for work on single files, which goes with the end of the work."""
        with TemporaryDirectory() as folder:
            project = cls.new(folder)
            project._content.films = [project._with_places(film) for film in films]
            project._save()
            yield project

    @property
    def name(self) -> str:
        """The corpus's name."""
        return self._content.name

    @property
    def films(self) -> dict[str, Film]:
        """The films by id, in the order in which they were added."""
        return {film.id: film for film in self._content.films}

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
        if film.id in self.films:
            raise DataError(f"There is a film {film.id!r} already; choose another id.")
        self._content.films.append(self._with_places(film))
        self._save()

    def change_film(self, film_id: str, **fields: Any) -> Film:
        """Change what is known about a film; fields that are None stay as they are."""
        changes = {name: value for name, value in fields.items() if value is not None}
        film = self._with_places(replace(self.film(film_id), **changes), set(changes))
        if changes:
            films = self._content.films
            films[list(self.films).index(film_id)] = film
            self._save()
        return film

    def _with_places(self, film: Film, fields: Iterable[str] = ("film", "ad")) -> Film:
        """Write the places of a film's files."""
        files = {name: getattr(film, name) for name in {"film", "ad"} & set(fields)}
        places: dict[str, Any] = {n: self._place_of(path) for n, path in files.items() if path}
        return replace(film, **places)

    def _place_of(self, path: str | Path) -> str:
        """Write the place of a file: inside the project by its place in it, else in full."""
        full, folder = Path(path).resolve(), self.folder.resolve()
        if not full.is_file():
            raise DataError(f"{path}: there is no such file.")
        return full.relative_to(folder).as_posix() if full.is_relative_to(folder) else str(full)

    def _save(self) -> None:
        write_file(self.folder / "corpus.json", self._content)

    # Files

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

    def streams(self, film_id: str) -> tuple[int | None, int | None]:
        """Return the numbers of the film's and the described stream, as aligned, else as named."""
        film, aligned = self.film(film_id), self.result(ALIGN, film_id)
        return (
            aligned.film.stream if aligned and aligned.film else film.film_stream,
            aligned.ad.stream if aligned and aligned.ad else film.ad_stream,
        )

    # Steps and their results

    def result(self, step: Step[R], film_id: str = "") -> R | None:
        """Read the result of a step, whatever has changed since; None if there is none yet."""
        path = self._path(step, film_id)
        return read_file(path, step.result) if path.is_file() else None

    def needed(self, step: Step[R], film_id: str = "") -> R:
        """Read the result of a step that cannot be done without.

        Raises:
            DataError: If it was not made yet, or from files that have changed since.
        """
        path, result = self._path(step, film_id), self.result(step, film_id)
        typed = step.command.format(step=step.name, film=film_id).strip()
        command = f"run 'reelscore corpus {typed}'"
        if result is None:
            raise DataError(f"{step.absent.format(film=film_id, path=path)}; {command} first.")
        changed = self._changed_file(step, film_id, result)
        if changed is not None:
            words = {"film": film_id, "file": path.name, "input": self.folder / changed}
            raise DataError(f"{step.changed.format(**words)}; {command} again first.")
        return result

    def fresh(
        self, step: Step[R], film_id: str = "", file: str | Path | None = None, **options: object
    ) -> R | None:
        """Return the result of a step if `run` would leave it as it is."""
        result, wanted = self.result(step, film_id), self._origin(step, film_id, file, options)
        return result if result is not None and is_same_origin(result, wanted) else None

    def run(
        self,
        step: Step[R],
        film_id: str = "",
        file: str | Path | None = None,
        *,
        again: bool = False,
        progress: Progress | None = None,
        **options: object,
    ) -> R:
        """Do a step and keep its result, unless nothing has changed since the last time.

        `file` is what the step reads: subtitles, a script, a transcript, or the names of a cast;
        `options` are those of the step's command.

        Raises:
            DataError: If what it needs is missing, has changed, or cannot be read.
        """
        fresh = None if again else self.fresh(step, film_id, file, **options)
        if fresh is not None:
            return fresh
        origin = self._origin(step, film_id, file, options)  # files as they are before the work
        work = str(file) if step.reads_file else StepWork(self, film_id, file, progress)
        made = step.make(work, **self._options(step, film_id, options))
        if isinstance(made, Subtitles):
            last = max(cue.end for cue in made.cues)
            hint = "Are they of another film, or do they need --stretch or --shift?"
            check_end(f"{file}: the last cue", last, "the film", self.seconds(film_id), hint)
        result = replace(made, made_by=origin.made_by, inputs=origin.inputs)
        self.write(step, result, film_id)
        return result

    def write(self, step: Step[R], result: R, film_id: str = "") -> None:
        """Store the result of a step, all or nothing."""
        path = self._path(step, film_id)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, result)

    def _path(self, step: Step[Any], film_id: str) -> Path:
        if step.scope == "corpus":
            return self.folder / step.file
        return self.folder / "films" / film_id / step.file

    def _options(
        self, step: Step[Any], film_id: str, options: Mapping[str, object]
    ) -> Mapping[str, object]:
        """Add what the film says of how to align it."""
        if step is not ALIGN:
            return options
        film = self.film(film_id)
        return {**options, "film_stream": film.film_stream, "ad_stream": film.ad_stream}

    def _origin(
        self, step: Step[Any], film_id: str, file: str | Path | None, options: Mapping[str, object]
    ) -> StepResult:
        """Return what a result would be made by and from, now."""
        if step.scope == "film":
            self.film(film_id)
        if step.reads_file and file is None:
            raise DataError(f"The step {step.name!r} reads a file; name it.")
        for name in step.needs:
            self.needed(STEPS[name], film_id)
        files = [
            *(self.sounds(film_id) if step.reads_sound else ()),
            *([] if file is None else [file]),
        ]
        inputs = {self._place_of(path): Path(path) for path in files}
        inputs |= self._files_of(step, film_id)
        return StepResult(
            made_by=step.made_by(self._options(step, film_id, options)),
            inputs=tuple(fingerprint(path, name) for name, path in inputs.items()),
        )

    def _files_of(self, step: Step[Any], film_id: str = "") -> dict[str, Path]:
        """List the files of the project that a step reads now, by how their places are written."""
        needed = [STEPS[name] for name in step.needs]
        if step.scope == "film":
            names = [*(each.file for each in needed), *step.film_files]
            places = {name: self.folder / "films" / film_id / name for name in names}
        else:
            names = [*step.files, *(each.file for each in needed)]
            names += [f"films/{film}/{name}" for film in self.films for name in step.film_files]
            places = {name: self.folder / name for name in names}
        return {name: place for name, place in places.items() if place.is_file()}

    def _changed_file(self, step: Step[Any], film_id: str, result: StepResult) -> str | None:
        """Return the first file that is no longer as it was for a result, or that is new."""
        recorded = {file.path: file for file in result.inputs}
        if recorded and step.scope == "corpus":
            for name in self._files_of(step):
                if name not in recorded:
                    return name
        own = {each.file for each in steps_of("film")} if film_id else set()
        for name, file in recorded.items():
            folder = self.folder / "films" / film_id if name in own else self.folder
            if not (folder / name).is_file() or fingerprint(folder / name, name) != file:
                return name
        return None

    # Where things stand

    def status(self) -> dict[str, dict[str, StepState]]:
        """Return the state of every step of every film."""
        return {film_id: self._states("film", film_id) for film_id in self.films}

    def corpus_status(self) -> dict[str, StepState]:
        """Return the state of the steps of the whole corpus."""
        return self._states("corpus")

    def _states(self, scope: Literal["film", "corpus"], film_id: str = "") -> dict[str, StepState]:
        states: dict[str, StepState] = {}
        for step in steps_of(scope):
            result = self.result(step, film_id)
            if result is None:
                states[step.name] = "open"
            elif (
                any(states.get(before) == "stale" for before in step.follows)
                or self._changed_file(step, film_id, result) is not None
            ):
                states[step.name] = "stale"
            elif not result.is_trusted:
                states[step.name] = "failed"
            elif step is SEGMENT and self.unsure(film_id):
                states[step.name] = "needs review"
            else:
                states[step.name] = "done"
        return states

    # What the film has, and what people made of it

    def seconds(self, film_id: str) -> float | None:
        """Return the length of a film as it was aligned, else as its file states it."""
        aligned = self.result(ALIGN, film_id)
        if aligned and aligned.film:
            return aligned.film.seconds
        path = self.film(film_id).film
        if path is None or not (self.folder / path).is_file():
            return None
        from reelscore.corpus.sound.audio import find_track  # numpy takes a moment

        try:
            return find_track(self.folder / path).seconds or None
        except DataError:  # a file without sound, or a broken one, states nothing
            return None

    def segments(self, film_id: str) -> Sequence[Segment]:
        """Read the narration segments of a film as they were found; none if not made yet.

        Those that lie in the dialogue of the film's subtitles have half the confidence of the file.
        """
        found = self.result(SEGMENT, film_id)
        dialogue = self.dialogue(film_id)
        if found is None or not dialogue:
            return found.segments if found else ()
        return _doubted(found.segments, dialogue)

    def dialogue(self, film_id: str) -> list[Span]:
        """Return the times at which actors speak, by the film's subtitles; none without them."""
        subtitles = self.result(SUBTITLES, film_id)
        return [(cue.start, cue.end) for cue in (subtitles.cues if subtitles else ()) if cue.lines]

    def elements(self, film_id: str) -> Sequence[Element]:
        """Read the elements of a film's script, with their times; none if not made yet."""
        script = self.result(SCRIPT_TIMES, film_id)
        return script.elements if script else ()

    def sentences(self, film_id: str) -> list[TimedSentence]:
        """Read the sentences of a film: of its transcript, and of its script where accepted.

        Raises:
            DataError: If a file of the film does not have what it should.
        """
        transcript, script = self.result(TRANSCRIPT, film_id), self.result(SCRIPT_TIMES, film_id)
        sentences = list(transcript.sentences) if transcript else []
        if script:
            accepted = {element.id for element in script.elements if element.accepted}
            sentences += [
                replace(sentence, state="proposed")  # until a person decides
                for sentence in script.sentences
                if sentence.parent in accepted
            ]
        return sentences

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


def _doubted(segments: Sequence[Segment], dialogue: Iterable[Span]) -> list[Segment]:
    """Halve the confidence of segments that do not lie for more than half in one pause.

    Narrators speak between lines, so what sounds during a line is more often the actors.
    """
    pauses = gaps_between(dialogue)

    def is_in_pause(segment: Segment) -> bool:
        half = (segment.end - segment.start) / 2
        span = (segment.start, segment.end)
        return any(shared_seconds(span, [pause]) > half for pause in pauses)

    return [
        segment
        if is_in_pause(segment)
        else replace(segment, confidence=round(segment.confidence / 2, 3))
        for segment in segments
    ]
