"""``reelscore stress``."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import click

from reelscore.cli.commands.score import tokenizer_option
from reelscore.cli.file_options import (
    FilesCommand,
    read_captions,
    read_texts,
    reading_options,
    refs_option,
)
from reelscore.cli.messages import as_options
from reelscore.cli.options import seed_option, threads_option
from reelscore.cli.report_options import Outputs, command_line, html_option, outputs, title_option
from reelscore.cli.terminal import (
    STDOUT,
    check_targets,
    progress_bar,
    show_notes,
    show_signature,
    terminal_width,
    write,
)
from reelscore.data.checks import counted
from reelscore.data.reading import Reading
from reelscore.data.stories import StoryPolicies
from reelscore.data.story_files import read_stories
from reelscore.errors import DataError
from reelscore.meta.stress.cases import about, stress_kinds
from reelscore.meta.stress.stress_report import (
    TITLES,
    detail_grid,
    draw_stress,
    drop_grid,
    share_grid,
    stress_html,
)
from reelscore.meta.stress.trials import Stress, stress_metrics
from reelscore.text.damages.rules import damage_forms, damage_kinds
from reelscore.text.damages.several_sentences import WHOLE


def _kinds(context: click.Context, option: click.Parameter, text: str | None) -> list[str] | None:
    return None if text is None else [kind.strip() for kind in text.split(",") if kind.strip()]


@click.command("stress", cls=FilesCommand)
@click.argument("candidates", required=False, metavar="[CANDIDATES]")
@refs_option("References; the embedded example if not given")
@click.option(
    "--metrics",
    "-m",
    default="bleu,meteor,rouge_l,cider",
    show_default=True,
    metavar="LIST",
    help="Metrics, optionally with parameters: 'bleu|n:2,cider'.",
)
@click.option(
    "--kinds",
    metavar="LIST",
    callback=_kinds,
    help="Kinds of damage and exploit, or forms: 'roles,negation/never'. All if not given.",
)
@click.option("--list", "list_kinds", is_flag=True, help="List the kinds and their forms.")
@click.option(
    "--sample",
    "items",
    type=click.IntRange(min=1),
    metavar="N",
    help="Try N items, by chance.",
)
@click.option("--paragraphs", is_flag=True, help="Read stories; each is one caption.")
@tokenizer_option
@reading_options()
@seed_option
@threads_option
@html_option
@title_option
@outputs(figure="with the share below the original")
def command(
    candidates: str | None,
    refs: tuple[str, ...],
    metrics: str,
    list_kinds: bool,
    paragraphs: bool,
    reading: Reading,
    html_file: str | None,
    title: str | None,
    outputs: Outputs,
    **options: Any,
) -> None:
    """Fool metrics: damage captions by rule and see whether the scores fall.

    CANDIDATES is a file of true captions, the originals; without it a reference of each item is
    taken out, by chance, and the others stay.

    A damaged caption should score below the original. An exploit is another candidate that deserves
    less, such as a caption of another video; a metric is fooled where it scores at or above the
    original. The mean drop is in standard deviations of the originals' scores.

    \b
    Examples:
      reelscore stress
      reelscore stress -r refs/*.txt -m meteor,bertha --sample 200 --html page.html
      reelscore stress -r annotator1.json annotator2.json --paragraphs
    """
    if list_kinds:
        _list()
        return
    check_targets(html_file)
    captions: Mapping[str, str] | None = None
    references: Mapping[str, Sequence[str]] | None = None
    notes: Sequence[str] = ()
    if paragraphs:
        captions = _stories(candidates) if candidates else None
        if not refs:
            raise DataError("--paragraphs needs --refs: the stories of one annotator or several.")
        told: dict[str, list[str]] = {}
        for path in refs:
            for video, story in _stories(path).items():
                told.setdefault(video, []).append(story)
        references = told
    elif candidates is not None:
        inputs = read_captions([candidates], refs, reading)
        captions, references = next(iter(inputs.systems.values())), inputs.references
        if references is None:
            raise DataError(f"{candidates} has no references beside it. Give --refs.")
        notes = inputs.notes
    elif refs:
        references, notes = read_texts(refs, reading)
    with progress_bar("Scoring") as progress:
        stress = stress_metrics(metrics, references, captions, progress=progress, **options)
    if html_file:
        write(html_file, stress_html(stress, title or "Stress test", command_line()))
    outputs.write(draw=partial(draw_stress, stress), json=stress.to_dict)
    if outputs.shows and html_file != STDOUT:
        _show(stress, list(map(as_options, [*notes, *stress.notes])))


def _stories(path: str) -> dict[str, str]:
    """Read the story of each video as one text; times only order the sentences."""
    policies = StoryPolicies(reversed_segments="swap", negative="keep", empty="zero")
    return {video: story.paragraph() for video, story in read_stories(path, policies).items()}


def _show(stress: Stress, notes: list[str]) -> None:
    width = terminal_width()
    click.echo(f"{counted(stress.items, 'original')}: {stress.source}.\n")
    single = len(stress.metrics) == 1
    for sort, title in TITLES.items():
        if stress.kinds(sort):
            click.echo(title)
            grid = (
                detail_grid(stress, stress.metrics[0], sort) if single else share_grid(stress, sort)
            )
            click.echo(f"{grid.to_text(width)}\n")
    if not single:
        click.echo("Mean drop, in standard deviations of the originals' scores")
        click.echo(f"{drop_grid(stress).to_text(width)}\n")
    show_notes(notes)
    for signature in stress.signatures.values():
        show_signature(signature)


def _list() -> None:
    for kind in stress_kinds():
        click.echo(f"{kind}: {about(kind)}")
        if kind in damage_kinds() and len(damage_forms(kind)) > 1:
            forms = f"  forms: {', '.join(damage_forms(kind))}"
            click.echo(textwrap.fill(forms, terminal_width(), subsequent_indent="    "))
    click.echo("sentence/noun, and so on: the same inside one sentence of several")
    for kind in WHOLE:
        click.echo(f"sentence/{kind}: {about(f'sentence/{kind}')}")
