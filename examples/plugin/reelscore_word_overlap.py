"""Word overlap: the words that a caption shares with its references.

Scale 0–1. ``word_overlap`` is the share of words that a caption and a reference have in common
(Jaccard's coefficient), of the best reference or the mean over all. ``missed_words`` is the share
of the references' words that the caption does not have: lower is better.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from reelscore.data import Scale
from reelscore.errors import check_choice
from reelscore.metrics import Metric, with_count


@dataclass(frozen=True)
class WordOverlap(Metric):
    """The share of common words.

    Attributes:
        references: ``best`` takes the best reference, ``mean`` the mean over all.
    """

    references: str = "best"
    name: ClassVar[str] = "word_overlap"
    output_scale: ClassVar[Scale] = Scale(
        "high", 0, 1, mean=True, label="Word overlap", percent=True
    )

    def __post_init__(self) -> None:
        check_choice("references of word_overlap", self.references, ("best", "mean"))

    def statistics(self, batch: Any, prepared: Any) -> Any:
        """The caption's score, and 1: the score of several captions is their mean."""
        together = max if self.references == "best" else np.mean
        scores = [
            together([len(words & own) / max(1, len(words | own)) for own in references])
            for words, references in caption_words(batch)
        ]
        return with_count(np.array(scores))


@dataclass(frozen=True)
class MissedWords(Metric):
    """The share of the references' words that a caption does not have."""

    name: ClassVar[str] = "missed_words"
    output_scale: ClassVar[Scale] = Scale("low", 0, 1, mean=True, label="Missed words")

    def statistics(self, batch: Any, prepared: Any) -> Any:
        """The caption's score, and 1."""
        scores = []
        for words, references in caption_words(batch):
            wanted = set().union(*references)
            scores.append(len(wanted - words) / max(1, len(wanted)))
        return with_count(np.array(scores))


def caption_words(batch: Any) -> Iterator[tuple[set[str], list[set[str]]]]:
    """Yield the words of each caption, and those of each of its references."""
    references = [set(text.split()) for text in batch.references.text.unpack()]
    captions = batch.candidates.text.unpack()
    for item, caption in zip(batch.items, captions, strict=True):
        begin, end = batch.reference_offsets[item : item + 2]
        yield set(caption.split()), references[begin:end]
