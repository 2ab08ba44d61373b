"""``reelscore caption nearest``, ``bound`` and ``constant``: floors and ceilings of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

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
from reelscore_studies.baselines.retrieval.search import Backend
from reelscore_studies.commands.baseline_options import (
    captions_option,
    finish,
    missing_option,
    pool_option,
    read_captions_of,
)


@click.command("nearest", cls=FilesCommand)
@click.option(
    "--features",
    cls=FilesOption,
    named=True,
    required=True,
    help="Features of the training items; several stand side by side.",
)
@captions_option
@click.option(
    "--queries",
    cls=FilesOption,
    named=True,
    required=True,
    help="The same features of the items to caption, in the same order.",
)
@output_option
@choice_option(
    "--distance",
    choices=["intersection", "l1", "cosine"],
    default="intersection",
    help="How features are compared; the first two L1-normalise them.",
)
@number_option("--k", default=1, least=1, help="How many neighbours take part.")
@choice_option(
    "--pick",
    choices=["first", "medoid"],
    default="first",
    help="Which of their captions to take: the first, or that most like the others.",
)
@click.option("--clip-negative", is_flag=True, help="Take negative features for 0.")
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
def nearest(
    features: tuple[str, ...],
    captions: tuple[str, ...],
    queries: tuple[str, ...],
    output: str,
    pool: Pool,
    backend: Backend,
    reading: Reading,
    threads: int | None,
    seed: int,
    json_file: str | None,
    **parameters: Any,
) -> None:
    """Give every item a caption of the training item that looks most like it.

    Features are L1-normalised and compared by histogram intersection. Of
    items that are equally similar, the first in the captions file counts.

    \b
    Example:
      reelscore caption nearest --features train.npz --captions train.json \\
        --queries test.npz -o nearest.json
    """
    check_output(output, json_file)
    run = Run()
    search = NearestSearch(**parameters)
    training = read_captions_of(captions, reading)
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


@click.command("bound", cls=FilesCommand)
@captions_option
@refs_option("References of the items that get a caption", required=True)
@output_option
@metric_option
@reading_options()
@threads_option
@seed_option
@record_option
def bound(
    captions: tuple[str, ...],
    refs: tuple[str, ...],
    output: str,
    metric: str,
    reading: Reading,
    threads: int | None,
    seed: int,
    json_file: str | None,
) -> None:
    """Give every item the training sentence that scores highest: an oracle.

    The item's own references decide, so this is no system, but a bound that no
    system which retrieves training sentences can pass. It is exact. METEOR
    needs to score few of the pairs; with other metrics all are scored.

    \b
    Example:
      reelscore caption bound --captions train.json -r test.json -o oracle.json
    """
    check_output(output, json_file)
    run = Run()
    search = BoundSearch(metric)
    training = read_captions_of(captions, reading)
    references = read_captions_of(refs, reading)
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


@click.command("constant", cls=FilesCommand)
@captions_option
@refs_option("References of the validation items", required=True)
@click.option(
    "--queries",
    cls=FilesOption,
    help="Files with the items to caption, perhaps blind; those of --refs if not given.",
)
@output_option
@metric_option
@number_option("--among", default=1000, least=1, help="How many common sentences to try.")
@reading_options()
@threads_option
@seed_option
@record_option
def constant(
    captions: tuple[str, ...],
    refs: tuple[str, ...],
    queries: tuple[str, ...],
    output: str,
    metric: str,
    among: int,
    reading: Reading,
    threads: int | None,
    seed: int,
    json_file: str | None,
) -> None:
    """Give every item the one training sentence that is best on validation.

    The commonest training sentences are tried. A system must beat this: one
    that gave the same sentence for every clip was above published systems.

    \b
    Example:
      reelscore caption constant --captions train.json -r val.json \\
        --queries test.json -o constant.json
    """
    check_output(output, json_file)
    run = Run()
    search = ConstantSearch(metric, among)
    training = read_captions_of(captions, reading)
    references = read_captions_of(refs, reading)
    items = read_items(queries, reading) if queries else list(references)
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
        f"The best of {best.tried:,} sentences: {metric} {best.score:.4f} on "
        f"{len(references):,} items. Among the training captions {times}.",
    ]
    finish(output, dict.fromkeys(items, best.caption), record, lines, json_file)
