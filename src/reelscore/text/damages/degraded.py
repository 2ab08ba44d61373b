"""Degraded captions: human captions degraded by rule, so that an attentive rater scores them lower.

A span of words gives way to as many words that follow one another in a human caption of another
video: fluent, so that only who reads the caption against the video notices. A rule set says how
many words go, see `reelscore.text.damages.degraded`.
"""

from __future__ import annotations

import random
import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from reelscore.errors import DataError, UnknownNameError

Captions = Mapping[str, str | Sequence[str]]
Unable = Literal["error", "skip"]
_DRAWS = 100  # of phrases, before all there are get looked through


def degrade(
    captions: Captions,
    *,
    seed: int,
    rules: str | Rules = "plos",
    lenders: Captions | None = None,
    unable: Unable = "error",
) -> dict[str, str]:
    """Spoil the caption of every item.

    Words are what stands between white space, punctuation included. By Table 2 a caption of N
    words loses 1 word for N = 1, 2 up to 5, 3 up to 8, 4 up to 15, 5 up to 20, and N // 4 beyond.
    The span is neither initial nor final, where the caption is long enough: from four words on.
    Of three words the last two go, of one and two words all.

    The words that come in stand side by side in a caption of another video, whose wording no
    caption of this item has, and they too are neither initial nor final there, unless no caption
    is long enough for that. They differ from the words that go in more than case and
    punctuation, so the result always differs from the caption.

    A degraded caption follows from the seed, its item and the set of captions, not from their
    order, and is the same on every machine.

    Args:
        captions: The human caption of each item, or several: the first is degraded, all of them
            lend words to others.
        seed: Seed of the random choices.
        rules: The name of a rule set, or one of your own.
        lenders: Captions that lend words instead, by item; for the captions of a system, those
            of people.
        unable: Whether captions that no other video lends enough words to are an ``error``, or
            left out (``skip``).

    Returns:
        The degraded caption of each item.

    Raises:
        DataError: If a caption has no words, or no other video lends enough of them.

    >>> captions = {"v1": "two men wear jellabiya and dance indoors",
    ...             "v2": "a young man rolls on some wheels along the floor"}
    >>> degrade(captions, seed=1)["v1"]
    'two men man rolls on dance indoors'
    >>> degrade(captions, seed=1, rules="crowd-alone")["v1"]
    'two men dance indoors'
    """
    chosen = rule_set(rules) if isinstance(rules, str) else rules
    lent = _Lent(captions if lenders is None else lenders)
    empty = [item for item, caption in captions.items() if not _first(caption).split()]
    if empty:
        raise DataError(
            f"{len(empty)} captions have no words (first: {', '.join(map(repr, empty[:3]))}); "
            "there is nothing to degrade. Leave them out."
        )
    degraded: dict[str, str] = {}
    for item, caption in captions.items():
        words = _first(caption).split()
        text = _degraded(item, words, chosen, lent, seed)
        if text is not None:
            degraded[item] = text
        elif unable == "error":
            raise DataError(
                f"No caption of another video can lend {chosen.coming(len(words))} words to item "
                f"{item!r} ({len(words)} words). Add captions, or leave this one out."
            )
    return degraded


def _first(caption: str | Sequence[str]) -> str:
    if isinstance(caption, str):
        return caption
    return caption[0] if caption else ""


def _degraded(item: str, words: list[str], rules: Rules, lent: _Lent, seed: int) -> str | None:
    rng = random.Random(f"{seed} {item}")  # of each item its own: the order does not matter
    if len(words) == 1 and rules.lone:
        return next(word for word in rules.lone if _bare([word]) != _bare(words))
    count, coming = rules.replaced(len(words)), rules.coming(len(words))
    starts = rules.starts(len(words))
    for start in rng.sample(starts, len(starts)):
        before, going, after = words[:start], words[start : start + count], words[start + count :]
        if coming == 0:
            return " ".join(before + after)
        for phrase in lent.phrases(coming, item, rules.head, rng):
            if _bare(phrase) != _bare(going):
                text = " ".join([*before, *phrase, *after])
                return text.title() if rules.capital and len(words) == 1 else text
    return None


def _bare(words: Sequence[str]) -> list[str]:
    """Words without case and punctuation: what must differ for a rater to see a difference."""
    return [word.strip(string.punctuation).casefold() or word for word in words]


