"""Candidates and references of one partition, brought together and checked, as columns.

What `reelscore.data.captions.paired_captions` does for captions in memory, for blocks of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reelscore.data.captions.shards import SYSTEM, BadRow, BadRows, Shard, named_place
from reelscore.errors import DataError
from reelscore.scoring.shards.partitions import Policies, packed
from reelscore.scoring.shards.reference_counts import ItemColumn, items_of
from reelscore.text.words import Packed


class Counts(NamedTuple):
    """What the policies did to a system's captions, and how many equal a reference."""

    missing: int = 0
    extra: int = 0
    copies: int = 0


@dataclass(frozen=True)
class PairedPart:
    """The captions of a partition, ready to be measured."""

    item_column: Any  # the item ids, an Arrow array
    references: Packed  # the references of all items, item after item
    reference_offsets: NDArray[np.int64]  # where those of each item begin, and the end of the last
    # where the first reference of each item was read: the order of all items
    places: NDArray[np.int64]
    candidates: Packed  # the candidates, item after item
    positions: NDArray[np.int64]  # the number of each candidate's item
    systems: NDArray[np.int64]  # the number of each candidate's system
    counts: Sequence[Counts]  # for each system, what was done
    bad: list[BadRow] = field(default_factory=list)  # records that were left out

    @cached_property
    def items(self) -> list[str]:
        """The item ids, as texts."""
        ids: list[str] = self.item_column.to_pylist()
        return ids


def pair_partition(
    references: Any,
    candidates: Any,
    reference_shards: Sequence[Shard],
    candidate_shards: Sequence[Shard],
    systems: Sequence[str],
    policies: Policies,
) -> PairedPart:
    """Pair the captions of a partition by item id, and check them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    bad = policies.bad_rows()
    items = items_of(references)
    positions = pc.index_in(candidates.column("item"), value_set=items.items).fill_null(-1)
    positions = positions.to_numpy().astype(np.int64)
    numbers = pc.index_in(candidates.column(SYSTEM), value_set=pa.array(list(systems), pa.string()))
    numbers = numbers.to_numpy().astype(np.int64)
    places = candidates.column("place").to_numpy()
    texts = candidates.column("caption")

    def refuse(row: int, reason: str) -> None:
        file, number = named_place(int(places[row]), candidate_shards)
        bad.add(BadRow(file, number, candidates.column("item")[row].as_py(), reason))

    extra = positions < 0
    if extra.any() and policies.missing != "skip":
        for row in np.flatnonzero(extra).tolist():
            refuse(row, "the item has no references")
    keys = positions * len(systems) + numbers
    order = np.flatnonzero(~extra)
    order = order[np.argsort(keys[order], kind="stable")]
    again = np.flatnonzero(np.diff(keys[order]) == 0) + 1
    if len(again):
        for row in order[again].tolist():
            refuse(row, f"system {systems[numbers[row]]!r} has a caption of the item already")
        order = np.delete(order, again)
    extras = np.bincount(numbers[extra], minlength=len(systems))
    if len(order) != len(positions) or (np.diff(order) != 1).any():
        texts, positions, numbers = texts.take(order), positions[order], numbers[order]
    there = np.zeros((len(systems), len(items.items)), dtype=bool)
    there[numbers, positions] = True
    missing = (~there).sum(axis=1)
    if missing.any() and policies.missing == "error":
        _refuse_missing(there, items, systems, reference_shards, bad)
    elif missing.any() and policies.missing == "zero":
        absent_systems, absent = np.nonzero(~there)
        texts = pa.concat_arrays([*texts.chunks, pa.array([""] * len(absent), pa.string())])
        positions = np.concatenate([positions, absent])
        numbers = np.concatenate([numbers, absent_systems])
        order = np.argsort(positions * len(systems) + numbers, kind="stable")
        texts, positions, numbers = texts.take(order), positions[order], numbers[order]
    copies = _copies(texts, positions, items)
    counts = [
        Counts(int(missing[k]), int(extras[k]), int(copies[numbers == k].sum()))
        for k in range(len(systems))
    ]
    return PairedPart(
        items.items,
        items.references,
        items.reference_offsets,
        items.places,
        packed(texts),
        positions,
        numbers,
        counts,
        bad.rows,
    )


def _refuse_missing(
    there: NDArray[np.bool_],
    items: ItemColumn,
    systems: Sequence[str],
    shards: Sequence[Shard],
    bad: BadRows,
) -> None:
    """Refuse items without a candidate, or collect them: they are left out then."""
    for system, item in np.argwhere(~there).tolist():
        file, row = named_place(int(items.places[item]), shards)
        name = items.items[item].as_py()
        reason = f"system {systems[system]!r} has no caption of the item"
        if not bad.kept:
            raise DataError(f"{BadRow(file, row, name, reason)}. {bad.remedies.missing}")
        bad.add(BadRow(file, row, name, reason))


def _copies(texts: Any, positions: NDArray[np.int64], items: ItemColumn) -> NDArray[np.bool_]:
    """Which candidates equal one of their references, but for blanks around them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    counts = np.diff(items.reference_offsets)[positions]
    if not len(counts):
        return np.zeros(0, dtype=bool)
    begins = np.concatenate([[0], np.cumsum(counts)[:-1]])
    numbers = np.repeat(items.reference_offsets[positions] - begins, counts)
    numbers = numbers + np.arange(len(numbers))
    references = pa.Array.from_buffers(
        pa.large_string(),
        items.references.size,
        [None, pa.py_buffer(items.references.offsets), pa.py_buffer(items.references.data)],
    )
    ours = (
        pc.utf8_trim_whitespace(texts)
        .cast(pa.large_string())
        .take(pa.array(np.repeat(np.arange(len(counts)), counts)))
    )
    theirs = pc.utf8_trim_whitespace(references).take(pa.array(numbers))
    equal = pc.equal(ours, theirs).to_numpy(zero_copy_only=False)
    return np.asarray(np.logical_or.reduceat(equal, begins), dtype=bool)
