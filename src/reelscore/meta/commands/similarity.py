"""``reelscore similarity``."""

from __future__ import annotations

import click

from reelscore.cli.commands.score import tokenizer_option
from reelscore.cli.file_options import FilesCommand, read_captions, reading_options, refs_option
from reelscore.cli.options import (
    json_option,
    metric_option,
    plot_option,
    threads_option,
)
from reelscore.cli.terminal import (
    STDOUT,
    check_targets,
    progress_bar,
    terminal_width,
    write_json,
)
from reelscore.data.reading import Reading
from reelscore.meta.similarity import Similarity, by_annotator, compare_writers
from reelscore.report.tables.grid import Cell, Grid
from reelscore.text.tokens import Tokenizer


@click.command("similarity", cls=FilesCommand)
@click.argument("candidates", nargs=-1, metavar="[CANDIDATES...]")
@refs_option("References to compare as well: the first of every item, the second, and so on")
@metric_option
@tokenizer_option
@reading_options()
@threads_option
@plot_option("the matrix and the distributions")
@json_option
def command(
    candidates: tuple[str, ...],
    refs: tuple[str, ...],
    metric: str,
    tokenizer: Tokenizer,
    reading: Reading,
    threads: int | None,
    plot: str | None,
    json_file: str | None,
) -> None:
    """Measure how similarly systems or annotators write.

    CANDIDATES are files of captions, one for each system or annotator, or NAME=FILE. The captions
    of each are scored against those of every other as the reference, both ways.

    \b
    Examples:
      reelscore similarity systems/*.json
      reelscore similarity --refs references.json --plot annotators.pdf
    """
    check_targets(plot, json_file)
    inputs = read_captions(candidates, refs, reading)
    captions = dict(inputs.systems)
    if refs and inputs.references:
        captions |= by_annotator(inputs.references)
    with progress_bar("Comparing") as progress:
        similarity = compare_writers(
            captions, metric, tokenizer=tokenizer, threads=threads, progress=progress
        )
    if plot:
        from reelscore.meta.report.plots import draw_similarity

        draw_similarity(similarity, plot)
    if json_file:
        write_json(json_file, similarity.to_dict())
    if json_file != STDOUT:
        click.echo(_grid(similarity).to_text(terminal_width()))
        click.echo(f"\nmean {similarity.metric}, both ways, over {len(similarity.items):,} items")


def _grid(similarity: Similarity) -> Grid:
    average = similarity.to_others
    order = sorted(range(len(similarity.names)), key=lambda k: -average[k])
    names = [similarity.names[k] for k in order]
    rows = [
        [
            Cell(similarity.names[k]),
            Cell(f"{average[k]:.3f}", best=k == order[0]),
            *(Cell("–" if j == k else f"{similarity.matrix[k, j]:.3f}") for j in order),
        ]
        for k in order
    ]
    return Grid(["", "to others", *names], rows)
