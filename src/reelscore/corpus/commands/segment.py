"""``reelscore corpus segment``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import msgspec

from reelscore.campaigns.commands.options import say
from reelscore.cli.options import choice_option, file_option, json_option, number_option
from reelscore.cli.terminal import check_targets, progress_bar
from reelscore.corpus.commands.options import (
    again_option,
    both_files,
    deliver,
    film_step,
    films_of,
    for_each,
    leave,
    number_or,
    project_option,
    show_grid,
    show_report,
    sound_options,
)
from reelscore.corpus.findings import clock
from reelscore.corpus.project import Project
from reelscore.corpus.records import UNSURE, Segment
from reelscore.corpus.results import is_trusted, origin, read_result
from reelscore.corpus.segmentation import METHODS
from reelscore.corpus.spans import doubt_overlaps
from reelscore.corpus.steps import TrackPair, align, find_pair, segment
from reelscore.corpus.subtitles import read_subtitles
from reelscore.errors import DataError

_SHOWN = 20


@click.command("segment")
@click.argument("films", nargs=-1, metavar="[FILM]...")
@project_option
@sound_options
@click.option(
    "--map",
    "map_file",
    metavar="FILE",
    help="Without a project: what 'corpus align --out' wrote; aligned first if not given.",
)
@click.option(
    "--subtitles",
    "subtitles_file",
    metavar="FILE",
    help="Without a project: when actors speak; narration there is less certain.",
)
@choice_option(
    "--method",
    choices=list(METHODS),
    default="residual",
    help="residual: what the film does not explain; the others are those of the paper.",
)
@click.option(
    "--threshold",
    default="auto",
    show_default=True,
    metavar="auto|DB",
    callback=number_or("auto"),
    help="Level that a segment must reach, in dB below the loud parts of the track.",
)
@number_option("--min-length", default=0.4, least=0, help="Shortest segment, in seconds.")
@number_option("--gap", default=0.35, least=0, help="Shortest pause that parts segments.")
@again_option
@file_option("--out", "Without a project: the file to write.")
@json_option
def command(
    films: tuple[str, ...],
    project: str,
    film_file: str | None,
    ad_file: str | None,
    ad_stream: int | None,
    film_stream: int | None,
    map_file: str | None,
    subtitles_file: str | None,
    again: bool,
    out_file: str | None,
    json_file: str | None,
    **parameters: Any,
) -> None:
    """Find when the narrator of described tracks speaks, in film time.

    FILM is a film of the project that is aligned; without any, all are segmented, and those that
    are done are left as they are. With --film and --ad, and without FILM, no project is needed.

    Exit status: 0 if all went well, 2 for bad input, 3 if a result must not be trusted.

    \b
    Examples:
      reelscore corpus segment sintel
      reelscore corpus segment --film film.mkv --ad described.m4a --out narration.json
    """
    check_targets(out_file, json_file)
    if not films and (film_file or ad_file):
        pair = find_pair(
            *both_files(film_file, ad_file), film_stream=film_stream, ad_stream=ad_stream
        )
        result = _loose(pair, map_file, subtitles_file, parameters)
        deliver(result, out_file, json_file)
        _show(result)
        leave(is_trusted(result))
        return
    if out_file or map_file or subtitles_file or ad_stream is not None or film_stream is not None:
        raise DataError(
            "--out, --map, --subtitles and streams are for work without a project; the project "
            "has its own."
        )
    opened = Project.open(project)
    chosen = films_of(opened, films)
    for_each(chosen, lambda film_id: _film(opened, film_id, parameters, again), json_file)


def _loose(
    pair: TrackPair,
    map_file: str | None,
    subtitles_file: str | None,
    parameters: Mapping[str, Any],
) -> Any:
    cues = read_subtitles(subtitles_file).cues if subtitles_file else ()
    paths: dict[str, str | Path] = {path: path for path in (pair.film.path, pair.ad.path)}
    if subtitles_file:
        paths[subtitles_file] = subtitles_file
    if map_file:
        paths[map_file] = map_file
        aligned = read_result(Path(map_file))
    else:
        with progress_bar("Aligning") as progress:
            aligned = align(pair, progress=progress)
        show_report(aligned["report"])
        if not aligned["match"]:
            leave(trusted=False)
    made = origin("segment", parameters, paths)
    result = _segmented(pair, aligned, parameters, "Segmenting")
    segments = msgspec.convert(result["segments"], list[Segment])
    doubted = doubt_overlaps(segments, [(cue.start, cue.end) for cue in cues if cue.lines])
    return {**made, **result, "segments": [asdict(segment) for segment in doubted]}


def _film(project: Project, film_id: str, parameters: Mapping[str, Any], again: bool) -> Any:
    """Segment one film of a project, unless that was done already."""
    aligned = project.result(film_id, "align")
    if aligned is None:
        raise DataError(
            f"Film {film_id!r} is not aligned yet; run 'reelscore corpus align {film_id}' first."
        )
    if not project.is_current(film_id, aligned):
        raise DataError(
            f"The files of film {film_id!r} have changed since it was aligned; run 'reelscore "
            f"corpus align {film_id}' again first."
        )
    wanted = project.origin(film_id, "segment", parameters)

    def work() -> Any:
        streams = {f"{name}_stream": aligned[name]["stream"] for name in ("film", "ad")}
        pair = find_pair(*project.sounds(film_id), **streams)
        segments = _segmented(pair, aligned, parameters, film_id, folder=project.cache(film_id))
        say(f"{film_id}:")
        return segments

    result = film_step(
        project, film_id, "segment", wanted, work, again=again, done="already segmented"
    )
    segments = project.segments(film_id)
    _show({**result, "segments": [asdict(segment) for segment in segments]})
    orphaned = project.reviewed(film_id).orphaned
    if orphaned:
        say(f"{film_id}: {len(orphaned)} decisions are about segments that are no longer there.")
    return result


def _segmented(
    pair: TrackPair,
    aligned: Mapping[str, Any],
    parameters: Mapping[str, Any],
    name: str,
    **more: Any,
) -> Any:
    with progress_bar(name) as progress:
        return segment(pair, aligned, **parameters, progress=progress, **more)


def _show(result: Mapping[str, Any]) -> None:
    segments = result["segments"]
    rows = [
        [
            clock(each["start"]),
            clock(each["end"]),
            f"{each['end'] - each['start']:.1f}",
            f"{each['level_db']:.1f}",
            f"{each['confidence']:.2f}",
        ]
        for each in segments[:_SHOWN]
    ]
    if rows:
        show_grid(["from", "to", "seconds", "dB", "confidence"], rows)
    if len(segments) > _SHOWN:
        say(f"and {len(segments) - _SHOWN} more")
    unsure = sum(each["confidence"] < UNSURE for each in segments)
    say(
        f"{len(segments)} segments in {len(result['turns'])} turns, {result['narrated']:.1f} "
        f"seconds of narration ({result['method']}); {unsure} to look at first"
    )
    show_report(result["report"])
