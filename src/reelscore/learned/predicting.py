"""Scores of judged captions by a network in training: each pair of texts once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from reelscore.learned.captions import JudgedCaption
from reelscore.learned.cross_encoder import CrossEncoder

FloatArray = NDArray[np.float64]


def predict_captions(
    network: CrossEncoder, captions: Sequence[JudgedCaption], *, best: float = 0.0
) -> FloatArray:
    """Score captions against all their references: the mean, or somewhat of the best.

    Args:
        network: A trained network.
        captions: The captions.
        best: Weight of the best reference beside the mean: 0 is the mean alone, 1 the best alone.
    """
    counts = [len(caption.references) for caption in captions]
    pairs = [(caption.candidate, text) for caption in captions for text in caption.references]
    once = {pair: k for k, pair in enumerate(dict.fromkeys(pairs))}
    scores = network.predict([a for a, _ in once], [b for _, b in once])
    rows = scores[[once[pair] for pair in pairs]]
    begins = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)
    means = np.add.reduceat(rows, begins) / np.array(counts)
    result: FloatArray = (1 - best) * means + best * np.maximum.reduceat(rows, begins)
    return result
