"""``reelscore corpus subtitles``, ``script``, ``transcript`` and ``descriptions``."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import click

from reelscore.cli.options import choice_option, file_option, json_option, number_option
from reelscore.cli.terminal import check_targets, write, write_json
from reelscore.corpus.commands.corpus_options import (
    ResultOptions,
    film_and_file,
    film_project,
    keep_given,
    project_option,
    result_options,
    run_step,
    say,
    show_grid,
    show_report,
)
from reelscore.corpus.pipeline import ALIGN, SCRIPT, SCRIPT_TIMES, SEGMENT, SUBTITLES, TRANSCRIPT
from reelscore.corpus.project import Film, Project
from reelscore.corpus.project_files import TimedScript
from reelscore.corpus.scripts.formats import FORMATS
from reelscore.corpus.time_map import clock
from reelscore.corpus.words.accessibility import (
    Narration,
    NarrationReport,
    accessibility_report,
    to_webvtt,
)
from reelscore.corpus.words.transcripts import described_sound, segment_sound, transcript_template
from reelscore.data.atomic_files import make_folder, write_atomically
from reelscore.errors import DataError

_SHOWN = 10
_SEGMENTS = "segments or sentences, as 'corpus segment' and 'corpus transcript' write them"
_encoding_option = click.option(
    "--encoding", metavar="NAME", help="The file's encoding, if it is not UTF-8."
)


@click.command("subtitles")
@click.argument("names", nargs=-1, required=True, metavar="[FILM] PATH")
@project_option
@click.option(
    "--fps",
    type=click.FloatRange(0, min_open=True),
    metavar="N",
    help="Frames a second, for subtitles that count frames (MicroDVD).",
)
@_encoding_option
@number_option("--shift", default=0.0, help="Seconds to add to all times.")
@number_option("--stretch", "scale", default=1.0, above=0, help="Factor of times, before --shift.")
@result_options
def subtitles(names: tuple[str, ...], project: str, wanted: ResultOptions, **options: Any) -> None:
    """Read a film's subtitles: SRT, WebVTT, ASS, SSA or MicroDVD.

    FILM is a film of the project; without it, no project is needed. Styles, sounds in brackets
    and music signs are left out; labels of speakers are kept apart.

    \b
    Examples:
      reelscore corpus subtitles sintel sintel.en.srt
      reelscore corpus subtitles sintel.en.srt -o cues.json
    """
    named, path = film_and_file(names, wanted)
    with film_project(project, named) as (opened, film_id):
        result = run_step(opened, SUBTITLES, film_id, path, again=wanted.again, **options)
    cues = result.cues
    say(
        f"{len(cues)} cues ({result.format}), {sum(bool(cue.lines) for cue in cues)} with words, "
        f"from {clock(max(0.0, cues[0].start))} to {clock(max(0.0, cues[-1].end))}"
    )
    wanted.deliver(result)


@click.command("script")
@click.argument("names", nargs=-1, required=True, metavar="[FILM] PATH")
@project_option
@choice_option(
    "--format",
    choices=["auto", *FORMATS],
    default="auto",
    help=f"{', '.join(each.words for each in FORMATS.values())}; auto: by its content.",
)
@_encoding_option
@click.option("--align", "with_times", is_flag=True, help="Find times by the subtitles, too.")
@file_option("--subtitles", "For --align without a project: these, or what 'subtitles -o' wrote.")
@number_option("--min-score", default=0.5, least=0, most=1, help="Least score of descriptions.")
@result_options
def script(
    names: tuple[str, ...],
    project: str,
    with_times: bool,
    subtitles_file: str | None,
    min_score: float,
    wanted: ResultOptions,
    **options: Any,
) -> None:
    """Read a film's script, in one of the formats that --format names.

    FILM is a film of the project; without it, no project is needed. With --align, the dialogue is
    matched with the subtitles, and descriptions get times and scores.

    \b
    Examples:
      reelscore corpus script sintel sintel.fountain --align
      reelscore corpus script sintel.fdx --align --subtitles sintel.srt -o aligned.json
    """
    named, path = film_and_file(names, wanted)
    if subtitles_file and (named or not with_times):
        raise DataError("--subtitles is for --align without a project; the project has its own.")
    if with_times and not named and not subtitles_file:
        raise DataError("--align needs the film's subtitles; name them with --subtitles.")
    with film_project(project, named) as (opened, film_id):
        if subtitles_file and Path(subtitles_file).suffix == ".json":
            keep_given(opened, SUBTITLES, subtitles_file, "cues, as 'corpus subtitles' writes them")
        elif subtitles_file:
            run_step(opened, SUBTITLES, film_id, subtitles_file)
        parsed = run_step(opened, SCRIPT, film_id, path, again=wanted.again, **options)
        timed = None
        if with_times:
            timed = run_step(opened, SCRIPT_TIMES, film_id, again=wanted.again, min_score=min_score)
    show_grid(["kind", "elements"], [*parsed.counts.items()])
    say(f"read as {parsed.format}")
    if timed is not None:
        show_report(parsed)
        _show_times(timed)
    wanted.deliver(timed or parsed)


def _show_times(timed: TimedScript) -> None:
    described = [each for each in timed.elements if each.kind == "description"]
    reasons = Counter(each.reason for each in described if not each.accepted)
    accepted = len(described) - reasons.total()
    lines = ("lines", timed.lines.all, timed.lines.matched)
    show_grid(["", "all", "with times"], [lines, ("descriptions", len(described), accepted)])
    if reasons:
        say("not accepted: " + ", ".join(f"{n} {name}" for name, n in reasons.most_common()))


@click.command("transcript")
@click.argument("names", nargs=-1, metavar="[FILM] [PATH]")
@project_option
@click.option(
    "--recogniser",
    metavar="URL|FOLDER|COMMAND",
    help="Have the narration recognised: by a server with /audio/transcriptions (OpenAI's "
    "protocol), a Whisper model in a folder (faster-whisper), or a command that gets a WAV file.",
)
@click.option("--model", metavar="NAME", help="The server's name of the model (whisper-1).")
@click.option("--language", metavar="CODE", help="The language of the narration, such as en.")
@choice_option(
    "--times", choices=["ad", "film"], default="ad", help="Whose times PATH has: track or film."
)
@click.option("--template", metavar="FOLDER", help="Write transcript.csv to fill in for FILM.")
@click.option("--with-audio", is_flag=True, help="With --template: the sound of each segment too.")
@file_option("--segments", "Without a project: narration.")
@file_option("--map", "Without a project: the time map.")
@click.option("--ad", metavar="FILE", help="Without a project: the described track to recognise.")
@result_options
def transcript(
    names: tuple[str, ...],
    project: str,
    template: str | None,
    with_audio: bool,
    segments_file: str | None,
    map_file: str | None,
    ad: str | None,
    wanted: ResultOptions,
    **options: Any,
) -> None:
    """Read the words of a narration, have it recognised, or write a table to fill in.

    PATH is the table, SRT, WebVTT, or the JSON of a recogniser of speech (start, end, text, and
    words if it has them). What is not where the narrator speaks is dialogue, and left out.

    With --recogniser, it is sent the turns of the narrator, one by one; a key of a server is read
    from REELSCORE_API_KEY. What was recognised before is not sent again.

    \b
    Examples:
      reelscore corpus transcript sintel --template to-do --with-audio
      reelscore corpus transcript sintel --recogniser http://127.0.0.1:8000/v1
      reelscore corpus transcript heard.json --segments narration.json --map map.json -o t.json
    """
    if template is not None:
        if len(names) != 1:
            raise DataError("--template is for one film of the project; name it alone.")
        _write_template(Project.open(project), names[0], Path(template), with_audio)
        return
    if options["recogniser"] is None:
        if not names or ad or options["model"] or options["language"]:
            raise DataError(
                "Name the transcript to read; --model, --language and --ad are for --recogniser."
            )
        named, path = film_and_file(names, wanted)
    else:
        if len(names) > 1 or (not names and not (ad and segments_file and map_file)):
            raise DataError(
                "--recogniser needs a film of the project; without one --ad, --segments and --map."
            )
        named, path = (*names, None)[0], None
    with film_project(project, named, Film("film", ad=ad)) as (opened, film_id):
        if named is None:
            keep_given(opened, SEGMENT, segments_file, _SEGMENTS)
            keep_given(opened, ALIGN, map_file, "a time map, as 'corpus align' writes it")
        result = run_step(opened, TRANSCRIPT, film_id, path, again=wanted.again, **options)
    words = sum(len(each.text.split()) for each in result.sentences)
    say(f"{len(result.sentences)} sentences with {words} words")
    wanted.deliver(result)


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
    make_folder(folder / "audio" if with_audio else folder)
    if with_audio:
        with described_sound(project, film_id) as samples:
            for segment in segments:
                sound = segment_sound(samples, segment)
                write_atomically(folder / "audio" / f"{segment.id}.wav", sound)
    write_atomically(table, transcript_template(segments, audio=with_audio))
    say(f"{len(segments)} segments to transcribe are in {table}")


@click.command("descriptions")
@click.argument("film_id", required=False, metavar="[FILM]")
@project_option
@file_option("--segments", "Without a project: what 'segment' or 'transcript' wrote.")
@file_option("--subtitles", "Without a project: dialogue.")
@number_option("--least-gap", default=3.0, least=0, help="Shortest gap to list, in seconds.")
@file_option("--vtt", "Write the narration as WebVTT, a track of the kind descriptions.")
@json_option
def descriptions(
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
    if film_id is None and segments_file is None:
        raise DataError("Name a film of the project, or a file with --segments.")
    with film_project(project, None if segments_file else film_id) as (opened, name):
        if segments_file is not None:
            try:
                keep_given(opened, TRANSCRIPT, segments_file, _SEGMENTS)
            except DataError:
                keep_given(opened, SEGMENT, segments_file, _SEGMENTS)
            if subtitles_file:
                run_step(opened, SUBTITLES, name, subtitles_file)
        opened.film(name)
        narration = [
            Narration(each.start, each.end, each.text)
            for each in opened.reviewed(name).passages()
            if each.state != "rejected" and (each.origin == "ad" or segments_file)
        ]
        if not narration:
            raise DataError(f"Film {name!r} has no narration; run 'reelscore corpus segment'.")
        seconds, dialogue = opened.seconds(name), opened.dialogue(name)
    result = accessibility_report(narration, dialogue, seconds=seconds, least_gap=least_gap)
    if vtt_file:
        write(vtt_file, to_webvtt(narration))
    if json_file:
        write_json(json_file, result)
    _show_density(result)


def _show_density(result: NarrationReport) -> None:
    rate = result.words_per_minute
    say(
        f"{result.passages} passages, {result.narrated:.1f} of {result.seconds:.1f} "
        f"seconds narrated ({result.density:.1%})"
    )
    say(
        "words per minute: not known without a transcript"
        if rate is None
        else f"{rate:.0f} words per minute; {len(result.fast)} passages above 180"
    )
    say(
        f"{result.overlap:.1f} seconds over dialogue, in {len(result.overlaps)} passages"
        if result.dialogue
        else "overlap with dialogue: not known without subtitles"
    )
    if result.gaps:
        say(f"{len(result.gaps)} gaps where a description would fit; the longest:")
        rows = [
            (clock(gap.start), clock(gap.end), f"{gap.end - gap.start:.1f}", gap.words)
            for gap in sorted(result.gaps, key=lambda gap: gap.start - gap.end)[:_SHOWN]
        ]
        show_grid(["from", "to", "seconds", "words"], rows)
