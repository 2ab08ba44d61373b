"""How alike systems, or annotators, write: every one's captions against every other's.

The Direct Assessment paper (Graham et al., 2018, Figs 4 and 5, Table 1) does this with a service
for semantic similarity that no longer exists. Any metric will do: the captions of one stand as the
references of the other, both ways, and the two scores are averaged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reelscore._progress import Progress
from reelscore.data.captions.inputs import read_inputs, references_by_item
from reelscore.data.captions.python_captions import CaptionsLike
from reelscore.errors import DataError
from reelscore.metrics.base import FloatArray, Metric
from reelscore.metrics.registry import table_columns
from reelscore.scoring.captions import score_systems
from reelscore.text.tokens import Tokenizer


@dataclass(frozen=True)
class Similarity:
    """How alike all pairs are.

    Attributes:
        names: Systems or annotators.
        metric: The metric's name.
        items: The items all of them have.
        pairs: One × other × item; NaN for one and itself.
    """

    names: Sequence[str]
    metric: str
    items: Sequence[str]
    pairs: FloatArray

    @property
    def matrix(self) -> FloatArray:
        """Mean over the items: one × other, NaN on the diagonal."""
        means: FloatArray = self.pairs.mean(axis=2)
        return means

    @property
    def medians(self) -> FloatArray:
        """Median over the items, as `matrix`."""
        return np.asarray(np.median(self.pairs, axis=2))

    @property
    def to_others(self) -> FloatArray:
        """How alike each is to the others, on average (Table 1 of the paper)."""
        means: FloatArray = np.nanmean(self.matrix, axis=1)
        return means

    @property
    def by_item(self) -> FloatArray:
        """How alike each is to the others on each item: the distributions of Fig 5."""
        means: FloatArray = np.nanmean(self.pairs, axis=1)
        return means

    def to_dict(self) -> dict[str, Any]:
        """Return names, means and medians as plain data."""

        def cells(matrix: FloatArray) -> list[list[float | None]]:
            rows = enumerate(matrix.tolist())
            return [[None if j == k else x for j, x in enumerate(row)] for k, row in rows]

        return {
            "metric": self.metric,
            "items": len(self.items),
            "names": list(self.names),
            "matrix": cells(self.matrix),
            "medians": cells(self.medians),
            "to_others": dict(zip(self.names, self.to_others.tolist(), strict=True)),
        }


def compare_writers(
    captions: Mapping[str, CaptionsLike] | CaptionsLike,
    metric: str | Metric = "meteor",
    *,
    tokenizer: Tokenizer = "ptb",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Similarity:
    """Compare the captions of every writer with those of every other, on common items.

    Args:
        captions: Captions by system or annotator, and item, in any form of
            `reelscore.score_systems`.
        metric: The measure of likeness; of several scores it gives, the last one is used.
        tokenizer: As in `reelscore.score`.
        threads: How many threads to use.
        progress: Called with how many of them are done, of how many.

    Returns:
        The similarities.

    Raises:
        DataError: If there are fewer than two, or they share no item.

    >>> similarity = compare_writers({"a": {"v1": "a man runs", "v2": "a dog"},
    ...                          "b": {"v1": "a man runs", "v2": "the cat"},
    ...                          "c": {"v1": "a man walks", "v2": "a dog"}}, "rouge_l")
    >>> similarity.to_others.round(2).tolist()
    [0.67, 0.42, 0.58]
    """
    writers = read_inputs(captions).systems
    if len(writers) < 2:
        raise DataError("There is only one file of captions; a comparison needs at least two.")
    names = list(writers)
    first = writers[names[0]]
    items = [item for item in first if all(item in writers[name] for name in names)]
    if not items:
        raise DataError("The files of captions have no item in common.")
    texts = {name: {item: writers[name][item] for item in items} for name in names}
    (chosen,) = table_columns(metric)
    score = chosen.main
    pairs = np.full((len(names), len(names), len(items)), np.nan)
    for k, name in enumerate(names):
        table = score_systems(
            {other: texts[other] for other in names if other != name},
            {item: [caption] for item, caption in texts[name].items()},
            metric,
            tokenizer=tokenizer,
            empty="zero",
            threads=threads,
        )
        for j, other in enumerate(names):
            if other != name:
                pairs[j, k] = table[other][score].items.array
        if progress is not None:
            progress(k + 1, len(names))
    return Similarity(names, score, items, (pairs + pairs.transpose(1, 0, 2)) / 2)


def by_annotator(references: CaptionsLike) -> dict[str, dict[str, str]]:
    """Take references apart by annotator: the first of every item, the second, and so on.

    Only as many annotators as every item has; the order of the references must mean something.

    >>> by_annotator({"v1": ["a man", "he"], "v2": ["a dog", "it", "pet"]})
    {'annotator 1': {'v1': 'a man', 'v2': 'a dog'}, 'annotator 2': {'v1': 'he', 'v2': 'it'}}
    """
    truth = references_by_item(references)
    count = min(len(texts) for texts in truth.values())
    return {
        f"annotator {k + 1}": {item: texts[k] for item, texts in truth.items()}
        for k in range(count)
    }
