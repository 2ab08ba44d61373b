"""Options of the commands that start from stored score tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from reelscore.cli.file_options import FilesOption
from reelscore.cli.options import read_systems
from reelscore.data import read_references
from reelscore.data.scales import HIGHER
from reelscore.data.table import MetricResult, ScoreTable, Sources
from reelscore.data.table_files import Repeats
from reelscore.errors import UnknownNameError
from reelscore.meta.paired_scores import merge_tables
from reelscore.metrics.registry import declared_scale
from reelscore.scoring.training_notes import training_notes

tables_argument = click.argument("tables", nargs=-1, required=True, metavar="TABLE...")
captions_option = click.option(
    "--captions",
    cls=FilesOption,
    named=True,
    help="Captions: one file per system, or NAME=FILE, up to the next option.",
)


def read_tables(arguments: Sequence[str]) -> ScoreTable:
    """Read score tables and put them together; each argument is FILE or NAME=FILE."""
    return merge_tables([read_named(argument) for argument in arguments])


def read_named(argument: str) -> ScoreTable:
    """Read FILE, or NAME=FILE, which names its metric, or goes before its metrics' names."""
    name, equals, path = argument.partition("=")
    if not equals or Path(argument).exists():
        return read_noted(argument)
    table = read_noted(path)
    several = len(table.metrics) > 1

    def renamed(result: MetricResult) -> MetricResult:
        if several:
            return replace(result, metric=f"{name}.{result.metric}")
        unsaid = not result.signature and result.scale == HIGHER
        return replace(result, metric=name, scale=declared_scale(name) if unsaid else result.scale)

    return ScoreTable(
        {
            system: {renamed(result).metric: renamed(result) for result in row.values()}
            for system, row in table.results.items()
        },
        table.notes,
    )


def read_noted(path: str, repeats: Repeats = "error") -> ScoreTable:
    """Read a table; its notes say which file they are about."""
    table = ScoreTable.read(path, repeats=repeats)
    return replace(table, notes=[f"{path}: {note}" for note in table.notes])


def read_people(path: str, column: str | None = None) -> ScoreTable:
    """Read people's scores, several of a caption as their mean; one column or all."""
    people = read_noted(path, repeats="mean")
    if column is None:
        return people
    if column not in people.metrics:
        raise UnknownNameError.of("human score", column, people.metrics)
    rows = {
        system: {column: row[column]} for system, row in people.results.items() if column in row
    }
    return replace(people, results=rows)


def with_sources(table: ScoreTable, captions: Sequence[str], refs: Sequence[str]) -> ScoreTable:
    """Add the captions and references of a table's items, from files."""
    systems = read_systems(captions)
    for name in systems:
        if name not in table.results:
            raise UnknownNameError.of(
                "system",
                name,
                table.systems,
                f"The tables have {', '.join(table.systems)}; name the file's system: NAME=FILE.",
            )
    references = read_references(refs) if refs else {}
    table = replace(table, sources=Sources(systems, references))
    return replace(table, notes=[*table.notes, *training_notes(table)])
