"""One word for another: noun, number, colour, being or verb.

The word that comes in is of the same sort as the one that goes, never another name of the same
thing, and never a word that the references use: what they say may be true.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

from reelscore.text.damages import english
from reelscore.text.damages.sentence import Rule, WordRow
from reelscore.text.damages.subject_verb import agreeing, find_clause

_GAMES = english.words("game match field court stadium team court arena practice")
_ROADS = english.words("street road sidewalk path aisle hall hallway highway corridor")
_OWNERS = {
    "its": "their",
    "his": "their",
    "her": "their",
    "himself": "themselves",
    "herself": "themselves",
}
_BEFORE_NOUNS = english.DETERMINERS | english.PREPOSITIONS | english.ADJECTIVES
_NO_OBJECTS = english.words("indoors outdoors together there away back fast") | (
    english.PREPOSITIONS | english.CONJUNCTIONS | english.SUBORDINATES
)
_DIGITS = {str(number): number for number in range(2, 21)}


class _Noun(NamedTuple):
    """A noun's group with the others in it, and its number."""

    others: tuple[str, ...]
    plural: bool


@cache
def _nouns() -> dict[str, _Noun]:
    nouns: dict[str, _Noun] = {}
    for block, inflected in (
        (english.PAIRS, False),  # "glasses" are for the eyes first
        (english.THINGS, True),
        (english.STUFF, False),
    ):
        for group in block.split("\n\n"):
            things = [thing.split("/") for thing in group.split()]
            for own in things:
                others = tuple(thing[0] for thing in things if thing is not own)
                for name in own:
                    nouns.setdefault(name, _Noun(others, plural=False))
                    if inflected:
                        nouns.setdefault(english.plural(name), _Noun(others, plural=True))
    return nouns


def wrong_thing(sentence: WordRow, rng: random.Random, taken: frozenset[str]) -> str | None:
    """Name another thing of the same sort."""
    nouns = _nouns()
    places = [
        place
        for place, word in enumerate(sentence.lower)
        if word in nouns and _is_noun(sentence, place)
    ]
    for place in rng.sample(places, len(places)):
        noun = nouns[sentence.lower[place]]
        choice = _untaken(noun.others, sentence, taken)
        if choice:
            other = rng.choice(choice)
            word = english.plural(other) if noun.plural else other
            return sentence.put(place, place + 1, word).text()
    return None


def _is_noun(sentence: WordRow, place: int) -> bool:
    word, before, after = sentence.lower[place], sentence.before(place), sentence.after(place)
    if english.compound(before, word) or english.compound(word, after):
        return False
    if word in english.NOUNS_OR_VERBS:
        return _before_noun(before)
    if word in english.SPORTS:  # "a football" is a ball, "a football match" is not
        return before not in english.ARTICLES or after in english.beings() or after in _GAMES
    return True


def _before_noun(before: str) -> bool:
    return before in _BEFORE_NOUNS or before.isdigit()


def _untaken(
    choice: tuple[str, ...] | list[str], sentence: WordRow, taken: frozenset[str]
) -> list[str]:
    """Leave out what the caption or its references name, in the singular or the plural."""
    known = taken | set(sentence.lower)
    return [word for word in choice if word not in known and english.plural(word) not in known]


def wrong_number(sentence: WordRow, rng: random.Random, taken: frozenset[str]) -> str | None:
    """Put another number, as a word or in digits."""
    places = [
        place
        for place, word in enumerate(sentence.lower)
        if (word in english.NUMBERS or word in _DIGITS) and _counts(sentence, place)
    ]
    if not places:
        return None
    place = rng.choice(places)
    word = sentence.lower[place]
    choice = english.NUMBERS[:9] if word in english.NUMBERS else [str(n) for n in range(2, 11)]
    left = [number for number in choice if number != word and number not in taken]
    if not left:
        return None
    return sentence.put(place, place + 1, rng.choice(left)).text()


def _counts(sentence: WordRow, place: int) -> bool:
    """Return whether a number counts what follows: not "the other two", nor "number 14"."""
    return sentence.is_word(place + 1) and sentence.after(place) not in (
        english.PREPOSITIONS | english.CONJUNCTIONS | english.BE.keys()
    )


