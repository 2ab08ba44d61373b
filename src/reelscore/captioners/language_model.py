"""A trigram language model, interpolated by Witten and Bell's rule."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache

BEGIN, END = "<begin>", "<end>"


class TrigramModel:
    """How likely words follow each other.

    At each order the share of the shorter history grows with how many different words were seen
    after the longer one. Words never seen share one place of the vocabulary.

    Args:
        sentences: The words of each training sentence.

    >>> model = TrigramModel([["a", "man", "runs"], ["a", "dog", "runs"]])
    >>> model.log_chance((BEGIN, BEGIN), "a") > model.log_chance((BEGIN, BEGIN), "runs")
    True
    >>> round(sum(math.exp(model.log_chance(("a", "man"), w)) for w in model.words), 6)
    1.0
    """

    def __init__(self, sentences: Iterable[Sequence[str]]) -> None:
        self._counts: dict[tuple[str, ...], Counter[str]] = {}
        seen: set[str] = {END}
        for sentence in sentences:
            words = [BEGIN, BEGIN, *sentence, END]
            seen.update(sentence)
            for place in range(2, len(words)):
                for length in range(3):
                    history = tuple(words[place - length : place])
                    self._counts.setdefault(history, Counter())[words[place]] += 1
        self.words = (*sorted(seen), "<unk>")
        self._totals = {history: own.total() for history, own in self._counts.items()}
        self.log_chance = cache(self._log_chance)

    def _log_chance(self, history: tuple[str, ...], word: str) -> float:
        """Give the logarithm of the chance of a word after the two words before it."""
        return math.log(self._chance(history, word if word in self._counts[()] else "<unk>"))

    def _chance(self, history: tuple[str, ...], word: str) -> float:
        lower = 1 / len(self.words) if not history else self._chance(history[1:], word)
        own = self._counts.get(history)
        if own is None:
            return lower
        total, kinds = self._totals[history], len(own)
        return (own[word] + kinds * lower) / (total + kinds)
