"""Damages by name: each kind has one or more forms, rules that can be chosen one by one."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from reelscore.errors import UnknownNameError
from reelscore.text.damages import english, exchanges, negation, word_order
from reelscore.text.damages.sentence import Rule, WordRow


class DamageKind(NamedTuple):
    """A kind of damage."""

    about: str  # what it does, for tables and pages
    forms: Mapping[str, Rule]  # how it is done, by name


# A new kind leaves the others as they are; a new form changes what the draws of its kind give.
KINDS: Mapping[str, DamageKind] = {
    "negation": DamageKind("says that it is not so", negation.FORMS),
    "shuffle": DamageKind("puts the words into another order", word_order.SHUFFLE),
    "roles": DamageKind("exchanges who does it and to whom it is done", word_order.FORMS),
    "stutter": DamageKind("repeats words", word_order.STUTTER),
    "truncation": DamageKind("leaves half of the words out", word_order.TRUNCATION),
    "noun": DamageKind("names another thing", exchanges.NOUN),
    "number": DamageKind("gives another number", exchanges.NUMBER),
    "colour": DamageKind("gives another colour", exchanges.COLOUR),
    "being": DamageKind("names another person or animal", exchanges.BEING),
    "verb": DamageKind("says the opposite, or another action", exchanges.VERB),
}
HELD_OUT_NEGATIONS = negation.HELD_OUT
LACKING_NEGATIONS = tuple(negation.LACKING)
EXCHANGES = ("noun", "number", "colour", "being", "verb")  # one word for another
_WORD = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*")


def damage_kinds() -> list[str]:
    """Return the kinds of damage.

    >>> damage_kinds()[:3]
    ['negation', 'shuffle', 'roles']
    """
    return list(KINDS)


def damage_forms(kind: str) -> list[str]:
    """Return the forms of a kind of damage.

    Args:
        kind: The kind, see `damage_kinds`.

    >>> damage_forms("shuffle")
    ['all', 'neighbours', 'reversed']
    """
    return list(_forms(kind))


def damage(
    kind: str,
    caption: str,
    rng: random.Random,
    *,
    forms: Sequence[str] | None = None,
    references: Iterable[str] = (),
) -> str | None:
    """Damage a caption so that it says something else, or says it badly.

    Args:
        kind: The kind of damage, see `damage_kinds`.
        caption: The caption, in English.
        rng: Makes the random choices; the same state gives the same result.
        forms: The forms to choose from, see `damage_forms`; all if not given. They are tried in
            random order until one applies.
        references: Captions of the same video: no word of theirs comes in as a wrong one.

    Returns:
        The damaged caption, never equal to the caption; none where no form applies.

    >>> damage("being", "A man bites his lip.", random.Random(2))
    'A woman bites her lip.'
    >>> damage("roles", "A man bites a dog.", random.Random(0))
    'A dog bites a man.'
    >>> damage("negation", "A man bites a dog.", random.Random(0), forms=["never"])
    'A man never bites a dog.'
    >>> damage("colour", "A man bites a dog.", random.Random(0))
    """
    rules = _forms(kind)
    names = list(rules) if forms is None else list(forms)
    for name in names:
        if name not in rules:
            raise UnknownNameError.of(f"form of {kind}", name, rules)
    sentence = WordRow.read(caption)
    taken = frozenset(word for text in references for word in _WORD.findall(text.lower()))
    for name in rng.sample(names, len(names)):
        damaged = rules[name](sentence, rng, taken)
        if damaged is not None and _bare(damaged) != _bare(caption):
            return damaged
    return None


def told_by(original: str, changed: str, references: Iterable[str]) -> list[str]:
    """Return the references that tell what a change took away: they have a word of it.

    Whether a word was exchanged can be known from these alone.
    """
    gone = _telling_words(original) - _telling_words(changed)
    return [text for text in references if gone & _telling_words(text)]


def _telling_words(text: str) -> set[str]:
    """Return the words that say something, each as it stands in a dictionary."""
    silent = english.ARTICLES | english.GENDERS.keys() | {"her"}
    return {english.dictionary_form(word) for word in _bare(text) if word not in silent}


def _forms(kind: str) -> Mapping[str, Rule]:
    try:
        return KINDS[kind].forms
    except KeyError:
        raise UnknownNameError.of("kind of damage", kind, KINDS) from None


def _bare(caption: str) -> list[str]:
    """Return the words without case and marks: what must differ."""
    return _WORD.findall(caption.lower())
