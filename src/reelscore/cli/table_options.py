"""Options of the commands that start from stored score tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import click
import msgspec
import numpy as np
from msgspec.structs import replace

from reelscore.cli.file_options import FilesOption, name_and_path, read_captions
from reelscore.cli.options import Decorator, SettingsOption
from reelscore.data.captions.item_ids import matched
from reelscore.data.file_names import expanded
from reelscore.data.reading import Reading
from reelscore.data.tables.scales import HIGHER
from reelscore.data.tables.table import MetricResult, ScoreTable, Sources
from reelscore.data.tables.table_files import is_score_table
from reelscore.data.tables.table_forms import merge_tables, table_items
from reelscore.data.tables.table_rows import Repeats
from reelscore.errors import DataError, ReelscoreError, UnknownNameError
from reelscore.metrics.base import Metric
from reelscore.metrics.registry import declared_scale, declaring_metric
from reelscore.metrics.training_data import TrainingItems, training_warning

tables_argument = click.argument("tables", nargs=-1, required=True, metavar="TABLE...")
captions_option = click.option(
    "--captions",
    cls=FilesOption,
    named=True,
    help="Captions: one file per system, or NAME=FILE, up to the next option.",
)


class People(msgspec.Struct, frozen=True):
    """A table of people's scores, and which of them are used.

    Attributes:
        column: Which score to use: a column of the table, or a name in its column metric; needed
            where there are several and only one is asked for.
        raters: Several rows of a caption: their mean, or the mean of each rater's scores,
            standardised by the rater's mean and standard deviation (z).
    """

    table: str
    column: str | None = None
    raters: Literal["mean", "z"] = "mean"

    def __fspath__(self) -> str:
        return self.table

    def read(self) -> ScoreTable:
        """Read the scores."""
        return read_noted(self.table, self.raters, self.column)


def human_option(**fields: Any) -> Decorator:
    """Return the option that names people's scores, as `People`."""
    return click.option(
        "--human",
        cls=SettingsOption,
        start=People,
        without=["table"],
        default=None,
        metavar="TABLE|KEY:VALUE",
        help="People's scores, .csv or .json: system, item, score.",
        **fields,
    )


def read_tables(arguments: Sequence[str], match_ids: str | None = None) -> ScoreTable:
    """Read score tables and put them together; each argument is FILE or NAME=FILE."""
    return merge_tables([read_named(argument) for argument in arguments], match_ids)


def read_named(argument: str) -> ScoreTable:
    """Read FILE, or NAME=FILE, which names its metric, or goes before its metrics' names."""
    name, path = name_and_path(argument)
    table = read_noted(path)
    if not name:
        return table
    several = len(table.metrics) > 1

    def renamed(result: MetricResult) -> MetricResult:
        if several:
            return replace(result, metric=f"{name}.{result.metric}")
        unsaid = not result.signature and result.scale == HIGHER
        return replace(result, metric=name, scale=declared_scale(name) if unsaid else result.scale)

    rows = {
        system: {renamed(result).metric: renamed(result) for result in row.values()}
        for system, row in table.results.items()
    }
    return replace(table, results=rows)


def read_scored_systems(
    arguments: Sequence[str],
    refs: Sequence[str],
    metrics: str | None,
    match_ids: str | None = None,
) -> ScoreTable | None:
    """Read systems from score tables; ``None`` where the files hold captions."""
    named = [
        (name, str(file))
        for name, path in map(name_and_path, arguments)
        for file in ([path] if name else expanded([path]))
    ]
    tables = [path for _, path in named if is_score_table(path)]
    if not tables:
        return None
    if captions := [path for _, path in named if path not in tables]:
        raise DataError(
            f"{tables[0]} is a score table and {captions[0]} is not; give caption files with "
            "--refs, or score tables only."
        )
    if refs:
        raise DataError(
            f"{tables[0]} is a score table, whose scores are made already; leave --refs out, or "
            "give caption files to score them again."
        )
    table = merge_tables([_renamed_system(*each) for each in named], match_ids)
    return table if metrics is None else table.select(metrics)


def _renamed_system(name: str, path: str) -> ScoreTable:
    table = read_noted(path)
    if not name:
        return table
    if len(table.systems) > 1:
        raise DataError(
            f"{path} has {len(table.systems)} systems; NAME=FILE names the only system of a table."
        )
    row = next(iter(table.results.values()))
    return replace(table, results={name: row}, bounds=[name] if table.bounds else [])


def read_noted(path: str, repeats: Repeats = "error", column: str | None = None) -> ScoreTable:
    """Read a table; its notes say which file they are about."""
    table = ScoreTable.read(path, repeats=repeats, column=column)
    return replace(table, notes=[f"{path}: {note}" for note in table.notes])


def unscored(
    captions: Sequence[str],
    refs: Sequence[str],
    reading: Reading | None = None,
    match_ids: str | None = None,
) -> ScoreTable:
    """Make a table of captions that have no scores, to look at them."""
    inputs = read_captions(captions, refs, reading)
    items = list({item: None for texts in inputs.systems.values() for item in texts})
    references = matched(match_ids, inputs.references or {}, items)
    return ScoreTable(
        {name: {} for name in inputs.systems},
        sources=Sources(inputs.systems, references),
        bounds=inputs.bounds,
    )


def with_sources(
    table: ScoreTable,
    captions: Sequence[str],
    refs: Sequence[str],
    reading: Reading | None = None,
    match_ids: str | None = None,
) -> ScoreTable:
    """Add the captions and references of a table's items, from files."""
    inputs = read_captions(captions, refs, reading)
    systems = inputs.systems
    for name in systems:
        if name not in table.results:
            raise UnknownNameError.of(
                "system",
                name,
                table.systems,
                f"The tables have {', '.join(table.systems)}; name the file's system: NAME=FILE.",
            )
    items = table_items(table)
    references = matched(match_ids, inputs.references or {}, items)
    own = {name: matched(match_ids, texts, items) for name, texts in systems.items()}
    bounds = list(dict.fromkeys([*table.bounds, *inputs.bounds]))
    table = replace(table, sources=Sources(own, references), bounds=bounds)
    return replace(table, notes=[*table.notes, *training_notes(table)])


def training_notes(table: ScoreTable) -> list[str]:
    """Return which scores of a stored table were trained on its items, or may have been.

    Scores that were made with a count of such items have it in their signature, and a note of
    the table says so. Of others, such as those of a CSV file, the references tell.
    """
    notes: list[str] = []
    for name in table.metrics:
        result = next(row[name] for row in table.results.values() if name in row)
        if "|seen:" in result.signature:
            continue
        metric = declaring_metric(name, result.signature)
        items = None if metric is None else _training_items(metric)
        if metric is None or items is None:
            continue
        references = [table.sources.references.get(item, ()) for item in result.items]
        if not any(references):
            notes.append(
                f"{name} was learned from human judgments; the scores alone do not show whether "
                "these items were among them. Give the references, or a table in JSON."
            )
            continue
        offsets = np.cumsum([0, *map(len, references)])
        counts = items.counts([text for texts in references for text in texts], offsets)
        notes += training_warning(name, counts, len(references), metric.unseen_remedy)
    return notes


def _training_items(metric: Metric) -> TrainingItems | None:
    try:
        return metric.training_items()
    except ReelscoreError:
        return None  # its weights are not here, and so nothing is known of them
