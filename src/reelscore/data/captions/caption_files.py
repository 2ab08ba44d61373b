"""Candidates and references from files of any known format, every id and caption checked."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec import structs

from reelscore.data.checks import (
    Problems,
    candidate_fault,
    id_fault,
    references_fault,
    text_fault,
)
from reelscore.data.file_names import PathLike, expanded
from reelscore.data.formats import LINES, TIMED, Format, detect_format, get_format
from reelscore.data.formats.text_layouts import Lines
from reelscore.data.reading import IN_ORDER, Reading, Request, Role, listed_splits
from reelscore.data.source import Source
from reelscore.errors import DataError

Candidates = Mapping[str, str]
References = Mapping[str, Sequence[str]]
Records = Iterable[tuple[int, Any, Any]]

_ONE_EACH = "a system gives one caption per item (are these references?)"


def read_candidates(
    path: PathLike, *, format: str | None = None, **options: str | None
) -> dict[str, str]:
    r"""Read the captions a system gives, one per item.

    Args:
        path: The file; it may be compressed (gzip, xz, Zstandard); ``-`` is standard input.
        format: One of `reelscore.data.formats.FORMATS`. By default the content tells.
        options: Other attributes of `reelscore.data.Reading`: ``id_field``,
            ``caption_field``, ``header``, ``encoding``, ``split``.

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
    return candidates_of_file(path, Reading(format, **options))[0]


