"""The third step: partitions are paired and measured, and each becomes one part of the output."""

from __future__ import annotations

import base64
import hashlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from reelscore._records import resolved
from reelscore.data.atomic_files import write_atomically
from reelscore.data.captions.shards import BadRow, Shard
from reelscore.metrics.base import FloatArray, column_sums
from reelscore.metrics.registry import MetricColumns
from reelscore.scoring.prepared import PreparedReferences
from reelscore.scoring.shards.paired_parts import PairedPart, pair_partition
from reelscore.scoring.shards.partitions import Cut, Policies, item_hashes, read_partition
from reelscore.scoring.shards.reference_counts import GatheredPart
from reelscore.stats.resampling import poisson_sums
from reelscore.text.tokens import Tokenizer


@dataclass(frozen=True)
class ScoreSettings:
    """What is computed, whatever does the work."""

    columns: Sequence[MetricColumns]  # the metrics, and what their scores are called
    tokenizer: Tokenizer  # how captions are tokenized
    policies: Policies  # what happens to captions that are missing, empty or bad
    resamples: int = 0  # how many draws of the Poisson bootstrap to make; 0 for none
    seed: int = 12345  # random seed of the draws


class ScorePlan(NamedTuple):
    """What all workers of the third step share."""

    cut: Cut
    references: Sequence[Shard]
    candidates: Sequence[Shard]
    systems: Sequence[str]
    settings: ScoreSettings
    gathered: GatheredPart | None
    items: Path
    sums: Path


class PartEntry(msgspec.Struct, frozen=True):
    """A part as the manifest has it: file name, rows, and checksums of scores and sums."""

    name: str
    rows: int
    checksum: str
    sums: str


class SystemRecord(msgspec.Struct):
    """What a part says about one system."""

    items: int  # how many of its captions were scored
    missing: int  # items without a caption of it that a policy took for empty, or skipped
    extra: int  # captions without references that were skipped
    copies: int  # captions that equal one of their references
    scored: dict[str, int]  # how many items have each score
    totals: dict[int, list[float]]  # by metric whose statistics are whole numbers, their sums
    # by metric that was trained on captions, how many of its items were among them
    seen: dict[int, dict[str, int]]
    fingerprint: int  # the sum of hashes of the items that were scored


class PartRecord(msgspec.Struct):
    """What a part says beside the statistics of its items."""

    items: int  # how many items there are
    references: tuple[int, int]  # the lowest and the highest number of references of an item
    scored: dict[str, int]  # how many items have each score, of any system
    systems: list[SystemRecord]  # what it says about each system
    trained: dict[int, str]  # by metric that was trained on captions, a fingerprint of these
    bad: list[BadRow]  # records that were left out


_RECORD = b"record"
_DRAWS = "draws"


def part_name(number: int) -> str:
    """The file name of a part."""
    return f"part-{number:05d}.parquet"


def score_partition(number: int, plan: ScorePlan) -> PartEntry:
    """Score one partition, and write its item scores and its sums, each aside and renamed."""
    settings = plan.settings
    paired = pair_partition(
        read_partition(plan.cut, "references", plan.references, number),
        read_partition(plan.cut, "candidates", plan.candidates, number),
        plan.references,
        plan.candidates,
        plan.systems,
        settings.policies,
    )
    gathered = None if plan.gathered is None else plan.gathered.gathered
    missing, empty = settings.policies.missing, settings.policies.empty
    prepared = PreparedReferences(
        paired, settings.columns, settings.tokenizer, 1, missing, empty, gathered=gathered
    )
    measured = prepared.measure(paired.candidates, paired.positions)
    scores = [own.metric.scores(rows) for own, rows in zip(settings.columns, measured, strict=True)]
    table = _score_table(paired, plan.systems, settings.columns, scores)
    content = _parquet_bytes(table, dictionary=["system"])
    write_atomically(plan.items / part_name(number), content)
    sums = _sums_bytes(paired, plan.systems, settings, prepared, measured, scores)
    write_atomically(plan.sums / part_name(number), sums)
    return PartEntry(part_name(number), table.num_rows, checksum(content), checksum(sums))


