"""``reelscore corpus align``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from reelscore.campaigns.commands.options import say
from reelscore.cli.options import file_option, json_option
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
from reelscore.corpus.results import is_trusted, origin
from reelscore.corpus.steps import TrackPair, align, find_pair
from reelscore.errors import DataError


@click.command("align")
@click.argument("films", nargs=-1, metavar="[FILM]...")
@project_option
@sound_options
@click.option(
    "--rate",
    default="auto",
    show_default=True,
    metavar="auto|R",
    callback=number_or("auto"),
    help="Film seconds for each second of the described track.",
)
@click.option(
    "--search",
    default="60",
    show_default=True,
    metavar="full|SECONDS",
    callback=number_or("full"),
    help="How far from the expected place to look.",
)
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
    rate: float | None,
    search: float | None,
    again: bool,
    out_file: str | None,
    json_file: str | None,
) -> None:
    """Align described tracks with their films: which time of the film each time shows.

    FILM is a film of the project; without any, all are aligned, and those that are done are left
    as they are. With --film and --ad, and without FILM, no project is needed.

    Exit status: 0 if all went well, 2 for bad input, 3 if a result must not be trusted.

    \b
    Examples:
      reelscore corpus align sintel
      reelscore corpus align --film film.mkv --ad described.m4a --out map.json
    """
    check_targets(out_file, json_file)
    if rate is not None and not 0.5 <= rate <= 2:
        raise DataError(f"--rate {rate:g} is not between 0.5 and 2.")
    if search is not None and search <= 0:
        raise DataError(f"--search {search:g} is not above 0.")
    parameters = {"rate": rate, "search": search}
    if not films and (film_file or ad_file):
        pair = find_pair(
            *both_files(film_file, ad_file), film_stream=film_stream, ad_stream=ad_stream
        )
        result = _aligned(pair, parameters, "Aligning")
        paths = {pair.film.path: pair.film.path, pair.ad.path: pair.ad.path}
        result = {**origin("align", parameters, paths), **result}
        deliver(result, out_file, json_file)
        _show(result)
        leave(is_trusted(result))
        return
    if out_file:
        raise DataError("--out is for work without a project; the project has its own files.")
    opened = Project.open(project)
    chosen = films_of(opened, films)
    fields = {"film": film_file, "ad": ad_file, "film_stream": film_stream, "ad_stream": ad_stream}
    if any(value is not None for value in fields.values()):
        if len(chosen) > 1:
            raise DataError("--film, --ad and streams are of one film; name it.")
        opened.change_film(chosen[0], **fields)
    for_each(chosen, lambda film_id: _film(opened, film_id, parameters, again), json_file)


def _film(project: Project, film_id: str, parameters: Mapping[str, Any], again: bool) -> Any:
    """Align one film of a project, unless that was done already."""
    film = project.film(film_id)
    streams: dict[str, Any] = {"film_stream": film.film_stream, "ad_stream": film.ad_stream}
    wanted = project.origin(film_id, "align", {**parameters, **streams})

    def work() -> Any:
        pair = find_pair(*project.sounds(film_id), **streams)
        aligned = _aligned(pair, parameters, film_id, folder=project.cache(film_id))
        say(f"{film_id}:")
        return aligned

    result = film_step(project, film_id, "align", wanted, work, again=again, done="already aligned")
    _show(result)
    return result


def _aligned(pair: TrackPair, parameters: Mapping[str, Any], name: str, **fields: Any) -> Any:
    with progress_bar(name) as progress:
        return align(pair, **parameters, progress=progress, **fields)


def _show(result: Mapping[str, Any]) -> None:
    for name, what in (("film", "film"), ("ad", "described track")):
        track = result[name]
        say(
            f"{what}: {track['path']}, stream {track['stream']} ({track['chosen_by']}), "
            f"{track['codec']}, {track['layout']}, {clock(track['seconds'])}"
        )
    if result["match"]:
        rows = [
            [
                clock(piece["ad_start"]),
                clock(piece["ad_end"]),
                clock(piece["film_start"]),
                f"{piece['rate']:.6f}",
            ]
            for piece in result["map"]
        ]
        show_grid(["from", "to", "film from", "rate"], rows)
        say(f"confidence {result['confidence']:.2f}, {result['mode']} ({result['coherent']:.2f})")
    show_report(result["report"])
