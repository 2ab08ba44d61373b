"""The nearest neighbour: a caption of the training item whose features are most similar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, NamedTuple, get_args

import msgspec
import numpy as np

from reelscore._progress import Progress
from reelscore.captioners.run_record import Parameters
from reelscore.data.captions.inputs import references_by_item
from reelscore.data.captions.python_captions import CaptionsLike
from reelscore.errors import DataError, check_choice
from reelscore.metrics.base import pair_statistics
from reelscore.metrics.meteor import Meteor
from reelscore.text.tokens import thread_count, tokenize_packed
from reelscore.text.words import Captions, pack
from reelscore_studies.baselines.clip_features import (
    Features,
    MissingItems,
    common_items,
    items_with_all,
)
from reelscore_studies.baselines.retrieval.search import (
    Backend,
    Distance,
    nearest_rows,
    normalised,
    side_by_side,
)

Pick = Literal["first", "medoid"]


class NearestItems(NamedTuple):
    """What nearest neighbours gave.

    Attributes:
        captions: The caption of each query.
        items: The nearest training items of each query, the nearest first.
        similarities: How similar these are.
    """

    captions: dict[str, str]
    items: dict[str, list[str]]
    similarities: dict[str, list[float]]


@dataclass(frozen=True)
class NearestSearch(Parameters):
    """How nearest neighbours are found.

    Attributes:
        distance: ``intersection`` of L1-normalised features, their ``l1`` distance (the same order
            unless a row is all zeros), or ``cosine``.
        k: How many neighbours take part.
        pick: Which of their captions is taken: the ``first`` of the nearest item, or the
            ``medoid``, which has the highest mean METEOR against the others.
        clip_negative: Whether negative features are taken for 0; otherwise they are an error.
        missing: Whether items with captions or features alone are an ``error`` or left out.
    """

    distance: Distance = "intersection"
    k: Annotated[int, msgspec.Meta(ge=1)] = 1
    pick: Pick = "first"
    clip_negative: bool = False
    missing: MissingItems = "error"
    name: ClassVar[str] = "nearest"

    def __post_init__(self) -> None:
        check_choice("distance", self.distance, get_args(Distance))
        check_choice("choice of a caption", self.pick, get_args(Pick))
        check_choice("policy missing=", self.missing, get_args(MissingItems))
        if self.k > 1 and self.pick == "first":
            raise DataError(
                f'k is {self.k}, but pick="first" takes a caption of the nearest item alone. Pass '
                'pick="medoid", or k=1.'
            )

    def find(
        self,
        training: Sequence[Features],
        captions: Mapping[str, Sequence[str]],
        queries: Sequence[Features],
        *,
        backend: Backend = "auto",
        threads: int | None = None,
        progress: Progress | None = None,
        overwrite: bool = False,
    ) -> NearestItems:
        """Find the nearest training items of each query, and a caption for it."""
        if len(training) != len(queries) or not training:
            raise DataError(
                f"There are {len(training)} kinds of training features and {len(queries)} of "
                "queries; give the same for both."
            )
        items = list(captions)
        for part in training:
            items = common_items(items, part.items, self.missing)
        asked = items_with_all(queries, self.missing)
        ours = self._prepared(training, items, overwrite)
        theirs = self._prepared(queries, asked, overwrite)
        found = nearest_rows(
            ours.matrix,
            theirs.matrix,
            k=self.k,
            distance=self.distance,
            backend=backend,
            threads=threads,
            progress=progress,
        )
        nearest = {
            query: [items[place] for place in places]
            for query, places in zip(asked, found.places.tolist(), strict=True)
        }
        similarities = dict(zip(asked, found.similarities.tolist(), strict=True))
        return NearestItems(self._picked(nearest, captions, threads), nearest, similarities)

    def _prepared(
        self, parts: Sequence[Features], items: Sequence[str], overwrite: bool
    ) -> Features:
        return side_by_side(
            [
                normalised(
                    own := part.take(items),
                    self.distance,
                    clip_negative=self.clip_negative,
                    overwrite=overwrite or own is not part,  # what `take` made is ours
                )
                for part in parts
            ]
        )

    def _picked(
        self,
        nearest: Mapping[str, Sequence[str]],
        captions: Mapping[str, Sequence[str]],
        threads: int | None,
    ) -> dict[str, str]:
        if self.pick == "first":
            return {query: captions[items[0]][0] for query, items in nearest.items()}
        pools = {
            query: [text for item in items for text in captions[item]]
            for query, items in nearest.items()
        }
        distinct = list(dict.fromkeys(map(tuple, pools.values())))
        chosen = dict(zip(distinct, _medoids(distinct, thread_count(threads)), strict=True))
        return {query: chosen[tuple(texts)] for query, texts in pools.items()}


def _medoids(pools: Sequence[Sequence[str]], threads: int) -> list[str]:
    """Of each pool the caption with the highest mean METEOR against the others; the first of them.

    >>> _medoids([["a dog", "a man runs fast", "a man runs"]], threads=1)
    ['a man runs fast']
    """
    texts = list(dict.fromkeys(text for pool in pools for text in pool))
    numbers = {text: number for number, text in enumerate(texts)}
    pairs = [
        (numbers[own], numbers[other])
        for pool in pools
        for place, own in enumerate(pool)
        for other_place, other in enumerate(pool)
        if place != other_place
    ]
    means: list[float] = []
    if pairs:
        ours, others = np.array(pairs, dtype=np.int64).T
        captions = Captions(tokenize_packed(pack(texts), "ptb", threads=threads))
        metric = Meteor()
        rows = pair_statistics(metric, captions, ours.copy(), others.copy(), threads)
        means = metric.scores(rows)[:, 0].tolist()
    chosen = []
    begin = 0
    for pool in pools:
        others_of_each = len(pool) - 1
        sums = [
            sum(means[begin + k * others_of_each : begin + (k + 1) * others_of_each])
            for k in range(len(pool))
        ]
        begin += len(pool) * others_of_each
        chosen.append(pool[max(range(len(pool)), key=sums.__getitem__)])
    return chosen


def nearest(
    features: Features | Sequence[Features],
    captions: CaptionsLike,
    queries: Features | Sequence[Features],
    *,
    distance: Distance = "intersection",
    k: int = 1,
    pick: Pick = "first",
    clip_negative: bool = False,
    missing: MissingItems = "error",
    threads: int | None = None,
) -> dict[str, str]:
    """Return every query a caption of the training item whose features are most similar.

    Args:
        features: The features of the training items; several stand side by side.
        captions: Their captions, in any form of `reelscore.score` that has ids.
        queries: The features of the queries.
        distance: As in `NearestSearch`, like the rest.
        k: How many neighbours take part.
        pick: Which of their captions is taken.
        clip_negative: Whether negative features are taken for 0.
        missing: What to do with items that have captions or features alone.
        threads: How many threads to use; all cores by default.

    >>> training = Features.of({"t1": [1.0, 0.0], "t2": [0.2, 0.8]})
    >>> captions = {"t1": "A man runs.", "t2": "A dog sleeps."}
    >>> nearest(training, captions, Features.of({"v1": [0.1, 0.9]}))
    {'v1': 'A dog sleeps.'}
    """
    parameters = NearestSearch(distance, k, pick, clip_negative, missing)
    ours = [features] if isinstance(features, Features) else list(features)
    theirs = [queries] if isinstance(queries, Features) else list(queries)
    found = parameters.find(ours, references_by_item(captions), theirs, threads=threads)
    return found.captions
