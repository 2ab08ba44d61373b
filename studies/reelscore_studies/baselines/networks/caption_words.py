"""Words and their numbers: lower-cased tokens of the Penn Treebank, as the metrics see them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from reelscore.errors import DataError
from reelscore.text.tokens import tokenize

PAD, BEGIN, END, UNKNOWN = range(4)
_MARKS = ("<pad>", "<bos>", "<eos>", "<unk>")


@dataclass(frozen=True)
class Vocabulary:
    """The words a captioner can say.

    Attributes:
        words: Marks for padding, begin, end and unknown words, then words, the commonest first.

    >>> vocabulary = Vocabulary.of(["A man runs.", "A dog runs fast."])
    >>> vocabulary.words[4:]
    ('a', 'runs', 'dog', 'fast', 'man')
    >>> vocabulary.numbers("A cat runs!"), vocabulary.text([4, 6, 5, 2])
    ([4, 3, 5, 2], 'a dog runs')
    """

    words: tuple[str, ...]

    @classmethod
    def of(cls, captions: Iterable[str], min_count: int = 1) -> Vocabulary:
        """Collect the words of captions."""
        counts = Counter(word for text in tokenize(captions) for word in text.split())
        words = sorted(
            (w for w, n in counts.items() if n >= min_count), key=lambda w: _rank(w, counts)
        )
        if not words:
            raise DataError(
                f"No word occurs {min_count} times or more in the captions; lower min_count."
            )
        return cls((*_MARKS, *(word for word in words if word not in _MARKS)))

    def __len__(self) -> int:
        """Count words and marks."""
        return len(self.words)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {word: place for place, word in enumerate(self.words)}

    def numbers(self, caption: str) -> list[int]:
        """Return the numbers of a caption's words, and the end."""
        return self.rows([caption])[0]

    def rows(self, captions: Sequence[str]) -> list[list[int]]:
        """Return the numbers of each caption's words, and the end."""
        return [
            [*(self._places.get(word, UNKNOWN) for word in text.split()), END]
            for text in tokenize(captions)
        ]

    def text(self, numbers: Iterable[int]) -> str:
        """Write the words of numbers, up to the end."""
        words = []
        for number in numbers:
            if number in (END, PAD):
                break
            words.append(self.words[number])
        return " ".join(words)


def _rank(word: str, counts: Counter[str]) -> tuple[int, str]:
    return -counts[word], word
