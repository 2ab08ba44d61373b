"""``reelscore corpus subtitles``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from reelscore.campaigns.commands.options import say
from reelscore.cli.options import file_option, json_option
from reelscore.cli.terminal import check_targets, write_json
from reelscore.corpus.commands.options import (
    again_option,
    deliver,
    film_and_file,
    film_step,
    leave,
    project_option,
    show_report,
)
from reelscore.corpus.findings import clock
from reelscore.corpus.project import Project
from reelscore.corpus.results import is_trusted, origin
from reelscore.corpus.script_steps import subtitles


@click.command("subtitles")
@click.argument("names", nargs=-1, required=True, metavar="[FILM] PATH")
@project_option
@click.option(
    "--fps",
    type=click.FloatRange(0, min_open=True),
    metavar="N",
    help="Frames a second, for subtitles that count frames (MicroDVD).",
)
@click.option("--encoding", metavar="NAME", help="The file's encoding, if it is not UTF-8.")
@click.option(
    "--shift", type=float, default=0.0, show_default=True, help="Seconds to add to all times."
)
@click.option(
    "--scale",
    type=click.FloatRange(0, min_open=True),
    default=1.0,
    show_default=True,
    help="What all times are multiplied with, before --shift.",
)
@again_option
@file_option("--out", "Without a project: the file to write.")
@json_option
def command(
    names: tuple[str, ...],
    project: str,
    again: bool,
    out_file: str | None,
    json_file: str | None,
    **parameters: Any,
) -> None:
    """Read a film's subtitles: SRT, WebVTT, ASS, SSA or MicroDVD.

    FILM is a film of the project; without it, no project is needed. Styles, sounds in brackets
    and music signs are left out; labels of speakers are kept apart.

    Exit status: 0 if all went well, 2 for bad input, 3 if a result must not be trusted.

    \b
    Examples:
      reelscore corpus subtitles sintel sintel.en.srt
      reelscore corpus subtitles sintel.en.srt --out cues.json
    """
    check_targets(out_file, json_file)
    film_id, path = film_and_file(names, out_file)
    if film_id is None:
        result = {**origin("subtitles", parameters, {path: path}), **subtitles(path, **parameters)}
        deliver(result, out_file, json_file)
    else:
        result = _film(Project.open(project), film_id, path, parameters, again)
        if json_file:
            write_json(json_file, result)
    _show(result)
    leave(is_trusted(result))


def _film(
    project: Project, film_id: str, path: str, parameters: Mapping[str, Any], again: bool
) -> dict[str, Any]:
    """Read the subtitles of one film of a project, unless that was done already."""
    project.film(film_id)
    wanted = project.origin(film_id, "subtitles", parameters, [path])
    return film_step(
        project,
        film_id,
        "subtitles",
        wanted,
        lambda: subtitles(path, **parameters),
        again=again,
        done="the subtitles were read already",
    )


def _show(result: Mapping[str, Any]) -> None:
    cues = result["cues"]
    spoken = sum(bool(cue["lines"]) for cue in cues)
    say(
        f"{len(cues)} cues ({result['format']}), {spoken} with words, from "
        f"{clock(max(0.0, cues[0]['start']))} to {clock(max(0.0, cues[-1]['end']))}"
    )
    show_report(result["report"])
