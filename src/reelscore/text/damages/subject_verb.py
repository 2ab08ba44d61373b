"""Who does it, and what: the subject and the verb of a caption, found with word lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from reelscore.text.damages import english
from reelscore.text.damages.sentence import WordRow

_ADVERBS = frozenset({"then", "also", "both", "all", "each", "now", "still", "together", "just"})
_MODALS = english.words("can could will would should must may might do does did to let lets")
_OTHERS = english.words("one another other others he she they it someone each which")
# "Rides a", "walks into": a noun in -s hardly stands before these.
_AFTER_VERBS = (
    english.ARTICLES
    | english.POSSESSIVES
    | english.words("into onto toward towards along across through")
)
_BEFORE_VERBS = _ADVERBS | english.words("he she it they someone somebody everyone who")
_NO_NOUNS = _MODALS.union(
    *(english.DETERMINERS, english.PREPOSITIONS, english.ADJECTIVES, english.BE),
    *(["and", "or", "but", "be", "been", "being"],),
)
_OUTSIDE_PHRASES = _MODALS.union(
    *(english.PREPOSITIONS, english.CONJUNCTIONS, english.RELATIVES, english.BE),
    *(["he", "she", "they", "there", "be", "been", "being"],),
)


class Phrase(NamedTuple):
    """The words from `start` up to `end`, and whether they name more than one.

    `head` is the place of the noun.
    """

    start: int
    end: int
    head: int
    plural: bool


@dataclass(frozen=True)
class SubjectVerb:
    """The main verb of a caption and who does it."""

    # ``be`` for a form of "to be"; ``finite`` for "rides" and "ride"; ``participle`` where the
    # caption is no sentence: "a man riding a horse"
    sort: Literal["be", "finite", "participle"]
    start: int  # the place of the verb
    end: int  # the place after the verb; "is riding" are two words
    base: str  # the verb's base form; nothing if only a form of "to be" is known
    plural: bool  # whether the verb is, or would be, in the plural
    subject: Phrase | None  # the people or animals that do it; none if another thing does


def find_clause(sentence: WordRow) -> SubjectVerb | None:
    """Find the main verb of a caption, the first that is not in a relative clause."""
    participle = None
    for place, word in enumerate(sentence.lower):
        if place == 0 or not sentence.is_word(place):
            continue
        if word in english.SUBORDINATES:
            break
        sort = _verb_sort(sentence, place)
        if sort in {"be", "finite"}:
            return _clause(sentence, sort, place)
        if sort == "participle" and participle is None:
            participle = place
    return None if participle is None else _clause(sentence, "participle", participle)


def _verb_sort(sentence: WordRow, place: int) -> str:
    word, before = sentence.lower[place], sentence.before(place)
    if before in english.RELATIVES:
        return ""
    if word in english.BE:
        return "be" if sentence.is_word(place - 1) or before == "," else ""
    if word in english.thirds():
        # "men walks" are two nouns, or a slip that no rule can build on
        if not _noun_may_end(before) or english.beings().get(before, False):
            return ""
        noun = word in english.NOUN_LIKE and sentence.after(place) not in _AFTER_VERBS
        return "finite" if not noun or _starts_verb(before) else ""
    if word in english.bases():
        subject = find_subject(sentence, place)
        if subject is None or not subject.plural or not _noun_may_end(before):
            return ""
        return "finite" if word not in english.NOUN_LIKE or _starts_verb(before) else ""
    if word in english.gerunds():
        return "participle" if _noun_may_end(before) and sentence.after(place) else ""
    return ""


def _noun_may_end(before: str) -> bool:
    """Return whether a verb can follow this word: it is no article, preposition or adjective."""
    return before not in _NO_NOUNS and not before.isdigit()


def _starts_verb(before: str) -> bool:
    """Return whether the word before makes a verb likely: a being, a pronoun or an adverb."""
    return before in _BEFORE_VERBS or before in english.beings() or before.endswith("ly")


def _clause(sentence: WordRow, sort: str, place: int) -> SubjectVerb:
    word, subject = sentence.lower[place], find_subject(sentence, place)
    if sort == "be":
        base = english.gerunds().get(sentence.after(place), "")
        plural = word in {"are", "were"}
        return SubjectVerb("be", place, place + (2 if base else 1), base, plural, subject)
    if sort == "finite":
        singular = word in english.thirds()
        base = english.thirds().get(word, word)
        return SubjectVerb("finite", place, place + 1, base, not singular, subject)
    plural = subject is not None and subject.plural
    return SubjectVerb("participle", place, place + 1, english.gerunds()[word], plural, subject)


def agreeing(sentence: WordRow, clause: SubjectVerb, plural: bool) -> WordRow:
    """Adapt the verb of a clause to another subject, and the verbs that "and" joins to it."""
    if clause.plural == plural or clause.sort == "participle":
        return sentence
    place = clause.start
    if clause.sort == "be":
        return sentence.put(place, place + 1, english.BE[sentence.lower[place]])
    forms = english.thirds() if plural else {base: english.third(base) for base in english.bases()}
    changed = sentence.put(place, place + 1, forms.get(sentence.lower[place], clause.base))
    for other in range(place + 1, len(sentence)):
        word = sentence.lower[other]
        if word in english.SUBORDINATES or word in english.RELATIVES or word == "as":
            break
        joined = sentence.before(other) in {"and", "then", ","} and word in forms
        noun = word in english.NOUN_LIKE and sentence.after(other) not in _AFTER_VERBS
        if joined and (other == place + 2 or not noun):
            changed = changed.put(other, other + 1, forms[word])
    return changed


def find_subject(sentence: WordRow, verb: int) -> Phrase | None:
    """Find the people or animals named before a verb that are likely its subject.

    They are the last that stand neither after a preposition nor after another verb.

    >>> find_subject(WordRow.read("in a park a man and a dog run"), 8)
    Phrase(start=3, end=8, head=7, plural=True)
    """
    for place in range(verb - 1, -1, -1):
        if sentence.lower[place] in english.beings():
            phrase = noun_phrase(sentence, place)
            if phrase is not None and not _maybe_verb(sentence.before(phrase.start)):
                others = _OTHERS.intersection(sentence.lower[phrase.end : verb])
                return None if others else _joined(sentence, phrase)
    return None


def _maybe_verb(word: str) -> bool:
    """Return whether what follows may be an object: "holds a boy", and "shoos a cat" as well."""
    if word in english.bases():
        return word not in english.NOUN_LIKE
    return word in english.gerunds() or _ends_in_s(word)


def _ends_in_s(word: str) -> bool:
    return word.endswith("s") and not word.endswith(("ss", "us", "'s", "’s"))


def noun_phrase(sentence: WordRow, head: int) -> Phrase | None:
    """Find where the phrase of a noun begins and ends; nothing after a preposition."""
    if sentence.after(head) in english.beings() and sentence.lower[head] not in english.CROWDS:
        return None  # "dog trainer", "baby boy": the next noun is the one
    if english.compound(sentence.before(head), sentence.lower[head]):
        return None  # no dog is hot
    start = phrase_start(sentence, head)
    of = sentence.before(start) == "of" and sentence.before(start - 1) in english.CROWDS
    if of:
        start = phrase_start(sentence, start - 2)
    before = sentence.before(start)
    bare = sentence.lower[start] not in english.DETERMINERS
    if before in english.PREPOSITIONS or (bare and before in english.bases()):
        return None  # after "at", or after "show" in "a talk show host"
    return Phrase(start, head + 1, head, of or english.beings()[sentence.lower[head]])


def phrase_start(sentence: WordRow, head: int) -> int:
    """Find the article or the first adjective before a noun."""
    start = head
    while start > 0:
        if _inside_phrase(sentence, start - 1):
            start -= 1
        elif sentence.before(start) in {",", "and"} and _adjective(sentence.before(start - 1)):
            start -= 2
        else:
            break
        if sentence.lower[start] in english.DETERMINERS:
            break
    return start


def _adjective(word: str) -> bool:
    return word in english.ADJECTIVES or word.endswith(("-haired", "ed"))


def _inside_phrase(sentence: WordRow, place: int) -> bool:
    word = sentence.lower[place]
    return sentence.is_word(place) and not (
        word in _OUTSIDE_PHRASES
        or (_ends_in_s(word) and word not in {"sports", "his"})
        or word in english.gerunds()
        or (word in english.bases() and word not in english.ADJECTIVES)
    )


def _joined(sentence: WordRow, phrase: Phrase) -> Phrase:
    """Take in "a man and" before "a woman": two are a plural."""
    head = phrase.start - 2
    if sentence.before(phrase.start) != "and" or head < 0:
        return phrase
    if sentence.lower[head] not in english.beings():
        return phrase
    other = noun_phrase(sentence, head)
    if other is None or _maybe_verb(sentence.before(other.start)):
        return phrase
    return Phrase(other.start, phrase.end, phrase.head, True)
