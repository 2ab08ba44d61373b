"""Diversity: length, vocabulary and novelty of a system's captions.

The statistics of Table 16 of the movie-description paper (Rohrbach et al., 2017), and distinct-n
(Li et al., 2016): ``length``, mean words per caption; ``vocabulary``, number of different words;
``distinct_1`` and ``distinct_2``, different words and bigrams over all of them, 0–1; ``unique``,
share of captions that are different, 0–1; ``novel``, share of captions that do not occur in the
training captions, 0–1, given where a training file is. All are counted in tokens.

For an item, the scores say what its caption adds to the captions before it: new words, new
bigrams over its own, and whether the caption itself is new.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from reelscore.data import read_references
from reelscore.data.tables.scales import Scale
from reelscore.metrics.base import FloatArray, Metric, with_count
from reelscore.text.tokens import Tokenizer, check_tokenizer, tokenize_packed
from reelscore.text.words import CaptionBatch, Words, pack


@dataclass(frozen=True)
class Diversity(Metric):
    """Diversity of a system's captions; needs no references.

    Attributes:
        training: A file of training captions, in any format references come in; adds ``novel``.
        training_tokenizer: How the training captions are tokenized.

    >>> from reelscore import score
    >>> results = score({"v1": "A man runs.", "v2": "a man runs", "v3": "two dogs"},
    ...                 metrics=[Diversity()])
    >>> [round(results[name].score, 3) for name in ("length", "vocabulary", "unique")]
    [2.667, 5.0, 0.667]
    """

    training: str | None = None
    training_tokenizer: Tokenizer = "ptb"
    name: ClassVar[str] = "diversity"
    needs_references: ClassVar[bool] = False
    independent: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_tokenizer(self.training_tokenizer)

    @property
    def outputs(self) -> tuple[str, ...]:
        """The scores' names; ``novel`` only with training captions."""
        names = ("length", "vocabulary", "distinct_1", "distinct_2", "unique")
        return names if self.training is None else (*names, "novel")

    @property
    def output_scales(self) -> tuple[Scale, ...]:
        """Counts, and shares from 0 to 1; more is not better in itself."""
        labels = [name.capitalize().replace("_", "-") for name in self.outputs]
        counts = Scale("neither", 0, mean=False)
        shares = replace(counts, most=1, percent=True)
        return tuple(
            replace(counts if label in ("Length", "Vocabulary") else shares, label=label)
            for label in labels
        )

    def files(self) -> dict[str, str]:
        """The training captions, where they are given."""
        return {} if self.training is None else {"training": self.training}

    def statistics(self, batch: CaptionBatch, prepared: Any) -> FloatArray:
        """Words, new words, bigrams, new bigrams, new caption, novel caption, and 1."""
        words = batch.candidates.words
        captions = batch.candidates.text.unpack()
        first = dict(zip(reversed(captions), range(len(captions) - 1, -1, -1), strict=True))
        fresh = np.zeros(len(captions))
        fresh[list(first.values())] = 1.0
        if self.training is None:
            novel = np.zeros(len(captions))
        else:
            training = [*chain.from_iterable(read_references(self.training).values())]
            known = {*tokenize_packed(pack(training), self.training_tokenizer).unpack()}
            novel = np.array([float(caption not in known) for caption in captions])
        singles, new_singles = _new_ngrams(words, 1)
        pairs, new_pairs = _new_ngrams(words, 2)
        return with_count(singles, new_singles, pairs, new_pairs, fresh, novel)

    def scores(self, totals: FloatArray) -> FloatArray:
        """Means and ratios; 0 where there is nothing to divide by."""
        words, new_words, pairs, new_pairs, fresh, novel, count = np.moveaxis(totals, -1, 0)
        columns = [
            words / count,
            new_words,
            new_words / np.maximum(words, 1),
            new_pairs / np.maximum(pairs, 1),
            fresh / count,
            novel / count,
        ]
        return np.stack(columns[: len(self.outputs)], axis=-1)


def _new_ngrams(words: Words, order: int) -> tuple[FloatArray, FloatArray]:
    """For each caption: how many n-grams it has, and how many of them no caption had before."""
    lengths = np.diff(words.offsets)
    owner = np.repeat(np.arange(len(lengths)), lengths)
    keys: NDArray[np.uint64] = words.ids.astype(np.uint64)
    if order == 2:
        inside = owner[:-1] == owner[1:]
        keys = ((keys[:-1] << np.uint64(32)) | keys[1:])[inside]
        owner = owner[:-1][inside]
    _, first = np.unique(keys, return_index=True)
    total = np.bincount(owner, minlength=len(lengths)).astype(np.float64)
    new = np.bincount(owner[first], minlength=len(lengths)).astype(np.float64)
    return total, new