class _Lent:
    """The captions that lend words, each wording once, the longest first."""

    def __init__(self, captions: Captions) -> None:
        items: dict[tuple[str, ...], set[str]] = {}
        for item, caption in captions.items():
            for text in (caption,) if isinstance(caption, str) else caption:
                items.setdefault(tuple(text.split()), set()).add(item)
        self.captions = sorted(items, key=lambda words: (-len(words), words))
        self.items = [items[words] for words in self.captions]

    @cached_property
    def _long_enough(self) -> list[int]:
        """How many captions have at least n words, for each n from 0."""
        longest = len(self.captions[0]) if self.captions else 0
        counts = [0] * (longest + 2)
        for words in self.captions:
            counts[len(words)] += 1
        for length in range(longest, -1, -1):
            counts[length] += counts[length + 1]
        return counts

    def phrases(
        self, count: int, item: str, head: int, rng: random.Random
    ) -> Iterator[tuple[str, ...]]:
        """Yield phrases of other videos in random order; those at the edge of a caption last."""
        for first, last in ((head, 1), (0, 0)):
            yield from self._drawn(count, item, first, last, rng)
            for k in range(self._lenders(count + first + last)):
                if item not in self.items[k]:
                    words = self.captions[k]
                    for start in range(first, len(words) - last - count + 1):
                        yield words[start : start + count]

    def _drawn(
        self, count: int, item: str, first: int, last: int, rng: random.Random
    ) -> Iterator[tuple[str, ...]]:
        lenders = self._lenders(count + first + last)
        for _ in range(_DRAWS if lenders else 0):
            k = rng.randrange(lenders)
            if item not in self.items[k]:
                words = self.captions[k]
                start = rng.randint(first, len(words) - last - count)
                yield words[start : start + count]

    def _lenders(self, length: int) -> int:
        counts = self._long_enough
        return counts[length] if length < len(counts) else 0


@dataclass(frozen=True)
class Rules:
    """How captions are degraded.

    >>> [RULES["plos"].replaced(length) for length in (1, 2, 5, 6, 8, 9, 15, 16, 20, 21, 24, 40)]
    [1, 2, 2, 3, 3, 4, 4, 5, 5, 5, 6, 10]
    """

    name: str  # what the rule set is called
    # lengths of captions with the number of words that go: up to that length, so many
    steps: tuple[tuple[int, int], ...]
    beyond: Callable[[int], int]  # the number of words that go from a longer caption
    head: int = 1  # words at the start that stay
    # words at the end that stay. Where a caption is too short, the end yields first: of three words
    # two go, those after the first; of two words, both
    tail: int = 1
    longest: int | None = None  # the most words that come in; 0: words only go
    # what a caption of one word becomes, the first of these that is different; none: the word of
    # another caption
    lone: tuple[str, ...] = ()
    capital: bool = False  # whether a lone word gets a capital letter

    def replaced(self, length: int) -> int:
        """Return how many words of a caption go."""
        for longest, words in self.steps:
            if length <= longest:
                return words
        return self.beyond(length)

    def coming(self, length: int) -> int:
        """Return how many words come in their place."""
        count = self.replaced(length)
        return count if self.longest is None else min(count, self.longest)

    def starts(self, length: int) -> range:
        """Return the places where the span that goes may begin.

        >>> [list(RULES["plos"].starts(length)) for length in (1, 2, 3, 4, 5, 6)]
        [[0], [0], [1], [1], [1, 2], [1, 2]]
        """
        last = length - self.replaced(length)
        head = min(self.head, last)
        return range(head, max(head, last - self.tail) + 1)


def _quarter(length: int) -> int:
    return length // 4


_TABLE_2 = ((1, 1), (5, 2), (8, 3), (15, 4), (20, 5))
RULES = {
    rules.name: rules
    for rules in (
        Rules("plos", _TABLE_2, _quarter),
        Rules(
            "direct-assessment",
            ((3, 1), (5, 2), (7, 3), (14, 4), (19, 5)),
            _quarter,
            tail=2,
            longest=6,
            capital=True,
        ),
        Rules("appraise", _TABLE_2, lambda length: 6, head=0),
        Rules(
            "crowd-alone",
            ((3, 1), (5, 2), (8, 3), (15, 4), (20, 5)),
            lambda length: -(-length // 5),
            longest=0,
            lone=("The", "A"),
        ),
    )
}


def rule_set(name: str) -> Rules:
    """Look a rule set up by its name.

    ``plos`` is Table 2 of the paper; of the six examples in its Table 3, four follow it, one loses
    four of eight words, one loses four words for three. ``direct-assessment`` is the tool for
    translations: fewer words of the shortest captions, more of those of eight, and never more
    than six come in. ``appraise`` may begin at the first word and never replaces more than six.
    ``crowd-alone`` takes words away and puts none in their place. In all of them words come from
    another video, which the tools leave to chance.

    >>> rule_set("crowd-alone").replaced(21)
    5
    """
    try:
        return RULES[name]
    except KeyError:
        raise UnknownNameError.of("rule set", name, RULES) from None
