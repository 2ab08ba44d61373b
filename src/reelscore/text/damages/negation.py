"""Negation in many forms: each says that what the caption tells is not so.

A caption that is negated already is left alone, since a second "not" may undo the first.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from reelscore.text.damages import english
from reelscore.text.damages.sentence import Rule, WordRow
from reelscore.text.damages.subject_verb import SubjectVerb, agreeing, find_clause

_ACCOMPANIED = english.words(
    "filled covered along together away down decorated surrounded lined up off out"
)


def negated(sentence: WordRow) -> bool:
    """Return whether a caption has a negation in it.

    >>> negated(WordRow.read("a man doesn't move")), negated(WordRow.read("a man moves"))
    (True, False)
    """
    return any(
        word in english.NEGATIVE or word.endswith(("n't", "n’t")) or word.startswith("unsuccess")
        for word in sentence.lower
    )


def _on_clause(rule: Callable[[WordRow, SubjectVerb], WordRow | None]) -> Rule:
    """Make a rule that needs a verb of one that gets it."""

    def apply(sentence: WordRow, rng: random.Random, taken: frozenset[str]) -> str | None:
        clause = None if negated(sentence) else find_clause(sentence)
        changed = None if clause is None else rule(sentence, clause)
        return None if changed is None else changed.text()

    return apply


def _put(sentence: WordRow, clause: SubjectVerb, *words: str) -> WordRow:
    return sentence.put(clause.start, clause.end, *words)


@_on_clause
def is_not(sentence: WordRow, clause: SubjectVerb) -> WordRow | None:
    """Put "not" after a form of "to be"."""
    if clause.sort == "be":
        return sentence.put(clause.start, clause.start + 1, sentence.words[clause.start], "not")
    if clause.sort == "participle" and clause.subject is not None:
        be = "are" if clause.plural else "is"
        return _put(sentence, clause, "who", be, "not", english.gerund(clause.base))
    return None


@_on_clause
def does_not(sentence: WordRow, clause: SubjectVerb) -> WordRow | None:
    """Return "does not ride" for "rides"."""
    if clause.sort != "finite":
        return None
    verb = "do" if clause.plural else "does"
    return _put(_with_base(sentence, clause), clause, verb, "not", clause.base)


@_on_clause
def not_doing(sentence: WordRow, clause: SubjectVerb) -> WordRow | None:
    """Return "not riding" where there is no other verb."""
    if clause.sort != "participle":
        return None
    return _put(sentence, clause, "not", english.gerund(clause.base))


@_on_clause
def cannot(sentence: WordRow, clause: SubjectVerb) -> WordRow | None:
    """Return "cannot ride"."""
    if clause.sort == "participle" or not clause.base:
        return None
    return _put(_with_base(sentence, clause), clause, "cannot", clause.base)


def _with_base(sentence: WordRow, clause: SubjectVerb) -> WordRow:
    """Adapt a second verb: not "does not hit and runs"."""
    second = sentence.after(clause.end)
    if sentence.after(clause.end - 1) == "and" and second in english.thirds():
        return sentence.put(clause.end + 1, clause.end + 2, english.thirds()[second])
    return sentence


@_on_clause
def no_longer(sentence: WordRow, clause: SubjectVerb) -> WordRow | None:
    """Return "is no longer riding"."""
    if clause.sort == "be":
        be = sentence.words[clause.start]
        return sentence.put(clause.start, clause.start + 1, be, "no", "longer")
    verb = sentence.words[clause.start]
    return _put(sentence, clause, "no", "longer", verb)


@_on_clause
def stops(sentence: WordRow, clause: SubjectVerb) -> WordRow | None:
    """Return "stops riding"."""
    if clause.sort == "participle" or not clause.base:
        return None
    return _put(sentence, clause, "stop" if clause.plural else "stops", english.gerund(clause.base))


def _with_to(verb: str) -> Rule:
    """Make a rule that says "fails to ride", or "failing to ride" where there is no other verb."""

    @_on_clause
    def rule(sentence: WordRow, clause: SubjectVerb) -> WordRow | None:
        if not clause.base or clause.subject is None:
            return None
        changed = _with_base(sentence, clause)
        return _put(changed, clause, _form(verb, clause), "to", clause.base)

    return rule


@_on_clause
def avoids(sentence: WordRow, clause: SubjectVerb) -> WordRow | None:
    """Return "avoids riding"."""
    if not clause.base or clause.subject is None:
        return None
    return _put(sentence, clause, _form("avoid", clause), english.gerund(clause.base))


def _form(verb: str, clause: SubjectVerb) -> str:
    """Put another verb into the form of the one in the clause."""
    if clause.sort == "participle":
        return english.gerund(verb)
    return verb if clause.plural else english.third(verb)


@_on_clause
def untrue(sentence: WordRow, clause: SubjectVerb) -> WordRow | None:
    """Begin with "it is not true that"."""
    if clause.sort == "participle":
        return None
    return sentence.put(0, 1, "it", "is", "not", "true", "that", sentence.words[0])


@_on_clause
def never(sentence: WordRow, clause: SubjectVerb) -> WordRow | None:
    """Put "never" beside the verb."""
    verb = sentence.words[clause.start]
    words = (verb, "never") if clause.sort == "be" else ("never", verb)
    return sentence.put(clause.start, clause.start + 1, *words)


@_on_clause
def contraction(sentence: WordRow, clause: SubjectVerb) -> WordRow | None:
    """Return "isn't", "aren't", "doesn't" or "don't"."""
    if clause.sort == "be":
        be = sentence.words[clause.start]
        return sentence.put(clause.start, clause.start + 1, f"{be}n't")
    if clause.sort == "finite":
        verb = "don't" if clause.plural else "doesn't"
        return _put(_with_base(sentence, clause), clause, verb, clause.base)
    if clause.subject is None:
        return None
    be = "aren't" if clause.plural else "isn't"
    return _put(sentence, clause, "who", be, english.gerund(clause.base))


def _with_nobody(*nobody: str) -> Rule:
    """Make a rule that puts nobody in place of the people who do it."""

    @_on_clause
    def rule(sentence: WordRow, clause: SubjectVerb) -> WordRow | None:
        subject = clause.subject
        if subject is None or sentence.lower[subject.head] not in english.people():
            return None
        return agreeing(sentence, clause, plural=False).put(subject.start, subject.end, *nobody)

    return rule


@_on_clause
def none_of(sentence: WordRow, clause: SubjectVerb) -> WordRow | None:
    """Return "none of the men"."""
    subject = clause.subject
    if subject is None or not english.beings()[sentence.lower[subject.head]]:
        return None
    if subject.head != subject.end - 1 or "of" in sentence.lower[subject.start : subject.head]:
        return None
    first = sentence.lower[subject.start]
    known = first in english.ARTICLES | english.POSSESSIVES
    if not known and first in english.DETERMINERS:
        return None
    the = () if known else ("the",)
    return sentence.put(subject.start, subject.start + 1, "none", "of", *the, first)


_ARTICLES_AND_NUMBERS = english.ARTICLES.union(english.NUMBERS)


def no(sentence: WordRow, rng: random.Random, taken: frozenset[str]) -> str | None:
    """Put "no" before what the caption is about, a sentence or not."""
    if negated(sentence) or not sentence.words:
        return None
    clause, first = find_clause(sentence), sentence.lower[0]
    subject = None if clause is None else clause.subject
    if first == "there" and sentence.after(0) in english.BE and sentence.after(1) in {"a", "an"}:
        return sentence.put(2, 3, "no").text()
    if subject is not None and subject.start > 0:
        place = subject.start
    elif first in _ARTICLES_AND_NUMBERS or first in english.beings():
        place = 0
    else:
        return None
    word = sentence.lower[place]
    if word in _ARTICLES_AND_NUMBERS or word.isdigit():
        return sentence.put(place, place + 1, "no").text()
    if word in english.DETERMINERS:
        return None
    return sentence.put(place, place + 1, "no", sentence.words[place]).text()


def _lacking(with_it: Callable[[str], tuple[str, ...]], *doing_it: str) -> Rule:
    """Make a rule that takes away what somebody has, or does besides."""

    def rule(sentence: WordRow, rng: random.Random, taken: frozenset[str]) -> str | None:
        if negated(sentence):
            return None
        places = [place for place in range(1, len(sentence)) if _withable(sentence, place)]
        if not places:
            return None
        place = rng.choice(places)
        word, after = sentence.lower[place], sentence.after(place)
        if word in {"and", "while"}:
            base = english.thirds().get(after) or english.gerunds()[after]
            return sentence.put(place, place + 2, *doing_it, english.gerund(base)).text()
        words = with_it(sentence.words[place])
        denies = words[-1] == "no"
        if denies and after == "one":  # "no one" is another form
            return None
        determined = denies and after in english.ARTICLES | english.POSSESSIVES
        return sentence.put(place, place + (2 if determined else 1), *words).text()

    return rule


def _withable(sentence: WordRow, place: int) -> bool:
    word, before, after = sentence.lower[place], sentence.before(place), sentence.after(place)
    if not sentence.is_word(place + 1):
        return False
    if word == "with":
        return not (before in _ACCOMPANIED or before.endswith("ed"))
    if word in {"wearing", "holding", "carrying"}:
        return after in english.ARTICLES | english.POSSESSIVES | english.ADJECTIVES
    if word == "while":
        return after in english.gerunds()
    if word == "and":
        return after in english.thirds() and after not in english.NOUN_LIKE
    return False


LACKING = {
    "with no": _lacking(lambda word: (word, "no"), "but", "not"),
    "instead of": _lacking(lambda word: ("lacking",), "instead", "of"),
    "having no": _lacking(lambda word: ("having", "no"), "rather", "than"),
    "missing": _lacking(lambda word: ("missing",), "while", "not"),
    "minus": _lacking(lambda word: ("minus",), "minus"),
}
FORMS = {
    "is not": is_not,
    "does not": does_not,
    "not doing": not_doing,
    "cannot": cannot,
    "no longer": no_longer,
    "stops": stops,
    "refuses to": _with_to("refuse"),
    "avoids": avoids,
    "untrue": untrue,
    "no": no,
    "nobody": _with_nobody("nobody"),
    "none of": none_of,
    **LACKING,
    "never": never,
    "no one": _with_nobody("no", "one"),
    "without": _lacking(lambda word: ("without",), "without"),
    "fails to": _with_to("fail"),
    "isn't": contraction,
}
HELD_OUT = ("never", "no one", "without", "fails to", "isn't")
