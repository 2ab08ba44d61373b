"""All steps of scoring from shards, one after the other, by any engine."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from operator import iadd
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
from msgspec import structs

from reelscore._progress import Progress
from reelscore._version import __version__
from reelscore.data.atomic_files import check_target, write_atomically
from reelscore.data.captions.inputs import (
    check_split_was_used,
    name_their_systems,
    paths_in,
    read_inputs,
    systems_of,
)
from reelscore.data.captions.languages import language_notes
from reelscore.data.captions.paired_captions import (
    Empty,
    Missing,
    check_policies,
    lone_candidates,
    lone_references,
)
from reelscore.data.captions.python_captions import CaptionsLike
from reelscore.data.captions.shards import (
    BY_ARGUMENTS,
    BadRow,
    Remedies,
    Shard,
    shards_of,
    streamed,
    write_shards,
)
from reelscore.data.checks import counted
from reelscore.data.file_names import PathLike
from reelscore.data.formats.parquet import need_pyarrow
from reelscore.data.reading import Reading
from reelscore.data.tables.table import ScoreTable
from reelscore.engines.engine import Engine
from reelscore.errors import DataError, about_system
from reelscore.metrics.base import Metric, check_processes, check_tokens
from reelscore.metrics.registry import DEFAULT_METRICS, MetricColumns, table_columns
from reelscore.scoring.prepared import files_part
from reelscore.scoring.shards.output import (
    SCORES,
    Origin,
    Output,
    ReadRecord,
    file_fingerprint,
    together,
)
from reelscore.scoring.shards.partitions import (
    Cut,
    CutShard,
    Policies,
    partition_count,
    split_shard,
)
from reelscore.scoring.shards.parts import (
    PartSums,
    ScorePlan,
    ScoreSettings,
    part_name,
    score_partition,
)
from reelscore.scoring.shards.reference_counts import GatheredPart, GatherPlan, gather_partition
from reelscore.scoring.shards.totals import (
    draws_of_parts,
    items_of_systems,
    table_of_parts,
    with_draws,
)
from reelscore.text.tokens import Tokenizer, divides_words

_NEEDS = "Scoring from shards"


def score_shards(
    systems: Mapping[str, CaptionsLike] | CaptionsLike,
    references: CaptionsLike | None,
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT_METRICS,
    *,
    reading: Reading | None = None,
    **options: Any,
) -> ScoreTable:
    """Score sets that may be larger than memory: captions are read in blocks.

    Parquet and JSON Lines are read as they are, whatever their number; captions in other forms
    are made into such files first.

    Args:
        systems, references, metrics: As in `reelscore.score_systems`.
        reading: How to read the files.
        options: ``tokenizer``, ``missing``, ``empty``, ``engine`` and ``progress`` as there;
            ``out``, a folder for the scores of items, in parts, where a run that ended early goes
            on: without it only the scores of systems are kept; ``bad_rows``, a file for records
            that cannot be used, which are left out: without it they are errors; ``resamples``,
            how many draws of the Poisson bootstrap to make for intervals and tests, 0 for none;
            ``seed``, the random seed of the draws.

    Returns:
        The scores of systems.

    Raises:
        DataError: If there are no references, or captions cannot be used, or the folder holds
            something else.
        MissingExtraError: If pyarrow is not installed.

    >>> table = score_shards({"mine": {"v1": "a man"}}, {"v1": ["a man"]}, "rouge_l")
    >>> float(table)
    1.0
    """
    need_pyarrow(_NEEDS)
    files = _files(systems, reading)
    truth = paths_in(references, texts=True)
    if files is not None and truth:
        own = files.values() if isinstance(files, dict) else files
        if streamed([*own, *truth], reading):
            return score_files(files, truth, metrics, reading=reading, **options)
    inputs = read_inputs(systems, references, reading=reading)
    inputs.check_order()
    if inputs.references is None:
        raise DataError('Scores from shards need references; none were given: references="FILE".')
    for name, captions in inputs.systems.items():
        with about_system(name):
            lone_candidates(captions, empty="zero")  # what Python programs hold may be no text
    lone_references(inputs.references, empty="zero")
    with TemporaryDirectory(prefix="reelscore-") as folder:
        candidates, shards = write_shards(Path(folder), inputs.systems, inputs.references)
        given = files if isinstance(files, dict) else {}
        names = {
            path: given.get(name, f"candidates of {name!r}") for name, path in candidates.items()
        }
        names |= dict.fromkeys(shards, truth[0] if len(truth) == 1 else "references")
        table = score_files(candidates, shards, metrics, names=names, **options)
    return structs.replace(table, notes=[*inputs.notes, *table.notes])


def _files(
    systems: Mapping[str, CaptionsLike] | CaptionsLike, reading: Reading | None
) -> dict[str, PathLike] | list[PathLike] | None:
    """The files of the systems, or ``None`` if captions are given in another form.

    They are without names where their records have these.
    """
    if not isinstance(systems, Mapping):
        files = paths_in(systems, texts=True)
        if files and name_their_systems(files, reading):
            return files
        return dict(systems_of(files)) if files else None
    named = {name: paths_in(captions) for name, captions in systems.items()}
    return (
        {name: paths[0] for name, paths in named.items()}
        if all(len(paths) == 1 for paths in named.values())
        else None
    )


def score_files(
    systems: Mapping[str, PathLike] | Iterable[PathLike],
    references: Iterable[PathLike],
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT_METRICS,
    *,
    tokenizer: Tokenizer = "ptb",
    missing: Missing = "error",
    empty: Empty = "error",
    engine: Engine | None = None,
    out: PathLike | None = None,
    bad_rows: PathLike | None = None,
    resamples: int = 0,
    seed: int = 12345,
    reading: Reading | None = None,
    names: Mapping[PathLike, PathLike] | None = None,
    remedies: Remedies = BY_ARGUMENTS,
    progress: Progress | None = None,
) -> ScoreTable:
    """Score shards with the options of `score_shards`."""
    need_pyarrow(_NEEDS)
    engine = engine or Engine()
    columns = table_columns(metrics)
    check_metrics(columns, tokenizer)
    if not engine.is_local:
        check_processes(own.metric for own in columns)
    if bad_rows is not None:
        check_target(bad_rows)
    check_policies(missing, empty)
    policies = Policies(missing, empty, bad_rows is not None, remedies)
    settings = ScoreSettings(columns, tokenizer, policies, resamples, seed)
    truth = _called(shards_of(references, "references", reading), names or {})
    candidates = _called(shards_of(systems, "candidates", reading), names or {})
    check_split_was_used(reading, any(shard.reading.splits for shard in (*truth, *candidates)))
    slow = any(own.metric.slow for own in columns)
    partitions = partition_count([*truth, *candidates], slow=slow)
    with _folder(out) as folder:
        origin = _origin(engine, settings, candidates, truth, kept=out is not None)
        with Output(folder, origin, partitions) as output:
            shards = [shard.path for shard in (*truth, *candidates)]
            engine.check_files([*shards, str(output.work / "lock")])
            table = _scored(engine, settings, candidates, truth, output, progress)
            bad = output.manifest.bad
    if bad_rows is not None:
        lines = [msgspec.json.encode(row._asdict()) + b"\n" for row in bad]
        write_atomically(bad_rows, b"".join(lines))
    return table


def _called(shards: Sequence[Shard], names: Mapping[PathLike, PathLike]) -> list[Shard]:
    """Name shards as messages are to call them."""
    by_path = {os.fspath(path): os.fspath(name) for path, name in names.items()}

    def name(path: str) -> str | None:
        return by_path.get(path) or by_path.get(str(Path(path).parent))

    return [structs.replace(shard, name=name(shard.path)) for shard in shards]


def _scored(
    engine: Engine,
    settings: ScoreSettings,
    candidates: Sequence[Shard],
    references: Sequence[Shard],
    output: Output,
    progress: Progress | None,
) -> ScoreTable:
    """Do what is left to do."""
    if output.manifest.complete:
        table = ScoreTable.read(output.folder / SCORES)
        return with_draws(table, settings, output.draws(), output.manifest.items)
    remaining = output.remaining()
    partitions = output.manifest.partitions
    if remaining or output.manifest.read is None:
        tokenized = settings.tokenizer == "none"
        cut = Cut(output.split, partitions, settings.policies, tokenized)
        read, unusable = _split(engine, cut, settings, candidates, references)
        output.keep_read(read, unusable)
        gathered = _gather(engine, cut, settings, references)
        plan = ScorePlan(
            cut,
            references,
            candidates,
            read.systems,
            settings,
            gathered,
            output.items,
            output.sums,
        )
        if progress is not None:
            progress(0, len(remaining))
        entries = engine.map(score_partition, remaining, engine.broadcast(plan))
        for done, entry in enumerate(entries, start=1):
            output.keep_part(entry)
            if progress is not None:
                progress(done, len(remaining))
    read_record = output.manifest.read
    assert read_record is not None
    parts = [PartSums(output.sums / part_name(k)) for k in range(partitions)]
    if not any(part.record.items for part in parts):
        raise DataError("There are no references that can be used; at least one is needed.")
    table = table_of_parts(read_record, settings, parts)
    draws = draws_of_parts(settings, parts)
    rows = [*output.manifest.bad, *(row for part in parts for row in part.record.bad)]
    bad = sorted(rows, key=lambda row: (row.file, row.row))
    if bad:
        records = counted(len(bad), "record was", "records were")
        note = f"{records} left out: see the file of bad rows."
        table = structs.replace(table, notes=[*table.notes, note])
    items = items_of_systems(read_record, parts)
    output.finish(table, bad, draws, items)
    return with_draws(table, settings, draws, items)


def _split(
    engine: Engine,
    cut: Cut,
    settings: ScoreSettings,
    candidates: Sequence[Shard],
    references: Sequence[Shard],
) -> tuple[ReadRecord, list[BadRow]]:
    shared = engine.broadcast(cut)
    truth = list(engine.map(split_shard, references, shared))
    own = list(engine.map(split_shard, candidates, shared))
    systems = dict.fromkeys(name for shard in own for name in shard.systems)
    named = dict.fromkeys(shard.system for shard in candidates if shard.system is not None)
    for name in named or systems or [""]:
        if name not in systems:
            with about_system(name):
                raise DataError("There are no candidates that can be used; at least one is needed.")
    read = ReadRecord(
        list(systems),
        sum(shard.fingerprint for shard in truth) % 2**64,
        sum(shard.rows for shard in own),
        sum(shard.rows for shard in truth),
        dict(sum((Counter(shard.empty) for shard in (*truth, *own)), Counter())),
        language_notes(
            [columns.metric for columns in settings.columns],
            {name or "captions": _sample(own, name) for name in systems}
            | {"references": _sample(truth, "")},
            divided=divides_words(settings.tokenizer),
        ),
    )
    return read, [bad for shard in (*truth, *own) for bad in shard.bad]


def _sample(shards: Sequence[CutShard], system: str) -> list[str]:
    """Some of a system's captions, or of the references, from all shards."""
    return [caption for shard in shards for caption in shard.sample.get(system, [])]