def checksum(content: bytes) -> str:
    """Sixteen bytes that tell whether a file is as it was written."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _score_table(
    paired: PairedPart,
    systems: Sequence[str],
    columns: Sequence[MetricColumns],
    scores: Sequence[FloatArray],
) -> Any:
    """The item scores: system after system, items in the order of the references."""
    import pyarrow as pa

    order = np.argsort(paired.systems, kind="stable")
    names = pa.array(list(systems), pa.string())
    table = {
        "system": pa.DictionaryArray.from_arrays(paired.systems[order].astype(np.int32), names),
        "item": paired.item_column.take(pa.array(paired.positions[order])),
    }
    for own, rows in zip(columns, scores, strict=True):
        for k, name in enumerate(own.names):
            if name in own.wanted:
                table[name] = pa.array(rows[order, k], from_pandas=True)
    return pa.table(table)


def _parquet_bytes(table: Any, dictionary: list[str]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, use_dictionary=dictionary)
    return bytes(sink.getvalue())


# The sums


def _sums_bytes(
    paired: PairedPart,
    systems: Sequence[str],
    settings: ScoreSettings,
    prepared: PreparedReferences,
    measured: Sequence[FloatArray],
    scores: Sequence[FloatArray],
) -> bytes:
    """What the totals are made from: statistics that are fractions by item, the rest as sums."""
    import pyarrow as pa

    columns = {
        "system": pa.array(paired.systems.astype(np.int32)),
        "place": pa.array(paired.places[paired.positions]),
    }
    for place, (own, rows) in enumerate(zip(settings.columns, measured, strict=True)):
        if not own.metric.counts:
            for k in range(rows.shape[1]):
                columns[f"{place}.{k}"] = pa.array(np.ascontiguousarray(rows[:, k]))
    of_any: dict[str, int] = {}
    for own, values in zip(settings.columns, scores, strict=True):
        for name, there in zip(own.names, ~np.isnan(values).T, strict=True):
            covered = np.zeros(len(paired.item_column), dtype=bool)
            covered[paired.positions[there]] = True
            of_any[name] = int(covered.sum())
    records = []
    trained = {}
    rows_of = []
    hashes = item_hashes(paired.item_column)
    for number in range(len(systems)):
        own_rows = np.flatnonzero(paired.systems == number)
        positions = paired.positions[own_rows]
        totals: dict[int, list[float]] = {}
        scored: dict[str, int] = {}
        seen: dict[int, dict[str, int]] = {}
        for place, (own, rows) in enumerate(zip(settings.columns, measured, strict=True)):
            if own.metric.counts:
                totals[place] = column_sums(rows[own_rows]).tolist()
            there = ~np.isnan(scores[place][own_rows])
            scored |= dict(zip(own.names, there.sum(axis=0).tolist(), strict=True))
            groups = prepared.seen[place]
            if groups is not None:
                trained[place] = groups.fingerprint
                seen[place] = groups.counts(positions)
        counts = paired.counts[number]
        fingerprint = int(hashes[positions].sum(dtype=np.uint64))
        records.append(SystemRecord(len(own_rows), *counts, scored, totals, seen, fingerprint))
        rows_of.append(own_rows)
    spans = np.diff(paired.reference_offsets)
    low, high = (int(spans.min()), int(spans.max())) if len(spans) else (0, 0)
    record = PartRecord(len(paired.item_column), (low, high), of_any, records, trained, paired.bad)
    metadata: dict[bytes, bytes] = {_RECORD: msgspec.json.encode(record)}
    if settings.resamples:
        sums = poisson_sums(
            hashes,
            [np.hstack([rows[own_rows] for rows in measured]) for own_rows in rows_of],
            [paired.positions[own_rows] for own_rows in rows_of],
            resamples=settings.resamples,
            seed=settings.seed,
        )
        ends = np.cumsum([rows.shape[1] for rows in measured])[:-1]
        for place, of_metric in enumerate(np.split(np.stack(sums), ends, axis=2)):
            content = io.BytesIO()
            np.save(content, of_metric)
            metadata[f"{_DRAWS}.{place}".encode()] = base64.b64encode(content.getvalue())
    table = pa.table(columns).replace_schema_metadata(metadata)
    return _parquet_bytes(table, dictionary=["system"])


class PartSums:
    """What a part left for the totals."""

    def __init__(self, path: Path) -> None:
        import pyarrow.parquet as pq

        self._path = path
        schema = pq.read_schema(path)
        metadata: Mapping[bytes, bytes] = schema.metadata
        self.names: list[str] = schema.names
        self.record = msgspec.json.decode(metadata[_RECORD], type=resolved(PartRecord))
        self._metadata = metadata

    def draws(self, metric: str) -> FloatArray:
        """The sums of a metric's statistics in every draw: systems × resamples × k."""
        content = base64.b64decode(self._metadata[f"{_DRAWS}.{metric}".encode()])
        sums: FloatArray = np.load(io.BytesIO(content))
        return sums

    def column(self, name: str) -> NDArray[Any]:
        """One column of its rows."""
        import pyarrow.parquet as pq

        column = pq.read_table(self._path, columns=[name], use_threads=False).column(0)
        numbers: NDArray[Any] = column.to_numpy()
        return numbers
