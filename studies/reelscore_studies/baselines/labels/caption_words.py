"""Labels for captioners: what classifiers are trained to see, read from the captions.

As in the movie description paper (Rohrbach et al., 2017): verbs, objects and places that occur
often enough, each group to be trained by itself.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import msgspec

from reelscore.errors import MissingExtraError, check_choice
from reelscore.text.parser.lexicon import Lexicon, Sense
from reelscore.text.parser.roles import Filler, Sentence
from reelscore.text.parser.sentences import parse

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

LabelKind = Literal["text", "sense"]
Group = Literal["verbs", "objects", "places"]
GROUPS: tuple[Group, ...] = get_args(Group)
_PLACE_KINDS = ("structure", "area", "room", "geographical_area", "way", "body_of_water", "land")
_OBJECT_FILES = frozenset(
    f"noun.{name}" for name in ("artifact", "animal", "food", "plant", "body", "person")
)


@dataclass(frozen=True, slots=True)
class Label:
    """A label, the group it belongs to, and in how many items it occurs."""

    group: Group
    name: str
    items: int


@dataclass(frozen=True)
class LabelTable:
    """Which labels each item has.

    Attributes:
        items: The items.
        labels: The labels, by group and then by frequency.
        numbers: For each item, the numbers of the labels that it has, ascending.
        dropped: Frequent words that belong to no group that was asked for.
        failed: Items with a caption without a verb, whose labels were found by their words.
    """

    items: list[str]
    labels: list[Label]
    numbers: list[list[int]]
    dropped: dict[str, int]
    failed: list[str]

    def to_dict(self) -> dict[str, object]:
        """Return the labels, and for each item the numbers of those it has, as plain data."""
        return {
            "labels": [msgspec.to_builtins(label) for label in self.labels],
            "items": dict(zip(self.items, self.numbers, strict=True)),
            "dropped": self.dropped,
            "failed": self.failed,
        }

    @property
    def matrix(self) -> csr_matrix:
        """Items × labels, 1 where an item has a label, as a sparse matrix of scipy."""
        try:
            from scipy.sparse import csr_matrix
        except ModuleNotFoundError:
            raise MissingExtraError.of("A sparse matrix needs scipy", "scipy") from None
        rows = [row for row, numbers in enumerate(self.numbers) for _ in numbers]
        columns = [number for numbers in self.numbers for number in numbers]
        shape = (len(self.items), len(self.labels))
        return csr_matrix(([1] * len(rows), (rows, columns)), shape=shape, dtype="uint8")


def labels(
    captions: Mapping[str, str | Sequence[str]] | Mapping[str, Sequence[Sentence]],
    *,
    kind: LabelKind = "text",
    minimum: int = 30,
    groups: Collection[str] = GROUPS,
    places: Collection[str] | None = None,
    objects: Collection[str] | None = None,
    senses: str = "first",
) -> LabelTable:
    """Find the labels of items by their captions."""
    check_choice("kind of labels", kind, get_args(LabelKind))
    for group in groups:
        check_choice("group of labels", group, GROUPS)
    parsed = _parsed(captions, senses)
    uses = {item: list(_uses(sentences, kind)) for item, sentences in parsed.items()}
    in_items: Counter[tuple[bool, str]] = Counter()
    as_place: Counter[str] = Counter()
    meanings: dict[str, Sense | None] = {}
    for item_uses in uses.values():
        in_items.update({(role == "verb", name) for role, name, _ in item_uses})
        for role, name, sense in item_uses:
            if role != "verb":
                as_place[name] += 1 if role == "location" else -1
                meanings.setdefault(name, sense)

    grouping = _Grouping(meanings, as_place, places, objects)
    chosen: list[Label] = []
    dropped: dict[str, int] = {}
    for (is_verb, name), count in in_items.most_common():
        if count < minimum:
            continue
        own_group: Group | None = "verbs" if is_verb else grouping.group(name)
        if own_group in groups and own_group is not None:
            chosen.append(Label(own_group, name, count))
        else:
            dropped[name] = count
    chosen.sort(key=lambda label: (GROUPS.index(label.group), -label.items, label.name))
    return _table(parsed, uses, chosen, dropped)


def _parsed(
    captions: Mapping[str, str | Sequence[str]] | Mapping[str, Sequence[Sentence]], senses: str
) -> dict[str, list[Sentence]]:
    texts: dict[str, str | Sequence[str]] = {}
    sentences: dict[str, list[Sentence]] = {}
    for item, values in captions.items():
        if isinstance(values, str):
            texts[item] = values
            continue
        parts = list(values)
        sentences[item] = [part for part in parts if isinstance(part, Sentence)]
        if len(sentences[item]) < len(parts):
            texts[item] = [part for part in parts if isinstance(part, str)]
    if texts:
        sentences |= parse(texts, senses=senses)
    return {item: sentences[item] for item in captions}


def _uses(
    sentences: Sequence[Sentence], kind: LabelKind
) -> Iterator[tuple[str, str, Sense | None]]:
    """Role, label and sense of every word that fills a role."""
    for clause in (clause for sentence in sentences for clause in sentence.clauses):
        for role, filler in clause.filled.items():
            name = _name(filler, kind)
            if name:
                yield role, name, filler.sense


def _name(filler: Filler, kind: LabelKind) -> str:
    if kind == "sense":
        return filler.sense.name if filler.sense else ""
    return filler.lemma


class _Grouping:
    """Says which nouns are places and which are objects; none is both."""

    def __init__(
        self,
        meanings: Mapping[str, Sense | None],
        as_place: Mapping[str, int],
        places: Collection[str] | None,
        objects: Collection[str] | None,
    ) -> None:
        self._meanings, self._as_place = meanings, as_place
        self._places = None if places is None else frozenset(map(_plain, places))
        self._objects = None if objects is None else frozenset(map(_plain, objects))

    def group(self, name: str) -> Group | None:
        if self._is_place(name):
            return "places"
        return "objects" if self._is_object(name) else None

    def _is_place(self, name: str) -> bool:
        if self._places is not None:
            return _plain(name) in self._places
        sense = self._meanings[name]
        if self._as_place[name] > 0:  # more often a location than anything else
            return True
        return sense is not None and Lexicon.load().is_a(sense, *_PLACE_KINDS)

    def _is_object(self, name: str) -> bool:
        word = _plain(name)
        if self._objects is not None:
            return word in self._objects or word.split("_")[-1] in self._objects
        sense = self._meanings[name]
        return sense is not None and Lexicon.load().kind(sense) in _OBJECT_FILES


def _plain(name: str) -> str:
    """A label without sense, in the form of the lexicon."""
    return name.strip().lower().replace(" ", "_").partition(".")[0]


def _table(
    parsed: Mapping[str, Sequence[Sentence]],
    uses: Mapping[str, Sequence[tuple[str, str, Sense | None]]],
    chosen: Sequence[Label],
    dropped: dict[str, int],
) -> LabelTable:
    columns: defaultdict[tuple[bool, str], list[int]] = defaultdict(list)
    for column, label in enumerate(chosen):
        columns[label.group == "verbs", label.name].append(column)
    numbers, failed = [], []
    for item, sentences in parsed.items():
        hits = {
            column
            for role, name, _ in uses[item]
            for column in columns.get((role == "verb", name), ())
        }
        unread = [s for s in sentences if not any(clause.verb for clause in s.clauses)]
        if unread:
            failed.append(item)
        for sentence in unread:  # no label is lost where the parser failed
            words = {token.lemma for token in sentence.tokens}
            hits |= {
                column
                for column, label in enumerate(chosen)
                if words.issuperset(_plain(label.name).split("_"))
            }
        numbers.append(sorted(hits))
    return LabelTable(list(parsed), list(chosen), numbers, dropped, failed)
