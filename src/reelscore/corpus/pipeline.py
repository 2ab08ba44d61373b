"""The steps from films to a corpus: what each makes, from which files, and whether that is fresh.

A result is *fresh* while the same step, with the same options and the same files, would make it;
it is *stale* once a file has changed that it was made from. `Project.run` does a step where its
result is not fresh.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar

import msgspec

from reelscore._progress import Progress
from reelscore._records import resolved
from reelscore._version import __version__
from reelscore.corpus.project_files import (
    AlignedTracks,
    CorpusClips,
    CorpusNames,
    CorpusSets,
    InputFile,
    MadeBy,
    NarrationSegments,
    Script,
    StepResult,
    Subtitles,
    TimedScript,
    Transcript,
)
from reelscore.data.atomic_files import write_atomically
from reelscore.errors import DataError

if TYPE_CHECKING:
    from reelscore.corpus.project import Project

R = TypeVar("R", bound=StepResult)
Record = TypeVar("Record")

_MIB = 1 << 20
_OF_WORK = ("folder", "progress")  # parameters that change no result


class StepWork(NamedTuple):
    """What a step is told beside its options."""

    project: Project
    film_id: str = ""  # the film; empty for steps of the whole corpus
    file: str | Path | None = None  # a file from elsewhere, such as the subtitles to read
    progress: Progress | None = None  # called with the work done and the work there is


@dataclass(frozen=True)
class Step(Generic[R]):
    """A step of a film or of the whole corpus.

    Attributes:
        name: Its name.
        file: The file of its result, in the film's folder or in that of the project.
        result: What that file says.
        function: What makes it, as module and name: of the work, or of a file, and its options.
        scope: Whether it is of a film or of the corpus.
        needs: The steps whose results it cannot do without.
        film_files: The files that it also reads of its film, or of all films, where they are there.
        files: The files that it also reads in the folder of the project.
        reads_file: Whether it makes its result of a file alone.
        reads_sound: Whether it reads the film and the described track.
        command: What is typed to do it.
        absent: What is said where its result is needed and not there.
        changed: What is said where its result is needed and stale.
        done: What is said where nothing is left to do.
    """

    name: str
    file: str
    result: type[R]
    function: str
    scope: Literal["film", "corpus"] = "film"
    needs: tuple[str, ...] = ()
    film_files: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    reads_file: bool = False
    reads_sound: bool = False
    command: str = "{step} {film}"
    absent: str = "{path}: there is no such file yet"
    changed: str = "{input} has changed since {file} was made"
    done: str = ""

    @property
    def follows(self) -> list[str]:
        """The steps whose results it reads: where they are stale, it is."""
        of_film = self.film_files if self.scope == "film" else ()
        return [*self.needs, *(step.name for step in STEPS.values() if step.file in of_film)]

    @cached_property
    def make(self) -> Callable[..., R]:
        """The function, imported when it is first used."""
        module, _, name = self.function.partition(":")
        function: Callable[..., R] = getattr(import_module(f"reelscore.corpus.{module}"), name)
        return function

    def made_by(self, options: Mapping[str, object]) -> MadeBy:
        """Return what is written down of how a result is made; options not given are the usual."""
        usual = {
            name: parameter.default
            for name, parameter in signature(self.make).parameters.items()
            if parameter.kind is parameter.KEYWORD_ONLY and name not in _OF_WORK
        }
        parameters: dict[str, object] = msgspec.to_builtins({**usual, **options})
        return MadeBy(self.name, parameters, __version__)


ALIGN = Step(
    "align",
    "align.json",
    AlignedTracks,
    "sound.sound_steps:align_film",
    reads_sound=True,
    done="already aligned",
    absent="Film {film!r} is not aligned yet",
    changed="The files of film {film!r} have changed since it was aligned",
)
SEGMENT = Step(
    "segment",
    "segments.json",
    NarrationSegments,
    "sound.sound_steps:segment_film",
    needs=("align",),
    reads_sound=True,
    done="already segmented",
)
SUBTITLES = Step(
    "subtitles",
    "subtitles.json",
    Subtitles,
    "words.subtitles:read_subtitles",
    reads_file=True,
    command="subtitles {film} PATH",
    done="the subtitles were read already",
    absent="Film {film!r} has no subtitles yet",
    changed="The subtitles of film {film!r} have changed since they were read",
)
SCRIPT = Step(
    "script",
    "script.json",
    Script,
    "scripts.formats:read_script",
    reads_file=True,
    command="script {film} PATH",
    done="the script was read already",
    absent="Film {film!r} has no script yet",
    changed="The script of film {film!r} has changed since it was read",
)
SCRIPT_TIMES = Step(
    "script times",
    "aligned.json",
    TimedScript,
    "words.script_alignment:film_script_times",
    needs=("script", "subtitles"),
    command="script {film} PATH --align",
    done="the script has its times already",
)
TRANSCRIPT = Step(
    "transcript",
    "transcript.json",
    Transcript,
    "words.transcripts:film_transcript",
    film_files=("segments.json",),
    command="transcript {film} PATH",
    done="the transcript was read already",
)
ASSEMBLE = Step(
    "assemble",
    "clips.json",
    CorpusClips,
    "release.clip_assembly:corpus_clips",
    scope="corpus",
    film_files=(
        *("align.json", "segments.json", "transcript.json", "aligned.json"),
        "decisions.jsonl",
    ),
    done="The clips are already assembled",
)
ANONYMISE = Step(
    "anonymise",
    "names.json",
    CorpusNames,
    "release.film_names:corpus_names",
    scope="corpus",
    needs=("assemble",),
    film_files=("script.json",),
    done="The names are already replaced",
)
SPLIT = Step(
    "split",
    "splits.json",
    CorpusSets,
    "release.film_sets:corpus_sets",
    scope="corpus",
    needs=("assemble",),
    files=("corpus.json",),
    done="The films are already divided",
)

STEPS: dict[str, Step[Any]] = {
    step.name: step
    for step in (
        *(ALIGN, SEGMENT, SUBTITLES, SCRIPT, SCRIPT_TIMES, TRANSCRIPT),
        *(ASSEMBLE, ANONYMISE, SPLIT),
    )
}
"""The steps by name, in their order: those of a film, then those of the corpus."""


def steps_of(scope: Literal["film", "corpus"]) -> list[Step[Any]]:
    """List the steps of a film, or those of the whole corpus, in their order."""
    return [step for step in STEPS.values() if step.scope == scope]


def is_same_origin(result: StepResult, wanted: StepResult) -> bool:
    """Return whether a result was made as another would be made now, from the same files."""
    files = [{file.path: file for file in each.inputs} for each in (result, wanted)]
    return result.made_by == wanted.made_by and files[0] == files[1]


def fingerprint(path: str | Path, name: str | None = None) -> InputFile:
    """Describe a file as it is now, without reading all of a long one."""
    file = Path(path)
    if not file.is_file():
        raise DataError(f"{path}: there is no such file.")
    size = file.stat().st_size
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        digest.update(stream.read(_MIB))
        if size > _MIB:
            stream.seek(max(_MIB, size - _MIB))
            digest.update(stream.read(_MIB))
    return InputFile(name or str(path), size, digest.hexdigest())


def read_file(path: Path, kind: type[Record]) -> Record:
    """Read a file of a project."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=resolved(kind))
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}).") from None
    except msgspec.ValidationError as error:
        raise DataError(f"{path}: not as it should be ({error}); make it again.") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: malformed JSON ({error}); make it again.") from None


def write_file(path: Path, content: object) -> None:
    """Write a file of a project, all or nothing."""
    write_atomically(path, indented_json(content))


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    r"""Write rows as CSV.

    >>> csv_text([["film", "title"], ["one", "A, B"]])
    'film,title\none,"A, B"\n'
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def indented_json(content: object) -> bytes:
    """Write JSON so that people can read and compare it."""
    return msgspec.json.format(msgspec.json.encode(content), indent=1) + b"\n"
