"""The names of a film's people, as its script and its team give them.

A heading such as `DR. STONE` or `MARK HALEY` is a name; `GUARD #2` and `OLD WOMAN` are roles. What
is a word besides, and which, WordNet says (`reelscore-parser`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from reelscore.text.parser.lexicon import PARTS_OF_SPEECH, Lexicon, PartOfSpeech, word_set

TITLES = word_set(
    "mr mrs ms miss mister dr doctor prof professor sir lady lord madam madame captain capt "
    "lieutenant lt sergeant sgt colonel col major general officer detective inspector agent "
    "sheriff judge president king queen prince princess father sister brother uncle aunt nurse "
    "reverend rev st jr sr"
)
"""Words before a name that belong to it."""

_EXTENSION = re.compile(r"\([^)]*\)|#?\b\d+\b|#")
_PART = re.compile(r"[^\W\d_]+(?:['’-](?!s\b)[^\W\d_]+)*", re.IGNORECASE)
_FUNCTION = word_set("a an the of in on at with and or to for from by as all both")
_ROLES = frozenset({"noun.person", "noun.group", "noun.artifact"})
_THINGS = frozenset(
    f"noun.{kind}"
    for kind in word_set("plant food substance object feeling phenomenon time animal body")
)
_COMMON = 2  # times in SemCor from which on a word is common
_WORD = re.compile(r"(?:(\w+)[ ,]+)?\b([^\W\d_]+)\b")
_DETERMINERS = word_set("the a an this that another each every his her their its")


@dataclass(frozen=True)
class Cast:
    """The names of people.

    Attributes:
        names: Every word that is a name or a part of one, in lower case.
        surnames: Those that stand last in a full name or after a title.

    >>> cast = Cast.of(["MARK HALEY", "DR. STONE", "GUARD #2", "OLD WOMAN (V.O.)"])
    >>> sorted(cast.names), sorted(cast.surnames)
    (['haley', 'mark', 'stone'], ['haley', 'stone'])
    """

    names: frozenset[str]
    surnames: frozenset[str]

    @classmethod
    def of(cls, headings: Iterable[str], texts: Sequence[str] = ()) -> Cast:
        """Read the names in headings.

        Args:
            headings: Names as scripts write them above dialogue, or as people write them.
            texts: Sentences of the film: a role that they use as a name, without an article and
                with a capital inside a sentence, is one.
        """
        names: set[str] = set()
        surnames: set[str] = set()
        used = _used_as_names(texts)
        for heading in headings:
            words = [part.lower() for part in _PART.findall(_EXTENSION.sub(" ", heading))]
            titled = len(words) > 1 and words[0] in TITLES
            parts = words[_titles(words) :]
            is_used = len(parts) == 1 and parts[0] in used
            if not parts or (not titled and not is_used and _is_role(parts)):
                continue
            names.update(part for part in parts[:-1] if not _is_modifier(part))
            names.add(parts[-1])
            if titled or len(parts) > 1:
                surnames.add(parts[-1])
        return cls(frozenset(names), frozenset(surnames))


def _titles(words: Sequence[str]) -> int:
    """Count the titles before a name; the last word is never one."""
    return next((n for n, word in enumerate(words[:-1]) if word not in TITLES), len(words[:-1]))


def _used_as_names(texts: Iterable[str]) -> set[str]:
    return {
        word.lower()
        for text in texts
        for before, word in _WORD.findall(text)
        if before and before.islower() and before not in _DETERMINERS and word.istitle()
    }


def _is_modifier(word: str) -> bool:
    lexicon = Lexicon.load()
    return word in _FUNCTION or (lexicon.count(word, "a") or 0) >= _COMMON


def _is_role(parts: Sequence[str]) -> bool:
    """Return whether a heading has words for roles alone: the last is one, others are common."""
    lexicon = Lexicon.load()
    singular = lexicon.count(parts[-1], "n") is not None
    last = lexicon.lemma(parts[-1], "NN" if singular else "NNS").text
    kinds = [lexicon.kind(sense) for sense in lexicon.senses(last, "n")[:1]]
    is_role = (lexicon.count(last, "n") or 0) >= _COMMON and not _ROLES.isdisjoint(kinds)
    others = parts[:-1]
    if not is_role and len(parts) > 2 and others[0] not in _FUNCTION:  # MAN IN THE HAT
        prepositions = [index for index, part in enumerate(parts) if part in _FUNCTION]
        return bool(prepositions) and prepositions[0] > 0 and _is_role(parts[: prepositions[0]])
    return is_role and all(_is_modifier(word) or frequency(word) >= _COMMON for word in others)


@lru_cache(maxsize=1 << 14)
def frequency(word: str) -> int:
    """Return how often SemCor has a word, as whatever part of speech."""
    lexicon = Lexicon.load()
    return sum(lexicon.count(word, pos) or 0 for pos in PARTS_OF_SPEECH)


@lru_cache(maxsize=1 << 14)
def is_word(name: str) -> bool:
    """Return whether a name is a word besides, such as Rose, Will or Stone.

    >>> [is_word(name) for name in ("rose", "will", "drew", "anna", "tomas")]
    [True, True, True, False, False]
    """
    lexicon = Lexicon.load()
    past = lexicon.lemma(name, "VBD")
    return (
        frequency(name) >= _COMMON
        or any(sense.file in _THINGS for sense in lexicon.senses(name, "n"))
        or (past.known and past.text != name and frequency(past.text) >= _COMMON)
    )


@lru_cache(maxsize=1 << 14)
def is_known(word: str) -> bool:
    """Return whether the lexicon has a word at all: places, days and nationalities too."""
    lexicon = Lexicon.load()
    tags: dict[PartOfSpeech, str] = {"n": "NNS", "v": "VBZ", "a": "JJ", "r": "RB"}
    return any(lexicon.lemma(word, tag).known for tag in tags.values())


@lru_cache(maxsize=1 << 14)
def verb_and_noun(form: str) -> tuple[int | None, int | None]:
    """Return how often a form in -s is of a verb, and of a noun; None where it cannot be.

    >>> verb_and_noun("petals")[0] is None, verb_and_noun("enters")[1] is None
    (True, True)
    """
    lexicon = Lexicon.load()
    verb, noun = lexicon.lemma(form, "VBZ"), lexicon.lemma(form, "NNS")
    return lexicon.count(verb.text, "v"), lexicon.count(noun.text, "n")
