"""The second step: what metrics must know of all references, counted part by part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reelscore import _native
from reelscore.data.captions.shards import Shard
from reelscore.metrics.base import Metric
from reelscore.metrics.cider import Counted
from reelscore.scoring.prepared import Gathered
from reelscore.scoring.shards.partitions import Cut, packed, read_partition
from reelscore.text.tokens import Tokenizer, tokenize_packed
from reelscore.text.words import Captions, Packed


class GatherPlan(NamedTuple):
    """What all workers of the second step share."""

    cut: Cut
    references: Sequence[Shard]
    metrics: Sequence[Metric]
    tokenizer: Tokenizer


class ItemColumn(NamedTuple):
    """The references of a partition, item after item."""

    items: Any  # the item ids, in the order of their first references: an Arrow array
    references: Packed
    reference_offsets: NDArray[np.int64]  # where those of each item begin, and the end of the last
    places: NDArray[np.int64]  # where the first reference of each item was read


def items_of(references: Any) -> ItemColumn:
    """Bring the rows of a partition together by item, in the order of reading."""
    column = references.column("item").combine_chunks()
    encoded = column.dictionary_encode()
    numbers = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    places = references.column("place").to_numpy()
    captions = references.column("caption")
    if (np.diff(numbers) < 0).any():
        order = np.argsort(numbers, kind="stable")
        numbers, places, captions = numbers[order], places[order], captions.take(order)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(numbers))]).astype(np.int64)
    first = places[offsets[:-1]] if len(places) else places
    return ItemColumn(encoded.dictionary, packed(captions), offsets, first)


class GatheredPart:
    """What was gathered from a part of the references, or from several parts together.

    It can be pickled; the tables of the core are made again from their arrays.
    """

    def __init__(self, vocabulary: _native.Vocabulary, results: Sequence[Counted | None]) -> None:
        self.gathered = Gathered(vocabulary, list(results))

    def __reduce__(self) -> tuple[Any, ...]:
        arrays = [
            None
            if own is None
            else (own.frequencies.order, own.documents, own.frequencies.entries())
            for own in self.gathered.results
        ]
        return _unpickled, (self.gathered.vocabulary.words(), arrays)

    def __iadd__(self, other: GatheredPart) -> GatheredPart:
        """Add the counts of another part."""
        words = other.gathered.vocabulary.words()
        here = _native.word_ids(words, True, self.gathered.vocabulary).ids
        results = []
        for own, theirs in zip(self.gathered.results, other.gathered.results, strict=True):
            if own is not None:
                prefixes, last_words, frequencies = theirs.frequencies.entries()
                own.frequencies.add(prefixes, here[last_words], frequencies)
                own = Counted(own.frequencies, own.documents + theirs.documents)
            results.append(own)
        self.gathered = Gathered(self.gathered.vocabulary, results)
        return self


def _unpickled(words: Packed, arrays: Sequence[Any]) -> GatheredPart:
    vocabulary = _native.Vocabulary()
    _native.word_ids(words, True, vocabulary)
    results: list[Counted | None] = []
    for stored in arrays:
        if stored is None:
            results.append(None)
            continue
        order, documents, entries = stored
        table = _native.DocumentFrequencies(order)
        table.add(*entries)
        results.append(Counted(table, documents))
    return GatheredPart(vocabulary, results)


def gather_partition(number: int, plan: GatherPlan) -> GatheredPart:
    """Count in the references of one partition what metrics must know of all."""
    part = items_of(read_partition(plan.cut, "references", plan.references, number))
    captions = Captions(tokenize_packed(part.references, plan.tokenizer, threads=1))
    results = [metric.gather(captions, part.reference_offsets) for metric in plan.metrics]
    return GatheredPart(captions.vocabulary, results)
