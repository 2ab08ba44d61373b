"""Tuples of captions: who does what to whom, and where, one JSON object a line.

``{"item": "clip7", "subject": "someone", "verb": "look up", "object": null, "location": "bedroom",
"kind": "text"}``; several lines of an item are allowed, and ``recipient`` is there if somebody is
given something. ``kind`` is ``text`` for words and
``sense`` for WordNet senses. An item with a caption in which no verb was found has a line with
``"failed": true`` alone; its labels are found by the words of the caption. `reelscore parse
--format tuples` writes such a file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, get_args

import msgspec

from reelscore.errors import check_choice
from reelscore.text.parser.roles import Clause, Filler, Sentence

TupleKind = Literal["text", "sense"]
KINDS = get_args(TupleKind)


class Roles(NamedTuple):
    """What fills the roles of one clause; ``None`` where nothing does."""

    subject: str | None = None
    verb: str | None = None
    object: str | None = None
    location: str | None = None
    recipient: str | None = None


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
                if roles.recipient is None:
                    del record["recipient"]
                yield msgspec.json.encode(record).decode()
            if item in self.failed:
                yield msgspec.json.encode({"item": item, "failed": True}).decode()

    @classmethod
    def of(cls, parsed: Mapping[str, Sequence[Sentence]], kind: TupleKind = "text") -> Tuples:
        """Take the clauses of parsed captions.

        Args:
            parsed: As `reelscore.text.parse` gives it for items.
            kind: Words or senses.
        """
        check_choice("kind of tuples", kind, KINDS)
        by_item: dict[str, list[Roles]] = {}
        failed = []
        for item, sentences in parsed.items():
            clauses = [clause for sentence in sentences for clause in sentence.clauses]
            spelled = [_roles(clause, kind) for clause in clauses]
            by_item[item] = [roles for roles in spelled if any(roles)]
            if any(not any(own.verb for own in sentence.clauses) for sentence in sentences):
                failed.append(item)
        return cls(by_item, frozenset(failed), kind)


def _roles(clause: Clause, kind: TupleKind) -> Roles:
    return Roles(*(_spelled(own, kind) for own in (*clause.roles, clause.recipient)))


def _spelled(filler: Filler | None, kind: TupleKind) -> str | None:
    if filler is None:
        return None
    if kind == "sense":
        return filler.sense.name if filler.sense else None
    return filler.lemma.replace("_", " ")
