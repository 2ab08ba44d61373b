"""A caption as words that can be exchanged, and back as text with its spaces and capitals."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

_TOKEN = re.compile(r"(\s*)([^\W_]+(?:['’\-][^\W_]+)*['’]?(?=\s|$)|[^\W_]+(?:['’\-][^\W_]+)*|\S)")
_MARKS = frozenset(",.;:!?)")  # no space stands before them
_AN_DESPITE = ("hour", "honest", "honor")  # a vowel is heard, not written
_A_DESPITE = ("uni", "use", "eu", "one", "uk")  # and the other way round


@dataclass(frozen=True)
class WordRow:
    """The words and marks of a caption."""

    # words and punctuation marks; the first in lower case if the caption began with a capital
    # letter
    words: tuple[str, ...]
    spaced: tuple[bool, ...]  # whether a space stands before each
    capital: bool  # whether the caption began with a capital letter
    lower: tuple[str, ...] = field(init=False)  # the words in lower case

    def __post_init__(self) -> None:
        object.__setattr__(self, "lower", tuple(word.lower() for word in self.words))

    @classmethod
    def read(cls, caption: str) -> WordRow:
        """Split a caption."""
        tokens = _TOKEN.findall(caption.strip())
        words = [word for _, word in tokens]
        capital = bool(words) and words[0][:1].isupper() and not words[0][1:].isupper()
        if capital and words[0] != "I":
            words[0] = words[0][:1].lower() + words[0][1:]
        return cls(tuple(words), tuple(bool(space) for space, _ in tokens), capital)

    def __len__(self) -> int:
        return len(self.words)

    def text(self) -> str:
        """Write the caption."""
        written = "".join(
            f" {word}" if space else word
            for word, space in zip(self.words, self.spaced, strict=True)
        ).strip()
        return written[:1].upper() + written[1:] if self.capital else written

    def put(self, start: int, end: int, *words: str) -> WordRow:
        """Exchange the words from `start` up to `end`; "a" and "an" are adapted.

        The first new word stands as the first old one stood, close to it or after a space. Where
        `start` is `end` the words come in between, and no word or mark changes its spaces.

        >>> row = WordRow.read("A dog (brown) runs.")
        >>> row.put(6, 6, "in", "a", "park").text(), row.put(0, 1, "the").put(3, 3, "big").text()
        ('A dog (brown) runs in a park.', 'The dog (big brown) runs.')
        """
        spaces, behind = [word not in _MARKS for word in words], [*self.spaced[end:]]
        if words and start < end:
            spaces[0] = self.spaced[start]
        elif words and behind and self.words[start] not in _MARKS:
            spaces[0], behind[0] = spaces[0] and behind[0], True
        changed = replace(
            self,
            words=(*self.words[:start], *words, *self.words[end:]),
            spaced=(*self.spaced[:start], *spaces, *behind),
        )
        return changed._with_articles({start - 1, start + len(words) - 1})

    def _with_articles(self, places: set[int]) -> WordRow:
        words = list(self.words)
        for place in places:
            if 0 <= place < len(words) - 1 and self.lower[place] in {"a", "an"}:
                words[place] = article(self.lower[place + 1])
        return replace(self, words=tuple(words))

    def is_word(self, place: int) -> bool:
        """Return whether a word stands there, not a mark or nothing."""
        return 0 <= place < len(self) and self.words[place][:1].isalnum()

    def before(self, place: int) -> str:
        """Return the word before, in lower case; nothing at the beginning."""
        return self.lower[place - 1] if place > 0 else ""

    def after(self, place: int) -> str:
        """Return the word after, in lower case; nothing at the end."""
        return self.lower[place + 1] if place + 1 < len(self) else ""


Rule = Callable[[WordRow, random.Random, frozenset[str]], "str | None"]
"""Damages a caption; the words that its references have must not come in."""


def article(word: str) -> str:
    """Choose between "a" and "an".

    >>> [article(word) for word in ("dog", "apple", "uniform", "hour")]
    ['a', 'an', 'a', 'an']
    """
    if word.startswith(_AN_DESPITE):
        return "an"
    return "an" if word[:1] in set("aeiou8") and not word.startswith(_A_DESPITE) else "a"


def in_order(sentence: WordRow, words: Sequence[str]) -> str:
    """Write other words in place of all; the mark at the end stays at the end.

    Not after a single letter: tokenizers would read "a." as an abbreviation, another word.
    """
    end = sentence.words[-1] if sentence.words else ""
    keep = end in {".", "!", "?"} and bool(words) and len(words[-1]) > 1
    written = " ".join(words) + (end if keep else "")
    return written[:1].upper() + written[1:] if sentence.capital else written
