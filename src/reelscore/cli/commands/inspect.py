"""``reelscore inspect``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isclose
from typing import cast

import click

from reelscore.cli.file_options import FilesCommand, reading_options, refs_option
from reelscore.cli.options import number_option
from reelscore.cli.report_options import Outputs, outputs
from reelscore.cli.table_options import (
    People,
    captions_option,
    human_option,
    read_tables,
    tables_argument,
    with_sources,
)
from reelscore.cli.terminal import terminal_width
from reelscore.data.reading import Reading
from reelscore.data.tables.scales import NumberFormat, score_text
from reelscore.data.tables.table import ScoreTable
from reelscore.errors import DataError, ReelscoreError
from reelscore.metrics.registry import rebuilt
from reelscore.metrics.spice import Comparison, Spice
from reelscore.report.safe_text import cells, lines_of, shortened
from reelscore.report.sentences import SentenceReasons
from reelscore.report.tables.leaderboard import ABSENT, PLAIN
from reelscore.significance.contrasts import Contrast, between_scores, between_systems
from reelscore.text.tokens import Tokenizer

_LONGEST_NAME = 20
_OTHER_TEXTS = "(no tuples: these captions and references do not give the table's score)"


@click.command("inspect", cls=FilesCommand)
@tables_argument
@human_option()
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
@outputs()
def command(
    tables: tuple[str, ...],
    human: People | None,
    metric: str | None,
    against: str | None,
    systems: str | None,
    top: int,
    captions: tuple[str, ...],
    refs: tuple[str, ...],
    reading: Reading,
    outputs: Outputs,
) -> None:
    """Show the items on which systems or scores differ most, with their captions.

    Without --against, the first items are those with the largest difference between the best and
    the worst system. With --against or --human, the first captions are those that the two scores
    rank most differently: 1 means best by one score and worst by the other. With a score of SPICE,
    the tuples of captions and references are listed too; ✓ marks those that match. With one that
    reads long captions sentence by sentence, such as bertha, each sentence has its own score and
    the nearest sentence of the references; ✗ marks what nothing bears out, and what is left out.

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
        from reelscore.report.html.contents import with_people

        table, names = with_people(table, human.read())
        if against is None and len(names) > 1:
            raise DataError(
                f"The human table has {', '.join(names)}; choose one: "
                f"--human '{human.table}|column:{names[0]}'."
            )
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
    listed = [(each, [each.high] if against else chosen or table.systems) for each in contrasts]
    outputs.write(json=lambda: [_record(table, each, shown, own) for each, own in listed])
    if not outputs.shows:
        return
    width = terminal_width()
    click.echo(_heading(contrasts, [table.labels[name] for name in shown], width))
    known = _SpiceTuples.of(table, shown), SentenceReasons.of(table, shown)
    reasons = [each for each in known if each is not None]
    formats = {name: PLAIN.item_formats(table)[name] for name in shown}
    for contrast, own in listed:
        for line in ("", *_item(table, contrast, formats, own, width, reasons)):
            click.echo(line)


def _record(
    table: ScoreTable, contrast: Contrast, names: Sequence[str], systems: Sequence[str]
) -> dict[str, object]:
    """Return an item with the scores and captions of systems as plain data."""
    item, sources = contrast.item, table.sources
    return {
        "item": item,
        "apart": contrast.size,
        "systems": {
            system: {
                "caption": sources.captions.get(system, {}).get(item),
                **{
                    name: table[system][name].items[item]
                    for name in names
                    if name in table[system] and item in table[system][name].items
                },
            }
            for system in systems
        },
        "references": list(sources.references.get(item, ())),
    }


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
    reasons: Sequence[_SpiceTuples | SentenceReasons],
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
        for each in reasons:
            for line in each.of_caption(system, contrast.item):
                yield from _hung("", name_width, " " * len(numbers), line, width)
    for reference in sources.references.get(contrast.item, ()):
        yield from _hung("reference", name_width, " " * len(numbers), reference, width, dim=True)
    for each in reasons:
        for line in each.of_references(systems, contrast.item):
            yield from _hung("", name_width, " " * len(numbers), line, width, dim=True)


