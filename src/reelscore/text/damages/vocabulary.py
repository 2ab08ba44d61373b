"""What may stand in place of what: beings, things, colours and verbs, each with wrong ones.

The lists are in ``words.txt`` beside this file, which explains each.
"""

from __future__ import annotations

from functools import cache

from reelscore.text.damages.english import TEXTS, gerund, third


def _table(name: str) -> dict[str, str]:
    """Return a list whose lines have a word, a colon, and what belongs to it."""
    return dict(line.split(": ") for line in TEXTS[name].splitlines())


BEING_KINDS = _table("being-kinds")
OTHER_BEINGS = _table("other-beings")
ANIMAL_CHOICE = tuple(TEXTS["animal-choice"].split())
GENDERS = {word: tuple(others.split()) for word, others in _table("genders").items()}
THINGS, STUFF, PAIRS = TEXTS["things"], TEXTS["stuff"], TEXTS["pairs"]
COLOURS = _table("colours")
# Those that are free stand alone or before a preposition, those that are bound before an object.
FREE_OPPOSITES, BOUND_OPPOSITES = TEXTS["free-opposites"], TEXTS["bound-opposites"]
FREE_ACTIONS, BOUND_ACTIONS = TEXTS["free-actions"], TEXTS["bound-actions"]
PARTICLES = _table("particles")


@cache
def moves() -> frozenset[str]:
    """Return the forms of the verbs that can go one way or another."""
    bases = TEXTS["movers"].split()
    return frozenset(form for base in bases for form in (base, third(base), gerund(base)))
