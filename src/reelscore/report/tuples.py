"""Tuples of captions: who does what to whom, and where, one JSON object a line.

``{"item": "clip7", "subject": "someone", "verb": "look up", "object": null, "location": "bedroom",
"kind": "text"}``; several lines of an item are allowed. ``kind`` is ``text`` for words and
``sense`` for WordNet senses. An item with a caption in which no verb was found has a line with
``"failed": true`` alone; its labels are found by the words of the caption. `reelscore parse
--format tuples` writes such a file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import msgspec

from reelscore.data.checks import Problems
from reelscore.errors import DataError, check_choice
from reelscore.text.parser.roles import Filler, Sentence

TupleKind = Literal["text", "sense"]
ROLES = ("subject", "verb", "object", "location")


class Roles(NamedTuple):
    """What fills the roles of one clause; ``None`` where nothing does."""

    subject: str | None = None
    verb: str | None = None
    object: str | None = None
    location: str | None = None


@dataclass(frozen=True)
class Tuples:
    """The tuples of items.

    Attributes:
        by_item: The clauses of each item, in the order of the file.
        failed: Items with a caption in which the parser found no verb.
        kind: Words or senses.

    >>> tuples = Tuples({"v1": [Roles("man", "look up", None, "bedroom")]}, frozenset({"v2"}))
    >>> for line in tuples.lines():
    ...     print(line)
    {"item":"v1","subject":"man","verb":"look up","object":null,"location":"bedroom","kind":"text"}
    {"item":"v2","failed":true}
    """

    by_item: Mapping[str, Sequence[Roles]]
    failed: frozenset[str] = field(default_factory=frozenset)
    kind: TupleKind = "text"

    def lines(self) -> Iterator[str]:
        """Spell the lines of a file."""
        for item in dict.fromkeys([*self.by_item, *sorted(self.failed)]):
            for roles in self.by_item.get(item, ()):
                record = {"item": item, **roles._asdict(), "kind": self.kind}
                yield msgspec.json.encode(record).decode()
            if item in self.failed:
                yield msgspec.json.encode({"item": item, "failed": True}).decode()

    def of_items(self, items: Iterable[str]) -> Tuples:
        """Take the tuples of some items.

        Args:
            items: Their ids; those without tuples are left out.
        """
        wanted = list(items)
        own = {item: self.by_item[item] for item in wanted if item in self.by_item}
        return replace(self, by_item=own, failed=self.failed & set(wanted))

    @classmethod
    def of(cls, parsed: Mapping[str, Sequence[Sentence]], kind: TupleKind = "text") -> Tuples:
        """Take the clauses of parsed captions.

        Args:
            parsed: As `reelscore.text.parse` gives it for items.
            kind: Words or senses.
        """
        check_choice("kind of tuples", kind, get_args(TupleKind))
        by_item: dict[str, list[Roles]] = {}
        failed = []
        for item, sentences in parsed.items():
            clauses = [clause for sentence in sentences for clause in sentence.clauses]
            spelled = [Roles(*(_spelled(own, kind) for own in clause.roles)) for clause in clauses]
            by_item[item] = [roles for roles in spelled if any(roles)]
            if any(not any(own.verb for own in sentence.clauses) for sentence in sentences):
                failed.append(item)
        return cls(by_item, frozenset(failed), kind)


def _spelled(filler: Filler | None, kind: TupleKind) -> str | None:
    if filler is None:
        return None
    if kind == "sense":
        return filler.sense.name if filler.sense else None
    return filler.lemma.replace("_", " ")


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    """A line of a file."""

    item: str | int
    subject: str | None = None
    verb: str | None = None
    object: str | None = None
    location: str | None = None
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
    {'v1': [Roles(subject='man', verb='run', object=None, location=None)]}
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
            own.append(Roles(record.subject, record.verb, record.object, record.location))
        else:
            others.add(str(record.kind))
    problems.raise_if_any()
    if not any(by_item.values()):
        remedy = f"; it has those of kind {', '.join(sorted(others))}" if others else ""
        raise DataError(f"{name}: holds no tuples of kind {kind}{remedy}.")
    return Tuples(by_item, frozenset(failed), kind)
