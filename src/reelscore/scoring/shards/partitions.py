"""The first step: shards of captions cut into partitions by item."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from reelscore import _native
from reelscore.data.atomic_files import opened_atomically
from reelscore.data.captions.paired_captions import Empty, Missing
from reelscore.data.captions.shard_blocks import blocks_of
from reelscore.data.captions.shards import (
    BY_ARGUMENTS,
    SYSTEM,
    BadRow,
    BadRows,
    Remedies,
    Shard,
    names_of,
    row_of,
)
from reelscore.data.checks import has_words
from reelscore.data.reading import Role
from reelscore.text.words import Packed

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS = 100_000  # records of candidates and references in a partition, roughly
_SLOW_ROWS = 4_000  # the same for metrics that take long
_SAMPLE = 50  # captions of each shard, for what is said about all of them


@dataclass(frozen=True)
class Policies:
    """What happens to captions that cannot be scored as they are.

    Attributes:
        missing, empty: As in `reelscore.score`.
        keeps_bad: Whether what the policies refuse is collected and left out, not an error.
        remedies: What errors tell the user to do.
    """

    missing: Missing
    empty: Empty
    keeps_bad: bool = False
    remedies: Remedies = BY_ARGUMENTS

    @property
    def missing_done(self) -> Missing:
        """What happens to items without a candidate: where they are collected, they are skipped."""
        return "skip" if self.keeps_bad and self.missing == "error" else self.missing

    def bad_rows(self) -> BadRows:
        """Begin to collect, or to refuse, records that cannot be used."""
        return BadRows(self.keeps_bad, self.remedies)


@dataclass(frozen=True)
class Cut:
    """How shards are cut: what all workers of the first step share."""

    folder: Path  # where the cut shards go; all workers can write there
    partitions: int  # how many partitions there are
    policies: Policies  # what happens to captions without words, and to bad records
    tokenized: bool = False  # whether captions are tokenized already, so that punctuation is a word

    def path(self, role: Role, number: int) -> Path:
        """Where a shard goes."""
        return self.folder / f"{role}-{number:05d}.arrow"


class CutShard(NamedTuple):
    """A shard that was cut."""

    rows: int  # how many captions it has
    systems: list[str]  # the systems, in the order of their first captions
    # how many captions without words each system has; references are of no system
    empty: dict[str, int]
    fingerprint: int  # the sum of hashes of its records: the same for records in any order
    bad: list[BadRow]  # records that were left out
    sample: dict[str, list[str]]  # some of the captions, by system; references are of no system


def partition_count(shards: Sequence[Shard], *, slow: bool = False) -> int:
    """How many partitions shards are cut into; it depends on the input and the metrics alone."""
    rows = min(_ROWS, _SLOW_ROWS) if slow else _ROWS
    return max(1, -(-sum(shard.rows for shard in shards) // rows))


def split_shard(shard: Shard, cut: Cut) -> CutShard:
    """Cut a shard into partitions, in one file: for each block a batch for every partition.

    The file is written aside and renamed: whoever finds it, finds all of it.
    """
    import pyarrow as pa

    bad = cut.policies.bad_rows()
    rows = 0
    systems: dict[str, None] = {}
    empty: Counter[str] = Counter()
    fingerprint = 0
    sample: dict[str, list[str]] = {}
    schema = pa.schema(
        [(name, pa.int64() if name == "place" else pa.string()) for name in names_of(shard.role)]
    )
    with (
        opened_atomically(cut.path(shard.role, shard.number)) as file,
        pa.ipc.new_file(file, schema) as writer,
    ):
        for whole in blocks_of(shard, bad):
            block = _with_words(whole, shard, cut, bad, empty)
            items = item_hashes(block.column("item"))
            sample = sample or _sample(block)
            rows += block.num_rows
            fingerprint += records_fingerprint(items, block.column("caption"))
            if shard.role == "candidates":
                systems |= dict.fromkeys(block.column(SYSTEM).unique().to_pylist())
            for piece in _pieces(block, items, cut.partitions) if block.num_rows else []:
                writer.write_batch(piece)
    return CutShard(rows, list(systems), dict(empty), fingerprint % 2**64, bad.rows, sample)


def _sample(block: pa.Table) -> dict[str, list[str]]:
    """The first captions of a block, by system."""
    first = block.slice(0, _SAMPLE).to_pylist()
    systems = dict.fromkeys(row.get(SYSTEM, "") for row in first)
    return {
        system: [row["caption"] for row in first if row.get(SYSTEM, "") == system]
        for system in systems
    }


def _with_words(block: Any, shard: Shard, cut: Cut, bad: BadRows, empty: Counter[str]) -> Any:
    """Refuse captions without words, or count them, as the policy says."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = block.column("caption")
    wordless = ~pc.match_substring_regex(texts, "[0-9A-Za-z]").to_numpy()
    for row in np.flatnonzero(wordless).tolist():
        wordless[row] = not has_words(texts[row].as_py(), tokenized=cut.tokenized)
    if not wordless.any():
        return block
    without = block.filter(pa.array(wordless))
    if cut.policies.empty == "zero":
        candidates = shard.role == "candidates"
        empty.update(without.column(SYSTEM).to_pylist() if candidates else [""] * len(without))
        return block
    for place, item, text in zip(
        *(without.column(name).to_pylist() for name in ("place", "item", "caption")), strict=True
    ):
        reason = f"the caption {text!r} has no words" if text.strip() else "the caption is empty"
        bad.add(BadRow(shard.shown, row_of(place), item, reason))
    return block.filter(pa.array(~wordless))


def _pieces(block: pa.Table, items: Any, partitions: int) -> list[Any]:
    """The rows of each partition, in their order."""
    own = items % np.uint64(partitions)
    if partitions > 1:
        block = block.take(np.argsort(own, kind="stable"))
    [batch] = block.combine_chunks().to_batches()
    ends = np.cumsum(np.bincount(own.astype(np.int64), minlength=partitions)).tolist()
    begins = [0, *ends[:-1]]
    return [batch.slice(begin, end - begin) for begin, end in zip(begins, ends, strict=True)]


def read_partition(cut: Cut, role: Role, shards: Sequence[Shard], number: int) -> pa.Table:
    """Read a partition: its rows of all shards, in the order of reading."""
    import pyarrow as pa

    batches = []
    schema = None
    for shard in shards:
        with pa.memory_map(str(cut.path(role, shard.number))) as file:
            reader = pa.ipc.open_file(file)
            schema = reader.schema
            places = range(number, reader.num_record_batches, cut.partitions)
            batches += [reader.get_batch(place) for place in places]
    return pa.Table.from_batches(batches, schema).combine_chunks()


def packed(column: Any) -> Packed:
    """The texts of an Arrow column, without copying them."""
    import pyarrow as pa

    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if not len(array):
        return Packed(np.zeros(0, np.uint8), np.zeros(1, np.int64))
    _, offsets, data = array.buffers()
    numbers = np.frombuffer(offsets, np.int32)[array.offset : array.offset + len(array) + 1]
    content = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
    return Packed(content, numbers.astype(np.int64))


def item_hashes(column: Any) -> Any:
    """A number for each item id that depends on the id alone."""
    return _native.string_hashes(packed(column))


def records_fingerprint(items: Any, captions: Any) -> int:
    """Add up a hash of each record, of its item and its caption."""
    mixed = items * np.uint64(0x9E3779B97F4A7C15) + _native.string_hashes(packed(captions))
    mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    return int((mixed ^ (mixed >> np.uint64(32))).sum(dtype=np.uint64))
