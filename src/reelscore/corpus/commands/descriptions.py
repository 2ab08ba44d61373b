"""``reelscore corpus descriptions``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from reelscore.campaigns.commands.options import say
from reelscore.cli.options import file_option, json_option, number_option
from reelscore.cli.terminal import check_targets, write, write_json
from reelscore.corpus.accessibility import Narration, accessibility_report, to_webvtt
from reelscore.corpus.assembly import film_seconds
from reelscore.corpus.commands.options import project_option, show_grid
from reelscore.corpus.findings import clock
from reelscore.corpus.project import Project
from reelscore.corpus.results import read_result
from reelscore.corpus.subtitles import read_subtitles
from reelscore.errors import DataError

_SHOWN = 10


@click.command("descriptions")
@click.argument("film_id", required=False, metavar="[FILM]")
@project_option
@click.option(
    "--segments",
    "segments_file",
    metavar="FILE",
    help="Without a project: what 'corpus segment' or 'corpus transcript' wrote.",
)
@click.option("--subtitles", "subtitles_file", metavar="FILE", help="Without a project: dialogue.")
@number_option("--least-gap", default=3.0, least=0, help="Shortest gap to list, in seconds.")
@file_option("--vtt", "Write the narration as WebVTT, a track of the kind descriptions.")
@json_option
def command(
    film_id: str | None,
    project: str,
    segments_file: str | None,
    subtitles_file: str | None,
    least_gap: float,
    vtt_file: str | None,
    json_file: str | None,
) -> None:
    """Print how dense and fast a film's narration is, and where there is room for more.

    The narration is that of 'corpus transcript', else of 'corpus segment', without what people
    rejected; dialogue is that of 'corpus subtitles'.

    \b
    Examples:
      reelscore corpus descriptions sintel --vtt sintel.descriptions.vtt
      reelscore corpus descriptions --segments narration.json --subtitles film.srt
    """
    check_targets(vtt_file, json_file)
    seconds: float | None = None
    if segments_file is not None:
        narration = _narration(read_result(Path(segments_file)), segments_file)
        cues = read_subtitles(subtitles_file).cues if subtitles_file else ()
        dialogue = [(cue.start, cue.end) for cue in cues if cue.lines]
    elif film_id is None:
        raise DataError("Name a film of the project, or a file with --segments.")
    else:
        opened = Project.open(project)
        opened.film(film_id)
        narration = [
            Narration(each.start, each.end, each.text)
            for each in opened.reviewed(film_id).passages()
            if each.origin == "ad" and each.state != "rejected"
        ]
        if not narration:
            raise DataError(f"Film {film_id!r} has no narration; run 'reelscore corpus segment'.")
        dialogue = opened.dialogue(film_id)
        seconds = film_seconds(opened, film_id)
    result = accessibility_report(narration, dialogue, seconds=seconds, least_gap=least_gap)
    if vtt_file:
        write(vtt_file, to_webvtt(narration))
    if json_file:
        write_json(json_file, result)
    _show(result)


def _narration(content: Mapping[str, Any], path: str) -> list[Narration]:
    entries = content.get("sentences", content.get("segments"))
    try:
        return [
            Narration(float(each["start"]), float(each["end"]), each.get("text", ""))
            for each in entries
            if each.get("state") != "rejected" and each["start"] is not None
        ]
    except (KeyError, TypeError, AttributeError):
        raise DataError(f"{path}: expected segments or sentences with start and end.") from None


def _show(result: Mapping[str, Any]) -> None:
    rate = result["words_per_minute"]
    say(
        f"{result['passages']} passages, {result['narrated']:.1f} of {result['seconds']:.1f} "
        f"seconds narrated ({result['density']:.1%})"
    )
    say(
        "words per minute: not known without a transcript"
        if rate is None
        else f"{rate:.0f} words per minute; {len(result['fast'])} passages above 180"
    )
    say(
        f"{result['overlap']:.1f} seconds over dialogue, in {len(result['overlaps'])} passages"
        if result["dialogue"]
        else "overlap with dialogue: not known without subtitles"
    )
    gaps = sorted(result["gaps"], key=lambda gap: gap["start"] - gap["end"])
    if gaps:
        say(f"{len(gaps)} gaps where a description would fit; the longest:")
        rows = [
            [
                clock(gap["start"]),
                clock(gap["end"]),
                f"{gap['end'] - gap['start']:.1f}",
                str(gap["words"]),
            ]
            for gap in gaps[:_SHOWN]
        ]
        show_grid(["from", "to", "seconds", "words"], rows)
