"""``reelscore caption constant``."""

from __future__ import annotations

import click

from reelscore.captioners.commands.options import (
    captions_option,
    check_output,
    finish,
    output_option,
    read_captions_of,
    record_option,
)
from reelscore.captioners.retrieval import ConstantSearch
from reelscore.captioners.run_record import Run, captions_hash
from reelscore.cli.file_options import (
    FilesCommand,
    FilesOption,
    read_items,
    reading_options,
    refs_option,
)
from reelscore.cli.options import metric_option, number_option, seed_option, threads_option
from reelscore.cli.terminal import progress_bar
from reelscore.data.reading import Reading


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
def command(
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
