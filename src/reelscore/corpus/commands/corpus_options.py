"""Options and habits that the commands about corpora share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from reelscore.cli.messages import printable
from reelscore.cli.messages import say as say
from reelscore.cli.options import Decorator, gathered, json_option
from reelscore.cli.terminal import check_targets, progress_bar, terminal_width, write_json
from reelscore.corpus.pipeline import R, Record, Step, fingerprint, read_file, write_file
from reelscore.corpus.project import Film, Project
from reelscore.corpus.project_files import CorpusClips, InputFile, StepResult
from reelscore.errors import DataError
from reelscore.report.tables.grid import Cell, Grid

UNTRUSTED = 3
"""The exit status of a command that ran, but whose result must not be trusted."""

project_option = click.option(
    "--project",
    metavar="FOLDER",
    default=".",
    show_default="the current folder",
    help="The project folder.",
)


clips_option = click.option(
    *("--clips", "clip_files"),
    multiple=True,
    metavar="FILE",
    help="Without a project: what 'assemble' wrote. Repeatable.",
)

folder_option = click.option(
    *("--output", "-o", "out_folder"), required=True, metavar="FOLDER", help="Where files go."
)


def _stream_option(name: str, field: str, whose: str) -> Decorator:
    help = f"Number of {whose} stream of sound in its file, from 0; chosen if not given."
    return click.option(name, field, type=click.IntRange(min=0), metavar="N", help=help)


NO_SOUNDS = Film("film")
sound_options = gathered(
    "files",
    partial(Film, NO_SOUNDS.id),
    {
        "film": click.option("--film", metavar="FILE", help="The film, or its sound."),
        "ad": click.option("--ad", metavar="FILE", help="The described track."),
        "ad_stream": _stream_option("--stream", "ad_stream", "the described"),
        "film_stream": _stream_option("--film-stream", "film_stream", "the film's"),
    },
)


@dataclass(frozen=True)
class ResultOptions:
    """Whether a step is done again, and where its result is written."""

    again: bool
    out_file: str | None
    json_file: str | None

    def __post_init__(self) -> None:
        check_targets(self.out_file, self.json_file)

    def refuse_out(self, remedy: str = "a project has its own files") -> None:
        """Refuse --output for a project."""
        if self.out_file:
            raise DataError(f"--output is for work without a project; {remedy}.")

    def deliver(self, result: StepResult) -> None:
        """Write a result where it was asked for, and end with its report and status."""
        show_report(result)
        if self.out_file:
            write_file(Path(self.out_file), result)
        if self.json_file:
            write_json(self.json_file, result)
        leave(result.is_trusted)


result_options = gathered(
    "wanted",
    ResultOptions,
    {
        "again": click.option(
            "--again", is_flag=True, help="Do it again where nothing has changed since."
        ),
        "out_file": click.option(
            *("--output", "-o", "out_file"), metavar="FILE", help="The file, without a project."
        ),
        "json_file": json_option,
    },
)


def film_and_file(names: Sequence[str], wanted: ResultOptions) -> tuple[str | None, str]:
    """Return the film and the file that a command names, or the file alone."""
    if len(names) > 2:
        raise DataError(f"Expected a film and a file, or a file alone; got {len(names)} names.")
    if len(names) == 1:
        return None, names[0]
    wanted.refuse_out()
    return names[0], names[1]


@contextmanager
def film_project(
    folder: str, film_id: str | None, files: Film = NO_SOUNDS
) -> Iterator[tuple[Project, str]]:
    """Open the project of a film; where none is named, make one for a single film and its files."""
    if film_id is not None:
        yield Project.open(folder), film_id
    else:
        with Project.temporary(files) as project:
            yield project, files.id


def films_of(project: Project, films: Sequence[str]) -> list[str]:
    """Return the films that a command is about: those named, else all."""
    chosen = [project.film(film_id).id for film_id in films] or list(project.films)
    if not chosen:
        raise DataError(
            f"{project.folder}: the project has no films; add one with 'reelscore corpus add-film'."
        )
    return chosen


def read_given(path: str, kind: type[Record], words: str) -> Record:
    """Read a file that another command wrote."""
    try:
        return read_file(Path(path), kind)
    except DataError as error:
        raise DataError(f"{path}: expected {words} ({error})") from None


def keep_given(
    project: Project, step: Step[R], path: str | None, words: str, film_id: str = "film"
) -> None:
    """Put a file that another command wrote into a project, if one is named.

    Where the project has the film or the described track, it must be made of these.
    """
    if path is not None:
        given = read_given(path, step.result, words)
        _check_sounds(project, film_id, path, given.inputs)
        project.write(step, replace(given, inputs=()), film_id)  # where these are now is not known


def _check_sounds(project: Project, film_id: str, path: str, made_of: Sequence[InputFile]) -> None:
    """Refuse a result of other sounds; by their content, since files may move."""
    film = project.film(film_id)
    for own, role, recorded in (
        (film.film, "film", made_of[:1]),
        (film.ad, "described track", made_of[:2][-1:]),  # both may be streams of one file
    ):
        for file in recorded:
            now = fingerprint(project.folder / own) if own else file
            if (now.size, now.sha256) != (file.size, file.sha256):
                raise DataError(
                    f"{path}: made with the {role} {file.path}, and not with {own}; name the "
                    "files it was made of, or align these: reelscore corpus align -o FILE."
                )


def read_clips_of(paths: Sequence[str]) -> CorpusClips:
    """Read the clips of files that 'corpus assemble' wrote."""
    words = "clips, as 'reelscore corpus assemble -o FILE' writes them"
    files = [read_given(path, CorpusClips, words) for path in paths]
    return CorpusClips(
        clips=tuple(clip for file in files for clip in file.clips),
        sentences=tuple(sentence for file in files for sentence in file.sentences),
    )


def grid_of(columns: Sequence[str], rows: Iterable[Iterable[object]]) -> Grid:
    """Make a table of what each row has."""
    return Grid(columns, [[Cell(printable(str(value))) for value in row] for row in rows])


def show_grid(
    columns: Sequence[str], rows: Sequence[Iterable[object]], most: int | None = None
) -> None:
    """Print a table on stderr, of many rows the first."""
    click.echo(grid_of(columns, rows[:most]).to_text(terminal_width()), err=True)
    if most is not None and len(rows) > most:
        say(f"and {len(rows) - most} more")


def show_report(result: StepResult) -> None:
    """Print what there is to know about a result, on stderr."""
    for remark in result.report:
        warning = "" if remark.trusted else "Not to be trusted: "
        say(f"{warning}{remark.code}: {remark.message}")


def for_each(
    project: Project,
    step: Step[R],
    films: Sequence[str],
    wanted: ResultOptions,
    show: Callable[[Project, str, R], None],
    **options: Any,
) -> None:
    """Do a step of each film, show its result, and end the command with the status that fits.

    A film that cannot be worked on does not keep the others waiting.
    """
    results, failed = {}, False
    for film_id in films:
        try:
            results[film_id] = run_step(project, step, film_id, again=wanted.again, **options)
            show(project, film_id, results[film_id])
            show_report(results[film_id])
        except DataError as error:
            if len(films) == 1:
                raise
            say(f"Error: {film_id}: {error}")
            failed = True
    if wanted.json_file:
        write_json(wanted.json_file, results)
    if failed:
        sys.exit(2)
    leave(all(result.is_trusted for result in results.values()))


def run_step(
    project: Project,
    step: Step[R],
    film_id: str = "",
    file: str | None = None,
    *,
    again: bool = False,
    bar: str = "",
    **options: object,
) -> R:
    """Do a step and keep its result, and tell where that was done already."""
    fresh = None if again else project.fresh(step, film_id, file, **options)
    if fresh is not None:
        subject = f"{film_id}: " if film_id else ""
        say(f"{subject}{step.done}; --again does it again.")
        return fresh
    with progress_bar(bar or film_id) as progress:
        result = project.run(step, film_id, file, again=True, progress=progress, **options)
    if step.reads_sound and not bar:
        say(f"{film_id}:")
    return result


def leave(trusted: bool) -> None:
    """End a command: with status 3 where its result must not be trusted."""
    if not trusted:
        sys.exit(UNTRUSTED)
