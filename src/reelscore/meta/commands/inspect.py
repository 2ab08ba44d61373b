"""``reelscore inspect``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import click

from reelscore.cli.file_options import FilesCommand, refs_option
from reelscore.cli.options import number_option
from reelscore.cli.output import terminal_width
from reelscore.cli.reading_options import reading_options
from reelscore.cli.table_options import (
    captions_option,
    column_option,
    read_people,
    read_tables,
    tables_argument,
    with_sources,
)
from reelscore.data.reading import Reading
from reelscore.data.tables.table import ScoreTable
from reelscore.errors import DataError
from reelscore.report.safe_text import cells, lines_of, shortened
from reelscore.report.spice_tuples import SpiceTuples
from reelscore.report.tables.layout import PLAIN, NumberFormat
from reelscore.report.tables.leaderboard import ABSENT, score_text
from reelscore.significance.contrasts import Contrast, between_scores, between_systems

_LONGEST_NAME = 20


@click.command("inspect", cls=FilesCommand)
@tables_argument
@click.option("--human", metavar="TABLE", help="People's scores, .csv or .json.")
@column_option("needed if the table has several")
@click.option("--metric", "-m", metavar="NAME", help="The score to use.")
@click.option(
    "--against",
    metavar="NAME",
    help="Another score: list the captions that the two rank most differently.",
)
@click.option(
    "--systems",
    "-s",
    metavar="LIST",
    help="Systems to show, such as ours,base; all if not given.",
)
@number_option("--top", "-n", default=5, least=1, help="Number of items to show.")
@captions_option
@refs_option()
@reading_options()
def command(
    tables: tuple[str, ...],
    human: str | None,
    column: str | None,
    metric: str | None,
    against: str | None,
    systems: str | None,
    top: int,
    captions: tuple[str, ...],
    refs: tuple[str, ...],
    reading: Reading,
) -> None:
    """Show the items on which systems or scores differ most, with their captions.

    Without --against, the first items are those with the largest difference between the best and
    the worst system. With --against or --human, the first captions are those that the two scores
    rank most differently: 1 means best by one score and worst by the other. With a score of SPICE,
    the tuples of captions and references are listed too; ✓ marks those that match.

    \b
    Examples:
      reelscore inspect scores.json --captions a.json b.json -r refs.json
      reelscore inspect scores.json -m meteor --against cider
      reelscore inspect scores.json -m meteor --human da.csv -n 20
    """
    table = with_sources(read_tables(tables), captions, refs, reading)
    metric = metric or ("meteor" if "meteor" in table.metrics else table.metrics[-1])
    metric = table.one_named(metric)
    if human:
        from reelscore.report.html import with_people

        table, names = with_people(table, read_people(human, column))
        if against is None and len(names) > 1:
            raise DataError(f"The human table has {', '.join(names)}; choose one: --score-column.")
        against = against or names[0]
    against = table.one_named(against) if against else None
    chosen = [name.strip() for name in systems.split(",")] if systems else None
    if against is not None:
        contrasts = between_scores(table, metric, against, chosen, top=top)
    elif len(chosen or table.systems) > 1:
        contrasts = between_systems(table, metric, chosen, top=top)
    else:
        raise DataError("There is only one system; compare two of its scores with --against NAME.")
    shown = [metric] if against is None else [metric, against]
    width = terminal_width()
    click.echo(_heading(contrasts, [table.labels[name] for name in shown], width))
    tuples = SpiceTuples.of(table, shown)
    formats = {name: PLAIN.item_formats(table)[name] for name in shown}
    for contrast in contrasts:
        click.echo()
        listed = [contrast.high] if against else chosen or table.systems
        for line in _item(table, contrast, formats, listed, width, tuples):
            click.echo(line)


def _heading(contrasts: Sequence[Contrast], labels: Sequence[str], width: int) -> str:
    what = (
        f"Items on which systems differ most by {labels[0]}"
        if len(labels) == 1
        else f"Captions that {labels[0]} and {labels[1]} rank most differently"
    )
    return click.style(shortened(what if contrasts else f"{what}: none.", width), bold=True)


def _item(
    table: ScoreTable,
    contrast: Contrast,
    formats: Mapping[str, NumberFormat],
    systems: Sequence[str],
    width: int,
    tuples: SpiceTuples | None,
) -> Iterator[str]:
    yield click.style(
        shortened(f"{contrast.item}: apart by {score_text(contrast.size)}", width), bold=True
    )
    sources = table.sources
    name_width = min(_LONGEST_NAME, max(cells(name) for name in [*systems, "reference"]))
    scored = []
    for system in systems:
        row = table[system]
        scores = [
            form.text(row[name].items[contrast.item])
            if name in row and contrast.item in row[name].items
            else ABSENT
            for name, form in formats.items()
        ]
        scored.append((system, scores, sources.captions.get(system, {}).get(contrast.item, "")))
    widths = [max(len(scores[k]) for _, scores, _ in scored) for k in range(len(formats))]
    for system, scores, caption in scored:
        numbers = "  ".join(score.rjust(w) for score, w in zip(scores, widths, strict=True))
        yield from _hung(system, name_width, numbers, caption, width)
        if tuples is not None:
            stated = tuples.stated(system, contrast.item)
            yield from _hung("", name_width, " " * len(numbers), stated, width)
    for reference in sources.references.get(contrast.item, ()):
        yield from _hung("reference", name_width, " " * len(numbers), reference, width, dim=True)
    if tuples is not None:
        stated = tuples.stated_by_references(systems, contrast.item)
        yield from _hung("", name_width, " " * len(numbers), stated, width, dim=True)


def _hung(
    name: str, name_width: int, numbers: str, text: str, width: int, *, dim: bool = False
) -> Iterator[str]:
    """A name, numbers, and a text in lines that hang beside them."""
    label = shortened(name, name_width)
    before = f"  {label}{' ' * (name_width - cells(label))}  {numbers}  "
    for k, line in enumerate(lines_of(text, max(20, width - len(before)))):
        full = ((before if k == 0 else " " * cells(before)) + line).rstrip()
        yield click.style(full, dim=True) if dim else full