def many_for_one(sentence: WordRow, rng: random.Random, taken: frozenset[str]) -> str | None:
    """Let several do it, where one does."""
    clause = find_clause(sentence)
    if clause is None or clause.subject is None or clause.subject.plural or clause.plural:
        return None
    subject = clause.subject
    head = sentence.lower[subject.head]
    if sentence.lower[subject.start] not in {"a", "an"} or head in {"couple", "family", "fish"}:
        return None
    changed = agreeing(sentence, clause, plural=True)
    left = [number for number in english.NUMBERS[1:9] if number not in taken]
    if sum(word in english.beings() for word in sentence.lower) == 1:
        for place, word in enumerate(changed.lower):
            if word in _OWNERS:
                changed = changed.put(place, place + 1, _OWNERS[word])
    changed = changed.put(subject.head, subject.head + 1, english.plural(head))
    return changed.put(subject.start, subject.start + 1, rng.choice(left)).text() if left else None


def wrong_colour(sentence: WordRow, rng: random.Random, taken: frozenset[str]) -> str | None:
    """Paint a thing in another colour; people's skin is no colour here."""
    places = [
        place
        for place, word in enumerate(sentence.lower)
        if word in english.COLOURS and _is_colour(sentence, place)
    ]
    for place in rng.sample(places, len(places)):
        word = sentence.lower[place]
        hair = word.startswith("blond") and sentence.after(place) in {"hair", "haired"}
        others = ["black", "red"] if hair else english.COLOURS[word].split()
        choice = _untaken(others, sentence, taken)
        if choice:
            return sentence.put(place, place + 1, rng.choice(choice)).text()
    return None


def _is_colour(sentence: WordRow, place: int) -> bool:
    word, before, after = sentence.lower[place], sentence.before(place), sentence.after(place)
    if not sentence.is_word(place + 1) and before not in {"in", "and"}:
        return False
    if english.compound(before, word) or english.compound(word, after):
        return False
    if before == "and" and sentence.before(place - 1) in {"black", "white"}:
        return False
    skin = word in {"black", "white", "brown", "yellow", "red"}
    following = sentence.lower[place + 1 : place + 4]
    if word in {"blond", "blonde", "brunette"}:
        return after in english.people() or after in {"hair", "haired"}
    if skin and any(following_word in english.people() for following_word in following):
        return False
    return word != "orange" or (before not in {"an", "the"} or after not in english.PREPOSITIONS)


@cache
def _kinds_of_being() -> dict[str, tuple[str, bool]]:
    """Return the kind of each being, and whether the word is a plural."""
    kinds = {}
    for kind, names in english.BEING_KINDS.items():
        for name in names.split():
            kinds[name] = (kind, False)
            kinds.setdefault(english.plural(name), (kind, True))
    return kinds | {"guys": ("man", True)}


def other_being(sentence: WordRow, rng: random.Random, taken: frozenset[str]) -> str | None:
    """Name another person or animal, and adapt "he" and "his" where only one is meant."""
    kinds = _kinds_of_being()
    places = [
        place
        for place, word in enumerate(sentence.lower)
        if word in kinds and _is_being(sentence, place)
    ]
    if not places:
        return None
    place = places[0] if len(places) == 1 else rng.choice(places)
    kind, plural = kinds[sentence.lower[place]]
    people = english.OTHER_BEINGS.get(kind)
    others = people.split() if people else [one for one in english.ANIMAL_CHOICE if one != kind]
    choice = _untaken(others, sentence, taken)
    if not choice:
        return None
    other = rng.choice(choice)
    changed = sentence.put(place, place + 1, english.plural(other) if plural else other)
    if len(places) == 1 and not plural:
        changed = _with_pronouns(changed, other)
    return changed.text()


def _is_being(sentence: WordRow, place: int) -> bool:
    word, before, after = sentence.lower[place], sentence.before(place), sentence.after(place)
    if english.compound(before, word) or english.compound(word, after):
        return False
    if after in english.beings():  # "baby boy", "male dancer": more than the word would change
        return False
    return word not in {"duck", "fish", "bear", "male", "female"} or _before_noun(before)


def _with_pronouns(sentence: WordRow, other: str) -> WordRow:
    human = other in {"man", "woman", "boy", "girl"}
    male = other in {"man", "boy"}
    for place, word in enumerate(sentence.lower):
        if word == "her":
            following = sentence.after(place)
            object_ = not sentence.is_word(place + 1) or following in (
                english.PREPOSITIONS | english.CONJUNCTIONS | english.ARTICLES
            )
            pronoun = ("him" if object_ else "his") if human else ("it" if object_ else "its")
            if not human or male:
                sentence = sentence.put(place, place + 1, pronoun)
        elif word in english.GENDERS:
            opposite, thing = english.GENDERS[word]
            same = (word in {"he", "his", "him", "himself"}) == male
            if not human:
                sentence = sentence.put(place, place + 1, thing)
            elif not same:
                sentence = sentence.put(place, place + 1, opposite)
    return sentence


