"""Damage to the order of words: shuffled, repeated, cut off, and who does what to whom."""

from __future__ import annotations

import random
from collections.abc import Sequence

from reelscore.text.damages import english
from reelscore.text.damages.sentence import WordRow, in_order
from reelscore.text.damages.subject_verb import (
    Phrase,
    SubjectVerb,
    agreeing,
    find_clause,
    phrase_start,
)

_TRIES = 20


def _places(sentence: WordRow) -> list[int]:
    """Return the places of the words, without marks."""
    return [place for place in range(len(sentence)) if sentence.is_word(place)]


def _words(sentence: WordRow) -> list[str]:
    return [sentence.words[place] for place in _places(sentence)]


def shuffle_all(sentence: WordRow, rng: random.Random, taken: frozenset[str]) -> str | None:
    """Put all words into a random order, at least half of them in another place."""
    words = _words(sentence)
    if len(set(words)) < 4:
        return None
    for _ in range(_TRIES):
        mixed = rng.sample(words, len(words))
        moved = sum(one != two for one, two in zip(words, mixed, strict=True))
        if 2 * moved >= len(words):
            return in_order(sentence, mixed)
    return None


def shuffle_near(sentence: WordRow, rng: random.Random, taken: frozenset[str]) -> str | None:
    """Exchange neighbours: the first with the second word, the third with the fourth."""
    words = _words(sentence)
    if len(set(words)) < 4:
        return None
    start = rng.choice((0, 1))
    for place in range(start, len(words) - 1, 2):
        words[place], words[place + 1] = words[place + 1], words[place]
    return in_order(sentence, words)


def reverse(sentence: WordRow, rng: random.Random, taken: frozenset[str]) -> str | None:
    """Put the words into the opposite order."""
    words = _words(sentence)
    return in_order(sentence, words[::-1]) if len(set(words)) >= 4 else None


def repeat_last(sentence: WordRow, rng: random.Random, taken: frozenset[str]) -> str | None:
    """Repeat the last word three times, as captioners do."""
    places = _places(sentence)
    return _repeated(sentence, places[-1:], 3) if len(places) > 1 else None


def repeat_word(sentence: WordRow, rng: random.Random, taken: frozenset[str]) -> str | None:
    """Repeat one word of some weight two or three times."""
    places = weighty_places(sentence)
    if not places or len(sentence) < 2:
        return None
    place = rng.choice(places)
    word = sentence.words[place]
    return sentence.put(place, place + 1, *[word] * rng.choice((3, 4))).text()


def weighty_places(sentence: WordRow) -> list[int]:
    """Return the places of the words that say something by themselves."""
    light = english.PREPOSITIONS | english.DETERMINERS | english.CONJUNCTIONS
    return [place for place in _places(sentence) if sentence.lower[place] not in light]


def repeat_phrase(sentence: WordRow, rng: random.Random, taken: frozenset[str]) -> str | None:
    """Repeat the last two or three words again and again."""
    places = _places(sentence)
    if len(places) < 4:
        return None
    return _repeated(sentence, places[-rng.choice((2, 3)) :], rng.choice((2, 3)))


def _repeated(sentence: WordRow, places: Sequence[int], times: int) -> str:
    words = [sentence.words[place] for place in places]
    return sentence.put(places[-1], places[-1] + 1, words[-1], *words * times).text()


def repeat_all(sentence: WordRow, rng: random.Random, taken: frozenset[str]) -> str | None:
    """Write each word twice."""
    changed = sentence
    for place in reversed(_places(sentence)):
        word = sentence.words[place]
        changed = changed.put(place, place + 1, word, word)
    return changed.text()


