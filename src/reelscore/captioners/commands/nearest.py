"""``reelscore caption nearest``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import click

from reelscore.captioners.commands.options import (
    captions_option,
    check_output,
    finish,
    missing_option,
    output_option,
    pool_option,
    read_captions_of,
    record_option,
)
from reelscore.captioners.features import (
    Features,
    MissingItems,
    Pool,
    common_items,
    feature_items,
    read_features,
)
from reelscore.captioners.neighbours import NearestSearch
from reelscore.captioners.run_record import Run, captions_hash
from reelscore.captioners.search import Backend
from reelscore.cli.file_options import FilesCommand, FilesOption, reading_options
from reelscore.cli.options import choice_option, number_option, seed_option, threads_option
from reelscore.cli.terminal import progress_bar
from reelscore.data.reading import Reading


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
def command(
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
    parameters_ = NearestSearch(**parameters)
    training = read_captions_of(captions, reading)
    ours = _read(features, pool, parameters_.missing, training)
    theirs = [read_features(path, pool=pool) for path in queries]
    data = {
        "captions": captions_hash(training),
        **{f"features_{k}": own.hash for k, own in enumerate(ours, start=1)},
        **{f"queries_{k}": own.hash for k, own in enumerate(theirs, start=1)},
    }
    with progress_bar("Searching") as progress:
        found = parameters_.find(
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
        parameters_.signature(pool=pool, seed=seed, data="+".join(data.values())),
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
