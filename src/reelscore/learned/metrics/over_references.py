"""Several references: what their tokens weigh, and the mean of their scores, the best, or both."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from reelscore.errors import check_choice
from reelscore.metrics.base import FloatArray
from reelscore.text.words import CaptionBatch

Several = Literal["mean", "max", "blend"]

_BEST = 1 / 3  # how much the best reference counts in a blend


@dataclass
class WeightedReferences:
    """The references of all items, what tokens weigh, and texts that fill all that a model reads.

    Tokens that are rare in the references weigh more, and those that are in none most; all weigh
    the same where there are no weights.
    """

    references: list[str]
    weights: Mapping[int, float] | None = None
    cut: set[str] = field(default_factory=set)

    def of(self, ids: Sequence[int]) -> FloatArray:
        """Return the weights of tokens."""
        if self.weights is None:
            return np.ones(len(ids))
        unseen = math.log(len(self.references) + 1)
        return np.array([self.weights.get(token, unseen) for token in ids])


def check_several(metric: str, several: str) -> None:
    """Refuse an unknown way to combine several references."""
    check_choice(f"value of {metric}|references", several, get_args(Several))


def references_of(batch: CaptionBatch, references: Sequence[str]) -> list[Sequence[str]]:
    """Return the references of each candidate, out of those of all items."""
    ends = batch.reference_offsets
    return [references[ends[item] : ends[item + 1]] for item in batch.items.tolist()]


def over_references(scores: FloatArray, counts: NDArray[np.int64], several: Several) -> FloatArray:
    """Turn scores against each reference into one for each candidate."""
    if not len(counts):
        return np.zeros(0)
    begins = np.concatenate([[0], np.cumsum(counts)[:-1]])
    means = np.add.reduceat(scores, begins) / counts
    if several == "mean":
        return means
    best = np.maximum.reduceat(scores, begins)
    blend: FloatArray = (1 - _BEST) * means + _BEST * best
    return best if several == "max" else blend