def first_half(sentence: WordRow, rng: random.Random, taken: frozenset[str]) -> str | None:
    """Leave the second half of the words out."""
    places = _places(sentence)
    if len(places) < 4:
        return None
    last = places[len(places) // 2 - 1]
    # "a." would be read as an abbreviation
    lone = len(sentence.words[last]) == 1 or sentence.is_word(len(sentence) - 1)
    return sentence.put(last + 1, len(sentence) - (0 if lone else 1)).text()


def last_half(sentence: WordRow, rng: random.Random, taken: frozenset[str]) -> str | None:
    """Leave the first half of the words out."""
    places = _places(sentence)
    return sentence.put(0, places[(len(places) + 1) // 2]).text() if len(places) >= 4 else None


SHUFFLE = {"all": shuffle_all, "neighbours": shuffle_near, "reversed": reverse}
STUTTER = {
    "last word": repeat_last,
    "one word": repeat_word,
    "last phrase": repeat_phrase,
    "each word": repeat_all,
}
TRUNCATION = {"first half": first_half, "last half": last_half}


# Between the verb and whom it is done to. "With", "beside" or "and" do not say who does it.
_DIRECTED = english.words("at on to over into from behind off onto under for toward towards by")
_ENDS_OBJECTS = english.words("with of in next").union(
    *(english.CONJUNCTIONS, english.RELATIVES, english.SUBORDINATES, english.BE)
)
_ENDS_PHRASES = english.words("back out himself herself itself themselves").union(
    *(english.PREPOSITIONS, english.CONJUNCTIONS, english.RELATIVES, english.DETERMINERS),
    *(english.BE, english.ADVERBS),
)
_VERB_FORMS = (english.gerunds, english.thirds)
_LONGEST = 4  # words of a phrase
_FARTHEST = 8  # words from a verb to whom it is done


def exchange_beings(sentence: WordRow, rng: random.Random, taken: frozenset[str]) -> str | None:
    """Exchange the people or animals before and after the verb."""
    clause = find_clause(sentence)
    if clause is None or clause.subject is None or _joint(sentence, clause):
        return None
    whom = _whom(sentence, clause)
    return None if whom is None else _exchanged(sentence, clause, clause.subject, whom)


def exchange_object(sentence: WordRow, rng: random.Random, taken: frozenset[str]) -> str | None:
    """Exchange the people or animals before the verb and the thing after it."""
    clause = find_clause(sentence)
    if clause is None or clause.subject is None or not clause.base or _joint(sentence, clause):
        return None
    start = clause.end
    if start >= len(sentence) or sentence.lower[start] not in english.ARTICLES:
        return None
    end = start + 1
    while sentence.is_word(end) and end - start < _LONGEST and not _stops(sentence, end):
        end += 1
    if end - start < 2 or (end < len(sentence) and not _bounded(sentence, end)):
        return None
    head = end - 1
    if sentence.lower[head] in english.ADJECTIVES:
        return None
    if any(word in english.beings() for word in sentence.lower[start:end]):
        return None
    noun = sentence.lower[head]
    whom = Phrase(start, end, head, noun.endswith("s") and not noun.endswith("ss"))
    return _exchanged(sentence, clause, clause.subject, whom)


def _joint(sentence: WordRow, clause: SubjectVerb) -> bool:
    """Return whether two do it together, or it is not certain who does it."""
    if clause.sort == "participle" and (
        clause.subject is None or clause.subject.end != clause.start
    ):
        return True
    end = clause.start if clause.subject is None else clause.subject.end
    if end != clause.start and not _ends_phrase(sentence, end):
        return True  # "President Obama": a name goes on
    if clause.base in english.SYMMETRIC:
        return True
    if clause.sort != "be" or clause.base:
        return False
    hugged = any(verb in english.SYMMETRIC for verb in _stems(sentence.after(clause.start)))
    return hugged or not _passive(sentence, clause)


def _stems(participle: str) -> tuple[str, ...]:
    """Return what verbs a participle may be of: "kissed", "embraced", "hugged"."""
    return participle[:-1], participle[:-2], participle[:-3]


def _passive(sentence: WordRow, clause: SubjectVerb) -> bool:
    participle = sentence.after(clause.start)
    return (
        participle.endswith(("ed", "en", "t", "own")) and sentence.after(clause.start + 1) == "by"
    )


def _whom(sentence: WordRow, clause: SubjectVerb) -> Phrase | None:
    """Find to whom it is done: right after the verb, or after "to", "at" and the like."""
    start = clause.end + (1 if _passive(sentence, clause) else 0)
    for place in range(start, min(len(sentence), start + _FARTHEST)):
        word = sentence.lower[place]
        if place == start and word not in _DIRECTED:
            phrase = _being_at(sentence, place)
        elif word in _DIRECTED:
            phrase = _being_at(sentence, place + 1)
        elif _goes_on(sentence, place):
            continue
        else:
            return None
        if phrase is not None:
            return phrase
    return None


def _goes_on(sentence: WordRow, place: int) -> bool:
    """Return whether the object may go on: no other verb, clause or list begins here."""
    word = sentence.lower[place]
    ends = word in _ENDS_OBJECTS or any(word in forms() for forms in (*_VERB_FORMS, english.beings))
    return sentence.is_word(place) and not ends


def _being_at(sentence: WordRow, start: int) -> Phrase | None:
    """Find the phrase of a person or an animal that begins at a place."""
    for head in range(start, min(len(sentence), start + _LONGEST)):
        if sentence.lower[head] in english.beings():
            first = sentence.lower[start]
            whole = phrase_start(sentence, head) == start and _ends_phrase(sentence, head + 1)
            other = first == "another" or first in english.POSSESSIVES
            name = english.compound(sentence.before(head), sentence.lower[head])
            if not whole or other or name:
                return None
            return Phrase(start, head + 1, head, english.beings()[sentence.lower[head]])
    return None


def _stops(sentence: WordRow, place: int) -> bool:
    word = sentence.lower[place]
    is_verb = any(word in forms() for forms in _VERB_FORMS)
    return word in _ENDS_PHRASES or is_verb or word.endswith(("ly", "ed"))


def _bounded(sentence: WordRow, place: int) -> bool:
    """Return whether what follows ends the phrase for sure."""
    word = sentence.lower[place]
    if word == ",":  # "a jacket, a scarf and a cap" goes on
        return sentence.after(place) in english.CONJUNCTIONS | english.PREPOSITIONS
    return not sentence.is_word(place) or (
        (word in english.PREPOSITIONS and word != "of")
        or word in english.SUBORDINATES
        or word in english.ADVERBS
        or word.endswith("ly")
    )


def _ends_phrase(sentence: WordRow, place: int) -> bool:
    """Return whether a noun before this place is the last of its phrase: not "animal costume"."""
    if place >= len(sentence) or not sentence.is_word(place):
        return True
    word = sentence.lower[place]
    verb = word in english.bases() and word not in english.NOUN_LIKE
    return word not in {"and", "of"} and (verb or _stops(sentence, place))


def _exchanged(sentence: WordRow, clause: SubjectVerb, who: Phrase, whom: Phrase) -> str | None:
    one, two = ([*sentence.words[phrase.start : phrase.end]] for phrase in (who, whom))
    if sentence.lower[who.head] == sentence.lower[whom.head]:
        return None
    changed = sentence.put(whom.start, whom.end, *one)
    if who.plural != whom.plural:
        changed = agreeing(changed, clause, whom.plural)
    return changed.put(who.start, who.end, *two).text()


FORMS = {"beings": exchange_beings, "object": exchange_object}