def _gather(
    engine: Engine, cut: Cut, settings: ScoreSettings, references: Sequence[Shard]
) -> GatheredPart | None:
    metrics = [own.metric for own in settings.columns]
    if not any(metric.weighs_all_references for metric in metrics):
        return None
    plan = engine.broadcast(GatherPlan(cut, references, metrics, settings.tokenizer))
    return reduce(iadd, engine.map(gather_partition, range(cut.partitions), plan))


def check_metrics(columns: Sequence[MetricColumns], tokenizer: Tokenizer) -> None:
    """Refuse what cannot be computed part by part."""
    metrics = [own.metric for own in columns]
    check_tokens(metrics, tokenizer)
    if tokenizer == "ptb-coco":
        raise DataError(
            "The tokenizer ptb-coco looks ahead into the next caption, so that tokens depend on "
            "the order of captions; shards have none. Use ptb."
        )
    for metric in metrics:
        if not metric.independent:
            raise DataError(
                f"{metric.name} looks at all captions of a system together and cannot be computed "
                "part by part. Leave it out, or score in memory."
            )
        if metric.weighs_all_references and type(metric).gather is Metric.gather:
            raise DataError(
                f"{metric.name} weighs words by all references together and cannot be computed "
                "part by part. Leave it out, or score in memory."
            )