def read_references(
    paths: PathLike | Sequence[PathLike], *, format: str | None = None, **options: str | None
) -> dict[str, list[str]]:
    r"""Read the human captions of each item, from one file or several.

    Args:
        paths: One file, or several: one per annotator, or any other split. A folder stands for
            all files in it, and a pattern such as ``refs/*.txt`` for those that match.
        format: The format of all files; by default each file's content tells.
        options: Other attributes of `reelscore.data.Reading`, as in `read_candidates`,
            and ``reference_field``.

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
    return references_in(paths, Reading(format, **options))


def references_in(
    paths: PathLike | Sequence[PathLike], reading: Reading | None = None
) -> dict[str, list[str]]:
    """Read references as `read_references` does."""
    return references_of_files(paths, reading)[0]


class CaptionFile(msgspec.Struct, frozen=True):
    """How a file was read."""

    path: str  # the file, as the user wrote it
    format: str  # the format it was read as
    has_references: bool  # whether a field of its records has a name that says it holds references
    read_as: str = ""  # the format in words, where a reader of the scores has to know it
    # the part of the data set that each item belongs to, where the file says it
    splits: Mapping[str, str] = MappingProxyType({})
    may_be_candidates: bool = False  # whether a field of its records may hold a system's captions
    are_candidates: bool = False  # whether a field has a name that says so, and none of references

    @property
    def are_references(self) -> bool:
        """Whether captions have the names of references, and there are no others."""
        return self.has_references and not self.may_be_candidates


def candidates_of_file(
    path: PathLike, reading: Reading | None = None
) -> tuple[dict[str, str], CaptionFile]:
    """Read candidates as `read_candidates` does, and say how."""
    candidates: dict[str, str] = {}
    reading = reading or Reading()
    with Source(path, reading.encoding) as source:
        problems = Problems(source.path)
        file = caption_file(source, reading)
        with reading_explained([file]):
            reader = get_format(file.format)
            request = Request("candidates", problems, reading)
            texts, records = _captions(reader, source, request)
            candidates.update(_numbered(texts))
            place = partial(reader.place, source.path)
            count = len(texts) + add_candidates(records, candidates, place, problems)
            _raise_if_unusable(source.path, count, request)
            problems.raise_if_any()
    return candidates, _as_read(file, path, request)


def references_of_files(
    paths: PathLike | Sequence[PathLike],
    reading: Reading | None = None,
    *,
    or_candidates: bool = False,
    of_systems: bool = False,
    blind: bool = False,
) -> tuple[dict[str, list[str]], list[CaptionFile]]:
    """Read references as `read_references` does, and say how.

    Several candidates an item, `of_systems`, are read alike; so are those of a file that has no
    references where candidates will do, too.
    """
    names = expanded([paths] if isinstance(paths, (str, os.PathLike)) else paths)
    if not names:
        raise DataError("No reference files were given; at least one is needed.")
    references: dict[str, list[str]] = {}
    reading = reading or Reading()
    problems = Problems(os.fspath(names[0]) if len(names) == 1 else f"{len(names)} files")
    files: list[CaptionFile] = []
    lengths: dict[str, int] = {}
    for path in names:
        with Source(path, reading.encoding) as source:
            file = caption_file(source, reading)
            with reading_explained([file]):
                reader = get_format(file.format)
                others = file.are_candidates if or_candidates else of_systems
                others = others and not file.are_references
                role: Role = "candidates" if others else "references"
                request = Request(role, problems, reading, blind=blind)
                place = partial(reader.place, source.path)
                with _collector_paused():
                    texts, records = _captions(reader, source, request)
                    _add_lines(texts, references, all_are_lines=len(lengths) == len(files))
                    count = len(texts) + add_references(records, references, place, problems)
                _raise_if_unusable(source.path, count, request)
        files.append(_as_read(file, path, request))
        if is_in_order(files[-1]):
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
        hints = [how, *_hints(files, str(error))]
        raise DataError(f"{error}{between}{between.join(hints)}") from error


def _hints(files: Sequence[CaptionFile], error: str) -> Iterator[str]:
    """What may be behind an error, by how the files were read."""
    if "invalid UTF-8" in error:
        yield 'If it is written in another encoding, name that: encoding="cp1252".'
    if _ONE_EACH in error:
        yield (
            "Several captions of a model for each item: 'reelscore score --samples'; the sentences "
            "of one text: join them."
        )
    for file in files:
        if len(set(file.splits.values())) > 1:
            parts = listed_splits(file.splits.values())
            yield f'{file.path} has {parts}; choose: split="NAME".'
    if any(file.format in TIMED for file in files):
        yield "Items are segments; to score captions by their times, use 'reelscore stories'."


def caption_file(source: Source, reading: Reading) -> CaptionFile:
    """Return how a file is to be read, by its first bytes unless a format is given."""
    name = reading.format or detect_format(source, reading)
    names, fields = get_format(name).fields(source, reading), reading.fields
    has_references = bool(fields.role_fields(names, "references"))
    return CaptionFile(
        source.path,
        name,
        has_references,
        may_be_candidates=bool(fields.caption_fields(names, "candidates")),
        are_candidates=not has_references and bool(fields.role_fields(names, "candidates")),
    )


def holds_both(path: PathLike, reading: Reading) -> bool:
    """Return whether a file holds candidates beside references, by the names of its fields."""
    with Source(path, reading.encoding) as source:
        file = caption_file(source, reading)
    return file.has_references and file.may_be_candidates


def is_in_order(file: CaptionFile) -> bool:
    """Return whether the items of a file have no ids, only an order."""
    return file.format == LINES or file.read_as.endswith(IN_ORDER)


def _as_read(file: CaptionFile, path: PathLike, request: Request) -> CaptionFile:
    return structs.replace(
        file, path=os.fspath(path), read_as=request.read_as, splits=request.taken()
    )


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


def _raise_if_unusable(path: str, count: int, request: Request) -> None:
    request.check_splits(path)
    if count == 0:
        request.problems.raise_if_any()
        raise DataError(f"{path}: the file holds no captions; at least one is needed.")


def _check_lengths(lengths: dict[str, int]) -> None:
    if len(set(lengths.values())) > 1:
        listing = ", ".join(f"{path} has {length:,}" for path, length in lengths.items())
        raise DataError(
            f"Files of plain lines or lists must have an entry per item, hence the same length: "
            f"{listing}."
        )


# Records into captions by item


def add_candidates(
    records: Records, candidates: dict[str, str], place: Callable[[int], str], problems: Problems
) -> int:
    """Add the one caption of each item, and count the records."""
    count = 0
    for number, item, caption in records:
        count += 1
        id_is_good = type(item) is int
        if id_is_good:
            item = str(item)
        if type(caption) is list and len(caption) == 1:
            caption = caption[0]
        if (not id_is_good and id_fault(item)) or text_fault(caption) or item in candidates:
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
            item, fault = str(item), None
        else:
            fault = id_fault(item)
        texts = captions if type(captions) is list else [captions]
        if fault:
            fault = f"the item id {fault}"
        elif type(captions) is not str or text_fault(captions):
            fault = references_fault(item, texts)
        if fault:
            problems.add(f"{place(number)}: {fault}.")
        elif item in references:
            references[item].extend(texts)
        else:
            references[item] = texts
    return count


def _captions(reader: Format, source: Source, request: Request) -> tuple[list[str], Records]:
    """Return the captions that need no further look, in order, and the records of all others."""
    if isinstance(reader, Lines):
        return reader.captions(source, request)
    return [], reader.read(source, request)


def _numbered(texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Pair lines with their numbers, which are their items."""
    return zip(map(str, range(1, len(texts) + 1)), texts, strict=True)


def _add_lines(
    texts: Sequence[str], references: dict[str, list[str]], *, all_are_lines: bool
) -> None:
    """Append the first lines of a file to the references so far."""
    if all_are_lines and references:
        for own, text in zip(references.values(), texts, strict=False):
            own.append(text)
    else:
        for item, text in _numbered(texts):
            references.setdefault(item, []).append(text)


def _reason_for_refusal(item: object, caption: object) -> str:
    if fault := id_fault(item):
        return f"the item id {fault}"
    if type(caption) is list:
        count = f"{len(caption)} captions" if caption else "no caption"
        return f"item {item!r} has {count}; {_ONE_EACH}"
    return candidate_fault(item, caption) or f"item {item!r} has a candidate already; {_ONE_EACH}"
