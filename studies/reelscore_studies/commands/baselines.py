"""``reelscore caption retrieve``: floors and ceilings of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any, cast, get_args

import click

from reelscore.captioners.commands.caption_options import check_output, output_option, record_option
from reelscore.captioners.run_record import Run, captions_hash
from reelscore.cli.file_options import (
    FilesCommand,
    FilesOption,
    read_items,
    reading_options,
    refs_option,
)
from reelscore.cli.options import (
    SettingsOption,
    choice_option,
    metric_option,
    number_option,
    seed_option,
    threads_option,
)
from reelscore.cli.terminal import progress_bar
from reelscore.data.reading import Reading
from reelscore_studies.baselines.clip_features import (
    Features,
    MissingItems,
    Pool,
    common_items,
    feature_items,
    read_features,
)
from reelscore_studies.baselines.retrieval.best_sentences import BoundSearch, ConstantSearch
from reelscore_studies.baselines.retrieval.neighbours import NearestSearch
from reelscore_studies.baselines.retrieval.search import Backend, Distance
from reelscore_studies.commands.baseline_options import (
    captions_option,
    finish,
    missing_option,
    pool_option,
    read_captions_of,
)


@click.command("retrieve", cls=FilesCommand)
@click.argument(
    "method", type=click.Choice(["nearest", "bound", "constant"]), metavar="nearest|bound|constant"
)
@captions_option
@refs_option("References: of the items that get a caption (bound), or for validation (constant)")
@click.option(
    "--features",
    cls=FilesOption,
    named=True,
    help="Nearest: features of the training items; several stand side by side.",
)
@click.option(
    "--queries",
    cls=FilesOption,
    named=True,
    help="Nearest: the same features of the items to caption, in the same order. Constant: files "
    "with the items to caption, perhaps blind; those of --refs if not given.",
)
@output_option
@metric_option
@click.option(
    "--neighbours",
    cls=SettingsOption,
    start=lambda name: NearestSearch(cast("Distance", name or "intersection")),
    known=get_args(Distance),
    without=["distance", "missing"],
    metavar="DISTANCE|KEY:VALUE",
    help="How nearest items are found, by intersection, l1 or cosine; the first two L1-normalise "
    "the features.",
)
@number_option("--among", default=1000, least=1, help="Constant: how many common sentences to try.")
@pool_option
@missing_option
@choice_option(
    "--backend",
    choices=["auto", "faiss", "numpy"],
    default="auto",
    help="Who compares: faiss where it is installed. Does not change the captions.",
)
@reading_options()
@threads_option
@seed_option
@record_option
def command(
    method: str,
    captions: tuple[str, ...],
    refs: tuple[str, ...],
    features: tuple[str, ...],
    queries: tuple[str, ...],
    metric: str,
    neighbours: NearestSearch,
    among: int,
    pool: Pool,
    missing: MissingItems,
    backend: Backend,
    reading: Reading,
    **made: Any,
) -> None:
    """Give every item a training sentence: floors and ceilings of a table.

    nearest: a caption of the training item that looks most like it. Features are L1-normalised and
    compared by histogram intersection. Of items that are equally similar, the first in the captions
    file counts.

    bound: the training sentence that scores highest. The item's own references decide, so this is
    no system, but an oracle that no system which retrieves training sentences can pass. It is
    exact. METEOR needs to score few of the pairs; with other metrics all are scored.

    constant: the one training sentence that is best on validation, of the commonest. A system must
    beat this: one that gave the same sentence for every clip was above published systems.

    \b
    Examples:
      reelscore caption retrieve nearest --features train.npz --captions train.json \\
        --queries test.npz -o nearest.json
      reelscore caption retrieve bound --captions train.json -r test.json -o oracle.json
      reelscore caption retrieve constant --captions train.json -r val.json \\
        --queries test.json -o constant.json
    """
    needed = {"--features": features, "--queries": queries} if method == "nearest" else {}
    for name, files in (needed or {"--refs": refs}).items():
        if not files:
            raise click.UsageError(f"Missing option '{name}'.")
    check_output(made["output"], made["json_file"])
    run = Run()
    training = read_captions_of(captions, reading)
    if method == "nearest":
        search = replace(neighbours, missing=missing)
        _nearest(run, search, training, features, queries, pool, backend, **made)
    elif method == "bound":
        _bound(run, metric, training, read_captions_of(refs, reading), **made)
    else:
        references = read_captions_of(refs, reading)
        items = read_items(queries, reading) if queries else list(references)
        _constant(run, ConstantSearch(metric, among), training, references, items, **made)


def _nearest(
    run: Run,
    search: NearestSearch,
    training: Mapping[str, Sequence[str]],
    features: Sequence[str],
    queries: Sequence[str],
    pool: Pool,
    backend: Backend,
    *,
    output: str,
    threads: int | None,
    seed: int,
    json_file: str | None,
) -> None:
    ours = _read(features, pool, search.missing, training)
    theirs = [read_features(path, pool=pool) for path in queries]
    data = {
        "captions": captions_hash(training),
        **{f"features_{k}": own.hash for k, own in enumerate(ours, start=1)},
        **{f"queries_{k}": own.hash for k, own in enumerate(theirs, start=1)},
    }
    with progress_bar("Searching") as progress:
        found = search.find(
            ours,
            training,
            theirs,
            backend=backend,
            threads=threads,
            progress=progress,
            overwrite=True,
        )
    best = [own[0] for own in found.similarities.values()]
    record = run.record(
        search.signature(pool=pool, seed=seed, data="+".join(data.values())),
        seed=seed,
        data=data,
        libraries=["faiss-cpu", "h5py", "safetensors"],
        neighbours={
            query: list(zip(items, found.similarities[query], strict=True))
            for query, items in found.items.items()
        },
    )
    lines = [f"Mean similarity of the nearest items: {fmean(best):.4f}."]
    finish(output, found.captions, record, lines, json_file)


def _read(
    paths: Sequence[str], pool: Pool, missing: MissingItems, captions: Mapping[str, Any]
) -> list[Features]:
    """Read the features of the items with captions, in the order of these."""
    items = list(captions)
    for path in paths:
        items = common_items(items, feature_items(path), missing)
    return [read_features(path, items, pool=pool) for path in paths]


def _bound(
    run: Run,
    metric: str,
    training: Mapping[str, Sequence[str]],
    references: Mapping[str, Sequence[str]],
    *,
    output: str,
    threads: int | None,
    seed: int,
    json_file: str | None,
) -> None:
    search = BoundSearch(metric)
    with progress_bar("Searching") as progress:
        found = search.best(training, references, threads=threads, progress=progress)
    data = {"captions": captions_hash(training), "refs": captions_hash(references)}
    record = run.record(
        search.signature(seed=seed, data="+".join(data.values())),
        seed=seed,
        data=data,
        oracle=True,
        sentences=found.sentences,
        pairs=found.pairs,
        aligned=found.aligned,
    )
    lines = [
        f"Oracle: the references chose among {found.sentences:,} sentences; "
        f"mean {metric} of the items {fmean(found.scores.values()):.4f}.",
        f"Scored {found.aligned:,} of {found.pairs:,} pairs; no other can be better.",
    ]
    finish(output, found.captions, record, lines, json_file)


def _constant(
    run: Run,
    search: ConstantSearch,
    training: Mapping[str, Sequence[str]],
    references: Mapping[str, Sequence[str]],
    items: Sequence[str],
    *,
    output: str,
    threads: int | None,
    seed: int,
    json_file: str | None,
) -> None:
    with progress_bar("Scoring sentences") as progress:
        best = search.best(training, references, threads=threads, progress=progress)
    data = {"captions": captions_hash(training), "refs": captions_hash(references)}
    record = run.record(
        search.signature(seed=seed, data="+".join(data.values())),
        seed=seed,
        data=data,
        sentence=best.caption,
        validation_score=best.score,
        tried=best.tried,
    )
    times = "once" if best.times == 1 else f"{best.times:,} times"
    lines = [
        f'"{best.caption}"',
        f"The best of {best.tried:,} sentences: {search.metric} {best.score:.4f} on "
        f"{len(references):,} items. Among the training captions {times}.",
    ]
    finish(output, dict.fromkeys(items, best.caption), record, lines, json_file)
