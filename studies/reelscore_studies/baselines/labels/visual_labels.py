"""Visual labels: which words of the captions classifiers are to see, and in which items.

As in section 4.2.1 of the movie description paper. Labels are words (or senses) that fill a role in
at least so many items. They are divided into groups, and each group sees features of its own:

- ``verb``: what fills the verb's role;
- ``place``, ``object``: other labels that are in a list of scene classes, or of a detector's
  classes; a label may be in both. Without a list, a label is of the role that it mostly fills:
  location or object;
- ``other``: labels besides verbs that no other group has;
- ``all``: every label, whatever role it fills, in one group.

What is in no group is dropped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reelscore.errors import DataError, check_choice
from reelscore.report.tuples import Roles, Tuples
from reelscore.text.parser.roles import ROLES
from reelscore.text.tokens import tokenize

GROUP_NAMES = ("verb", "place", "object", "other", "all")
BoolArray = NDArray[np.bool_]


class VisualLabel(NamedTuple):
    """A label, the group it is in, and in how many training items it occurs."""

    group: str
    name: str
    items: int


@dataclass(frozen=True)
class LabelMatrix:
    """Which labels items have.

    Attributes:
        items: The items, one for each row.
        labels: The labels, one for each column.
        values: Whether an item has a label.
        any_role: Whether an item has the label's word in any role, as before labels are grouped.
    """

    items: tuple[str, ...]
    labels: tuple[VisualLabel, ...]
    values: BoolArray
    any_role: BoolArray

    def group_items(self, group: str) -> BoolArray:
        """Return which items have some label of a group; negatives are taken from these."""
        columns = [k for k, label in enumerate(self.labels) if label.group == group]
        return np.asarray(self.values[:, columns].any(axis=1))


def group_name(text: str) -> str:
    """Return the name of a group, which may be written in the plural.

    >>> group_name("verbs"), group_name("all")
    ('verb', 'all')
    """
    name = text.removesuffix("s")
    check_choice("group of labels", name, GROUP_NAMES)
    return name


def find_labels(
    tuples: Tuples,
    groups: Iterable[str] = ("verb", "object", "place"),
    *,
    minimum: int = 30,
    places: Collection[str] | None = None,
    objects: Collection[str] | None = None,
) -> list[VisualLabel]:
    """Find the labels in the tuples of training items; by group, the commonest first."""
    wanted = list(dict.fromkeys(groups))
    for group in wanted:
        check_choice("group of labels", group, GROUP_NAMES)
    counts = _count(tuples)
    belongs = _membership(wanted, counts, places, objects)
    labels = []
    for group in wanted:
        of_group = counts["verb" if group == "verb" else "any" if group == "all" else "noun"]
        common = [(name, count) for name, count in of_group.most_common() if count >= minimum]
        own = [VisualLabel(group, name, count) for name, count in common if belongs[group](name)]
        if not own:
            raise DataError(
                f"No label of group {group!r} occurs in at least {minimum} items. Lower the "
                "minimum, check the list of its words, or leave the group out."
            )
        labels += own
    return labels


def _count(tuples: Tuples) -> dict[str, Counter[str]]:
    """In how many items each word fills each role; the verb's, any other, or any."""
    counts: dict[str, Counter[str]] = {key: Counter() for key in (*ROLES, "noun", "any")}
    for clauses in tuples.by_item.values():
        filled = {(role, word) for own in clauses for role, word in _fillers(own)}
        for role in ROLES:
            counts[role].update({word for own_role, word in filled if own_role == role})
        counts["noun"].update({word for role, word in filled if role != "verb"})
        counts["any"].update({word for _, word in filled})
    return counts


def _fillers(roles: Roles) -> list[tuple[str, str]]:
    return [(role, word) for role, word in roles._asdict().items() if word]


def _membership(
    groups: Sequence[str],
    counts: Mapping[str, Counter[str]],
    places: Collection[str] | None,
    objects: Collection[str] | None,
) -> dict[str, Callable[[str], bool]]:
    """For each group, whether a label belongs to it."""
    scene_classes = None if places is None else set(map(plain_label, places))
    object_classes = None if objects is None else set(map(plain_label, objects))

    def mostly(name: str) -> str:
        return max(("location", "object", "subject"), key=lambda role: counts[role][name])

    def is_place(name: str) -> bool:
        if scene_classes is None:
            return mostly(name) == "location"
        return plain_label(name) in scene_classes

    def is_object(name: str) -> bool:
        if object_classes is None:
            return mostly(name) == "object"
        plain = plain_label(name)
        return plain in object_classes or plain.split(" ")[-1] in object_classes

    def is_other(name: str) -> bool:
        return not ("place" in groups and is_place(name)) and not (
            "object" in groups and is_object(name)
        )

    return {
        "verb": lambda name: True,
        "all": lambda name: True,
        "place": is_place,
        "object": is_object,
        "other": is_other,
    }


def plain_label(name: str) -> str:
    """Return a label without the number of its sense, in small letters and with blanks.

    >>> plain_label("Coffee_table.n.1")
    'coffee table'
    """
    return name.strip().lower().partition(".")[0].replace("_", " ")


def label_matrix(
    items: Sequence[str],
    captions: Mapping[str, str | Sequence[str]],
    tuples: Tuples,
    labels: Sequence[VisualLabel],
) -> LabelMatrix:
    """Return which items have which labels.

    An item on whose caption the parser failed has every label whose words its captions contain, as
    whole tokens.
    """
    unknown = [item for item in items if item not in tuples.by_item and item not in tuples.failed]
    if unknown:
        raise DataError(
            f"{len(unknown):,} items have no tuples (first: {unknown[0]!r}). Write them with "
            "'reelscore parse --format tuples'; one that could not be parsed is a line with "
            '"failed": true.'
        )
    columns: dict[str, list[int]] = {}
    for column, label in enumerate(labels):
        columns.setdefault(label.name, []).append(column)
    values = np.zeros((len(items), len(labels)), dtype=np.bool_)
    any_role = np.zeros_like(values)
    for row, item in enumerate(items):
        for role, word in (pair for own in tuples.by_item.get(item, ()) for pair in _fillers(own)):
            for column in columns.get(word, ()):
                any_role[row, column] = True
                group = labels[column].group
                if group == "all" or (group == "verb") == (role == "verb"):
                    values[row, column] = True
    words = [plain_label(label.name).split() for label in labels]
    failed = [row for row, item in enumerate(items) if item in tuples.failed]
    for row in failed:
        own_captions = captions.get(items[row], ())
        texts = [own_captions] if isinstance(own_captions, str) else list(own_captions)
        sentences = [set(tokens.split()) for tokens in tokenize(texts)]
        for column, needed in enumerate(words):
            if any(tokens.issuperset(needed) for tokens in sentences):
                values[row, column] = any_role[row, column] = True
    return LabelMatrix(tuple(items), tuple(labels), values, any_role)
