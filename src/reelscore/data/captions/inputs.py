"""Candidates of systems with their references, from files or from Python, in any form."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from reelscore.data.captions.caption_files import (
    Candidates,
    CaptionFile,
    References,
    candidates_of_file,
    is_in_order,
    reading_explained,
    references_in,
    references_of_files,
)
from reelscore.data.captions.item_ids import ORDER
from reelscore.data.captions.python_captions import (
    TEXTS,
    CaptionsLike,
    PythonCaptions,
    are_columns,
    is_path,
    python_captions,
)
from reelscore.data.checks import first_few, in_words
from reelscore.data.file_names import PathLike, exists, expanded, folder_of, is_file, shard_files
from reelscore.data.reading import Reading, part_with
from reelscore.data.source import PARQUET, EmptyFileError, Source
from reelscore.errors import DataError

_SHOWN = 5  # files that a note names
_SYSTEM_FIELD = b'"system"'  # in any case


class Inputs(msgspec.Struct, frozen=True):
    """Candidates and references, and where they come from."""

    systems: Mapping[str, Candidates]  # the candidates of each system
    references: References | None = None  # the references, or ``None`` if there are none
    files: Sequence[CaptionFile] = ()  # the files that were read
    # what a reader of the scores has to know about the files, a sentence each
    notes: Sequence[str] = ()
    # the systems that are none, but bounds: their captions saw the references
    bounds: Sequence[str] = ()
    # the systems that have numbers of lines in place of ids, and None for references
    in_order: Collection[str | None] = ()

    def check_order(self) -> None:
        """Refuse numbers of lines beside ids: they look alike, and may be those of other items."""
        for name, captions in self.systems.items() if self.references is not None else ():
            is_ordered = name in self.in_order
            check_order(name, captions, self.references or {}, is_ordered, None in self.in_order)

    def explained(self) -> AbstractContextManager[None]:
        """Let errors say how the files were read."""
        return reading_explained(self.files)


def check_order(
    name: str, items: Collection[str], truth: Collection[str], is_ordered: bool, truth_is: bool
) -> None:
    """Refuse the items of a system if one side alone has ids, and the other an order."""
    if is_ordered == truth_is or [*items] == [*truth]:
        return
    ours = f"candidates of {name!r}" if name else "candidates"
    sides = [(ours, [*items]), ("references", [*truth])]
    (ordered, numbers), (other, ids) = sides if is_ordered else sides[::-1]
    said = (
        f"The {ordered} are in order, without ids ({len(numbers):,}); the {other} have ids "
        f"({len(ids):,}, {first_few(ids)})."
    )
    if len(numbers) != len(ids):
        raise DataError(f"{said} Find what is missing, or give both by id.")
    raise DataError(f'{said} If they have the same order, pass match_ids="{ORDER}".')


def read_inputs(
    systems: Mapping[str, CaptionsLike] | CaptionsLike,
    references: CaptionsLike | None = None,
    *,
    reading: Reading | None = None,
) -> Inputs:
    r"""Read candidates and references in any form: files, or what Python programs hold.

    A file or a data frame may hold both, as programs that make captions write them. Where no
    references are given, those beside the candidates are taken.
    """
    files: list[CaptionFile] = []
    candidates: dict[str, Candidates] = {}
    sides: dict[str, PythonCaptions] = {}
    named: Mapping[str, CaptionsLike]
    names_parts = False
    in_order: list[str | None] = []
    shards = [] if isinstance(systems, Mapping) else paths_in(systems, texts=True)
    if shards and name_their_systems(shards, reading):
        named, names_parts = _by_system(shards, reading)
    else:
        named = systems_of(systems)
    for name, captions in named.items():
        candidates[name] = {}  # keeps the order
        if paths := paths_in(captions):
            candidates[name], own_files = _candidates_of_files(paths, reading)
            files += own_files
            if any(map(is_in_order, own_files)):
                in_order.append(name)
        else:
            sides[name] = python_captions(
                captions, f"candidates of {name!r}" if name else "candidates"
            )
    texts = bool(sides) and all(side.labels is None for side in sides.values())
    read: list[CaptionFile] = []
    notes: list[str] = []
    truth: References | None = None
    side: PythonCaptions | None = None
    if paths := paths_in(references, texts=not texts):
        truth, read = references_of_files(paths, reading)
        notes += references_note([file.path for file in read])
    elif references is not None:
        side = python_captions(references, "references")
    others = [OtherIds(name, list(own)) for name, own in candidates.items() if name not in sides]
    others += [] if truth is None else [OtherIds("references", list(truth))]
    numbered = with_ids([*sides.values(), *([] if side is None else [side])], others)
    sides = dict(zip(sides, numbered, strict=False))
    candidates |= {name: given.candidates() for name, given in sides.items()}
    if side is not None:
        truth = numbered[-1].references()
    both = [file for file in files if file.has_references]
    beside: dict[str, Callable[[], References]] = {
        file.path: partial(references_in, file.path, reading) for file in both
    }
    beside |= {
        f"the table of {given.name}": given.references
        for given in sides.values()
        if given.has_references
    }
    if truth is None and beside:
        truth = _own_references(beside)
        notes.append(
            f"References were not given: {_listed(list(beside))} "
            f"{'holds' if len(beside) == 1 else 'hold'} them beside the candidates."
        )
    elif unused := beside.keys() - {file.path for file in read}:
        whose = (
            "holds references of its own" if len(unused) == 1 else "hold references of their own"
        )
        listed = _listed([name for name in beside if name in unused])
        notes.append(f"{listed} {whose}, which were not used.")
    if truth is not None and not (reading and reading.splits):
        truth, split_notes = _of_one_split(truth, read, candidates.values())
        notes += split_notes
    files += read
    notes += reading_notes(files)
    check_split_was_used(reading, names_parts or any(file.splits for file in files))
    if any(map(is_in_order, read or both)):
        in_order.append(None)
    return Inputs(candidates, truth, files, notes, in_order=in_order)


def name_their_systems(paths: Iterable[PathLike], reading: Reading | None = None) -> bool:
    """Return whether all files are shards whose records say which system wrote a caption.

    Files without a record do not count, unless there are no others.
    """
    reading = reading or Reading()
    files = shard_files(paths)
    naming = [_names_systems(path, reading) for path in files]
    if True in naming and False in naming:
        one, other = (os.fspath(files[naming.index(which)]) for which in (True, False))
        raise DataError(
            f"{other}: no field 'system' says whose captions these are, as in {one}. Leave such "
            "files out, as by a pattern ('FOLDER/*.parquet'), or name the system of each file: "
            "NAME=FILE."
        )
    return True in naming


def _names_systems(path: PathLike, reading: Reading) -> bool | None:
    """Return whether the records of a file have a field for the system.

    ``None`` without records.
    """
    if not is_file(path):  # a pipe is empty after one look
        return False
    try:
        with Source(path, reading.encoding) as source:
            if source.is_blank:
                return None
            head = source.head
    except EmptyFileError:
        return None
    except DataError:  # told where it is read
        return False
    # The head alone first: most files are no shards, and have to be read without delay.
    if not head.startswith(PARQUET) and _SYSTEM_FIELD not in head.lower():
        return False
    from reelscore.data.captions.shards import names_systems

    return names_systems(path, reading)


def _by_system(
    paths: Sequence[PathLike], reading: Reading | None
) -> tuple[dict[str, CaptionsLike], bool]:
    """Read the captions of files whose records say which system wrote them.

    Also tells whether the part of a data set that is wanted was taken of some file.
    """
    from reelscore.data.captions.shard_blocks import captions_by_system
    from reelscore.data.captions.shards import shards_of

    shards = shards_of(paths, "candidates", reading)
    return dict(captions_by_system(shards)), any(shard.reading.splits for shard in shards)


def reading_notes(files: Sequence[CaptionFile]) -> list[str]:
    """Return as what files were read, where their format is not one of ids and captions alone.

    >>> reading_notes([CaptionFile("a.txt", "lines", False, "plain lines")])
    ['Read as plain lines: a.txt.']
    """
    notes = []
    for read_as in dict.fromkeys(file.read_as for file in files if file.read_as):
        own = [file for file in files if file.read_as == read_as]
        which = (
            _listed(list(dict.fromkeys(file.path for file in own)))
            if len(files) <= _SHOWN or len(own) < len(files)
            else "all files"
        )
        notes.append(f"Read as {read_as}: {which}.")
    return notes


def _of_one_split(
    references: References, files: Sequence[CaptionFile], systems: Iterable[Candidates]
) -> tuple[References, list[str]]:
    """Leave out the parts of a data set that no candidate belongs to, if all are of one part."""
    splits = {item: split for file in files for item, split in file.splits.items()}
    part = part_with((item for candidates in systems for item in candidates), splits)
    if part is None or not all(item in splits for item in references):
        return references, []
    kept = {item: texts for item, texts in references.items() if splits[item] == part}
    note = f"References of the split {part} alone ({len(kept):,} of {len(references):,} items)"
    return kept, [f"{note}: all candidates are of it."]


def check_split_was_used(reading: Reading | None, used: bool) -> None:
    """Refuse a part of a data set where no file says which items belong to it."""
    if reading is not None and reading.splits and not used:
        raise DataError(
            f'split="{reading.split}" cannot be taken: no file says which items belong to it.'
        )


def references_by_item(references: CaptionsLike) -> References:
    """Take references in any form that has ids, where there are no candidates yet.

    >>> references_by_item([{"video_id": "v1", "references": ["a man", "a person"]}])
    {'v1': ['a man', 'a person']}
    """
    if paths := paths_in(references, texts=True):
        return references_of_files(paths)[0]
    return python_captions(references, "references").references()


def paths_in(captions: object, *, texts: bool = False) -> list[PathLike]:
    """Return the files that captions are named by; none if they are given themselves."""
    if isinstance(captions, (str, os.PathLike)):
        return [captions]
    kinds = (str, os.PathLike) if texts else os.PathLike
    if not isinstance(captions, (list, tuple)) or not all(isinstance(c, kinds) for c in captions):
        return []
    have_blanks = any(" " in os.fspath(each) for each in captions)
    return list(captions) if not have_blanks or any(map(exists, captions)) else []


def _candidates_of_files(
    paths: Sequence[PathLike], reading: Reading | None
) -> tuple[dict[str, str], list[CaptionFile]]:
    """Read the candidates of one system, which may be divided among several files."""
    together: dict[str, str] = {}
    files = []
    for path in expanded(paths):
        candidates, file = candidates_of_file(path, reading)
        if again := [item for item in candidates if item in together]:
            raise DataError(
                f"{file.path}: {len(again):,} items have a candidate in another file already "
                f"({first_few(again)}). A system has one of each item; name several systems apart."
            )
        together |= candidates
        files.append(file)
    return together, files


def references_note(paths: Sequence[str]) -> list[str]:
    """Name the files of references where there are several: each counts.

    >>> references_note(["refs/a.txt", "refs/b.txt"])
    ['References: a.txt, b.txt in refs.']
    """
    return [f"References: {_listed(paths)}."] if len(paths) > 1 else []


def _own_references(beside: Mapping[str, Callable[[], References]]) -> References:
    """Put together the references that stand beside candidates; they must agree."""
    together: dict[str, Sequence[str]] = {}
    for name, references_of in beside.items():
        own = references_of()
        other = [i for i, texts in own.items() if sorted(together.get(i, texts)) != sorted(texts)]
        if other:
            raise DataError(
                f"{name}: holds other references than {next(iter(beside))} for {len(other):,} "
                f"items ({first_few(other)}). Give the references in a separate file: "
                'references="FILE".'
            )
        together |= own
    return together


def _listed(paths: Sequence[str]) -> str:
    """Name files; those of one folder without repeating it."""
    folders = {folder_of(path) for path in paths}
    folder = folders.pop()
    together = len(paths) > 1 and not folders and folder != ""
    names = [Path(path).name for path in paths] if together else paths
    rest = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + rest + (f" in {folder}" if together else "")


def systems_of(systems: object) -> Mapping[str, Any]:
    """Return the captions of each system by its name."""
    values = systems.values() if isinstance(systems, Mapping) else ()
    texts = [captions for captions in values if isinstance(captions, str)]
    if isinstance(systems, Mapping) and (texts or not are_columns(systems)):
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
    if "system" not in table.columns:
        raise DataError(
            "The systems have no names: expected captions by system, {name: captions}, or a column "
            "'system'. To score one system, use reelscore.score."
        )
    places: dict[str, list[int]] = {}
    for place, name in enumerate(table.columns["system"]):
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


def _unlike(ordered: PythonCaptions, name: str, ids: Sequence[object]) -> DataError:
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
