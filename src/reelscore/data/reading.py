"""Read candidates and references from files of any known format."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from reelscore.data.collecting import add_candidates, add_references
from reelscore.data.formats import LINES, detect_format, get_format
from reelscore.data.problems import Problems
from reelscore.data.source import Source
from reelscore.errors import DataError

PathLike = str | os.PathLike[str]


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
    candidates: dict[str, str] = {}
    problems = Problems(os.fspath(path))
    with Source(path) as source:
        reader = get_format(format or detect_format(source))
        records = reader.read(source, problems)
        count = add_candidates(records, candidates, partial(reader.place, source.path), problems)
    _raise_if_unusable(source.path, count, problems)
    problems.raise_if_any()
    return candidates


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
    files: Sequence[PathLike] = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    if not files:
        raise DataError("No reference files were given; at least one is needed.")
    references: dict[str, list[str]] = {}
    problems = Problems(os.fspath(files[0]) if len(files) == 1 else f"{len(files)} files")
    lengths: dict[str, int] = {}
    for path in files:
        with Source(path) as source:
            name = format or detect_format(source)
            reader = get_format(name)
            records = reader.read(source, problems)
            place = partial(reader.place, source.path)
            with _collector_paused():
                count = add_references(records, references, place, problems)
        _raise_if_unusable(source.path, count, problems)
        if name == LINES:
            lengths[source.path] = count
    problems.raise_if_any()
    _check_lengths(lengths)
    return references


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
