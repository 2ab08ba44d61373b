"""Where systems succeed and fail: scores against the difficulty of the references.

As in the movie description paper (Rohrbach et al., 2017, Fig. 8): items are sorted by the length
of their references, or by how common the words in them are, and the scores of each system are
smoothed along that order by a running mean.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from reelscore.data.captions.inputs import references_by_item
from reelscore.data.captions.python_captions import CaptionsLike
from reelscore.errors import check_choice
from reelscore.metrics.base import FloatArray
from reelscore.text.tokens import Tokenizer, tokenize

Difficulty = Literal["length", "frequency"]


@dataclass(frozen=True)
class Difficulties:
    """Items from easy to hard, and how hard each is.

    Attributes:
        kind: ``length`` (words, rising) or ``frequency`` (of the words, falling).
        items: The items, in that order.
        values: Mean length of the references, or mean frequency of their words, in that order.
    """

    kind: Difficulty
    items: Sequence[str]
    values: FloatArray

    def along(self, scores: Mapping[str, float]) -> FloatArray:
        """Put scores in this order."""
        return np.array([scores[item] for item in self.items])


def difficulties(
    references: CaptionsLike, kind: Difficulty = "length", *, tokenizer: Tokenizer = "ptb"
) -> Difficulties:
    """Sort items by the difficulty of their references.

    Args:
        references: Reference captions by item, in any form of `reelscore.score`; an item's value
            is the mean over them.
        kind: ``length``: number of words. ``frequency``: how often a word of the caption occurs
            in all references, on average.
        tokenizer: As in `reelscore.score`.

    Returns:
        The items, easy ones first.

    >>> easy = difficulties({"v1": ["a man runs fast"], "v2": ["a man"], "v3": ["an emu"]})
    >>> easy.items, easy.values.tolist()
    (['v2', 'v3', 'v1'], [2.0, 2.0, 4.0])
    >>> difficulties({"v1": ["an emu"], "v2": ["a man"], "v3": ["a man runs"]}, "frequency").items
    ['v2', 'v3', 'v1']
    """
    check_choice("difficulty", kind, get_args(Difficulty))
    truth = references_by_item(references)
    items = list(truth)
    flat = [text for item in items for text in truth[item]]
    words = [text.split() for text in tokenize(flat, tokenizer)]
    owners = np.repeat(np.arange(len(items)), [len(truth[item]) for item in items])
    if kind == "length":
        each = [float(len(caption)) for caption in words]
    else:
        counts = Counter(word for caption in words for word in caption)
        each = [sum(counts[w] for w in caption) / max(1, len(caption)) for caption in words]
    values = np.bincount(owners, each) / np.bincount(owners)
    order = np.argsort(values if kind == "length" else -values, kind="stable")
    return Difficulties(kind, [items[k] for k in order], values[order])


def smooth(scores: FloatArray, window: int = 500) -> tuple[FloatArray, FloatArray]:
    """Smooth scores by a running mean.

    >>> middles, means = smooth(np.array([1.0, 2.0, 3.0, 4.0]), 2)
    >>> middles.tolist(), means.tolist()
    ([1.5, 2.5, 3.5], [1.5, 2.5, 3.5])
    """
    window = max(1, min(window, len(scores)))
    sums = np.concatenate([[0.0], np.cumsum(scores)])
    means: FloatArray = (sums[window:] - sums[:-window]) / window
    middles: FloatArray = np.arange(len(means), dtype=np.float64) + (window + 1) / 2
    return middles, means


def extremes(scores: Mapping[str, float], count: int = 10) -> tuple[list[str], list[str]]:
    """Name the items with the highest and with the lowest scores, best and worst first.

    >>> extremes({"v1": 0.1, "v2": 0.9, "v3": 0.5}, 2)
    (['v2', 'v3'], ['v1', 'v3'])
    """
    ordered = sorted(scores, key=lambda item: scores[item])
    return ordered[::-1][:count], ordered[:count]
