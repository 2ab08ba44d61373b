"""Ids of the same items that are written in different ways, and the rules that match them.

Ids are compared letter by letter. Where two files write them differently (``v7`` and
``clips/V007.mp4``), an error names the rule by which they would match, and ``match_ids=`` applies
it: a name out of `RULES`, or several with commas between them, applied in that order. Where only
the order of a file tells which caption is which, `ORDER` takes the first for the first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import methodcaller
from typing import TypeVar

import msgspec

from reelscore.data.checks import first_few
from reelscore.errors import DataError, check_choice

T = TypeVar("T")

# Compiled when they are first used: most runs match no ids.
_ENDING = r"(?<=.)\.[A-Za-z][A-Za-z0-9]{1,4}$"
_ZEROS = r"(?<!\d)0+(?=\d)"
_NUMBER = r"\d+(?=\D*$)"
_PREFIX = "prefix"
_FEW = 3  # numbers that may follow each other by chance
ORDER = "order"  # stands alone: captions and items by their places


def _basename(item: str) -> str:
    return re.sub(_ENDING, "", re.split(r"[/\\]", item)[-1])


def _without_zeros(item: str) -> str:
    return re.sub(_ZEROS, "", item)


def _last_number(item: str) -> str:
    number = re.search(_NUMBER, _basename(item))
    return _without_zeros(number[0]) if number else item


# What each rule compares, and how it is said; `prefix` depends on the ids of both sides.
RULES: dict[str, tuple[str, Callable[[str], str]]] = {
    "basename": ("without folders and file endings", _basename),
    "casefold": ("without regard to capital letters", str.casefold),
    "zeros": ("without leading zeros", _without_zeros),
    "strip": ("without blanks at their ends", str.strip),
    _PREFIX: ("without a common beginning", str),
    "number": ("by their last number", _last_number),
}
# Which rules are tried, the plainest first.
_TRIED = [
    *("basename", "casefold", "zeros", "strip", "prefix", "basename,casefold", "basename,zeros"),
    *("basename,prefix", "basename,casefold,zeros", "number"),
]


class MatchingRule(msgspec.Struct, frozen=True):
    """How ids have to be compared, and how many are the same then."""

    names: str  # what to pass as ``match_ids``
    words: str  # the same in words: "without folders and file endings"
    matches: int  # how many ids it matches


def matching_rule(ids: Iterable[str], others: Iterable[str]) -> MatchingRule | None:
    """Return how ids have to be compared for most of them to be the same.

    ``None`` if nothing helps.
    """
    ids, others = list(ids), list(others)
    alike = len({*ids} & {*others})  # as they are: a rule has to find more
    best = MatchingRule("", "", max(alike, min(len(ids), len(others)) // 2))
    for names in _TRIED:
        key = _key(names, ids, others)
        keys, other_keys = {key(item) for item in ids}, {key(item) for item in others}
        is_unique = len(keys) == len(ids) and len(other_keys) == len(others)
        matches = len(keys & other_keys)
        if is_unique and matches > best.matches and not counting_hint(keys, other_keys):
            best = MatchingRule(names, rule_words(names), matches)
    return best if best.names else None


def rule_hint(ids: Iterable[str], others: Iterable[str]) -> str:
    """Return a sentence that names the rule by which ids would match; nothing if there is none.

    >>> rule_hint(["v1", "v2"], ["v1.mp4", "v2.mp4"])
    ' Ids match without folders and file endings (2 of 2): pass match_ids="basename".'
    """
    ids = list(ids)
    rule = matching_rule(ids, others)
    if rule is None:
        return ""
    return (
        f" Ids match {rule.words} ({rule.matches:,} of {len(ids):,}): "
        f'pass match_ids="{rule.names}".'
    )


def counting_hint(ids: Collection[str], others: Collection[str]) -> str:
    """Return a sentence if two sides number as many items, but one begins a number later.

    Most numbers are then the same, but every caption would meet the references of a neighbour.
    """
    first, other = _first_number(ids), _first_number(others)
    if first is None or other is None or abs(first - other) != 1 or len(ids) != len(others):
        return ""
    return (
        f" One side counts its items from {first}, the other from {other}: number both alike, or "
        "every caption would be taken for that of another item."
    )


def _first_number(ids: Collection[str]) -> int | None:
    """The number from which ids count without a gap; ``None`` if they do not."""
    keys = {_last_number(item) for item in ids}
    if len(keys) < max(len(ids), _FEW) or not all(map(str.isdecimal, keys)):
        return None
    numbers = {*map(int, keys)}
    first = min(numbers)
    return first if max(numbers) - first + 1 == len(ids) == len(numbers) else None


def rule_words(names: str) -> str:
    """Return in words how rules compare ids.

    >>> rule_words("basename,zeros")
    'without folders and file endings, without leading zeros'
    """
    if names == ORDER:
        return "by order: the first caption was taken for the first item, and so on"
    return ", ".join(RULES[name][0] for name in _names(names))


def rule_part(names: str | None) -> dict[str, str]:
    """Return the part of a signature that names the rules; nothing if there are none.

    >>> rule_part("basename, zeros"), rule_part(None)
    ({'ids': 'basename+zeros'}, {})
    """
    return {"ids": "+".join(_names(names))} if names else {}


def rule_note(names: str | None) -> list[str]:
    """Return the note of a table whose ids were matched by rules.

    >>> rule_note("basename")
    ['Ids were matched without folders and file endings.']
    """
    return [f"Ids were matched {rule_words(names)}."] if names else []


def matched_ids(
    names: str | None,
    ids: Collection[str],
    wanted: Collection[str],
    what: tuple[str, str] = ("candidates", "references"),
) -> dict[str, str]:
    """Find for each id the spelling of those it is to match; those that match none keep theirs."""
    if names is None:
        return {item: item for item in ids}
    if names == ORDER:
        return _in_order(ids, wanted, what)
    key = _key(names, ids, wanted)
    spelling = _by_key(names, key, wanted, what[1])
    return {item: spelling.get(k, item) for k, item in _by_key(names, key, ids, what[0]).items()}


def matched(
    names: str | None,
    values: Mapping[str, T],
    wanted: Collection[str],
    what: tuple[str, str] = ("candidates", "references"),
) -> Mapping[str, T]:
    """Return values by id under the spelling of the ids they are to match; see `matched_ids`.

    >>> matched("casefold", {"V1": "a man"}, ["v1"])
    {'v1': 'a man'}
    """
    if names is None:
        return values
    texts = {str(item): value for item, value in values.items()}
    spelling = matched_ids(names, texts, [str(item) for item in wanted], what)
    return {spelling[item]: value for item, value in texts.items()}


def _in_order(
    ids: Collection[str], wanted: Collection[str], what: tuple[str, str]
) -> dict[str, str]:
    if len(ids) != len(wanted):
        raise DataError(
            f"There are {len(ids):,} {what[0]} and {len(wanted):,} {what[1]}; to be matched by "
            "order, there must be as many of both. Find those that are missing."
        )
    pairs = dict(zip(ids, wanted, strict=True))
    known = {*wanted}
    if apart := [item for item, other in pairs.items() if item != other and item in known]:
        raise DataError(
            f"The {what[0]} and the {what[1]} have ids in common, in another order "
            f"({first_few(apart)}): match them by their ids."
        )
    return pairs


def _names(text: str) -> list[str]:
    if text == ORDER:
        return [text]
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        check_choice("rule match_ids=", name, [*RULES, ORDER])
        if name == ORDER:
            raise DataError(f'match_ids="{text}": {ORDER} needs no other rule beside it.')
    if not names:
        raise DataError(f"match_ids is empty; expected one of {', '.join(RULES)}.")
    return names


def _by_key(
    names: str, key: Callable[[str], str], ids: Collection[str], what: str
) -> dict[str, str]:
    by_key: dict[str, str] = {}
    for item in ids:
        other = by_key.setdefault(key(item), item)
        if other != item:
            raise DataError(
                f'match_ids="{names}": the {what} {other!r} and {item!r} would be the same item, '
                f"{key(item)!r}. Match ids by another rule, or change them."
            )
    return by_key


def _key(names: str, ids: Collection[str], others: Collection[str]) -> Callable[[str], str]:
    """Compose rules to one function, whose results are compared."""
    steps: list[Callable[[str], str]] = []

    def key(item: str) -> str:
        for step in steps:
            item = step(item)
        return item

    for name in _names(names):
        rule = RULES[name][1]
        if name == _PREFIX:
            beginning = _common_beginning([*map(key, ids)], [*map(key, others)])
            steps.append(methodcaller("removeprefix", beginning))
        else:
            steps.append(rule)
    return key


def _common_beginning(ids: Sequence[str], others: Sequence[str]) -> str:
    """Find what all ids of one side begin with, and those of the other side do not."""
    best, most = "", 0
    for longer, shorter in ((ids, set(others)), (others, set(ids))):
        first, last = min(longer, default=""), max(longer, default="")
        for length in range(1, min(len(first), len(last)) + 1):
            if first[:length] != last[:length]:
                break
            matches = sum(item[length:] in shorter for item in longer)
            if matches > most:
                best, most = first[:length], matches
    return best