@contextmanager
def _folder(out: PathLike | None) -> Iterator[Path]:
    if out is not None:
        yield Path(out)
        return
    with TemporaryDirectory(prefix="reelscore-") as folder:
        yield Path(folder)


def _origin(
    engine: Engine,
    settings: ScoreSettings,
    candidates: Sequence[Shard],
    references: Sequence[Shard],
    *,
    kept: bool,
) -> Origin:
    """What is scored, and how; shards are only fingerprinted where somebody may come back."""
    nothing = engine.broadcast(None)

    def fingerprint(shards: Sequence[Shard]) -> str:
        return together(list(engine.map(file_fingerprint, shards, nothing))) if kept else ""

    policies = settings.policies
    reading = {shard.reading for shard in (*candidates, *references)}
    names = [*(shard.system or "" for shard in candidates), *sorted(map(repr, reading))]
    chosen = {
        "tokenizer": settings.tokenizer,
        "missing": policies.missing,
        "empty": policies.empty,
        "bad rows": "kept" if policies.keeps_bad else "error",
        "resamples": settings.resamples,
        "seed": settings.seed,
        "names and fields": together(names)[:8],
    }
    metrics = [own.metric for own in settings.columns]
    return Origin(
        __version__,
        fingerprint(candidates),
        fingerprint(references),
        [m.signature(**files_part(m, settings.tokenizer)) for m in metrics],
        [f"{name} {value}" for name, value in chosen.items()],
    )
