"""Files of tuples, as `reelscore parse --format tuples` writes them: one JSON object a line."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import get_args

import msgspec

from reelscore.data.checks import Problems
from reelscore.errors import DataError, check_choice
from reelscore.report.tuples import Roles, TupleKind, Tuples


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    """A line of a file."""

    item: str | int
    subject: str | None = None
    verb: str | None = None
    object: str | None = None
    location: str | None = None
    recipient: str | None = None
    kind: TupleKind | None = None
    failed: bool = False


def read_tuples(path: str | os.PathLike[str], kind: TupleKind = "text") -> Tuples:
    """Read a file of tuples.

    Args:
        path: The file, one JSON object a line.
        kind: Which lines to take: those of words or those of senses; a line without a kind is one
            of words.

    Raises:
        DataError: If the file cannot be read, a line is not of this form, or none is of the kind.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "tuples.jsonl")
    ...     _ = path.write_text('{"item": "v1", "subject": "man", "verb": "run"}')
    ...     read_tuples(path).by_item
    {'v1': [Roles(subject='man', verb='run', object=None, location=None, recipient=None)]}
    """
    check_choice("kind of tuples", kind, get_args(TupleKind))
    name = os.fspath(path)
    try:
        lines = Path(path).read_bytes().split(b"\n")
    except OSError as error:
        raise DataError(f"{name}: cannot be read: {error.strerror}.") from error
    problems = Problems(name)
    decoder = msgspec.json.Decoder(_Line)
    by_item: dict[str, list[Roles]] = {}
    failed = set()
    others: set[str] = set()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = decoder.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            problems.add(f"{name}:{number}: is no tuple: {error}.")
            continue
        item = str(record.item)
        own = by_item.setdefault(item, [])
        if record.failed:
            failed.add(item)
        elif (record.kind or "text") == kind:
            own.append(Roles(*(getattr(record, role) for role in Roles._fields)))
        else:
            others.add(str(record.kind))
    problems.raise_if_any()
    if not any(by_item.values()):
        remedy = f"; it has those of kind {', '.join(sorted(others))}" if others else ""
        raise DataError(f"{name}: holds no tuples of kind {kind}{remedy}.")
    return Tuples(by_item, frozenset(failed), kind)


def of_items(tuples: Tuples, items: Iterable[str]) -> Tuples:
    """Take the tuples of some items; those without tuples are left out."""
    wanted = list(items)
    own = {item: tuples.by_item[item] for item in wanted if item in tuples.by_item}
    return replace(tuples, by_item=own, failed=tuples.failed & set(wanted))
