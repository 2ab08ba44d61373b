"""Data that Python programs hold, as columns: mappings, lists, data frames, data sets.

pandas, polars, pyarrow and datasets are not imported: their objects are told by what they offer.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from reelscore.data.checks import in_words
from reelscore.data.fields import USUAL
from reelscore.errors import DataError

TEXTS = ""  # the name of the only column of a form without names
NO_FIELD = object()  # in place of what a record does not have
_MOST_COLUMNS = 100  # a mapping with more keys has ids


class PythonTable(msgspec.Struct, frozen=True):
    """Data of one form, as columns.

    Attributes:
        name: What they are, for messages: "candidates".
        unit: What one of them is called, for messages: "row"; "" in a mapping, where ids tell.
        columns: The values under each name; under "" where the form has no names.
        labels: The item of each, or ``None`` where only their order is known.
        counted: The labels are the default index of a data frame, 0, 1, 2, …: they are ids only
            where nothing is given by order.
    """

    name: str
    unit: str
    columns: Mapping[str, Sequence[Any]]
    labels: Sequence[Any] | None = None
    counted: bool = False

    def __len__(self) -> int:
        """Count the rows."""
        return len(next(iter(self.columns.values()), ()))

    def place(self, number: int) -> str:
        """Name the place of a row, from 1 on."""
        return f"{self.name}: {self.unit} {number}" if self.unit else self.name


def python_table(value: object, name: str) -> PythonTable:
    """Bring data of any form to columns.

    Args:
        value: A mapping of ids, a sequence or a generator of texts or of records, a data frame or
            a series, a data set, a mapping of columns, or COCO annotations.
        name: What they are, for messages.

    Raises:
        DataError: If it is none of these.

    >>> table = python_table([{"video_id": 7, "Caption": "a man"}], "candidates")
    >>> table.columns, table.labels
    ({'video_id': [7], 'caption': ['a man']}, [7])
    """
    if isinstance(value, PythonTable):
        return value
    if hasattr(value, "collect"):  # a lazy frame of polars
        value = value.collect()
    if isinstance(value, Mapping):
        return _of_mapping(value, name)
    if hasattr(value, "iloc"):  # pandas
        return _of_pandas(value, name)
    if hasattr(value, "get_columns"):  # polars
        columns = {column.name: column.to_list() for column in value.get_columns()}
        return _of_columns(columns, name)
    if hasattr(value, "to_pydict"):  # pyarrow
        return _of_columns(value.to_pydict(), name)
    if hasattr(value, "column_names") and hasattr(value, "num_rows"):  # datasets
        return _of_columns({column: list(value[column]) for column in value.column_names}, name)  # type: ignore[index]
    if isinstance(value, (str, bytes, set, frozenset)) or not isinstance(value, Iterable):
        what = "a set, which has no order" if isinstance(value, (set, frozenset)) else ""
        raise DataError(
            f"The {name} are {what or in_words(value)}; expected captions by id, a list of them, "
            "a data frame, or a file."
        )
    entries = value.tolist() if hasattr(value, "tolist") else list(value)
    if entries and all(isinstance(entry, Mapping) for entry in entries):
        return _of_records(entries, name)
    return PythonTable(name, "entry", {TEXTS: entries}, None)


def columns_of(value: object, name: str) -> Mapping[str, Sequence[Any]]:
    """Return the columns of a data frame, a data set, records, or a mapping of columns.

    Raises:
        DataError: If it is none of these.

    >>> columns_of([{"system": "a", "Score": 1}, {"system": "b", "Score": 2}], "scores")
    {'system': ['a', 'b'], 'score': [1, 2]}
    """
    if isinstance(value, Mapping) and all(isinstance(own, (list, tuple)) for own in value.values()):
        return _of_columns(value, name).columns
    columns = python_table(value, name).columns
    if TEXTS in columns:
        raise DataError(
            f"The {name} are {in_words(value)}; expected a data frame, records or a file."
        )
    return {
        key: [None if cell is NO_FIELD else cell for cell in cells]
        for key, cells in columns.items()
    }


def is_frame(value: object) -> bool:
    """Return whether a value is a table of some package: a data frame or a data set.

    >>> is_frame({"id": [1]})
    False
    """
    kinds = ("iloc", "get_columns", "collect", "to_pydict", "column_names")
    return not isinstance(value, Mapping) and any(hasattr(value, name) for name in kinds)


def has_item(record: Mapping[Any, Any]) -> bool:
    """Return whether a mapping is a record, with an item id among its fields.

    >>> has_item({"video_id": "v1", "sentence": "a man"}), has_item({"v1": ["a man"]})
    (True, False)
    """
    return USUAL.item_field([str(key) for key in record]) is not None


def is_path(value: object) -> bool:
    """Return whether a value names a file.

    >>> is_path("refs.json"), is_path(["refs.json"])
    (True, False)
    """
    return isinstance(value, (str, os.PathLike))


def _of_mapping(value: Mapping[Any, Any], name: str) -> PythonTable:
    records = value.get("annotations")
    if isinstance(records, list) and records and isinstance(records[0], Mapping):
        return _of_records(records, name)
    if are_columns(value):
        return _of_columns(value, name)
    if hasattr(next(iter(value.values()), None), "column_names"):
        names = [str(key) for key in value]
        raise DataError(
            f"The {name} are several data sets ({', '.join(names)}); choose one of them, such as "
            f"data[{names[0]!r}]."
        )
    return PythonTable(name, "", {TEXTS: list(value.values())}, list(value))


def _of_pandas(value: Any, name: str) -> PythonTable:
    labels = value.index.tolist()
    counted = value.index.name is None and labels == list(range(len(labels)))
    if not hasattr(value, "columns"):
        return PythonTable(name, "row", {TEXTS: value.tolist()}, labels, counted)
    columns = {column: value[column].tolist() for column in value.columns}
    if value.index.name is not None:
        columns = {value.index.name: labels, **columns}
    frame = _of_columns(columns, name)
    return frame if frame.labels is not None else replace(frame, labels=labels, counted=counted)


def _of_records(records: Sequence[Mapping[Any, Any]], name: str) -> PythonTable:
    names = dict.fromkeys(key for record in records for key in record)
    columns = {key: [record.get(key, NO_FIELD) for record in records] for key in names}
    return _of_columns(columns, name, "record")


def _of_columns(columns: Mapping[Any, Sequence[Any]], name: str, unit: str = "row") -> PythonTable:
    by_name = {str(key).strip().lower(): column for key, column in columns.items()}
    item = USUAL.item_field(by_name)
    return PythonTable(name, unit, by_name, None if item is None else by_name[item])


def are_columns(value: Mapping[Any, Any]) -> bool:
    """Return whether the keys of a mapping are names of columns, not ids: a batch of a data set.

    >>> are_columns({"id": ["v1"], "caption": ["a man"]}), are_columns({"v1": ["a man"]})
    (True, False)
    """
    if len(value) > _MOST_COLUMNS:
        return False
    names = [str(key) for key in value]
    return (
        USUAL.item_field(names) is not None
        and USUAL.has_captions(names)
        and all(isinstance(column, (list, tuple)) for column in value.values())
    )
