"""Candidates and references from files of any known format, every id and caption checked."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

from reelscore.data.checks import (
    Problems,
    candidate_fault,
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
