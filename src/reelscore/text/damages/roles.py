"""Role exchange: who does what to whom."""

from __future__ import annotations

import random

from reelscore.text.damages import english
from reelscore.text.damages.clauses import Clause, Phrase, agreeing, find_clause, phrase_start
from reelscore.text.damages.sentence import Sentence

# Between the verb and whom it is done to. "With", "beside" or "and" do not say who does it.
_DIRECTED = english.words("at on to over into from behind off onto under for toward towards by")
_LONGEST = 4  # words of a phrase
_FARTHEST = 8  # words from a verb to whom it is done


def exchange_beings(sentence: Sentence, rng: random.Random, taken: frozenset[str]) -> str | None:
    """Exchange the people or animals before and after the verb."""
    clause = find_clause(sentence)
    if clause is None or clause.subject is None or _joint(sentence, clause):
        return None
    whom = _whom(sentence, clause)
    return None if whom is None else _exchanged(sentence, clause, clause.subject, whom)


def exchange_object(sentence: Sentence, rng: random.Random, taken: frozenset[str]) -> str | None:
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
    whom = Phrase(start, end, head, _looks_plural(sentence.lower[head]))
    return _exchanged(sentence, clause, clause.subject, whom)


def _joint(sentence: Sentence, clause: Clause) -> bool:
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


def _passive(sentence: Sentence, clause: Clause) -> bool:
    participle = sentence.after(clause.start)
    return (
        participle.endswith(("ed", "en", "t", "own")) and sentence.after(clause.start + 1) == "by"
    )


def _whom(sentence: Sentence, clause: Clause) -> Phrase | None:
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


def _goes_on(sentence: Sentence, place: int) -> bool:
    """Return whether the object may go on: no other verb, clause or list begins here."""
    word = sentence.lower[place]
    return sentence.is_word(place) and not (
        word in english.CONJUNCTIONS
        or word in english.RELATIVES
        or word in english.SUBORDINATES
        or word in english.BE
        or word in english.gerunds()
        or word in english.thirds()
        or word in english.beings()
        or word in {"with", "of", "in", "next"}
    )


def _being_at(sentence: Sentence, start: int) -> Phrase | None:
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


def _stops(sentence: Sentence, place: int) -> bool:
    word = sentence.lower[place]
    return (
        word in english.PREPOSITIONS
        or word in english.CONJUNCTIONS
        or word in english.RELATIVES
        or word in english.DETERMINERS
        or word in english.BE
        or word in english.ADVERBS
        or word in {"back", "out", "himself", "herself", "itself", "themselves"}
        or word in english.gerunds()
        or word in english.thirds()
        or word.endswith(("ly", "ed"))
    )


def _bounded(sentence: Sentence, place: int) -> bool:
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


def _ends_phrase(sentence: Sentence, place: int) -> bool:
    """Return whether a noun before this place is the last of its phrase: not "animal costume"."""
    if place >= len(sentence) or not sentence.is_word(place):
        return True
    word = sentence.lower[place]
    verb = word in english.bases() and word not in english.NOUN_LIKE
    return word not in {"and", "of"} and (verb or _stops(sentence, place))


def _looks_plural(noun: str) -> bool:
    return noun.endswith("s") and not noun.endswith("ss")


def _exchanged(sentence: Sentence, clause: Clause, who: Phrase, whom: Phrase) -> str | None:
    one, two = ([*sentence.words[phrase.start : phrase.end]] for phrase in (who, whom))
    if sentence.lower[who.head] == sentence.lower[whom.head]:
        return None
    changed = sentence.put(whom.start, whom.end, *one)
    if who.plural != whom.plural:
        changed = agreeing(changed, clause, whom.plural)
    return changed.put(who.start, who.end, *two).text()


FORMS = {"beings": exchange_beings, "object": exchange_object}
