"""Scores of Ray Data sets.

References that fit into memory are prepared on each worker and captions stream past them, block
by block: nothing is sorted, joined or kept. With more of them both are written to a folder, where
they are joined by item as `reelscore.scoring.shards` does it.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from reelscore.data.atomic_files import check_own_folder, make_folder
from reelscore.data.captions.inputs import references_by_item
from reelscore.data.captions.paired_captions import Empty, lone_candidates, lone_references
from reelscore.data.captions.python_captions import CaptionsLike
from reelscore.data.captions.shard_blocks import checked_block
from reelscore.data.captions.shards import BadRows, Remedies, Shard, write_shards
from reelscore.data.checks import counted, first_few
from reelscore.data.file_names import PathLike
from reelscore.data.reading import Reading, Role
from reelscore.data.tables.table import ItemIndex
from reelscore.engines.engine import Engine
from reelscore.engines.ray import Ray, unpacked
from reelscore.engines.ray_cluster import connect
from reelscore.errors import DataError
from reelscore.metrics.base import check_processes
from reelscore.metrics.registry import DEFAULT_METRICS, table_columns
from reelscore.scoring.captions import Metrics
from reelscore.scoring.prepared import PreparedReferences
from reelscore.scoring.shards.output import MANIFEST
from reelscore.scoring.shards.pipeline import check_metrics, score_files
from reelscore.text.tokens import Tokenizer

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray
    from ray import ObjectRef
    from ray.data import Dataset

_MANY = 2_000_000  # references that workers hold in memory, 0.5 GB each
_COLUMNS = ("system", "item", "caption")
_REMEDIES = Remedies(
    "Fix it, or filter such records out of the data set.",
    "Add it, or leave out the item: filter it out of captions and references.",
)


def score(
    captions: Dataset,
    references: Dataset | CaptionsLike,
    metrics: Metrics = DEFAULT_METRICS,
    *,
    tokenizer: Tokenizer = "ptb",
    empty: Empty = "error",
    workers: int | None = None,
    gpus_per_worker: float = 0.0,
    out: str | Path | None = None,
) -> Dataset:
    """Score the captions of a Ray data set.

    Args:
        captions: A `ray.data.Dataset` with the columns ``item``, ``caption`` and, for several
            systems, ``system``.
        references: A data set with the columns ``item`` and ``caption``: one row for each
            reference, or a list in each row. Or references in any form of `reelscore.score`.
        metrics, tokenizer, empty: As in `reelscore.score`.
        workers: How many actors to keep, each with its weights loaded: for learned metrics.
            ``None`` for tasks on all processors.
        gpus_per_worker: The part of a GPU that a worker gets.
        out: A folder that all machines see, for references that do not fit into memory: captions
            and references are joined by item there. It also gets the scores of systems. A run
            that was interrupted goes on where it was, with the captions that it had: choose
            another folder for others.

    Returns:
        A `ray.data.Dataset` with the same rows: ``system``, ``item``, and a column for each score.
        It is computed when it is read or written; with ``out``, at once. Before that, the captions
        themselves are computed, since all of them are checked.

    Raises:
        MissingExtraError: If Ray is not installed.
        ClusterError: If a machine of the cluster lacks something.
        DataError: If columns are missing, a metric looks at all captions together, or an item has
            no caption, or several, or no references.
    """
    ray = connect()
    columns = table_columns(metrics)
    check_processes(each.metric for each in columns)
    together = [each.metric.name for each in columns if not each.metric.independent]
    if together or tokenizer == "ptb-coco":
        what = together[0] if together else "The tokenizer ptb-coco"
        raise DataError(
            f"{what} looks at a system's captions together, and a data set comes in blocks. "
            "Use reelscore.score."
        )
    _check_columns(captions, "captions")
    if out is not None:
        engine = Engine("ray", workers=workers, gpus_per_worker=gpus_per_worker)
        choices = {"tokenizer": tokenizer, "empty": empty, "engine": engine}
        return _joined(ray, captions, references, metrics, Path(out).absolute(), choices)
    actors = Ray(workers=workers, gpus_per_worker=gpus_per_worker).workers
    truth = lone_references(_by_item(references), empty=empty, tokenized=tokenizer == "none")
    prepared = PreparedReferences(truth, columns, tokenizer, 1, "error", empty)
    captions = captions.materialize()
    _check_items(captions, prepared.index)
    place: dict[str, object] = {"num_cpus": 1}
    if actors is not None:
        place |= {"compute": ray.data.ActorPoolStrategy(size=actors), "num_gpus": gpus_per_worker}
    slow = any(each.metric.slow for each in columns)
    return captions.map_batches(
        _Scorer if actors is not None else _score_block,
        batch_size=200 if slow else 5_000,
        batch_format="pyarrow",
        fn_kwargs={"shared": [ray.put(prepared)], "empty": empty, "tokenized": tokenizer == "none"},
        **place,
    )


def _joined(
    ray: ModuleType,
    captions: Dataset,
    references: Dataset | CaptionsLike,
    metrics: Metrics,
    out: Path,
    choices: dict[str, Any],
) -> Dataset:
    """Write both data sets as shards and score these; what is written already is kept."""
    check_own_folder(out, MANIFEST)
    check_metrics(table_columns(metrics), choices["tokenizer"])
    if _is_dataset(references):
        _check_columns(references, "references")
    shards = out / ".input"
    own, truth = shards / "captions", shards / "references"
    written = shards / "complete"
    if not written.exists():
        shutil.rmtree(shards, ignore_errors=True)
        make_folder(truth)
        _write(captions, own)
        if _is_dataset(references):
            _write(references, truth)
        else:
            write_shards(truth, {}, references_by_item(references))
        written.touch()
    systems = [own] if "system" in captions.schema().names else {"": own}
    names: dict[PathLike, PathLike] = {
        path: f"A block of the data set of {path.name}" for path in (own, truth)
    }
    try:
        score_files(systems, [truth], metrics, out=out, names=names, remedies=_REMEDIES, **choices)
    except DataError:
        shutil.rmtree(shards, ignore_errors=True)  # captions that nobody can go on with
        raise
    shutil.rmtree(shards, ignore_errors=True)
    return ray.data.read_parquet(str(out / "items"))


def _write(dataset: Dataset, folder: Path) -> None:
    """Write what is needed of a data set."""
    names = [name for name in _COLUMNS if name in dataset.schema().names]
    dataset.select_columns(names).write_parquet(str(folder))


class _Scorer:
    """An actor: its process keeps what was prepared, and the weights."""

    def __call__(self, block: pa.Table, **arguments: Any) -> pa.Table:
        return _score_block(block, **arguments)


def _score_block(
    block: pa.Table, shared: list[ObjectRef], empty: Empty, tokenized: bool
) -> pa.Table:
    """Score the captions of an Arrow table, on a worker."""
    import pyarrow as pa

    prepared: PreparedReferences = unpacked(shared)
    checked = _checked(block, "candidates")
    items, captions = (checked.column(name).to_pylist() for name in ("item", "caption"))
    position = prepared.index.position
    rows = [str(k) for k in range(len(items))]
    named = [f"{k} of the block (item {item!r})" for k, item in zip(rows, items, strict=True)]
    texts = lone_candidates(
        dict(zip(named, captions, strict=True)), empty=empty, tokenized=tokenized
    ).candidates
    numbers = np.array([position[item] for item in items], dtype=np.int64)
    scored = {name: block.column(name) for name in _COLUMNS[:2] if name in block.column_names}
    for columns, statistics in zip(prepared.columns, prepared.measure(texts, numbers), strict=True):
        scores = columns.metric.scores(statistics)
        for k, name in enumerate(columns.names):
            if name in columns.wanted:
                scored[name] = pa.array(scores[:, k], from_pandas=True)  # NaN: no such score
    return pa.table(scored)


def _check_items(captions: Dataset, index: ItemIndex) -> None:
    """Refuse items without references, without a caption, or with several of one system."""
    position = index.position
    names = [name for name in _COLUMNS if name in captions.schema().names]
    seen: dict[str, NDArray[np.bool_]] = {}
    unknown: dict[str, None] = {}
    for block in captions.select_columns(names).iter_batches(
        batch_format="pyarrow", batch_size=100_000
    ):
        checked = _checked(block, "candidates")
        systems = block.column("system").to_pylist() if "system" in names else []
        items = checked.column("item").to_pylist()
        for system, item in zip(systems or [""] * len(items), items, strict=True):
            if (place := position.get(item)) is None:
                unknown[item] = None
                continue
            own = seen.setdefault(str(system), np.zeros(len(position), dtype=bool))
            if own[place]:
                of = f" of system {system!r}" if system else ""
                raise DataError(
                    f"Item {item!r} has several captions{of}; expected one. Filter the data set."
                )
            own[place] = True
    if unknown:
        raise DataError(
            f"{counted(len(unknown), 'item has', 'items have')} no references "
            f"({first_few([*unknown])}). Remove them, or add their references."
        )
    for system, own in seen.items():
        if not own.all():
            missing = [item for item, place in position.items() if not own[place]]
            of = f"{system}: " if system else ""
            raise DataError(
                f"{of}{len(missing):,} items have no caption ({first_few(missing)}). Add them, or "
                "filter the references."
            )


def _by_item(references: Dataset | CaptionsLike) -> Mapping[str, Sequence[str]]:
    """Fetch the references of all items."""
    if not _is_dataset(references):
        return references_by_item(references)
    _check_columns(references, "references")
    count = references.count()
    if count > _MANY:
        raise DataError(
            f"{count:,} rows of references; up to {_MANY:,} are held in memory. Name a folder that "
            "all machines see, where captions and references are joined by item: out=FOLDER"
        )
    by_item: dict[str, list[str]] = {}
    for block in references.select_columns(["item", "caption"]).iter_batches(
        batch_format="pyarrow", batch_size=100_000
    ):
        checked = _checked(block, "references")
        columns = (checked.column(name).to_pylist() for name in ("item", "caption"))
        for item, caption in zip(*columns, strict=True):
            by_item.setdefault(item, []).append(caption)
    return references_by_item(by_item)


def _is_dataset(references: object) -> TypeGuard[Dataset]:
    return hasattr(references, "map_batches")


def _checked(block: pa.Table, role: Role) -> pa.Table:
    """Return ids and captions of an Arrow table as texts, all of which are good."""
    shard = Shard(0, f"The data set of {role}", "", role, "", Reading(), 0)
    arrays = {name: block.column(name).combine_chunks() for name in ("item", "caption")}
    bad = BadRows(kept=True)
    table = checked_block(shard, arrays, np.arange(1, block.num_rows + 1), bad)
    if bad.rows:
        count = f"{len(bad.rows):,} of {block.num_rows:,} records of a block"
        raise DataError(f"{bad.rows[0]} ({count} cannot be used). Fix or filter them.")
    return table


def _check_columns(dataset: Dataset, what: str) -> None:
    if not _is_dataset(dataset):
        raise DataError(
            f"The {what} are a {type(dataset).__name__}; expected a ray.data.Dataset, as "
            "ray.data.read_parquet gives one."
        )
    schema = dataset.schema()
    if schema is None:
        raise DataError(f"The data set of {what} has no rows; at least one is needed.")
    missing = [name for name in ("item", "caption") if name not in schema.names]
    if missing:
        raise DataError(
            f"The data set of {what} has no column {missing[0]!r}; it has "
            f"{', '.join(schema.names)}. Rename one: dataset.rename_columns({{...}})"
        )
