"""``reelscore corpus align`` and ``segment``."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import click
import msgspec
from msgspec import structs

from reelscore.cli.options import Command, Decorator, SettingsOption, file_option
from reelscore.corpus.commands.corpus_options import (
    NO_SOUNDS,
    ResultOptions,
    film_project,
    films_of,
    for_each,
    keep_given,
    leave,
    project_option,
    result_options,
    run_step,
    say,
    show_grid,
    show_report,
    sound_options,
)
from reelscore.corpus.pipeline import ALIGN, SEGMENT, SUBTITLES
from reelscore.corpus.project import Film, Project
from reelscore.corpus.project_files import UNSURE, AlignedTracks, AudioTrack, NarrationSegments
from reelscore.corpus.sound.segmentation import RESIDUAL, method_names
from reelscore.corpus.sound.voices import Detector
from reelscore.corpus.time_map import clock
from reelscore.errors import DataError


def _number_or(word: str, name: str, default: str, help: str) -> Decorator:
    """Return an option that is a number, or one word for none."""

    def read(context: click.Context, parameter: click.Parameter, value: str) -> float | None:
        try:
            return None if value == word else float(value)
        except ValueError:
            raise click.BadParameter(f"{value!r} is neither {word!r} nor a number.") from None

    usual: dict[str, Any] = {"default": default, "show_default": True, "help": help}
    return click.option(name, metavar=f"{word}|NUMBER", callback=read, **usual)


@click.command("align")
@click.argument("films", nargs=-1, metavar="[FILM]...")
@project_option
@sound_options
@_number_or("auto", "--rate", "auto", "Film seconds for each second of the described track.")
@_number_or("full", "--search", "60", "How far from the expected place to look, in seconds.")
@result_options
def align(
    films: tuple[str, ...], project: str, files: Film, wanted: ResultOptions, **options: Any
) -> None:
    """Align described tracks with their films: which time of the film each time shows.

    FILM is a film of the project; without any, all are aligned, and those that are done are left
    as they are. With --film and --ad, and without FILM, no project is needed.

    \b
    Examples:
      reelscore corpus align sintel
      reelscore corpus align --film film.mkv --ad described.m4a -o map.json
    """
    rate, search = options["rate"], options["search"]
    if rate is not None and not 0.5 <= rate <= 2:
        raise DataError(f"--rate {rate:g} is not between 0.5 and 2.")
    if search is not None and search <= 0:
        raise DataError(f"--search {search:g} is not above 0.")
    if not films and (files.film or files.ad):
        _check_both(files)
        with film_project(project, None, files) as (loose, film_id):
            result = run_step(loose, ALIGN, film_id, bar="Aligning", **options)
            result = replace(result, film=_at(files.film, result.film), ad=_at(files.ad, result.ad))
            _show_map(loose, film_id, result)
        wanted.deliver(result)
        return
    wanted.refuse_out()
    opened = Project.open(project)
    chosen = films_of(opened, films)
    if files != NO_SOUNDS:
        if len(chosen) > 1:
            raise DataError("--film, --ad and streams are of one film; name it.")
        streams = {"ad_stream": files.ad_stream, "film_stream": files.film_stream}
        opened.change_film(chosen[0], film=files.film, ad=files.ad, **streams)
    for_each(opened, ALIGN, chosen, wanted, _show_map, **options)


def _check_both(files: Film) -> None:
    if not (files.film and files.ad):
        missing = "--ad" if files.film else "--film"
        raise DataError(f"Without a project both files are needed; name one with {missing} too.")


def _at(path: str | None, track: AudioTrack | None) -> AudioTrack | None:
    """Write the path of a track as it was typed."""
    return replace(track, path=path) if track and path else track


def _show_map(project: Project, film_id: str, result: AlignedTracks) -> None:
    for what, track in (("film", result.film), ("described track", result.ad)):
        if track is not None:
            say(
                f"{what}: {track.path}, stream {track.stream} ({track.chosen_by}), "
                f"{track.codec}, {track.layout}, {clock(track.seconds)}"
            )
    if result.match:
        rows = [
            [*map(clock, (piece.ad_start, piece.ad_end, piece.film_start)), f"{piece.rate:.6f}"]
            for piece in result.map
        ]
        show_grid(["from", "to", "film from", "rate"], rows)
        waveforms = "coherent" if result.mode == "coherent" else "waveforms differ"
        say(f"confidence {result.confidence:.2f}, {waveforms} ({result.coherent:.2f})")


class SegmentMethod(msgspec.Struct, frozen=True):
    """How narration is found.

    Attributes:
        detector: What hears voices, for residual: auto (silero-vad where it is installed),
            silero or none.
        threshold: Level that a segment must reach, in dB below the loud parts of the track; found
            for each track if not given.
        min_length: Shortest segment, in seconds.
        gap: Shortest pause that parts segments, in seconds.
    """

    method: str = RESIDUAL
    detector: Detector = "auto"
    threshold: float | None = None
    min_length: Annotated[float, msgspec.Meta(ge=0)] = 0.4
    gap: Annotated[float, msgspec.Meta(ge=0)] = 0.35


@click.command("segment", cls=Command)
@click.argument("films", nargs=-1, metavar="[FILM]...")
@project_option
@sound_options
@file_option("--map", "Without a project: what 'align -o' wrote; aligned first if not given.")
@file_option("--subtitles", "Without a project: dialogue, where narration is less certain.")
@click.option(
    "--method",
    cls=SettingsOption,
    start=lambda name: SegmentMethod(name or RESIDUAL),
    known=method_names(),
    without=["method"],
    help="residual, which is what the film does not explain; with the studies, spectrogram and "
    "lms, which are those of the paper.",
)
@result_options
def segment(
    films: tuple[str, ...],
    project: str,
    files: Film,
    map_file: str | None,
    subtitles_file: str | None,
    wanted: ResultOptions,
    method: SegmentMethod,
) -> None:
    """Find when the narrator of described tracks speaks, in film time.

    FILM is a film of the project that is aligned; without any, all are segmented, and those that
    are done are left as they are. With --film and --ad, and without FILM, no project is needed.

    \b
    Examples:
      reelscore corpus segment sintel
      reelscore corpus segment --film film.mkv --ad described.m4a -o narration.json
    """
    options = structs.asdict(method)
    if not films and (files.film or files.ad):
        _check_both(files)
        with film_project(project, None, files) as (loose, film_id):
            keep_given(loose, ALIGN, map_file, "a time map, as 'corpus align' writes it")
            if subtitles_file:
                run_step(loose, SUBTITLES, film_id, subtitles_file)
            if map_file is None:
                aligned = run_step(loose, ALIGN, film_id, bar="Aligning")
                show_report(aligned)
                if not aligned.match:
                    leave(trusted=False)
            result = run_step(loose, SEGMENT, film_id, bar="Segmenting", **options)
            _show_segments(loose, film_id, result)
            result = replace(result, segments=tuple(loose.segments(film_id)))
        wanted.deliver(result)
        return
    given = (wanted.out_file, map_file, subtitles_file, files.film_stream, files.ad_stream)
    if any(value is not None for value in given):
        raise DataError(
            "--output, --map, --subtitles and streams are for work without a project; the project "
            "has its own."
        )
    opened = Project.open(project)
    for_each(opened, SEGMENT, films_of(opened, films), wanted, _show_segments, **options)


def _show_segments(project: Project, film_id: str, result: NarrationSegments) -> None:
    rows, segments = [], project.segments(film_id)
    for each in segments:
        numbers = (f"{each.end - each.start:.1f}", f"{each.level_db:.1f}", f"{each.confidence:.2f}")
        rows.append([clock(each.start), clock(each.end), *numbers])
    if rows:
        show_grid(["from", "to", "seconds", "dB", "confidence"], rows, 20)
    unsure = sum(each.confidence < UNSURE for each in segments)
    how = ", ".join(filter(None, (result.method, result.detector)))
    say(
        f"{len(segments)} segments in {len(result.turns)} turns, {result.narrated:.1f} "
        f"seconds of narration ({how}); {unsure} to look at first"
    )
    if orphaned := project.reviewed(film_id).orphaned:
        say(f"{film_id}: {len(orphaned)} decisions are about segments that are no longer there.")
