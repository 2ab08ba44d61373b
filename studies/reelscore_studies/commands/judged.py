"""``reelscore meta judged``: the tables of metric papers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import click
import msgspec

from reelscore.cli.options import Command
from reelscore.cli.report_options import Outputs, outputs
from reelscore.cli.terminal import (
    progress_bar,
    show_grid,
    show_notes,
    show_signature,
)
from reelscore.errors import DataError
from reelscore.report.tables.grid import Grid
from reelscore_studies.judged.judged_layouts import text_of
from reelscore_studies.judged.judged_sets import read_judged_set
from reelscore_studies.judged.set_grids import overview_grid, set_grid, set_title
from reelscore_studies.judged.set_tables import SETS, set_protocol, set_table


@click.command("judged", cls=Command)
@click.argument("sets", nargs=-1, metavar="SET=PATH...")
@click.option(
    "--metrics",
    "-m",
    default="bleu,meteor,rouge_l,cider",
    show_default=True,
    metavar="LIST",
    help="Metrics, plug-ins and judges, optionally with parameters: 'bleu|n:2,cider'.",
)
@click.option(
    "--scores",
    "given",
    multiple=True,
    metavar="NAME=FILE",
    help="Scores of another metric: JSON or lines of numbers, one for each caption in the order "
    "of the set; of pairs both captions in turn.",
)
@click.option("--list", "list_sets", is_flag=True, help="List the sets and their protocols.")
@outputs(".md", ".tex", ".txt")
def judged(
    sets: tuple[str, ...],
    metrics: str,
    given: tuple[str, ...],
    list_sets: bool,
    outputs: Outputs,
) -> None:
    """Print the tables of metric papers: how metrics agree with people on judged sets.

    SET is the name of a set, PATH your copy of it, in the files in which it was published.
    Coefficients and accuracies are those that the papers report, times 100, and what they print
    is shown too. Other choices come behind the name, as in the signature:
    'pascal-50s|ties:wrong=PATH'.

    \b
    Examples:
      reelscore meta judged --list
      reelscore meta judged pascal-50s=pascal_50s.json -m meteor,cider
      reelscore meta judged foil=foil thumb=THumB/mscoco -m my_metric -o table.tex
      reelscore meta judged nebula=nebula.json --scores CLIP-S=clip_scores.json
    """
    if list_sets:
        _list()
        return
    if not sets:
        raise DataError("No set is given. Give SET=PATH; --list has all sets.")
    copies = []
    for argument in sets:
        words, equals, path = argument.partition("=")
        set_protocol(words)
        if not equals:
            raise DataError(f"{argument!r}: expected SET=PATH, such as {words}=FILE.")
        copies.append((words, read_judged_set(path)))
    if given and len(copies) > 1:
        raise DataError("--scores are those of one set; give one set.")
    scores = dict(map(_numbers, given))
    with progress_bar("Scoring") as progress:
        tables = [
            set_table(words, copy, metrics, scores=scores, progress=progress)
            for words, copy in copies
        ]
    grids = {set_title(table): set_grid(table) for table in tables}
    if len(tables) > 1:
        grids = {"All sets, the number that papers report first": overview_grid(tables), **grids}

    def titled(form: Callable[[Grid], str]) -> str:
        return "\n\n".join(f"{title}\n\n{form(grid)}" for title, grid in grids.items())

    outputs.write(
        md=partial(titled, Grid.to_markdown),
        tex=partial(titled, Grid.to_latex),
        txt=partial(titled, Grid.to_text),
        json=lambda: {"sets": [table.to_dict() for table in tables]},
    )
    if not outputs.shows:
        return
    for title, grid in grids.items():
        click.echo(click.style(title, bold=True))
        show_grid(grid)
    for table in tables:
        show_notes(table.notes)
    for table in tables:
        show_signature(table.signature)


def _numbers(argument: str) -> tuple[str, list[float]]:
    """Return the name and the scores of another metric."""
    name, equals, path = argument.partition("=")
    if not (name and equals):
        raise DataError(f"{argument!r}: expected NAME=FILE, such as CLIP-S=scores.json.")
    text = text_of(Path(path)).strip()
    rows = text if text.startswith("[") else f"[{','.join(text.split())}]"
    try:
        return name, msgspec.json.decode(rows, type=list[float])
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        raise DataError(
            f"{path}: {error}. Expected a JSON list of numbers, or lines of them."
        ) from None


def _list() -> None:
    for name, protocol in SETS.items():
        count = f"{protocol.judgments:,}" if protocol.judgments else "unknown"
        click.echo(
            click.style(name, bold=True) + f": {count} ratings or pairs in the published set"
        )
        show_signature(f"  {protocol.signature(name)}")
