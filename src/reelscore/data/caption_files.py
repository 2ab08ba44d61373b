"""Candidates and references from files of any known format, every id and caption checked."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from reelscore.data.checks import (
    Problems,
    candidate_fault,
    first_few,
    id_fault,
    references_fault,
    text_fault,
)
from reelscore.data.fields import role_fields
from reelscore.data.formats import LINES, detect_format, get_format
from reelscore.data.source import Source
from reelscore.errors import DataError

PathLike = str | os.PathLike[str]
Candidates = Mapping[str, str]
References = Mapping[str, Sequence[str]]
Records = Iterable[tuple[int, Any, Any]]

_SHOWN = 5  # files that a note names


def read_candidates(path: PathLike, *, format: str | None = None) -> dict[str, str]:
    r"""Read the captions a system gives, one per item.

    Args:
        path: The file; it may be compressed (gzip, xz, Zstandard).
        format: One of coco, csv, json, jsonl, lines, tsv. By default the content tells.

    Returns:
        The caption of each item id, in the order of the file. Empty captions are kept.

    Raises:
        DataError: If the file cannot be read or any record in it is bad. All bad records are
            counted, the first few are named with their place.
        UnknownNameError: If there is no such format.
        MissingExtraError: If the file is in Zstandard and the package `zstandard` is missing.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "run.jsonl")
        ...     _ = path.write_text('{"video_id": "v1", "caption": "a man walks"}\n')
        ...     read_candidates(path)
        {'v1': 'a man walks'}
    """
    return candidates_of_file(path, format)[0]


def read_references(
    paths: PathLike | Sequence[PathLike], *, format: str | None = None
) -> dict[str, list[str]]:
    r"""Read the human captions of each item, from one file or several.

    Args:
        paths: One file, or several: one per annotator, or any other split.
        format: The format of all files; by default each file's content tells. See
            `read_candidates`.

    Returns:
        The references of each item id, in the order of the files. Empty captions are kept.

    Raises:
        DataError: If a file cannot be read or any record in it is bad, or if files of plain lines
            differ in length.
        UnknownNameError: If there is no such format.
        MissingExtraError: If a file is in Zstandard and the package `zstandard` is missing.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     paths = [Path(folder, "annotator_a.txt"), Path(folder, "annotator_b.txt")]
        ...     _ = paths[0].write_text("a man walks\na dog barks\n")
        ...     _ = paths[1].write_text("someone strolls\na loud dog\n")
        ...     read_references(paths)
        {'1': ['a man walks', 'someone strolls'], '2': ['a dog barks', 'a loud dog']}
    """
    return references_of_files(paths, format)[0]


class CaptionFile(NamedTuple):
    """How a file was read.

    Attributes:
        path: The file, as the user wrote it.
        format: The format it was read as.
        has_references: Whether a field of its records has a name that says it holds references.
    """

    path: str
    format: str
    has_references: bool


def candidates_of_file(
    path: PathLike, format: str | None = None
) -> tuple[dict[str, str], CaptionFile]:
    """Read candidates as `read_candidates` does, and say how."""
    candidates: dict[str, str] = {}
    problems = Problems(os.fspath(path))
    with Source(path) as source:
        file = caption_file(source, format)
        with reading_explained([file]):
            reader = get_format(file.format)
            records = reader.read(source, problems, "candidates")
            place = partial(reader.place, source.path)
            count = add_candidates(records, candidates, place, problems)
            _raise_if_unusable(source.path, count, problems)
            problems.raise_if_any()
    return candidates, file


def references_of_files(
    paths: PathLike | Sequence[PathLike], format: str | None = None
) -> tuple[dict[str, list[str]], list[CaptionFile]]:
    """Read references as `read_references` does, and say how."""
    names: Sequence[PathLike] = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    if not names:
        raise DataError("No reference files were given; at least one is needed.")
    references: dict[str, list[str]] = {}
    problems = Problems(os.fspath(names[0]) if len(names) == 1 else f"{len(names)} files")
    files: list[CaptionFile] = []
    lengths: dict[str, int] = {}
    for path in names:
        with Source(path) as source:
            file = caption_file(source, format)
            files.append(file)
            with reading_explained([file]):
                reader = get_format(file.format)
                records = reader.read(source, problems, "references")
                place = partial(reader.place, source.path)
                with _collector_paused():
                    count = add_references(records, references, place, problems)
                _raise_if_unusable(source.path, count, problems)
        if file.format == LINES:
            lengths[source.path] = count
    with reading_explained(files):
        problems.raise_if_any()
        _check_lengths(lengths)
    return references, files


@contextmanager
def reading_explained(files: Sequence[CaptionFile]) -> Iterator[None]:
    """Add to an error how the files were read, since that may be what is wrong."""
    try:
        yield
    except DataError as error:
        if not files:
            raise
        if len({file.format for file in files}) == 1:
            files_were = "The file was" if len(files) == 1 else "The files were"
            how = f"{files_were} read as {files[0].format}."
        else:
            how = f"Read as: {', '.join(f'{file.path} {file.format}' for file in files)}."
        between = "\n  " if "\n" in str(error) else " "
        raise DataError(f"{error}{between}{how}") from error


def caption_file(source: Source, format: str | None = None) -> CaptionFile:
    """Tell how a file is to be read, by its first bytes unless a format is given."""
    name = format or detect_format(source)
    fields = get_format(name).fields(source.head)
    return CaptionFile(source.path, name, bool(role_fields(fields, "references")))


@contextmanager
def _collector_paused() -> Iterator[None]:
    # A million lists, no cycle among them: the collector would look for one again and again.
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _raise_if_unusable(path: str, count: int, problems: Problems) -> None:
    if count == 0:
        problems.raise_if_any()
        raise DataError(f"{path}: the file holds no captions; at least one is needed.")


def _check_lengths(lengths: dict[str, int]) -> None:
    if len(set(lengths.values())) > 1:
        listing = ", ".join(f"{path} has {length:,}" for path, length in lengths.items())
        raise DataError(
            f"Files of plain lines must have one line per item, hence the same length: {listing}."
        )


# Records into captions by item


def add_candidates(
    records: Records, candidates: dict[str, str], place: Callable[[int], str], problems: Problems
) -> int:
    """Add the one caption of each item, and count the records."""
    count = 0
    for number, item, caption in records:
        count += 1
        if type(item) is int:
            item = str(item)
        if type(caption) is list and len(caption) == 1:
            caption = caption[0]
        if id_fault(item) or text_fault(caption) or item in candidates:
            problems.add(f"{place(number)}: {_reason_for_refusal(item, caption)}.")
        else:
            candidates[item] = caption
    return count


def add_references(
    records: Records,
    references: dict[str, list[str]],
    place: Callable[[int], str],
    problems: Problems,
) -> int:
    """Append the captions of each item, and count the records."""
    count = 0
    for number, item, captions in records:
        count += 1
        if type(item) is int:
            item = str(item)
        texts = captions if type(captions) is list else [captions]
        fault = id_fault(item)
        fault = f"the item id {fault}" if fault else references_fault(item, texts)
        if fault:
            problems.add(f"{place(number)}: {fault}.")
        elif item in references:
            references[item].extend(texts)
        else:
            references[item] = texts
    return count


def _reason_for_refusal(item: object, caption: object) -> str:
    if fault := id_fault(item):
        return f"the item id {fault}"
    one_each = "a system gives one caption per item (are these references?)"
    if type(caption) is list:
        count = f"{len(caption)} captions" if caption else "no caption"
        return f"item {item!r} has {count}; {one_each}"
    return candidate_fault(item, caption) or f"item {item!r} has a candidate already; {one_each}"


# Candidates of systems with their references, from files or from Python


@dataclass(frozen=True)
class Inputs:
    """Candidates and references, and where they come from.

    Attributes:
        systems: The candidates of each system.
        references: The references, or ``None`` if there are none.
        files: The files that were read.
        notes: What a reader of the scores has to know about the files, a sentence each.
    """

    systems: Mapping[str, Candidates]
    references: References | None = None
    files: Sequence[CaptionFile] = field(default=())
    notes: Sequence[str] = field(default=())

    def explained(self) -> AbstractContextManager[None]:
        """Let errors say how the files were read."""
        return reading_explained(self.files)


def read_inputs(
    systems: Mapping[str, Candidates | PathLike],
    references: References | PathLike | Sequence[PathLike] | None = None,
    *,
    format: str | None = None,
) -> Inputs:
    r"""Read candidates and references where they are files.

    A file may hold both, as programs that make captions write them. Where no references are
    given, those beside the candidates are taken.

    Args:
        systems: The candidates of each system, or the file that holds them.
        references: References, a file, several files, or nothing.
        format: The format of all files; by default each file's content tells.

    Raises:
        DataError: If a file is bad, or two files hold different references of an item.

    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp(), "run.csv")
    >>> _ = path.write_text("id,prediction,reference\nv1,a man,a person\n")
    >>> inputs = read_inputs({"mine": path})
    >>> inputs.systems, inputs.references
    ({'mine': {'v1': 'a man'}}, {'v1': ['a person']})
    """
    files: list[CaptionFile] = []
    candidates: dict[str, Candidates] = {}
    for name, captions in systems.items():
        if isinstance(captions, str | os.PathLike):
            candidates[name], file = candidates_of_file(captions, format)
            files.append(file)
        else:
            candidates[name] = captions
    both = [file for file in files if file.has_references]
    read: list[CaptionFile] = []
    notes: list[str] = []
    if references is None and both:
        references = _own_references(both, format)
        notes.append(
            f"References were not given: {_paths(both)} {_verb(both, 'holds', 'hold')} them beside "
            "the candidates."
        )
    elif references is not None:
        if not isinstance(references, Mapping):
            references, read = references_of_files(references, format)
            notes += references_note([file.path for file in read])
        used = {file.path for file in read}
        if unused := [file for file in both if file.path not in used]:
            whose = _verb(unused, "holds references of its own", "hold references of their own")
            notes.append(f"{_paths(unused)} {whose}, which were not used.")
    files += read
    if lines := [file for file in files if file.format == LINES]:
        which = _paths(lines) if len(files) <= _SHOWN or len(lines) < len(files) else "all files"
        notes.append(f"Read as plain lines: {which}.")
    return Inputs(candidates, references, files, notes)


def references_note(paths: Sequence[str]) -> list[str]:
    """Name the files of references where there are several: each counts.

    >>> references_note(["refs/a.txt", "refs/b.txt"])
    ['References: a.txt, b.txt in refs.']
    """
    return [f"References: {_listed(paths)}."] if len(paths) > 1 else []


def _own_references(files: Sequence[CaptionFile], format: str | None) -> References:
    """Put together the references that stand beside candidates; they must agree."""
    together: dict[str, Sequence[str]] = {}
    for file in files:
        own, _ = references_of_files(file.path, format)
        other = [i for i, texts in own.items() if sorted(together.get(i, texts)) != sorted(texts)]
        if other:
            raise DataError(
                f"{file.path}: holds other references than {files[0].path} for {len(other):,} "
                f"items ({first_few(other)}). Give the references in a separate file: "
                'references="FILE".'
            )
        together |= own
    return together


def _paths(files: Sequence[CaptionFile]) -> str:
    return _listed(list(dict.fromkeys(file.path for file in files)))


def _listed(paths: Sequence[str]) -> str:
    """Name files; those of one folder without repeating it."""
    folders = {Path(path).parent for path in paths}
    folder = folders.pop()
    together = len(paths) > 1 and not folders and folder != Path()
    names = [Path(path).name for path in paths] if together else paths
    rest = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + rest + (f" in {folder}" if together else "")


def _verb(files: Sequence[CaptionFile], one: str, several: str) -> str:
    return one if len(files) == 1 else several