@cache
def _verb_choice(block: str) -> dict[str, list[str]]:
    entries = (entry.split(":") for entry in block.split())
    return {verb: others.split(",") for verb, others in entries}


def _wrong_verb(free: str, bound: str) -> Rule:
    """Make a rule that puts another verb in the same form."""

    def rule(sentence: WordRow, rng: random.Random, taken: frozenset[str]) -> str | None:
        places = []
        for place, base, inflect in _verbs(sentence):
            choice = _verb_choice(bound if _has_object(sentence, place) else free)
            if base in choice and not _idiom(sentence, place, base):
                places.append((place, choice[base], inflect))
        for place, others, inflect in rng.sample(places, len(places)):
            left = [other for other in others if inflect(other) not in taken]
            if left:
                return sentence.put(place, place + 1, inflect(rng.choice(left))).text()
        return None

    return rule


def _has_object(sentence: WordRow, verb: int) -> bool:
    """Return whether the verb is done to something: no preposition or mark follows."""
    after = sentence.after(verb)
    alone = after in _NO_OBJECTS or after in english.gerunds() or after.endswith("ly")
    return sentence.is_word(verb + 1) and not alone


def _verbs(sentence: WordRow) -> Iterator[tuple[int, str, Callable[[str], str]]]:
    """Find verbs: the main one, and others that can be nothing else."""
    clause = find_clause(sentence)
    if clause is None:
        return
    for place, word in enumerate(sentence.lower):
        before = sentence.before(place)
        main = clause.sort == "finite" and place == clause.start
        if word in english.gerunds() and (
            before in english.BE or before in {"while", "and"} or place == clause.start
        ):
            yield place, english.gerunds()[word], english.gerund
        elif word in english.thirds() and (
            main or (before in {"and", "then"} and word not in english.NOUN_LIKE)
        ):
            yield place, english.thirds()[word], english.third
        elif main and word in english.bases():
            yield place, word, str


_IDIOMS = {
    "speak": {"to", "into", "with"},
    "talk": {"to", "about", "on", "into", "with"},
    "hold": {"hands"},
    "appear": {"to"},
    "begin": {"to"},
    "start": {"to"},
    "disappear": {"to"},
    "take": {"off"},
}


def _idiom(sentence: WordRow, place: int, base: str) -> bool:
    """Return whether the next word makes another verb of it: "speaks to", "throws up"."""
    after = sentence.after(place)
    if after in {"up", "off", "over", "out", "down", "away"}:
        return base not in {"walk", "run", "jog", "jump", "crawl", "march", "swim"}
    if base == "play":
        return after not in english.ARTICLES
    return after in _IDIOMS.get(base, set())


def opposite_way(sentence: WordRow, rng: random.Random, taken: frozenset[str]) -> str | None:
    """Let it go the other way: up for down, into for out of."""
    places = [place for place in range(1, len(sentence)) if _is_way(sentence, place)]
    if not places:
        return None
    place = rng.choice(places)
    if sentence.lower[place] == "away":
        return sentence.put(place, place + 2, "toward").text()
    return sentence.put(place, place + 1, *english.PARTICLES[sentence.lower[place]].split()).text()


def _is_way(sentence: WordRow, place: int) -> bool:
    word, before, after = sentence.lower[place], sentence.before(place), sentence.after(place)
    if before not in english.moves() or after in {"to", "and"}:
        return False
    if word in {"up", "down"}:
        road = not _ROADS.isdisjoint(sentence.lower[place + 1 : place + 5])
        return not road and not before.startswith("fall")  # "down the street": no slope is meant
    if word == "away":
        return after == "from"
    if word.endswith(("ward", "wards")) and not word.startswith("to"):
        return word in english.PARTICLES
    return word in english.PARTICLES and _has_object(sentence, place)


NOUN = {"thing": wrong_thing}
NUMBER = {"other number": wrong_number, "many for one": many_for_one}
COLOUR = {"other colour": wrong_colour}
BEING = {"other being": other_being}
VERB = {
    "opposite": _wrong_verb(english.FREE_OPPOSITES, english.BOUND_OPPOSITES),
    "other action": _wrong_verb(english.FREE_ACTIONS, english.BOUND_ACTIONS),
    "other way": opposite_way,
}
