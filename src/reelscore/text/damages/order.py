"""Damage to the words as a row: another order, repeated words, a part left out."""

from __future__ import annotations

import random

from reelscore.text.damages import english
from reelscore.text.damages.sentence import Sentence, in_order

_TRIES = 20


def _words(sentence: Sentence) -> list[str]:
    """Give the words without marks."""
    return [word for place, word in enumerate(sentence.words) if sentence.is_word(place)]


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
    """Say the last word three times more, as captioners do."""
    words = _words(sentence)
    return in_order(sentence, [*words, *words[-1:] * 3]) if len(words) > 1 else None


def repeat_word(sentence: Sentence, rng: random.Random, taken: frozenset[str]) -> str | None:
    """Say one word of some weight two or three times more."""
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
    """Say the last two or three words again and again."""
    words = _words(sentence)
    if len(words) < 4:
        return None
    return in_order(sentence, [*words, *words[-rng.choice((2, 3)) :] * rng.choice((2, 3))])


def repeat_all(sentence: Sentence, rng: random.Random, taken: frozenset[str]) -> str | None:
    """Say each word twice."""
    words = _words(sentence)
    return in_order(sentence, [word for word in words for _ in (0, 1)]) if words else None


def first_half(sentence: Sentence, rng: random.Random, taken: frozenset[str]) -> str | None:
    """Leave the second half of the words out."""
    words = _words(sentence)
    return in_order(sentence, words[: len(words) // 2]) if len(words) >= 4 else None


def last_half(sentence: Sentence, rng: random.Random, taken: frozenset[str]) -> str | None:
    """Leave the first half of the words out."""
    words = _words(sentence)
    return in_order(sentence, words[(len(words) + 1) // 2 :]) if len(words) >= 4 else None


SHUFFLE = {"all": shuffle_all, "neighbours": shuffle_near, "reversed": reverse}
STUTTER = {
    "last word": repeat_last,
    "one word": repeat_word,
    "last phrase": repeat_phrase,
    "each word": repeat_all,
}
TRUNCATION = {"first half": first_half, "last half": last_half}
