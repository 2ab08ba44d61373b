"""Options and habits that the commands about corpora share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from reelscore.campaigns.commands.options import say
from reelscore.cli.messages import printable
from reelscore.cli.terminal import terminal_width, write_json
from reelscore.corpus.project import Project
from reelscore.corpus.records import Clip
from reelscore.corpus.results import is_trusted, read_result, write_result
from reelscore.errors import DataError
from reelscore.report.tables.grid import Cell, Grid

Decorator = Callable[[Callable[..., None]], Callable[..., None]]

UNTRUSTED = 3
"""The exit status of a command that ran, but whose result must not be trusted."""

project_option = click.option(
    "--project",
    metavar="FOLDER",
    default=".",
    show_default="the current folder",
    help="The project folder.",
)
again_option = click.option(
    "--again", is_flag=True, help="Do it again where nothing has changed since the last time."
)
_SOUNDS = [
    click.option("--film", "film_file", metavar="FILE", help="The film, or its sound."),
    click.option("--ad", "ad_file", metavar="FILE", help="The described track."),
    click.option(
        "--stream",
        "ad_stream",
        type=click.IntRange(min=0),
        metavar="N",
        help="Number of the described stream of sound in its file, from 0; chosen if not given.",
    ),
    click.option(
        "--film-stream",
        type=click.IntRange(min=0),
        metavar="N",
        help="Number of the film's stream of sound in its file, from 0; chosen if not given.",
    ),
]


def sound_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command the options that name a film, its described track, and their streams."""
    for option in reversed(_SOUNDS):
        command = option(command)
    return command


def number_or(word: str) -> Callable[[click.Context, click.Parameter, str], float | None]:
    """Read an option that is a number, or one word for none."""

    def read(context: click.Context, parameter: click.Parameter, value: str) -> float | None:
        if value == word:
            return None
        try:
            return float(value)
        except ValueError:
            raise click.BadParameter(f"{value!r} is neither {word!r} nor a number.") from None

    return read


def both_files(film_file: str | None, ad_file: str | None) -> tuple[str, str]:
    """Return the two files of work without a project; both are needed."""
    if film_file is None or ad_file is None:
        missing = "--film" if film_file is None else "--ad"
        raise DataError(f"Without a project both files are needed; name one with {missing} too.")
    return film_file, ad_file


def film_and_file(names: Sequence[str], out_file: str | None) -> tuple[str | None, str]:
    """Return the film and the file that a command names, or the file alone."""
    if len(names) > 2:
        raise DataError(f"Expected a film and a file, or a file alone; got {len(names)} names.")
    if len(names) == 2 and out_file:
        raise DataError("--out is for work without a project; the project has its own files.")
    return (names[0], names[1]) if len(names) == 2 else (None, names[0])


def films_of(project: Project, films: Sequence[str]) -> list[str]:
    """Return the films that a command is about: those named, else all."""
    chosen = [project.film(film_id).id for film_id in films] or list(project.films)
    if not chosen:
        raise DataError(
            f"{project.folder}: the project has no films; add one with 'reelscore corpus add-film'."
        )
    return chosen


def deliver(result: Mapping[str, Any], out_file: str | None, json_file: str | None) -> None:
    """Write a result without a project where it was asked for."""
    if out_file:
        write_result(Path(out_file), result)
    if json_file:
        write_json(json_file, result)


def loose_clips(paths: Sequence[str]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Read clips and their sentences from files that 'corpus assemble' wrote.

    Raises:
        DataError: If a file is none of these.
    """
    clips: list[dict[str, Any]] = []
    sentences: list[dict[str, Any]] = []
    for path in paths:
        content = read_result(Path(path))
        try:
            msgspec.convert(content["clips"], list[Clip])
            clips += content["clips"]
            sentences += content["sentences"]
        except (KeyError, TypeError, msgspec.ValidationError):
            raise DataError(
                f"{path}: expected clips, as 'reelscore corpus assemble --out FILE' writes them."
            ) from None
    return clips, sentences


def show_grid(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table on stderr."""
    grid = Grid(columns, [[Cell(printable(text)) for text in row] for row in rows])
    click.echo(grid.to_text(terminal_width()), err=True)


def show_report(report: Sequence[Mapping[str, Any]]) -> None:
    """Print what there is to know about a result, on stderr."""
    for finding in report:
        text = f"{finding['code']}: {finding['message']}"
        say(printable(text) if finding["trusted"] else f"Not to be trusted: {printable(text)}")


def for_each(films: Sequence[str], work: Callable[[str], Any], json_file: str | None) -> None:
    """Do the work of a command on each film, and end it with the status that fits.

    A film that cannot be worked on does not keep the others waiting.
    """
    results, failed = {}, False
    for film_id in films:
        try:
            results[film_id] = work(film_id)
        except DataError as error:
            if len(films) == 1:
                raise
            say(f"Error: {film_id}: {printable(str(error))}")
            failed = True
    if json_file:
        write_json(json_file, results)
    if failed:
        sys.exit(2)
    leave(all(map(is_trusted, results.values())))


def film_step(
    project: Project,
    film_id: str,
    step: str,
    wanted: Mapping[str, Any],
    work: Callable[[], Mapping[str, Any]],
    *,
    again: bool,
    done: str,
) -> dict[str, Any]:
    """Do one step of a film and keep its result, unless that was done already.

    Args:
        project: The project.
        film_id: The film.
        step: The name of the step.
        wanted: How its result is to be made, and from what: its origin.
        work: Does the step.
        again: Do it even where nothing has changed.
        done: What to say where nothing is left to do.
    """
    result = None if again else project.fresh_result(film_id, step, wanted)
    if result is not None:
        say(f"{film_id}: {done}; --again does it again.")
        return result
    result = {**wanted, **work()}
    project.write(film_id, step, result)
    return result


def leave(trusted: bool) -> None:
    """End a command: with status 3 where its result must not be trusted."""
    if not trusted:
        sys.exit(UNTRUSTED)
