"""Score tables in any form: files, data frames, records, mappings; several put together."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, TypeGuard

from msgspec import structs

from reelscore.data.captions.item_ids import matched_ids, rule_note, rule_part
from reelscore.data.captions.python_captions import columns_of, is_path
from reelscore.data.file_names import PathLike
from reelscore.data.tables.table import ItemIndex, ItemScores, MetricResult, ScoreTable
from reelscore.data.tables.table_files import one_score, read_table
from reelscore.data.tables.table_rows import Repeats, UnusableRow, table_of_columns
from reelscore.errors import DataError

# Scores as a user may give them: see the table in docs/meta.md.
TableLike = ScoreTable | Mapping[Any, object] | Iterable[object] | PathLike


def table_of(
    value: TableLike,
    *,
    name: str = "score",
    repeats: Repeats = "error",
    column: str | None = None,
) -> ScoreTable:
    """Take a score table in any form."""
    if is_path(value):
        return read_table(value, repeats=repeats, column=column)  # type: ignore[arg-type]
    if isinstance(value, ScoreTable):
        table = value
    elif isinstance(value, Mapping) and _has_results(value):
        table = ScoreTable({"system": value}, getattr(value, "notes", ()))
    elif isinstance(value, (list, tuple)) and value and all(map(_is_table, value)):
        return merge_tables([table_of(each, repeats=repeats, column=column) for each in value])
    else:
        return _of_columns(value, name, repeats, column)
    return table if column is None else one_score(table, column)


def _has_results(value: Mapping[Any, object]) -> TypeGuard[Mapping[str, MetricResult]]:
    return bool(value) and all(isinstance(each, MetricResult) for each in value.values())


def _is_table(value: object) -> bool:
    return is_path(value) or isinstance(value, ScoreTable)


def _of_columns(value: TableLike, name: str, repeats: Repeats, column: str | None) -> ScoreTable:
    if isinstance(value, Mapping) and value and _is_by_system(value):
        value = [
            {"system": system, "item": item, "score": score}
            for system, scores in value.items()
            for item, score in scores.items()
        ]
    columns = columns_of(value, "scores")
    try:
        table = table_of_columns(columns, name, repeats=repeats, column=column)
    except UnusableRow as error:
        what = str(error).replace("line 1 is", "the header is").replace("line 1 names", "it names")
        raise DataError(
            f"The scores cannot be used: {what}. Expected the columns system, item, score and "
            "optionally metric, or scores by system and item."
        ) from None
    return table if column is None else one_score(table, column)


def _is_by_system(value: Mapping[Any, object]) -> TypeGuard[Mapping[Any, Mapping[Any, object]]]:
    return all(isinstance(each, Mapping) for each in value.values())


def merge_tables(tables: Iterable[ScoreTable], match_ids: str | None = None) -> ScoreTable:
    """Put score tables together: other metrics of the same systems, or other systems.

    Args:
        tables: The tables.
        match_ids: How to match items that they write differently, as in `reelscore.score`; all
            get the ids of the first table.

    Raises:
        DataError: Two tables have scores of the same system by the same metric.

    >>> from reelscore import score_systems
    >>> captions, references = {"v1": "a man runs"}, {"v1": ["a man is running"]}
    >>> one = score_systems({"mine": captions}, references, "rouge_l")
    >>> two = score_systems({"mine": captions}, references, "meteor")
    >>> merge_tables([one, two]).metrics
    ['rouge_l', 'meteor']
    """
    rows: dict[str, dict[str, MetricResult]] = {}
    notes: list[str] = []
    bounds: dict[str, None] = {}
    items: dict[str, None] = {}
    for table in tables:
        if match_ids is not None:
            if items:
                table = matched_table(table, match_ids, items, ("items", "items of other tables"))
            items |= dict.fromkeys(table_items(table))
        notes += table.notes
        bounds |= dict.fromkeys(table.bounds)
        for system, row in table.results.items():
            mine = rows.setdefault(system, {})
            for name, result in row.items():
                if name in mine:
                    raise DataError(
                        f"Two tables have {name} of {system!r}. Give one, or give them "
                        "different names: NAME=FILE."
                    )
                mine[name] = result
    return ScoreTable(rows, list(dict.fromkeys(notes)), bounds=list(bounds))


def matched_table(
    table: ScoreTable,
    names: str | None,
    wanted: Collection[str],
    what: tuple[str, str] = ("judgments", "scores"),
) -> ScoreTable:
    """Write a table with the ids that it is to match; its signatures and notes name the rules."""
    if names is None:
        return table
    spelling = matched_ids(names, table_items(table), wanted, what)

    def renamed(items: Sequence[str]) -> list[str]:
        return [spelling.get(item, item) for item in items]

    def changed(result: MetricResult) -> MetricResult:
        items = ItemScores(ItemIndex(renamed(result.items.index.items)), result.items.array)
        shared = result.statistics
        if shared is not None:
            shared = structs.replace(shared, items=renamed(shared.items))
        part = "".join(f"|{key}:{rules}" for key, rules in rule_part(names).items())
        made = result.signature and result.signature.replace(part, "") + part
        return structs.replace(result, items=items, statistics=shared, signature=made)

    rows = {
        system: {name: changed(result) for name, result in row.items()}
        for system, row in table.results.items()
    }
    return structs.replace(table, results=rows, notes=[*table.notes, *rule_note(names)])


def table_items(table: ScoreTable) -> list[str]:
    """Return the items that any score of a table has, in order of appearance."""
    indexes = {
        id(result.items.index): result.items.index
        for row in table.results.values()
        for result in row.values()
    }
    return list(dict.fromkeys(item for index in indexes.values() for item in index.items))
