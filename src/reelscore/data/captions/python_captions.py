"""Captions given in Python, whatever holds them: mappings, lists, data frames, data sets.

Every function that takes captions brings them here first, so that all take the same forms, and
refuse the same mistakes in the same words. pandas, polars, pyarrow and datasets are not imported:
their objects are told by what they offer.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from reelscore.data.checks import (
    Problems,
    id_fault,
    id_text,
    in_words,
    is_missing,
    is_written_list,
    references_fault,
    text_fault,
)
from reelscore.data.file_names import PathLike
from reelscore.data.reading import (
    USUAL,
    Role,
    missing_caption_field,
    several_caption_fields,
    unnumbered,
)
from reelscore.errors import DataError

Column = Sequence[Any]  # the cells of a table under one name, or the ids of its rows
TEXTS = ""  # the name of the only column of a form without names
NO_FIELD = object()  # in place of what a record does not have
_MOST_COLUMNS = 100  # a mapping with more keys has ids
_CELL = ' Fill it ("" is an empty caption), or remove it.'

# Captions as a user may give them: see the table in docs/formats.md.
CaptionsLike = Mapping[Any, object] | Iterable[object] | PathLike


class PythonCaptions(msgspec.Struct, frozen=True):
    """Captions of one form, or other data, as columns."""

    name: str  # what they are, for messages: "candidates"
    unit: str  # what one of them is called, for messages: "row"; "" in a mapping, where ids tell
    # the values under each name; under "" where the form has no names
    columns: Mapping[str, Column]
    labels: Column | None = None  # the item of each, or ``None`` where only their order is known
    # the labels are the default index of a data frame, 0, 1, 2, …: they are ids only where nothing
    # is given by order
    counted: bool = False

    def __len__(self) -> int:
        """Count the rows."""
        return len(next(iter(self.columns.values()), ()))

    def place(self, number: int) -> str:
        """Name the place of a row, from 1 on."""
        return f"{self.name}: {self.unit} {number}" if self.unit else self.name

    @property
    def has_references(self) -> bool:
        """Whether a column has a name that says it holds references."""
        return bool(USUAL.role_fields([unnumbered(name) for name in self.columns], "references"))

    @property
    def only_references(self) -> bool:
        """Whether there are references, and nothing that could be a candidate."""
        kinds = [unnumbered(name) for name in self.columns]
        return self.has_references and not USUAL.caption_fields(kinds, "candidates")

    def values(self, role: Role) -> Column:
        """Return what each row holds for a role: a text, or several."""
        if TEXTS in self.columns:
            return self.columns[TEXTS]
        kinds = {name: unnumbered(name) for name in self.columns}
        wanted = USUAL.caption_fields(list(kinds.values()), role)
        names = [name for name, kind in kinds.items() if kind in wanted]
        if not names:
            what = missing_caption_field(list(kinds.values()), role)
            raise DataError(f"{self.name}: {what}. There are {', '.join(kinds)}.")
        if len(wanted) > 1:
            raise DataError(f"{self.name}: {several_caption_fields(names, role)}.")
        if len(names) == 1:
            return self.columns[names[0]]
        rows = zip(*(self.columns[name] for name in names), strict=True)
        return [[text for text in row if not is_missing(text) and text != ""] for row in rows]

    def candidates(self) -> dict[Any, str]:
        """Return the one caption of each item."""
        values, items = self.values("candidates"), self._items()
        if _all_of(str, values) and _all_of(str, items) and self._are_unique(items):
            return dict(zip(items, values, strict=True))
        problems = Problems(self.name)
        captions: dict[Any, str] = {}
        for number, (label, value) in enumerate(zip(items, values, strict=True), start=1):
            texts = texts_in(value)
            fault = _id_fault(label) or _candidate_fault(label, value, texts)
            if not fault and (item := id_text(label)) in captions:
                fault = self._repeated(item)
            if fault:
                problems.add(f"{self.place(number)}: {fault}")
            else:
                captions[item] = texts[0]
        problems.raise_if_any()
        return captions

    def references(self) -> dict[Any, Sequence[str]]:
        """Return the references of each item: those of all its rows."""
        values, items = self.values("references"), self._items()
        lists = _all_of((list, tuple), values) and all(v and type(v[0]) is str for v in values)
        if lists and _all_of(str, items) and self._are_unique(items):
            return dict(zip(items, values, strict=True))
        problems = Problems(self.name)
        references: dict[Any, Any] = {}
        for number, (label, value) in enumerate(zip(items, values, strict=True), start=1):
            texts = texts_in(value)
            fault = _id_fault(label) or _references_fault(label, value, texts)
            if not fault and not self.unit and id_text(label) in references:
                fault = self._repeated(id_text(label))
            if fault:
                problems.add(f"{self.place(number)}: {fault}")
            else:
                references.setdefault(id_text(label), []).extend(texts)
        problems.raise_if_any()
        return references

    def taken(self, places: Sequence[int], name: str) -> PythonCaptions:
        """Keep some rows, under another name."""
        columns = {key: [column[k] for k in places] for key, column in self.columns.items()}
        labels = None if self.labels is None else [self.labels[k] for k in places]
        return replace(self, name=name, columns=columns, labels=labels, counted=False)

    def _items(self) -> Column:
        if self.labels is not None:
            return self.labels
        raise DataError(
            f"The {self.name} have no ids, only an order. Give them by id: a mapping, or records "
            "with an id; a list becomes a mapping by dict(zip(ids, captions))."
        )

    def _are_unique(self, items: Column) -> bool:
        return not self.unit or len(set(items)) == len(items)  # keys of a mapping are

    def _repeated(self, item: str) -> str:
        if not self.unit:
            return f"the ids {item} and {item!r} are the same item."
        return (
            f"item {item!r} has a candidate already; a system gives one caption per item "
            "(are these references?)."
        )


def python_captions(value: object, name: str = "captions") -> PythonCaptions:
    """Bring captions, or other data, of any form to columns."""
    if isinstance(value, PythonCaptions):
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
    return PythonCaptions(name, "entry", {TEXTS: entries}, None)


def columns_of(value: object, name: str) -> Mapping[str, Column]:
    """Return the columns of a data frame, a data set, records, or a mapping of columns.

    >>> columns_of([{"system": "a", "Score": 1}, {"system": "b", "Score": 2}], "scores")
    {'system': ['a', 'b'], 'score': [1, 2]}
    """
    if isinstance(value, Mapping) and all(isinstance(own, (list, tuple)) for own in value.values()):
        return _of_columns(value, name).columns
    columns = python_captions(value, name).columns
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


def has_item(record: Mapping[Any, object]) -> bool:
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


def _of_mapping(value: Mapping[Any, Any], name: str) -> PythonCaptions:
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
    return PythonCaptions(name, "", {TEXTS: list(value.values())}, list(value))


def _of_pandas(value: Any, name: str) -> PythonCaptions:
    labels = value.index.tolist()
    counted = value.index.name is None and labels == list(range(len(labels)))
    if not hasattr(value, "columns"):
        return PythonCaptions(name, "row", {TEXTS: value.tolist()}, labels, counted)
    columns = {column: value[column].tolist() for column in value.columns}
    if value.index.name is not None:
        columns = {value.index.name: labels, **columns}
    frame = _of_columns(columns, name)
    return frame if frame.labels is not None else replace(frame, labels=labels, counted=counted)


def _of_records(records: Sequence[Mapping[Any, object]], name: str) -> PythonCaptions:
    names = dict.fromkeys(key for record in records for key in record)
    columns = {key: [record.get(key, NO_FIELD) for record in records] for key in names}
    return _of_columns(columns, name, "record")


def _of_columns(columns: Mapping[Any, Column], name: str, unit: str = "row") -> PythonCaptions:
    by_name = {str(key).strip().lower(): column for key, column in columns.items()}
    item = USUAL.item_field(by_name)
    return PythonCaptions(name, unit, by_name, None if item is None else by_name[item])


def are_columns(value: Mapping[Any, object]) -> bool:
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


def caption_rows(
    ids: object, captions: object = None, name: str = "captions"
) -> tuple[list[str], list[str]]:
    """Take ids and as many captions; an item may come several times."""
    if captions is None:
        given = python_captions(ids, name)
        labels, values = given._items(), given.values("candidates")
    else:
        labels, values = _listed(ids, "ids"), _listed(captions, name)
        given = PythonCaptions(name, "entry", {TEXTS: values}, labels)
        if len(labels) != len(values):
            raise DataError(
                f"There are {len(labels):,} ids and {len(values):,} {name}; "
                "expected one caption for each id."
            )
    problems = Problems(name)
    texts = []
    for number, (label, value) in enumerate(zip(labels, values, strict=True), start=1):
        own = [value] if type(value) is str else texts_in(value)
        texts.append(own[0] if own else "")
        if fault := id_fault(label):
            problems.add(f"{'ids: id' if captions is not None else 'id'} {number} {fault}.")
        elif fault := _candidate_fault(label, value, own):
            problems.add(f"{given.place(number)}: {fault}")
    problems.raise_if_any()
    return [label if type(label) is str else id_text(label) for label in labels], texts


def texts_in(value: Any) -> list[Any]:
    """Return the texts of one item: one text, a list of them, an array, COCO's objects.

    >>> texts_in("a man"), texts_in([{"caption": "a man"}, {"caption": "a boy"}])
    (['a man'], ['a man', 'a boy'])
    """
    if isinstance(value, str) or is_missing(value):
        return [value]
    if hasattr(value, "tolist"):  # an array, or a series of pandas
        value = value.tolist()
    elif hasattr(value, "to_list"):  # a series of polars
        value = value.to_list()
    if isinstance(value, Mapping):
        value = [value]
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray)):
        return [_plain(text) for text in value]
    return [value]


def _plain(text: object) -> object:
    """The caption of an object as COCO's tools have it: {"caption": …}."""
    return text["caption"] if isinstance(text, Mapping) and "caption" in text else text


