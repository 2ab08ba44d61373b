"""``reelscore corpus assemble``, ``cut``, ``anonymise`` and ``split``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from shlex import join
from typing import Annotated, Any, cast, get_args

import click
import msgspec

from reelscore.cli.options import Command, SettingsOption, file_option, seed_option
from reelscore.cli.terminal import check_targets, progress_bar, write, write_json
from reelscore.corpus.commands.corpus_options import (
    ResultOptions,
    clips_option,
    films_of,
    folder_option,
    project_option,
    read_clips_of,
    read_given,
    result_options,
    run_step,
    say,
    show_grid,
)
from reelscore.corpus.pipeline import ANONYMISE, ASSEMBLE, SPLIT, TRANSCRIPT, csv_text
from reelscore.corpus.project import Film, Project
from reelscore.corpus.project_files import CorpusSets, Element, TimedSentence, Transcript
from reelscore.corpus.release.clip_assembly import Expansion
from reelscore.corpus.release.clip_cutting import cut_clips, cuts_of
from reelscore.corpus.release.film_names import read_names
from reelscore.corpus.release.film_sets import RATIOS
from reelscore.data.atomic_files import make_folder
from reelscore.errors import DataError
from reelscore.text.names.cast import Cast
from reelscore.text.names.name_replacement import Anonymised, unknown_names
from reelscore.text.names.name_replacement import anonymise as anonymised


class ClipTimes(msgspec.Struct, frozen=True):
    """When clips begin and end.

    Attributes:
        min_clip: Shortest clip of symmetric, in seconds.
        trim_start: Leave out what begins before, in seconds.
        trim_end: Leave out the last seconds of films.
    """

    expand: Expansion = "symmetric"
    min_clip: Annotated[float, msgspec.Meta(ge=0)] = 2.0
    trim_start: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    trim_end: Annotated[float, msgspec.Meta(ge=0)] = 0.0


@click.command("assemble", cls=Command)
@project_option
@click.option(
    *("--sentences", "sentence_files"),
    multiple=True,
    metavar="FILE",
    help="Without a project: what 'transcript' or 'script --align' wrote. Repeatable.",
)
@click.option("--film", "film_id", metavar="FILM", help="Without a project: the film's id.")
@click.option(
    "--expand",
    cls=SettingsOption,
    start=lambda name: ClipTimes(cast("Expansion", name or "symmetric")),
    known=get_args(Expansion),
    without=["expand"],
    help="How clips are made of sentences. symmetric: short ones grow on both sides; tail: 2 "
    "seconds more at the end of each; none.",
)
@click.option("--reviewed", is_flag=True, help="Only sentences that a person accepted or edited.")
@result_options
def assemble(
    project: str,
    sentence_files: tuple[str, ...],
    film_id: str | None,
    wanted: ResultOptions,
    expand: ClipTimes,
    **options: Any,
) -> None:
    """Make clips from the sentences of all films: clips.json.

    Sentences are those of the narration and of aligned scripts that nobody rejected; those with
    the same times share a clip.

    \b
    Examples:
      reelscore corpus assemble --project films --expand trim_start:60
      reelscore corpus assemble --sentences said.json --film sintel -o clips.json
    """
    options.update(msgspec.structs.asdict(expand))
    if sentence_files:
        film = Film(film_id or "film")
        sentences = [each for path in sentence_files for each in _given_sentences(path)]
        with Project.temporary(film) as loose:
            loose.write(TRANSCRIPT, Transcript(sentences=tuple(sentences)), film.id)
            result = run_step(loose, ASSEMBLE, **options)
    elif wanted.out_file or film_id:
        raise DataError("--output and --film are for work without a project; name --sentences.")
    else:
        result = run_step(Project.open(project), ASSEMBLE, again=wanted.again, **options)
    clips = Counter(clip.film for clip in result.clips)
    counts = Counter(clip.film for clip in result.clips for _ in clip.sentences)
    rows = [(film_id, number, counts[film_id]) for film_id, number in clips.items()]
    show_grid(["film", "clips", "sentences"], rows)
    wanted.deliver(result)


class _Sentences(msgspec.Struct):
    """What is read of a transcript or of an aligned script."""

    sentences: list[TimedSentence]
    elements: list[Element] | None = None


def _given_sentences(path: str) -> list[TimedSentence]:
    """Read the sentences of a file; of a script those of accepted descriptions."""
    given = read_given(path, _Sentences, "sentences")
    accepted = {element.id for element in given.elements or () if element.accepted}
    return [each for each in given.sentences if given.elements is None or each.parent in accepted]


@click.command("cut")
@click.argument("films", nargs=-1, metavar="[FILM]...")
@project_option
@folder_option
@click.option("--dry-run", is_flag=True, help="Print the commands of ffmpeg, and cut nothing.")
def cut(films: tuple[str, ...], project: str, out_folder: str, dry_run: bool) -> None:
    """Cut the clips of 'corpus assemble' out of their films: CLIP.mp4 for each, by ffmpeg.

    FILM is a film of the project; without any, the clips of all are cut. Those that are there are
    left as they are, unless the film or the times of the clip have changed.

    \b
    Examples:
      reelscore corpus cut --project films -o clips
      reelscore corpus cut sintel --project films -o clips --dry-run
    """
    opened, folder = Project.open(project), Path(out_folder)
    cuts = list(cuts_of(opened, films_of(opened, films), folder))
    if dry_run:
        for each in cuts:
            click.echo(join(each.command()))
        return
    make_folder(folder)
    with progress_bar("Cutting") as progress:
        count = cut_clips(cuts, progress)
    say(f"{count} clips cut, {len(cuts) - count} were there; all are in {out_folder}")


@click.command("anonymise")
@project_option
@file_option("--text", "Sentences, one on each line, without a project.")
@file_option("--cast", "Names of people, one on each line.")
@click.option(
    "--token", default="Someone", show_default=True, metavar="WORD", help="What a name becomes."
)
@file_option("--report", "Write all sentences that a person should check, as CSV.")
@result_options
def anonymise(
    project: str,
    text_file: str | None,
    cast_file: str | None,
    token: str,
    report_file: str | None,
    wanted: ResultOptions,
) -> None:
    """Replace the names of people by Someone, and those of families by people.

    Works on the clips of a project (names.json), or on a file with --text. Names are those of the
    films' scripts, those marked in review, and those of --cast. Words that may be names or not are
    listed, so that people can check them; the originals stay in the project.

    \b
    Examples:
      reelscore corpus anonymise --project films
      reelscore corpus anonymise --text sentences.txt --cast cast.txt -o anonymous.json
    """
    check_targets(wanted.out_file, wanted.json_file, report_file)
    content: Any
    if text_file is not None:
        if cast_file is None:
            raise DataError("Name the people with --cast, one on each line.")
        texts = read_names(text_file)
        cast = Cast.of(read_names(cast_file), texts)
        done = anonymised(texts, cast, token=token)
        unknown = unknown_names(texts, cast)
        rows = [
            ("", str(number), text, each)
            for number, (text, each) in enumerate(zip(texts, done, strict=True), start=1)
        ]
        sentences = [{"original": text, **vars(each)} for _, _, text, each in rows]
        content = {"cast": sorted(cast.names), "sentences": sentences, "unknown": unknown}
    else:
        wanted.refuse_out()
        opened = Project.open(project)
        content = run_step(opened, ANONYMISE, file=cast_file, again=wanted.again, token=token)
        originals = {(each.film, each.id): each for each in opened.needed(ASSEMBLE).sentences}
        rows = [
            (film_id, sentence_id, originals[film_id, sentence_id].text, each)
            for film_id, film in content.films.items()
            for sentence_id, each in film.sentences.items()
        ]
        unknown = sum((Counter(film.unknown) for film in content.films.values()), Counter())
    _show_names([each for *_, each in rows], unknown)
    if text_file is None:
        nameless = [film_id for film_id, film in content.films.items() if not film.cast]
        if nameless:
            say(f"No names are known of {', '.join(nameless)}: read a script, or name a --cast.")
    if report_file:
        write(report_file, _check_list(rows, unknown))
    for path in (wanted.out_file, wanted.json_file):
        if path:
            write_json(path, content)


def _check_list(rows: Iterable[tuple[str, str, str, Anonymised]], unknown: Iterable[str]) -> str:
    """Write the sentences that changed, or that have words which may be names, before and after."""
    lines = [["film", "sentence", "to check", "before", "after"]]
    for film_id, sentence_id, original, each in rows:
        doubts = [f"{word} {'replaced' if done else 'kept'}" for word, done in each.doubts]
        words = set(re.findall(r"\w+", each.text))
        doubts += [f"{word} unknown" for word in unknown if word in words]
        if doubts or each.replacements:
            lines.append([film_id, sentence_id, ", ".join(doubts), original, each.text])
    return csv_text(lines)


def _show_names(sentences: Sequence[Anonymised], unknown: Mapping[str, int]) -> None:
    """Print what was replaced, and what a person should look at."""
    doubts = Counter(
        (word, "replaced" if replaced else "kept")
        for sentence in sentences
        for word, replaced in sentence.doubts
    )
    rows = [(word, verdict, count) for (word, verdict), count in doubts.most_common()]
    rows += [(word, "unknown", count) for word, count in unknown.items()]
    if rows:
        say("To check, since these may be names or not:")
        show_grid(["word", "now", "times"], rows, 20)
    replaced = sum(len(sentence.replacements) for sentence in sentences)
    changed = sum(bool(sentence.replacements) for sentence in sentences)
    say(f"{replaced} names replaced in {changed} of {len(sentences)} sentences")


@click.command("split")
@project_option
@clips_option
@click.option(
    "--ratios",
    default=" ".join(map(str, RATIOS)),
    show_default=True,
    metavar="NUMBERS",
    help="Shares of clips: training, validation, public test, blind test.",
)
@click.option("--by-genre", is_flag=True, help="Make the genres of every set like the whole.")
@click.option(
    "--place", "fixes", multiple=True, metavar="FILM=SET", help="Put a film into a set. Repeatable."
)
@click.option("--by-title", is_flag=True, help="Tell same films by title and year, not by sound.")
@seed_option
@result_options
def split(
    project: str,
    clip_files: tuple[str, ...],
    ratios: str,
    fixes: tuple[str, ...],
    by_title: bool,
    wanted: ResultOptions,
    **options: Any,
) -> None:
    """Divide films into training, validation, public test and blind test: splits.json.

    A film is in one set as a whole, and so are films with the same title and year, or with the
    same sound. Clips from scripts are in training alone; those of films in other sets are left out.

    \b
    Examples:
      reelscore corpus split --project films --by-genre
      reelscore corpus split --clips clips.json -o splits.json
    """
    options.update(ratios=_numbers(ratios), fix=_pairs(fixes))
    if clip_files:
        clips = read_clips_of(clip_files)
        films = dict.fromkeys(clip.film for clip in clips.clips)
        with Project.temporary(*map(Film, films)) as loose:
            loose.write(ASSEMBLE, clips)
            result = run_step(loose, SPLIT, by_title=True, **options)  # there is no sound
    else:
        wanted.refuse_out("name --clips")
        options.update(by_title=by_title, again=wanted.again)
        result = run_step(Project.open(project), SPLIT, bar="Comparing films", **options)
    _show_sets(result)
    wanted.deliver(result)


def _show_sets(result: CorpusSets) -> None:
    rows = [
        (name, size.films, size.clips, f"{size.share:.3f}", f"{size.target:.3f}")
        for name, size in result.reached.items()
    ]
    show_grid(["set", "films", "clips", "share", "target"], rows)
    for pair in result.same_sound:
        say(f"{' and '.join(pair.films)} are the same film by their sound")
    if result.not_compared:
        say(f"not compared by sound, since there is no file: {', '.join(result.not_compared)}")
    if result.left_out:
        say(f"{result.left_out} clips from scripts are left out, since they are for training")


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.replace(",", " ").split()]
    except ValueError:
        raise DataError(f"--ratios {text!r}: expected four numbers, such as '8 1 1 0'.") from None


def _pairs(fixes: tuple[str, ...]) -> dict[str, str]:
    for fix in fixes:
        if "=" not in fix:
            raise DataError(f"--place {fix!r}: expected FILM=SET, such as sintel=training.")
    return {film: name for film, _, name in (fix.partition("=") for fix in fixes)}