def _hung(
    name: str, name_width: int, numbers: str, text: str, width: int, *, dim: bool = False
) -> Iterator[str]:
    """Yield a name, numbers, and a text in lines that hang beside them."""
    label = shortened(name, name_width)
    before = f"  {label}{' ' * (name_width - cells(label))}  {numbers}  "
    for k, line in enumerate(lines_of(text, max(20, width - len(before)))):
        full = ((before if k == 0 else " " * cells(before)) + line).rstrip()
        yield click.style(full, dim=True) if dim else full


@dataclass
class _SpiceTuples:
    """What lies behind SPICE's scores of a table: tuples, worked out when they are asked for."""

    table: ScoreTable
    metric: Spice
    tokenizer: Tokenizer
    _by_caption: dict[tuple[str, str], Comparison | str] = field(default_factory=dict)

    @classmethod
    def of(cls, table: ScoreTable, metrics: Iterable[str]) -> _SpiceTuples | None:
        """Take a table; ``None`` if none of the metrics is SPICE, or its texts are not there."""
        if not table.sources.captions or not table.sources.references:
            return None
        names = [name for name in metrics if name.split("_")[0] == Spice.name]
        for row in table.results.values():
            for name in names:
                if name in row and row[name].signature.startswith(f"{Spice.name}|"):
                    made = rebuilt(row[name].signature)
                    return made and cls(table, cast(Spice, made[0]), made[1])
        return None

    def of_caption(self, system: str, item: str) -> list[str]:
        """Return the tuples of a caption; a ✓ has what matches, then the other words, if any."""
        comparison = self._compared(system, item)
        if isinstance(comparison, str):
            return [comparison] if comparison else []
        stated = []
        for ours, place in zip(comparison.candidate, comparison.matches, strict=True):
            theirs = ours if place is None else comparison.references[place]
            same_as = "" if theirs == ours else f" = {_tuple_text(theirs)}"
            stated.append(_tuple_text(ours, place is not None) + same_as)
        return [" · ".join(stated)]

    def of_references(self, systems: Sequence[str], item: str) -> list[str]:
        """Return the tuples of an item's references; a ✓ has what some caption matches."""
        compared = [self._compared(system, item) for system in systems]
        comparisons = [each for each in compared if not isinstance(each, str)]
        if not comparisons:
            return []
        matched = {place for each in comparisons for place in each.matches}
        stated = enumerate(comparisons[0].references)
        return [" · ".join(_tuple_text(each, place in matched) for place, each in stated)]

    def _compared(self, system: str, item: str) -> Comparison | str:
        """Compare a caption with its references; a sentence where that cannot be."""
        key = (system, item)
        if key not in self._by_caption:
            self._by_caption[key] = self._compare(system, item)
        return self._by_caption[key]

    def _compare(self, system: str, item: str) -> Comparison | str:
        sources = self.table.sources
        caption = sources.captions.get(system, {}).get(item)
        references = sources.references.get(item, ())
        if caption is None or not references:
            return ""
        try:
            comparison = self.metric.compare(caption, references, self.tokenizer)
        except ReelscoreError as error:
            return f"(no tuples: {error})"
        row = self.table[system]
        scores = row[Spice.name].items if Spice.name in row else {}
        same = item not in scores or isclose(scores[item], comparison.score.f, abs_tol=1e-9)
        return comparison if same else _OTHER_TEXTS


def _tuple_text(words: Sequence[str], matches: bool = False) -> str:
    """Write one word, or several in brackets, after a ✓ if they match."""
    text = words[0] if len(words) == 1 else f"({', '.join(words)})"
    return f"✓\N{NO-BREAK SPACE}{text}" if matches else text
