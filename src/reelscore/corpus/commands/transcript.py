"""``reelscore corpus transcript``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import msgspec

from reelscore.campaigns.commands.options import say
from reelscore.cli.options import choice_option, file_option, json_option
from reelscore.cli.terminal import check_targets, write_json
from reelscore.corpus.audio import find_track, read_samples
from reelscore.corpus.commands.options import (
    again_option,
    deliver,
    film_and_file,
    film_step,
    leave,
    project_option,
    show_report,
)
from reelscore.corpus.project import RESULTS, Project
from reelscore.corpus.records import Segment
from reelscore.corpus.results import is_trusted, origin, read_result
from reelscore.corpus.steps import map_of, report
from reelscore.corpus.transcripts import (
    Times,
    narration_sentences,
    read_entries,
    segment_sound,
    transcript_template,
)
from reelscore.data.atomic_files import write_atomically
from reelscore.errors import DataError


@click.command("transcript")
@click.argument("names", nargs=-1, required=True, metavar="[FILM] [PATH]")
@project_option
@choice_option(
    "--times",
    choices=["ad", "film"],
    default="ad",
    help="Whose times PATH has: the described track's or the film's.",
)
@click.option("--template", metavar="FOLDER", help="Write transcript.csv to fill in for FILM.")
@click.option("--with-audio", is_flag=True, help="With --template: the sound of each segment too.")
@click.option("--segments", "segments_file", metavar="FILE", help="Without a project: narration.")
@click.option("--map", "map_file", metavar="FILE", help="Without a project: the time map.")
@again_option
@file_option("--out", "Without a project: the file to write.")
@json_option
def command(
    names: tuple[str, ...],
    project: str,
    times: Times,
    template: str | None,
    with_audio: bool,
    segments_file: str | None,
    map_file: str | None,
    again: bool,
    out_file: str | None,
    json_file: str | None,
) -> None:
    """Read the words of a narration, or write a table for those who transcribe it.

    PATH is the table, SRT, WebVTT, or the JSON of a recogniser of speech (start, end, text, and
    words if it has them). What is not where the narrator speaks is dialogue, and left out.

    Exit status: 0 if all went well, 2 for bad input, 3 if a result must not be trusted.

    \b
    Examples:
      reelscore corpus transcript sintel --template to-do --with-audio
      reelscore corpus transcript sintel to-do/transcript.csv
      reelscore corpus transcript heard.json --segments narration.json --map map.json --out t.json
    """
    check_targets(out_file, json_file)
    if template is not None:
        if len(names) != 1:
            raise DataError("--template is for one film of the project; name it alone.")
        _write_template(Project.open(project), names[0], Path(template), with_audio)
        return
    film_id, path = film_and_file(names, out_file)
    if film_id is None:
        segments = _segments(read_result(Path(segments_file))) if segments_file else []
        aligned = read_result(Path(map_file)) if map_file else None
        inputs: dict[str, str | Path] = {
            name: name for name in (path, segments_file, map_file) if name
        }
        made = origin("transcript", {"times": times}, inputs)
        result = {**made, **_sentences(path, segments, aligned, times)}
        deliver(result, out_file, json_file)
    else:
        result = _film(Project.open(project), film_id, path, times, again)
        if json_file:
            write_json(json_file, result)
    words = sum(len(each["text"].split()) for each in result["sentences"])
    say(f"{len(result['sentences'])} sentences with {words} words")
    show_report(result["report"])
    leave(is_trusted(result))


def _film(project: Project, film_id: str, path: str, times: Times, again: bool) -> dict[str, Any]:
    """Read the transcript of one film of a project, unless that was done already."""
    project.film(film_id)
    segments = project.reviewed(film_id).segments
    parameters = {"times": times}
    if project.place(film_id, RESULTS["segment"]).is_file():
        wanted = project.origin(film_id, "transcript", parameters, [path])
    else:
        wanted = origin("transcript", parameters, {str(Path(path).resolve()): path})
    return film_step(
        project,
        film_id,
        "transcript",
        wanted,
        lambda: _sentences(path, segments, project.result(film_id, "align"), times),
        again=again,
        done="the transcript was read already",
    )


def _segments(result: Mapping[str, Any]) -> list[Segment]:
    try:
        return msgspec.convert(result.get("segments"), list[Segment])
    except msgspec.ValidationError as error:
        raise DataError(
            f"There are no segments ({error}); make them with 'reelscore corpus segment'."
        ) from None


def _sentences(
    path: str, segments: Sequence[Segment], aligned: Mapping[str, Any] | None, times: Times
) -> dict[str, Any]:
    time_map = map_of(aligned) if aligned is not None and times == "ad" else None
    sentences, findings = narration_sentences(read_entries(path), segments, time_map, times=times)
    return {"sentences": [asdict(each) for each in sentences], "report": report(findings)}


def _write_template(project: Project, film_id: str, folder: Path, with_audio: bool) -> None:
    """Write the table to fill in, and the sound; a table that is there is somebody's work."""
    project.film(film_id)
    reviewed = project.reviewed(film_id).segments
    segments = [segment for segment in reviewed if segment.state != "rejected"]
    if not segments:
        raise DataError(
            f"Film {film_id!r} has no segments; run 'reelscore corpus segment {film_id}' first."
        )
    table = folder / "transcript.csv"
    if table.exists():
        raise DataError(f"{table}: there is a table already; choose another folder.")
    (folder / "audio" if with_audio else folder).mkdir(parents=True, exist_ok=True)
    if with_audio:
        aligned = project.result(film_id, "align") or {}
        track = find_track(
            project.sounds(film_id)[1], role="ad", stream=aligned.get("ad", {}).get("stream")
        )
        with read_samples(track, folder=project.cache(film_id)) as samples:
            for segment in segments:
                sound = segment_sound(samples, segment)
                write_atomically(folder / "audio" / f"{segment.id}.wav", sound)
    write_atomically(table, transcript_template(segments, audio=with_audio))
    say(f"{len(segments)} segments to transcribe are in {table}")
