"""Captions given in Python, whatever holds them: mappings, lists, data frames, data sets.

Every function that takes captions brings them here first, so that all take the same forms, and
refuse the same mistakes in the same words.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import asdict, replace

from reelscore.data.checks import (
    Problems,
    first_few,
    id_fault,
    id_text,
    in_words,
    is_missing,
    is_written_list,
    references_fault,
    text_fault,
)
from reelscore.data.fields import (
    USUAL,
    Role,
    missing_caption_field,
    several_caption_fields,
    unnumbered,
)
from reelscore.data.file_names import exists
from reelscore.data.python_tables import (
    NO_FIELD,
    TEXTS,
    PythonTable,
    are_columns,
    is_path,
    python_table,
)
from reelscore.errors import DataError

PathLike = str | os.PathLike[str]
# Captions as a user may give them: see the table in docs/formats.md.
CaptionsLike = Mapping[Any, Any] | Iterable[Any] | PathLike

_SYSTEM = "system"
_CELL = ' Fill it ("" is an empty caption), or remove it.'


class PythonCaptions(PythonTable, frozen=True):
    """Captions of one form, as columns."""

    @property
    def has_references(self) -> bool:
        """Whether a column has a name that says it holds references."""
        return bool(USUAL.role_fields([unnumbered(name) for name in self.columns], "references"))

    @property
    def only_references(self) -> bool:
        """Whether there are references, and nothing that could be a candidate."""
        kinds = [unnumbered(name) for name in self.columns]
        return self.has_references and not USUAL.caption_fields(kinds, "candidates")

    def values(self, role: Role) -> Sequence[Any]:
        """Return what each row holds for a role: a text, or several.

        Raises:
            DataError: If no column, or several, may hold captions of the role.
        """
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
        """Return the one caption of each item.

        Raises:
            DataError: If an id or a caption cannot be used, or an item comes twice.
        """
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
        """Return the references of each item: those of all its rows.

        Raises:
            DataError: If an id or a reference cannot be used.
        """
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

    def _items(self) -> Sequence[Any]:
        if self.labels is not None:
            return self.labels
        raise DataError(
            f"The {self.name} have no ids, only an order. Give them by id: a mapping, or records "
            "with an id; a list becomes a mapping by dict(zip(ids, captions))."
        )

    def _are_unique(self, items: Sequence[Any]) -> bool:
        return not self.unit or len(set(items)) == len(items)  # keys of a mapping are

    def _repeated(self, item: str) -> str:
        if not self.unit:
            return f"the ids {item} and {item!r} are the same item."
        return (
            f"item {item!r} has a candidate already; a system gives one caption per item "
            "(are these references?)."
        )


def python_captions(value: object, name: str = "captions") -> PythonCaptions:
    """Take captions of any form; see `reelscore.data.python_tables.python_table`.

    >>> python_captions([{"video_id": 7, "caption": "a man"}]).candidates()
    {'7': 'a man'}
    >>> python_captions({"v1": "a man", "v2": ["a dog", "one dog"]}).references()
    {'v1': ['a man'], 'v2': ['a dog', 'one dog']}
    """
    if isinstance(value, PythonCaptions):
        return value
    return PythonCaptions(**asdict(python_table(value, name)))


def systems_of(systems: object) -> Mapping[str, Any]:
    """Return the captions of each system by its name.

    Args:
        systems: A mapping of names; several files, named after themselves; or a data frame, a
            data set or records with a column ``system``.

    Raises:
        DataError: If it is none of these, or two files have the same name.

    >>> rows = [{"system": "a", "id": 1, "caption": "a man"},
    ...         {"system": "b", "id": 1, "caption": "a dog"}]
    >>> {name: captions.candidates() for name, captions in systems_of(rows).items()}
    {'a': {'1': 'a man'}, 'b': {'1': 'a dog'}}
    >>> systems_of(["runs/ours.json.gz"])
    {'ours': 'runs/ours.json.gz'}
    """
    if isinstance(systems, Mapping) and not are_columns(systems):
        texts = [each for each in systems.values() if isinstance(each, str)]
        if "" not in systems and len(texts) == len(systems) and any(map(_is_sentence, texts)):
            raise DataError(
                f"The systems are texts ({texts[0][:30]!r}, …), and no files; expected captions by "
                "system, {name: captions}. To score one system, use reelscore.score."
            )
        return systems
    if isinstance(systems, (str, os.PathLike)):
        systems = [systems]
    if isinstance(systems, (list, tuple)) and systems and all(map(is_path, systems)):
        by_name = {system_name(path): path for path in systems}
        if len(by_name) < len(systems):
            raise DataError("Two files have the same name; give systems as {name: file}.")
        return by_name
    table = python_captions(systems, "systems")
    if _SYSTEM not in table.columns:
        raise DataError(
            "The systems have no names: expected captions by system, {name: captions}, or a column "
            f"{_SYSTEM!r}. To score one system, use reelscore.score."
        )
    places: dict[str, list[int]] = {}
    for place, name in enumerate(table.columns[_SYSTEM]):
        if not isinstance(name, str) or not name:
            raise DataError(f"{table.place(place + 1)}: the system is {in_words(name)}, not text.")
        places.setdefault(name, []).append(place)
    return {name: table.taken(own, f"candidates of {name!r}") for name, own in places.items()}


def _is_sentence(text: str) -> bool:
    """Return whether a text is a caption rather than the name of a file."""
    ending = Path(text).suffix
    return " " in text and (len(ending) < 2 or " " in ending) and not exists(text)


def system_name(path: PathLike) -> str:
    """Name a system after its file, without the endings.

    >>> system_name("runs/ours.json.gz")
    'ours'
    """
    name = Path(path).name
    for suffix in (".gz", ".xz", ".zst", ".json", ".jsonl", ".parquet", ".csv", ".tsv", ".txt"):
        name = name.removesuffix(suffix)
    return name or os.fspath(path)


def caption_rows(
    ids: object, captions: object = None, name: str = "captions"
) -> tuple[list[str], list[str]]:
    """Take ids and as many captions; an item may come several times.

    Args:
        ids: The ids, a list, an array or a tensor; or captions in any form that has ids.
        captions: The caption of each id, where these are given alone.
        name: What the captions are, for messages.

    Raises:
        DataError: If the lengths differ, or an id or a caption cannot be used.

    >>> caption_rows([7, 7], ["a man", "a dog"])
    (['7', '7'], ['a man', 'a dog'])
    >>> caption_rows({"v1": "a man"})
    (['v1'], ['a man'])
    """
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


class OtherIds(msgspec.Struct, frozen=True):
    """Ids of captions that were read from a file."""

    name: str
    ids: Sequence[str]


def with_ids(
    sides: Sequence[PythonCaptions], files: Sequence[OtherIds] = ()
) -> list[PythonCaptions]:
    """Let captions that belong together have the same ids: their own, or their numbers.

    Captions that only have an order are numbered from 1 on, as the lines of a file are. All that
    stands beside them must have an order too, and be as many.

    Args:
        sides: Candidates and references.
        files: What stands beside them in files.

    Raises:
        DataError: If some have ids and others only an order, or if they are not as many.

    >>> one, two = with_ids([python_captions(["a man"]), python_captions([["a man", "a boy"]])])
    >>> one.candidates(), two.references()
    ({'1': 'a man'}, {'1': ['a man', 'a boy']})
    """
    ordered = next((side for side in sides if side.labels is None), None)
    if ordered is None:
        return list(sides)
    numbers = [str(number) for number in range(1, len(ordered) + 1)]
    lengths = {side.name: len(side) for side in sides if side.labels is None or side.counted}
    for other in files:
        if list(other.ids) == [str(number) for number in range(1, len(other.ids) + 1)]:
            lengths[other.name] = len(other.ids)
        else:
            raise _unlike(ordered, other.name, other.ids)
    for side in sides:
        if side.name not in lengths:
            assert side.labels is not None
            raise _unlike(ordered, side.name, side.labels)
    if len(set(lengths.values())) > 1:
        listing = " and ".join(f"{length:,} {name}" for name, length in lengths.items())
        raise DataError(
            f"There are {listing}, given in order; expected as many of each. "
            "To leave some out, give them by id."
        )
    return [replace(side, labels=numbers, counted=False) for side in sides]


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


def _plain(text: Any) -> Any:
    """The caption of an object as COCO's tools have it: {"caption": …}."""
    return text["caption"] if isinstance(text, Mapping) and "caption" in text else text


def _all_of(kinds: type | tuple[type, ...], values: Sequence[Any]) -> bool:
    return {*map(type, values)} <= {*(kinds if isinstance(kinds, tuple) else (kinds,))}


def _listed(values: object, name: str) -> list[Any]:
    plain = values.tolist() if hasattr(values, "tolist") else values
    if isinstance(plain, (str, Mapping)) or not isinstance(plain, Iterable):
        raise DataError(f"The {name} are {in_words(plain)}; expected a list of {name}.")
    return list(plain)


def _unlike(ordered: PythonCaptions, name: str, ids: Sequence[Any]) -> DataError:
    files = [text for text in ordered.columns.get(TEXTS, ()) if isinstance(text, str)][:1]
    hint = ""
    if files and exists(files[0]):
        hint = (
            f" If {files[0]!r} is a file, pass Path({files[0]!r}); give several systems to "
            "score_systems."
        )
    return DataError(
        f"The {ordered.name} are {len(ordered):,} captions in order, without ids; the {name} have "
        f"ids ({first_few([str(item) for item in ids])}). Give both by id, or both in order.{hint}"
    )


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