def _all_of(kinds: type | tuple[type, ...], values: Column) -> bool:
    return {*map(type, values)} <= {*(kinds if isinstance(kinds, tuple) else (kinds,))}


def _listed(values: object, name: str) -> list[Any]:
    plain = values.tolist() if hasattr(values, "tolist") else values
    if isinstance(plain, (str, Mapping)) or not isinstance(plain, Iterable):
        raise DataError(f"The {name} are {in_words(plain)}; expected a list of {name}.")
    return list(plain)


def _id_fault(label: object) -> str | None:
    if label is NO_FIELD:
        return "no item id, which other records have."
    if isinstance(label, float) and label.is_integer():
        return f"the item id is the number {label}; expected text or an integer: int({label})."
    return f"the item id {fault}." if (fault := id_fault(label)) else None


def _candidate_fault(item: object, value: object, texts: Sequence[object]) -> str | None:
    if value is NO_FIELD:
        return f"item {item!r} has no caption, which other records have."
    if len(texts) != 1:
        count = f"{len(texts)} captions" if texts else "no caption"
        hint = "are these references?"
        if isinstance(value, tuple) and len(value) == 2:
            hint = "are these references, or pairs of id and caption? Give pairs as dict(pairs)"
        return f"item {item!r} has {count}; a system gives one caption per item ({hint})."
    if fault := text_fault(texts[0]):
        remedy = _CELL if is_missing(texts[0]) else ""
        return f"the caption of item {item!r} {fault}.{remedy}"
    return None


def _references_fault(item: object, value: object, texts: Sequence[object]) -> str | None:
    if value is NO_FIELD:
        return f"item {item!r} has no references, which other records have."
    if not isinstance(value, str) and len(texts) == 1 and texts[0] is value:
        remedy = _CELL if is_missing(value) else ""
        what = f"{in_words(value)}; expected a text or a list of texts"
        return f"the references of item {item!r} are {what}.{remedy}"
    if isinstance(value, str) and is_written_list(value):
        return (
            f"the references of item {item!r} are a list that was written as text ({value[:20]}…); "
            "read it again: ast.literal_eval(text)."
        )
    fault = references_fault(item, texts)
    return f"{fault}." if fault else None
