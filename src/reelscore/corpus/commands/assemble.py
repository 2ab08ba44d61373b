"""``reelscore corpus assemble``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import msgspec

from reelscore.campaigns.commands.options import say
from reelscore.cli.options import choice_option, file_option, json_option, number_option
from reelscore.cli.terminal import check_targets, write_json
from reelscore.corpus.assembly import assemble, film_seconds, trimmed
from reelscore.corpus.commands.options import (
    again_option,
    deliver,
    project_option,
    show_grid,
    show_report,
)
from reelscore.corpus.project import Project
from reelscore.corpus.records import Clip, Finding, Sentence
from reelscore.corpus.results import origin, read_result
from reelscore.corpus.stages import make_stage, stage_inputs
from reelscore.corpus.steps import report
from reelscore.errors import DataError


@click.command("assemble")
@project_option
@click.option(
    "--sentences",
    "sentence_files",
    multiple=True,
    metavar="FILE",
    help="Without a project: what 'transcript' or 'script --align' wrote. Repeatable.",
)
@click.option(
    "--film", "film_id", metavar="FILM", help="Without a project: the film's id, of clips' names."
)
@choice_option(
    "--expand",
    choices=["symmetric", "tail", "none"],
    default="symmetric",
    help="symmetric: short clips grow on both sides; tail: 2 seconds more at the end of each.",
)
@number_option("--min-clip", default=2.0, least=0, help="Shortest clip of symmetric, in seconds.")
@number_option("--trim-start", default=0.0, least=0, help="Leave out what begins before, seconds.")
@number_option("--trim-end", default=0.0, least=0, help="Leave out the last seconds of films.")
@click.option("--reviewed", is_flag=True, help="Only sentences that a person accepted or edited.")
@click.option("--cut", is_flag=True, help="Print the commands of ffmpeg that cut the clips.")
@again_option
@file_option("--out", "Without a project: the file to write.")
@json_option
def command(
    project: str,
    sentence_files: tuple[str, ...],
    film_id: str | None,
    expand: Any,
    min_clip: float,
    trim_start: float,
    trim_end: float,
    reviewed: bool,
    cut: bool,
    again: bool,
    out_file: str | None,
    json_file: str | None,
) -> None:
    """Make clips from the sentences of all films: clips.json.

    Sentences are those of the narration and of aligned scripts that nobody rejected; those with
    the same times share a clip.

    \b
    Examples:
      reelscore corpus assemble --project films --trim-start 60
      reelscore corpus assemble --sentences said.json --film sintel --out clips.json
    """
    check_targets(out_file, json_file)
    parameters = {
        "expand": expand,
        "min_clip": min_clip,
        "trim_start": trim_start,
        "trim_end": trim_end,
        "reviewed": reviewed,
    }
    if sentence_files:
        if cut:
            raise DataError("--cut is for projects, which know where the films are.")
        films = {film_id or "film": (_loose_sentences(sentence_files), None)}
        made = origin("assemble", parameters, {path: path for path in sentence_files})
        result = {**made, **_assembled(films, ", ".join(sentence_files), **parameters)}
        deliver(result, out_file, json_file)
        _show(result)
        return
    if out_file or film_id:
        raise DataError("--out and --film are for work without a project; name --sentences.")
    opened = Project.open(project)
    files = stage_inputs(opened, "assemble")

    def work() -> dict[str, Any]:
        films = {
            each: (opened.reviewed(each).sentences, film_seconds(opened, each))
            for each in opened.films
        }
        return _assembled(films, str(opened.folder), **parameters)

    result, is_new = make_stage(opened, "assemble", parameters, files, work, again=again)
    if not is_new:
        say("The clips are already assembled; --again does it again.")
    _show(result)
    if cut:
        _print_cuts(opened, result)
    if json_file:
        write_json(json_file, result)


def _loose_sentences(paths: Sequence[str]) -> list[Sentence]:
    """Read the sentences of files; of scripts those of accepted descriptions."""
    sentences: list[Sentence] = []
    for path in paths:
        content = read_result(Path(path))
        elements = content.get("elements")
        try:
            read = msgspec.convert(content.get("sentences"), list[Sentence])
            accepted = {each["id"] for each in elements or () if each["accepted"]}
        except (msgspec.ValidationError, KeyError, TypeError) as error:
            raise DataError(f"{path}: expected sentences ({error}).") from None
        sentences += [each for each in read if elements is None or each.parent in accepted]
    return sentences


def _assembled(
    films: Mapping[str, tuple[Sequence[Sentence], float | None]],
    where: str,
    expand: Any,
    min_clip: float,
    trim_start: float,
    trim_end: float,
    reviewed: bool,
) -> dict[str, Any]:
    clips: list[Clip] = []
    sentences = []
    untimed = unreviewed = 0
    for film_id, (said, seconds) in films.items():
        of_film = trimmed(said, seconds, trim_start, trim_end)
        chosen = [each for each in of_film if not reviewed or each.state in ("accepted", "edited")]
        clips += assemble(film_id, chosen, seconds=seconds, expand=expand, min_clip=min_clip)
        sentences += [{"film": film_id, **asdict(each)} for each in of_film]
        untimed += sum(each.start is None or each.end is None for each in chosen)
        unreviewed += sum(each.state == "proposed" for each in chosen)
    if not clips:
        raise DataError(
            f"{where}: there are no sentences with times; give them with 'reelscore "
            "corpus transcript', or align a script."
        )
    findings = []
    if untimed:
        findings.append(Finding("untimed", f"{untimed} sentences have no time and no clip."))
    if unreviewed:
        findings.append(Finding("unreviewed", f"Nobody has looked at {unreviewed} sentences yet."))
    return {
        "clips": [asdict(clip) for clip in clips],
        "sentences": sentences,
        "report": report(findings),
    }


def _show(result: Mapping[str, Any]) -> None:
    counts: dict[str, list[int]] = {}
    for clip in result["clips"]:
        row = counts.setdefault(clip["film"], [0, 0])
        row[0] += 1
        row[1] += len(clip["sentences"])
    show_grid(
        ["film", "clips", "sentences"],
        [[film_id, *map(str, row)] for film_id, row in counts.items()],
    )
    show_report(result["report"])


def _print_cuts(project: Project, result: Mapping[str, Any]) -> None:
    """Print commands to cut clips; they are for people to run."""
    from shlex import quote

    for clip in result["clips"]:
        film = project.film(clip["film"]).film
        if film is None:
            raise DataError(f"Film {clip['film']!r} has no file to cut.")
        start, end = clip["expanded_start"], clip["expanded_end"]
        click.echo(
            f"ffmpeg -ss {start:.3f} -i {quote(str(project.folder / film))} -t {end - start:.3f} "
            f"{quote(clip['id'] + '.mp4')}"
        )
