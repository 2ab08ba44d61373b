"""``reelscore corpus export`` and ``stats``."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any

import click

from reelscore.cli.options import choice_option
from reelscore.cli.report_options import Outputs, outputs
from reelscore.cli.terminal import terminal_width
from reelscore.corpus.commands.corpus_options import (
    clips_option,
    folder_option,
    grid_of,
    project_option,
    read_clips_of,
    read_given,
    say,
    show_grid,
)
from reelscore.corpus.pipeline import ANONYMISE, ASSEMBLE, SPLIT, csv_text
from reelscore.corpus.project import Project
from reelscore.corpus.project_files import CorpusSets
from reelscore.corpus.release.caption_clips import read_clips
from reelscore.corpus.release.challenge_files import PRIVATE, challenge_files
from reelscore.corpus.release.clip_files import (
    FORMATS,
    ExportedClip,
    exported_clips,
    to_coco,
    to_lsmdc,
)
from reelscore.corpus.release.corpus_size import (
    CorpusSize,
    ReviewSize,
    corpus_size,
    draw_lengths,
    published_figures,
    review_size,
)
from reelscore.corpus.release.film_sets import SETS
from reelscore.data.atomic_files import make_folder, write_atomically
from reelscore.errors import DataError

BLIND = SETS[-1]
_SOURCES = {"ad": "narration", "script": "script"}
_PARTS = ("nouns", "verbs", "adjectives", "adverbs")


@click.command("export")
@project_option
@clips_option
@click.option("--splits", metavar="FILE", help="Without a project: what 'split' wrote.")
@folder_option
@click.option(
    *("--format", "formats"),
    multiple=True,
    type=click.Choice(list(FORMATS)),
    default=["coco"],
    show_default=True,
    help="coco: references for 'reelscore score'; stories: for 'reelscore stories'; lsmdc: "
    "with tabs, as LSMDC's own files. Repeatable.",
)
@click.option(
    *("--set", "sets"),
    multiple=True,
    type=click.Choice(SETS),
    help="Only this set; all but the blind test if not given. Repeatable.",
)
@click.option("--blind", is_flag=True, help="Write the blind test too, and its references apart.")
@click.option("--challenge", is_flag=True, help="Write a challenge on the public and blind test.")
@click.option(
    "--opens",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="DATE",
    help="With --challenge: when it opens, such as 2026-06-01; today if not given.",
)
@click.option("--original", is_flag=True, help="Leave names as they are.")
def export(
    out_folder: str,
    formats: tuple[str, ...],
    sets: tuple[str, ...],
    blind: bool,
    challenge: bool,
    opens: datetime | None,
    **source: Any,
) -> None:
    """Write the clips of a project as files for scoring and training, a file for each set.

    Names are those of 'anonymise' (with --clips they stay as they are), and sets those of 'split';
    without it all clips are in all.json.
    With --blind, blind_clips.json has no sentences; blind_references.json is for the organisers
    alone. With --challenge, the folder 'challenge' has all that a challenge server needs, and in
    'participants' what everybody may have.

    \b
    Examples:
      reelscore corpus export --project films -o release --blind
      reelscore corpus export --clips clips.json --splits splits.json -o release
    """
    name_of_corpus, clips, placed = _material(**source)
    in_sets = {name: [c for c in clips if (placed or {}).get(c.id) == name] for name in SETS}
    groups = {name: in_sets[name] for name in sets or SETS[:-1]}
    if placed is None:
        if sets or blind or challenge:
            raise DataError("There are no sets yet; run 'reelscore corpus split' first.")
        groups = {"all": clips}
    if BLIND in groups:
        raise DataError("The blind test is written with --blind, so that its sentences stay apart.")
    files = {
        f"{name}{ending}": write(group, name=f"{name_of_corpus}, {name}")
        for name, group in groups.items()
        if group
        for ending, write in (FORMATS[each] for each in formats)
    }
    if blind:
        hidden, name = in_sets[BLIND], f"{name_of_corpus}, {BLIND}"
        if not hidden:
            raise DataError("The blind test has no clips; see 'reelscore corpus split'.")
        files["blind_clips.json"] = to_coco(hidden, name=name, with_sentences=False)
        files[PRIVATE] = to_coco(hidden, name=name)
        if "lsmdc" in formats:
            files["blind_clips.lsmdc.csv"] = to_lsmdc(hidden, name="", with_sentences=False)
        groups[BLIND] = hidden
    if challenge:
        day = opens.date() if opens else datetime.now(timezone.utc).date()
        made = challenge_files(name_of_corpus, *(in_sets[name] for name in SETS[2:]), opens=day)
        files |= {f"challenge/{name}": content for name, content in made.items()}
    elif opens:
        raise DataError("--opens is for --challenge.")
    if not files:
        raise DataError(f"There are no clips in {', '.join(groups)}.")
    paths = {Path(out_folder, name): content for name, content in files.items()}
    for folder in {path.parent for path in paths}:
        make_folder(folder)
    for path, content in paths.items():
        write_atomically(path, content, private=path.name == PRIVATE)
    rows = [
        (name, len({clip.film for clip in group}), len(group), sum(len(c.sentences) for c in group))
        for name, group in groups.items()
    ]
    show_grid(["set", "films", "clips", "sentences"], rows)
    say(f"{', '.join(files)} in {out_folder}")


def _material(
    project: str, clip_files: tuple[str, ...], splits: str | None, original: bool
) -> tuple[str, list[ExportedClip], dict[str, str] | None]:
    """Read the name of the corpus, its clips, and the set of each where there are sets."""
    if clip_files:
        clips = exported_clips(read_clips_of(clip_files))
        words = "sets, as 'reelscore corpus split' writes them"
        sets = read_given(splits, CorpusSets, words).clips if splits else None
        return Path(clip_files[0]).stem, clips, sets
    if splits:
        raise DataError("--splits is for work without a project; name --clips.")
    opened = Project.open(project)
    assembled = opened.needed(ASSEMBLE)
    clips = exported_clips(assembled, None if original else opened.needed(ANONYMISE))
    return opened.name, clips, opened.needed(SPLIT).clips if opened.result(SPLIT) else None


@click.command("stats")
@click.argument("files", nargs=-1, metavar="[FILE]...")
@project_option
@click.option("--published", is_flag=True, help="Show what the paper says of its own corpora.")
@choice_option(
    "--tagger",
    choices=["none", "parser"],
    default="none",
    help="parser: count nouns, verbs, adjectives and adverbs too, with reelscore's parser.",
)
@outputs(".csv", ".tex", figure="with how long clips and sentences are, by source and set")
def stats(
    files: tuple[str, ...], project: str, published: bool, tagger: str, outputs: Outputs
) -> None:
    """Count films, clips, sentences, words and stems, by source and set.

    FILE is any file of captions, such as those of LSMDC or of 'corpus export', a set each; without
    any, the clips of the project are counted, without names where 'corpus anonymise' has replaced
    them. Lengths are those of clips as viewers see them, and (of the sentences themselves).

    \b
    Examples:
      reelscore corpus stats release/*.json -o sizes.tex
      reelscore corpus stats --published
    """
    if published:
        names, said = ["of", "says", "section"], published_figures()
        _write(outputs, names, said, [dict(zip(names, row, strict=True)) for row in said])
        for of, says, section in said if outputs.shows else ():
            click.echo(textwrap.fill(f"{of} ({section}): {says}", 80, subsequent_indent="  "))
        return
    groups, review = _of_files(files) if files else _of_project(Project.open(project))
    sizes = {name: corpus_size(group, tag=tagger == "parser") for name, group in groups.items()}
    rows = [[name, *_cells(size)] for name, size in sizes.items()]
    heads = ["part", "films", "words", "sentences", "clips", "mean s", "total h", "stems"]
    heads += _PARTS if tagger == "parser" else ()
    content = {"sizes": sizes, "review": review}
    _write(outputs, heads, rows, content, draw=partial(draw_lengths, groups))
    if outputs.shows:
        click.echo(grid_of(heads, rows).to_text(terminal_width()))
    if tagger == "none":
        say("nouns, verbs, adjectives, adverbs: not counted without a tagger (--tagger parser)")
    for source, size in review.items():
        reasons = ", ".join(f"{reason} {count}" for reason, count in size.reasons.items())
        say(
            f"{_SOURCES[source]}: {size.accepted:.0%} of {size.sentences} sentences accepted by "
            f"people, {size.rejected:.0%} rejected{f' ({reasons})' if reasons else ''}; "
            f"{size.words_lost:.1%} of the words lost"
        )


Groups = dict[str, list[ExportedClip]]


def _of_project(project: Project) -> tuple[Groups, dict[str, ReviewSize]]:
    """Return the clips of each source and set of a project, and what review did to sentences."""
    assembled = project.needed(ASSEMBLE)
    names = project.needed(ANONYMISE) if project.result(ANONYMISE) else None
    placed = project.needed(SPLIT).clips if project.result(SPLIT) else {}
    groups = _groups(exported_clips(assembled, names), placed)
    return groups, review_size(assembled.sentences)


def _of_files(files: Sequence[str]) -> tuple[Groups, dict[str, ReviewSize]]:
    """Return the clips of each source and set of caption files."""
    sets: Groups = {}
    for path in files:
        for name, clips in read_clips(path).items():
            sets.setdefault(name, []).extend(clips)
    every = [clip for clips in sets.values() for clip in clips]
    groups = {**_groups(every, {}), **(sets if len(sets) > 1 else {})}
    groups["all"] = groups.pop("all")  # in the last row
    return groups, {}


def _groups(clips: Sequence[ExportedClip], placed: dict[str, str]) -> Groups:
    groups: Groups = {name: [] for name in (*_SOURCES.values(), *SETS)}
    for clip in clips:
        for name in (_SOURCES.get(clip.origin), placed.get(clip.id)):
            if name is not None:
                groups[name].append(clip)
    return {**{name: group for name, group in groups.items() if group}, "all": list(clips)}


def _cells(size: CorpusSize) -> list[str]:
    return [
        f"{size.films}" if size.films else "-",
        f"{size.words:,}",
        f"{size.sentences:,}",
        f"{size.clips:,}",
        _pair(size.mean_length, size.mean_raw, 1),
        _pair(size.hours, size.hours_raw, 2),
        f"{size.vocabulary:,}",
        *([f"{size.parts[name]:,}" for name in _PARTS] if size.parts else []),
    ]


def _pair(seen: float | None, raw: float | None, digits: int) -> str:
    if seen is None:
        return "-"
    return f"{seen:.{digits}f}" + ("" if raw is None else f" ({raw:.{digits}f})")


def _write(
    outputs: Outputs, heads: Sequence[str], rows: Sequence[Sequence[str]], json: object, **form: Any
) -> None:
    csv = partial(csv_text, [heads, *rows])
    outputs.write([grid_of(heads, rows)], csv=csv, json=lambda: json, **form)
