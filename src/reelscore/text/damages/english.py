"""English words that the rules know, and what may stand in place of what, with wrong ones.

The lists are in ``words.txt`` beside this file.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_LISTS = Path(__file__).with_name("words.txt").read_text(encoding="utf-8")
_PARTS = re.findall(r"^\[(.+)\]\n((?:(?![\[#]).*\n)*)", _LISTS, re.MULTILINE)
TEXTS: dict[str, str] = {name: text.strip("\n") for name, text in _PARTS}
"""The lists by name, as they are in the file."""


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


_THIRDS = {"have": "has", "do": "does", "go": "goes"}
_DOUBLED = words(TEXTS["doubled"])

NOUN_LIKE = words(TEXTS["noun-like"])
SYMMETRIC = words(TEXTS["symmetric"])
ARTICLES = frozenset({"a", "an", "the"})
POSSESSIVES = frozenset({"his", "her", "their", "its", "my", "our", "your"})
DETERMINERS = (
    ARTICLES
    | POSSESSIVES
    | words("this that these those some another each every one both many several few")
)
PREPOSITIONS = words(TEXTS["prepositions"])
CONJUNCTIONS = frozenset({"and", "or", "but", "then", "while", "as", "when", "because", "until"})
RELATIVES = frozenset({"who", "that", "which", "whom", "whose", "where", "what", "how"})
SUBORDINATES = frozenset({"while", "when", "because", "if", "until", "before", "after", "though"})
# They end a phrase, as prepositions do.
ADVERBS = frozenset({"indoors", "outdoors", "away", "together", "there", "again", "forward"})
BE = {"is": "are", "are": "is", "was": "were", "were": "was"}
NEGATIVE = words(TEXTS["negative"])
NUMBERS = tuple(TEXTS["numbers"].split())
ADJECTIVES = words(TEXTS["adjectives"])


def third(base: str) -> str:
    """Return the form of a verb for he, she and it.

    >>> [third(verb) for verb in ("ride", "carry", "play", "catch", "have")]
    ['rides', 'carries', 'plays', 'catches', 'has']
    """
    return _THIRDS.get(base) or plural(base)


def gerund(base: str) -> str:
    """Return the form of a verb in -ing.

    >>> [gerund(verb) for verb in ("ride", "run", "lie", "see", "play")]
    ['riding', 'running', 'lying', 'seeing', 'playing']
    """
    if base in {"lie", "tie", "die"}:
        return f"{base[:-2]}ying"
    if base in _DOUBLED:
        return f"{base}{base[-1]}ing"
    if base.endswith("e") and not base.endswith(("ee", "ye", "oe")):
        return f"{base[:-1]}ing"
    return f"{base}ing"


@cache
def bases() -> frozenset[str]:
    """Return the base forms of all verbs."""
    return words(TEXTS["verbs"])


@cache
def thirds() -> dict[str, str]:
    """Return the base form of each verb by its form for he, she and it."""
    return {third(base): base for base in sorted(bases())}


@cache
def gerunds() -> dict[str, str]:
    """Return the base form of each verb by its form in -ing."""
    return {gerund(base): base for base in sorted(bases())}


_PLURALS: dict[str, str] = dict(pair.split(":") for pair in TEXTS["plurals"].split())
_SINGULARS = {more: one for one, more in _PLURALS.items()}

CROWDS = words("group crowd pair bunch team line row number couple lot lots")


def plural(noun: str) -> str:
    """Return the plural of a noun.

    >>> [plural(noun) for noun in ("dog", "woman", "baby", "box", "knife")]
    ['dogs', 'women', 'babies', 'boxes', 'knives']
    """
    if noun in _PLURALS:
        return _PLURALS[noun]
    if noun.endswith(("s", "sh", "ch", "x", "z")) or (
        noun.endswith("o") and noun[-2] not in "aeiou"
    ):
        return f"{noun}es"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}s"


@cache
def dictionary_form(word: str) -> str:
    """Return the base form of a verb, or the singular of a noun, as far as it is known.

    >>> [dictionary_form(word) for word in ("riding", "women", "boxes", "cars", "dress", "red")]
    ['ride', 'woman', 'box', 'car', 'dress', 'red']
    """
    verb = gerunds().get(word) or thirds().get(word)
    if verb:
        return verb
    singular = _SINGULARS.get(word)
    endings = ((word[:-1], 1), (word[:-2], 2), (word[:-3] + "y", 3))
    guesses = [guess for guess, ending in endings if len(word) > ending + 1]
    return singular or next((guess for guess in guesses if plural(guess) == word), word)


@cache
def people() -> dict[str, bool]:
    """Return the words for people, each with whether it is a plural."""
    singular = TEXTS["people"].split()
    words = dict.fromkeys(singular, False) | {plural(noun): True for noun in singular}
    return words | {"gentlemen": True, "persons": True, "guys": True, "folks": True}


@cache
def beings() -> dict[str, bool]:
    """Return the words for people and animals, each with whether it is a plural.

    >>> beings()["dogs"], beings()["woman"], "table" in beings()
    (True, False, False)
    """
    singular = TEXTS["animals"].split()
    return people() | {plural(noun): True for noun in singular} | dict.fromkeys(singular, False)


NOUNS_OR_VERBS = words(TEXTS["nouns-or-verbs"])
SPORTS = words("basketball baseball soccer football rugby hockey tennis golf volleyball")
COMPOUNDS = words(TEXTS["compounds"])


def compound(one: str, two: str) -> bool:
    """Return whether two words are one name: "hot dog", and "hot dogs".

    >>> compound("hot", "dogs"), compound("big", "dogs")
    (True, False)
    """
    return f"{one}_{two}" in COMPOUNDS or f"{one}_{two.removesuffix('s')}" in COMPOUNDS


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
