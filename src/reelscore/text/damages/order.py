"""Damage to the words as a row: another order, repeated words, a part left out."""

from __future__ import annotations

import random
from collections.abc import Sequence

from reelscore.text.damages import english
from reelscore.text.damages.sentence import Sentence, in_order

_TRIES = 20


def _places(sentence: Sentence) -> list[int]:
    """Return the places of the words, without marks."""
    return [place for place in range(len(sentence)) if sentence.is_word(place)]


def _words(sentence: Sentence) -> list[str]:
    return [sentence.words[place] for place in _places(sentence)]


def shuffle_all(sentence: Sentence, rng: random.Random, taken: frozenset[str]) -> str | None:
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


def shuffle_near(sentence: Sentence, rng: random.Random, taken: frozenset[str]) -> str | None:
    """Exchange neighbours: the first with the second word, the third with the fourth."""
    words = _words(sentence)
    if len(set(words)) < 4:
        return None
    start = rng.choice((0, 1))
    for place in range(start, len(words) - 1, 2):
        words[place], words[place + 1] = words[place + 1], words[place]
    return in_order(sentence, words)


def reverse(sentence: Sentence, rng: random.Random, taken: frozenset[str]) -> str | None:
    """Put the words into the opposite order."""
    words = _words(sentence)
    return in_order(sentence, words[::-1]) if len(set(words)) >= 4 else None


def repeat_last(sentence: Sentence, rng: random.Random, taken: frozenset[str]) -> str | None:
    """Return the last word three times more, as captioners do."""
    places = _places(sentence)
    return _repeated(sentence, places[-1:], 3) if len(places) > 1 else None


def repeat_word(sentence: Sentence, rng: random.Random, taken: frozenset[str]) -> str | None:
    """Return one word of some weight two or three times more."""
    weighty = [
        place
        for place, word in enumerate(sentence.lower)
        if sentence.is_word(place)
        and word not in english.PREPOSITIONS | english.DETERMINERS | english.CONJUNCTIONS
    ]
    if not weighty or len(sentence) < 2:
        return None
    place = rng.choice(weighty)
    word = sentence.words[place]
    return sentence.put(place, place + 1, *[word] * rng.choice((3, 4))).text()


def repeat_phrase(sentence: Sentence, rng: random.Random, taken: frozenset[str]) -> str | None:
    """Return the last two or three words again and again."""
    places = _places(sentence)
    if len(places) < 4:
        return None
    return _repeated(sentence, places[-rng.choice((2, 3)) :], rng.choice((2, 3)))


def _repeated(sentence: Sentence, places: Sequence[int], times: int) -> str:
    words = [sentence.words[place] for place in places]
    return sentence.put(places[-1], places[-1] + 1, words[-1], *words * times).text()


def repeat_all(sentence: Sentence, rng: random.Random, taken: frozenset[str]) -> str | None:
    """Return each word twice."""
    changed = sentence
    for place in reversed(_places(sentence)):
        word = sentence.words[place]
        changed = changed.put(place, place + 1, word, word)
    return changed.text()


def first_half(sentence: Sentence, rng: random.Random, taken: frozenset[str]) -> str | None:
    """Leave the second half of the words out."""
    places = _places(sentence)
    if len(places) < 4:
        return None
    last = places[len(places) // 2 - 1]
    # "a." would be read as an abbreviation
    lone = len(sentence.words[last]) == 1 or sentence.is_word(len(sentence) - 1)
    return sentence.put(last + 1, len(sentence) - (0 if lone else 1)).text()


def last_half(sentence: Sentence, rng: random.Random, taken: frozenset[str]) -> str | None:
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
