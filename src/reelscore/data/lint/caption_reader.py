"""Captions to check, from Python or from files; what cannot be used is counted, not refused."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count

from msgspec.structs import replace

from reelscore.data.captions.caption_files import (
    Records,
    References,
    caption_file,
    is_in_order,
    reading_explained,
    references_of_files,
)
from reelscore.data.captions.inputs import OtherIds, paths_in, references_by_item, with_ids
from reelscore.data.captions.python_captions import CaptionsLike, python_captions, texts_in
from reelscore.data.checks import Problems, id_fault, id_text, text_fault
from reelscore.data.file_names import PathLike
from reelscore.data.formats import LINES, TIMED, get_format
from reelscore.data.lint.findings import CheckedCaptions
from reelscore.data.reading import Reading, Request, Role
from reelscore.data.source import Source
from reelscore.errors import DataError


def captions_of(
    captions: CaptionsLike,
    references: CaptionsLike | None = None,
    *,
    reading: Reading | None = None,
) -> CheckedCaptions:
    """Take captions from Python or from a file.

    >>> captions_of({"v1": ["a man", "a person"]}).items
    ['v1', 'v1']
    """
    if not isinstance(captions, str | os.PathLike):
        return _of_python(captions, references, reading or Reading())
    reading = reading or Reading()
    truth: References | None = None
    if references is not None:
        truth = _references(references, reading)
    try:
        return _of_file(captions, truth, reading)
    except DataError:
        timed = None if reading.format else _timed_captions(captions, reading)
        if timed is None:
            raise
    return CheckedCaptions(*timed, truth, name=os.fspath(captions), timed=True)


def _of_python(
    captions: CaptionsLike, references: CaptionsLike | None, reading: Reading
) -> CheckedCaptions:
    sides = [python_captions(captions)]
    truth: References | None = None
    others = []
    if paths := paths_in(references, texts=sides[0].labels is not None):
        truth = _references(paths, reading)
        others = [OtherIds("references", list(truth))]
    elif references is not None:
        sides.append(python_captions(references, "references"))
    own, *rest = with_ids(sides, others)
    values = own.values("references" if own.only_references else "candidates")
    problems = Problems("captions")
    records = zip(count(1), own.labels or (), map(texts_in, values))
    items, texts = _usable(records, own.place, problems)
    if not texts:
        problems.raise_if_any()
        raise DataError("There are no captions; at least one is needed.")
    if rest:
        truth = rest[0].references()
    elif truth is None and own.has_references and not own.only_references:
        truth = own.references()
    return CheckedCaptions(items, texts, truth, problems)


def _references(references: CaptionsLike, reading: Reading) -> References:
    paths = paths_in(references, texts=True)
    return _references_of_files(paths, reading) if paths else references_by_item(references)


def _of_file(path: PathLike, references: References | None, reading: Reading) -> CheckedCaptions:
    with Source(path, reading.encoding) as source:
        problems = Problems(source.path)
        file = caption_file(source, reading)
        if file.format in TIMED and not reading.format:
            raise DataError(f"{source.path}: the captions are timed.")
        reader = get_format(file.format)
        with reading_explained([file]):
            role: Role = "references" if file.are_references else "candidates"
            request = Request(role, problems, reading)
            place = partial(reader.place, source.path)
            items, texts = _usable(reader.read(source, request), place, problems)
            if len(texts) <= problems.count:  # this is no file of captions
                problems.raise_if_any()
                raise DataError(f"{source.path}: the file holds no captions.")
    if file.has_references and not file.are_references and references is None:
        references = references_of_files(path, reading)[0]
    in_order = is_in_order(replace(file, read_as=request.read_as))
    read_as = request.read_as if file.format != LINES else ""
    return CheckedCaptions(
        items, texts, references, problems, source.path, read_as=read_as, in_order=in_order
    )


def _usable(
    records: Records, place: Callable[[int], str], problems: Problems
) -> tuple[list[str], list[str]]:
    """Take ids and captions out of records, and count the records that lack either."""
    items: list[str] = []
    texts: list[str] = []
    for number, item, value in records:
        own = value if isinstance(value, list | tuple) else [value]
        fault = id_fault(item)
        fault = f"the item id {fault}" if fault else _captions_fault(item, own)
        if fault:
            problems.add(f"{place(number)}: {fault}.")
            continue
        items += [id_text(item)] * len(own)
        texts += own
    return items, texts


def _captions_fault(item: object, texts: Sequence[object]) -> str | None:
    fault = next(filter(None, map(text_fault, texts)), None) if texts else "is missing"
    return f"the caption of item {item!r} {fault}" if fault else None


def _references_of_files(paths: Sequence[PathLike], reading: Reading) -> References:
    try:
        references, files = references_of_files(paths, reading)
        if reading.format or not any(file.format in TIMED for file in files):
            return references
        raise DataError(f"{files[0].path}: the captions are timed.")
    except DataError:
        timed = [None if reading.format else _timed_captions(path, reading) for path in paths]
        if None in timed:
            raise
    references = {}
    for items, texts in filter(None, timed):
        for item, text in zip(items, texts, strict=True):
            references.setdefault(item, []).append(text)
    return references


def _timed_captions(path: PathLike, reading: Reading) -> tuple[list[str], list[str]] | None:
    """The video and the sentence of each caption; ``None`` if the file holds no stories."""
    from reelscore.data.stories import StoryPolicies
    from reelscore.data.story_files import stories_in

    tolerant = StoryPolicies(reversed_segments="swap", negative="keep", empty="zero")
    try:
        with Source(path, reading.encoding) as source:
            stories = stories_in(source, tolerant)
    except DataError:
        return None
    pairs = [(video, text) for video, story in stories.items() for text in story.sentences]
    return [video for video, _ in pairs], [text for _, text in pairs]
