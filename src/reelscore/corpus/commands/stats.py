"""``reelscore corpus stats``."""

from __future__ import annotations

import csv
import io
import json
import textwrap
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import click

from reelscore.campaigns.commands.options import say
from reelscore.cli.messages import printable
from reelscore.cli.options import choice_option, plot_option
from reelscore.cli.terminal import check_targets, terminal_width
from reelscore.corpus.caption_clips import read_clips
from reelscore.corpus.commands.options import project_option
from reelscore.corpus.exports import ExportedClip, exported_clips
from reelscore.corpus.project import Project
from reelscore.corpus.splits import SETS
from reelscore.corpus.stages import STAGES, stage_result
from reelscore.corpus.statistics import PUBLISHED, CorpusSize, corpus_size, review_size
from reelscore.report.tables.grid import Cell, Grid

_SOURCES = {"ad": "narration", "script": "script"}
_PARTS = ("nouns", "verbs", "adjectives", "adverbs")


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
@choice_option(
    "--format",
    choices=["text", "csv", "latex", "json"],
    default="text",
    help="How the table is written, on standard output.",
)
@plot_option("how long clips and sentences are, by source and set")
def command(
    files: tuple[str, ...],
    project: str,
    published: bool,
    tagger: str,
    format: str,
    plot: str | None,
) -> None:
    """Count films, clips, sentences, words and stems, by source and set.

    FILE is any file of captions, such as those of LSMDC or of 'corpus export', a set each; without
    any, the clips of the project are counted, without names where 'corpus anonymise' has replaced
    them. Lengths are those of clips as viewers see them, and (of the sentences themselves); what a
    file does not say is '-'.

    \b
    Examples:
      reelscore corpus stats --project films --tagger parser
      reelscore corpus stats release/*.json --format latex
      reelscore corpus stats --published
    """
    check_targets(plot)
    if published:
        rows = [list(row) for row in PUBLISHED]
        facts = [dict(zip(("of", "says", "section"), row, strict=True)) for row in rows]
        if format == "text":
            for of, says, section in rows:
                click.echo(textwrap.fill(f"{of} ({section}): {says}", 80, subsequent_indent="  "))
        else:
            _write(["of", "says", "section"], rows, format, facts)
        return
    groups, review = _of_files(files) if files else _of_project(Project.open(project))
    sizes = {name: corpus_size(group, tag=tagger == "parser") for name, group in groups.items()}
    if plot:
        from reelscore.corpus.plots import draw_lengths  # matplotlib takes a moment

        draw_lengths(groups, plot)
    content = {"sizes": {name: asdict(size) for name, size in sizes.items()}, "review": review}
    rows = [[name, *_cells(size)] for name, size in sizes.items()]
    heads = ["part", "films", "words", "sentences", "clips", "mean s", "total h", "stems"]
    _write([*heads, *_PARTS] if tagger == "parser" else heads, rows, format, content)
    if tagger == "none":
        say("nouns, verbs, adjectives, adverbs: not counted without a tagger (--tagger parser)")
    for source, size in review.items():
        reasons = ", ".join(f"{reason} {count}" for reason, count in size["reasons"].items())
        say(
            printable(
                f"{_SOURCES[source]}: {size['accepted']:.0%} of {size['sentences']} sentences "
                f"accepted by people, {size['rejected']:.0%} rejected"
                f"{f' ({reasons})' if reasons else ''}; {size['words_lost']:.1%} of the words lost"
            )
        )


Groups = dict[str, list[ExportedClip]]


def _of_project(project: Project) -> tuple[Groups, dict[str, dict[str, Any]]]:
    """Return the clips of each source and set of a project.

    And what review did to its sentences.
    """
    assembled = stage_result(project, "assemble")
    is_there = {stage: (project.folder / name).is_file() for stage, name in STAGES.items()}
    names = stage_result(project, "anonymise")["films"] if is_there["anonymise"] else None
    placed = stage_result(project, "split")["clips"] if is_there["split"] else {}
    clips = exported_clips(assembled["clips"], assembled["sentences"], names)
    return _groups(clips, placed), review_size(assembled["sentences"])


def _of_files(files: Sequence[str]) -> tuple[Groups, dict[str, dict[str, Any]]]:
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
    groups = {
        name: [clip for clip in clips if clip.origin == origin] for origin, name in _SOURCES.items()
    }
    for name in SETS:
        groups[name] = [clip for clip in clips if placed.get(clip.id) == name]
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


def _write(heads: Sequence[str], rows: Sequence[Sequence[str]], format: str, content: Any) -> None:
    """Print a table on standard output."""
    if format == "json":
        click.echo(json.dumps(content, indent=1))
    elif format == "csv":
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([heads, *rows])
        click.echo(text.getvalue(), nl=False)
    else:
        grid = Grid(heads, [[Cell(cell) for cell in row] for row in rows])
        click.echo(grid.to_latex() if format == "latex" else grid.to_text(terminal_width()))
