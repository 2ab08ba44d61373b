"""``reelscore corpus script``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from reelscore.campaigns.commands.options import say
from reelscore.cli.options import choice_option, file_option, json_option, number_option
from reelscore.cli.terminal import check_targets, write_json
from reelscore.corpus.commands.options import (
    again_option,
    deliver,
    film_and_file,
    film_step,
    leave,
    project_option,
    show_grid,
    show_report,
)
from reelscore.corpus.project import Project
from reelscore.corpus.results import is_trusted, origin, read_result
from reelscore.corpus.script_steps import script, script_times, subtitles
from reelscore.corpus.scripts.formats import FORMATS
from reelscore.errors import DataError


@click.command("script")
@click.argument("names", nargs=-1, required=True, metavar="[FILM] PATH")
@project_option
@choice_option(
    "--format", choices=FORMATS, default="auto", help="How it is written; auto: by its content."
)
@click.option("--encoding", metavar="NAME", help="The file's encoding, if it is not UTF-8.")
@click.option("--align", "with_times", is_flag=True, help="Find times by the subtitles, too.")
@click.option(
    "--subtitles",
    "subtitles_file",
    metavar="FILE",
    help="Without a project, for --align: subtitles, or what 'corpus subtitles --out' wrote.",
)
@number_option(
    "--min-score", default=0.5, least=0, most=1, help="Lowest score of accepted descriptions."
)
@again_option
@file_option("--out", "Without a project: the file to write.")
@json_option
def command(
    names: tuple[str, ...],
    project: str,
    format: str,
    encoding: str | None,
    with_times: bool,
    subtitles_file: str | None,
    min_score: float,
    again: bool,
    out_file: str | None,
    json_file: str | None,
) -> None:
    """Read a film's script: Fountain, Final Draft or indented text.

    FILM is a film of the project; without it, no project is needed. With --align, the dialogue is
    matched with the subtitles, and descriptions get times and scores.

    Exit status: 0 if all went well, 2 for bad input, 3 if a result must not be trusted.

    \b
    Examples:
      reelscore corpus script sintel sintel.fountain --align
      reelscore corpus script sintel.fdx --align --subtitles sintel.srt --out aligned.json
    """
    check_targets(out_file, json_file)
    film_id, path = film_and_file(names, out_file)
    reading = {"format": format, "encoding": encoding}
    matching = {"min_score": min_score}
    if subtitles_file and (film_id or not with_times):
        raise DataError("--subtitles is for --align without a project; the project has its own.")
    if with_times and not film_id and not subtitles_file:
        raise DataError("--align needs the film's subtitles; name them with --subtitles.")
    if film_id is None:
        result = _loose(path, subtitles_file, reading, matching)
        deliver(result, out_file, json_file)
        shown = [result]
    else:
        opened = Project.open(project)
        shown = [_parsed(opened, film_id, path, reading, again)]
        if with_times:
            shown.append(_aligned(opened, film_id, matching, again))
        if json_file:
            write_json(json_file, shown[-1])
    for each in shown:
        _show(each)
    leave(is_trusted(shown[-1]))


def _loose(
    path: str, subtitles_file: str | None, reading: Mapping[str, Any], matching: Mapping[str, Any]
) -> dict[str, Any]:
    parsed = script(path, **reading)
    if subtitles_file is None:
        return {**origin("script", reading, {path: path}), **parsed}
    is_result = Path(subtitles_file).suffix == ".json"
    cues = read_result(Path(subtitles_file)) if is_result else subtitles(subtitles_file)
    _show(parsed)
    files: dict[str, str | Path] = {path: path, subtitles_file: subtitles_file}
    made = origin("script times", {**reading, **matching}, files)
    return {**made, **script_times(parsed, cues, **matching)}


def _parsed(
    project: Project, film_id: str, path: str, parameters: Mapping[str, Any], again: bool
) -> dict[str, Any]:
    """Read the script of one film of a project, unless that was done already."""
    project.film(film_id)
    wanted = project.origin(film_id, "script", parameters, [path])
    return film_step(
        project,
        film_id,
        "script",
        wanted,
        lambda: script(path, **parameters),
        again=again,
        done="the script was read already",
    )


def _aligned(
    project: Project, film_id: str, parameters: Mapping[str, Any], again: bool
) -> dict[str, Any]:
    """Return the script of one film of a project its times, unless that was done already."""
    cues = project.result(film_id, "subtitles")
    if cues is None:
        raise DataError(
            f"Film {film_id!r} has no subtitles yet; run 'reelscore corpus subtitles {film_id} "
            "PATH' first."
        )
    if not project.is_current(film_id, cues):
        raise DataError(
            f"The subtitles of film {film_id!r} have changed since they were read; run 'reelscore "
            f"corpus subtitles {film_id} PATH' again first."
        )
    wanted = project.origin(film_id, "script times", parameters, [])
    return film_step(
        project,
        film_id,
        "script times",
        wanted,
        lambda: script_times(project.result(film_id, "script") or {}, cues, **parameters),
        again=again,
        done="the script has its times already",
    )


def _show(result: Mapping[str, Any]) -> None:
    if "counts" in result:
        rows = [[kind, str(count)] for kind, count in result["counts"].items()]
        show_grid(["kind", "elements"], rows)
        say(f"read as {result['format']}")
    else:
        described = [each for each in result["elements"] if each["kind"] == "description"]
        reasons = Counter(each["reason"] for each in described if not each["accepted"])
        lines = result["lines"]
        show_grid(
            ["", "all", "with times"],
            [
                ["lines", str(lines["all"]), str(lines["matched"])],
                ["descriptions", str(len(described)), str(len(described) - reasons.total())],
            ],
        )
        if reasons:
            say("not accepted: " + ", ".join(f"{n} {name}" for name, n in reasons.most_common()))
    show_report(result["report"])
