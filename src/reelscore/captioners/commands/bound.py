"""``reelscore caption bound``."""

from __future__ import annotations

from statistics import fmean

import click

from reelscore.captioners.commands.options import (
    captions_option,
    check_output,
    finish,
    output_option,
    read_captions_of,
    record_option,
)
from reelscore.captioners.retrieval import BoundSearch
from reelscore.captioners.run_record import Run, captions_hash
from reelscore.cli.file_options import FilesCommand, reading_options, refs_option
from reelscore.cli.options import metric_option, seed_option, threads_option
from reelscore.cli.terminal import progress_bar
from reelscore.data.reading import Reading


@click.command("bound", cls=FilesCommand)
@captions_option
@refs_option("References of the items that get a caption", required=True)
@output_option
@metric_option
@reading_options()
@threads_option
@seed_option
@record_option
def command(
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
