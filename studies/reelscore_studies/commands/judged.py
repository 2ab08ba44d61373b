"""``reelscore meta judged``: the tables of metric papers."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from reelscore.cli.options import Command, json_option
from reelscore.cli.terminal import (
    STDOUT,
    check_targets,
    progress_bar,
    show_grid,
    show_notes,
    show_signature,
    write,
    write_json,
)
from reelscore.errors import DataError
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
@click.option("--out", "out_file", metavar="FILE", help="Write the tables: .md, .tex, or .txt.")
@json_option
def judged(
    sets: tuple[str, ...],
    metrics: str,
    given: tuple[str, ...],
    list_sets: bool,
    out_file: str | None,
    json_file: str | None,
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
      reelscore meta judged foil=foil thumb=THumB/mscoco -m my_metric --out table.tex
      reelscore meta judged nebula=nebula.json --scores CLIP-S=clip_scores.json
    """
    if list_sets:
        _list()
        return
    check_targets(out_file, json_file)
    if out_file and not out_file.endswith((".md", ".tex", ".txt")) and out_file != STDOUT:
        raise DataError(f"{out_file}: the ending says how to write; expected .md, .tex or .txt.")
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
    if out_file:
        form = {"md": "to_markdown", "ex": "to_latex"}.get(out_file[-2:], "to_text")
        titled = [f"{title}\n\n{getattr(grid, form)()}" for title, grid in grids.items()]
        write(out_file, "\n\n".join(titled))
    if json_file:
        write_json(json_file, {"sets": [table.to_dict() for table in tables]})
    if STDOUT in (out_file, json_file):
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
