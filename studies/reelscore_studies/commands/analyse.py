"""``reelscore analyse`` and ``similarity``: where scores come from, and how alike writers are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, cast

import click
import msgspec
import numpy as np

from reelscore.cli.commands.score import tokenizer_option
from reelscore.cli.file_options import FilesCommand, read_captions, reading_options, refs_option
from reelscore.cli.main import LazyGroup
from reelscore.cli.options import (
    choice_option,
    metric_option,
    number_option,
    resamples_option,
    seed_option,
    threads_option,
)
from reelscore.cli.report_options import Outputs, outputs
from reelscore.cli.terminal import progress_bar, show_notes, terminal_width
from reelscore.data.captions.caption_files import references_of_files
from reelscore.data.captions.inputs import Inputs
from reelscore.data.reading import Reading
from reelscore.data.tables.table import ItemScores
from reelscore.errors import DataError
from reelscore.report.tables.grid import Cell, Grid
from reelscore.scoring.captions import score_systems
from reelscore.stats.correlations import spearman
from reelscore.text.parser.senses import RULES
from reelscore.text.parser.sentences import parse
from reelscore.text.tokens import Tokenizer
from reelscore_studies.analysis.difficulty import Difficulties, difficulties, extremes
from reelscore_studies.analysis.figures import draw_difficulty, draw_similarity
from reelscore_studies.analysis.similarity import Similarity, by_annotator, compare_writers
from reelscore_studies.analysis.topics import (
    TopicTable,
    Units,
    draw_topics,
    score_grid,
    topic_grid,
    topic_scores,
    topic_table,
)

_PARTS = 5
# name: (module, what it does)
_COMMANDS = {
    "difficulty": (
        "analyse:analyse_difficulty",
        "Scores by length and word frequency; best, worst items.",
    ),
    "topics": ("analyse:analyse_topics", "Topics of verbs, and the scores of systems on each."),
}


@click.command(
    "analyse",
    cls=LazyGroup,
    package="reelscore_studies.commands",
    modules=_COMMANDS,
    default="difficulty",
)
def command() -> None:
    """See where scores come from.

    'reelscore analyse FILE...' is 'reelscore analyse difficulty FILE...'; a file that is called as
    a command is written ./topics.

    \b
    Examples:
      reelscore analyse systems/*.json -r references.json -o hard.pdf
      reelscore analyse topics systems/*.json -r references.json -o topics.pdf
    """


@click.command("difficulty", cls=FilesCommand)
@click.argument("candidates", nargs=-1, required=True, metavar="CANDIDATES...")
@refs_option()
@metric_option
@number_option(
    "--window",
    default=500,
    least=1,
    help="Number of items in the running mean of the plot; at most a fifth of all items.",
)
@number_option(
    "--top", default=3, least=0, help="How many of the best and of the worst items to show."
)
@tokenizer_option
@reading_options()
@threads_option
@outputs(figure="with the smoothed scores")
def analyse_difficulty(
    candidates: tuple[str, ...],
    refs: tuple[str, ...],
    metric: str,
    window: int,
    top: int,
    tokenizer: Tokenizer,
    reading: Reading,
    threads: int | None,
    outputs: Outputs,
) -> None:
    """Scores by length and word frequency of the references; best and worst items.

    Items are sorted by difficulty (long references, rare words). The tables show the mean score
    of each fifth of the items, from easy to hard, and Spearman's rho of score and difficulty.

    \b
    Example:
      reelscore analyse systems/*.json -r references.json -o hard.pdf
    """
    inputs = read_captions(candidates, refs, reading)
    systems, references = inputs.systems, inputs.references
    if references is None:
        raise DataError("An analysis needs references; none were given. Add --refs FILE.")
    name, scores = _scores(inputs, metric, tokenizer, threads)
    orders = [
        difficulties(references, kind, tokenizer=tokenizer) for kind in ("length", "frequency")
    ]
    span = min(window, max(1, len(references) // _PARTS))
    ends = {system: extremes(items, top) for system, items in scores.items()}
    outputs.write(
        draw=lambda path: draw_difficulty(scores, orders, name, path, span),
        json=lambda: {
            "metric": name,
            "difficulty": {order.kind: _numbers(order, scores) for order in orders},
            "best": {system: best for system, (best, _) in ends.items()},
            "worst": {system: worst for system, (_, worst) in ends.items()},
        },
    )
    if not outputs.shows:
        return
    click.echo("\n\n".join(_grid(order, scores).to_text(terminal_width()) for order in orders))
    for system, (best, worst) in ends.items():
        for label, items in (("best", best), ("worst", worst)):
            click.echo("\n" + click.style(f"{system}, {label} by {name}", bold=True))
            for item in items:
                click.echo(f"{scores[system][item]:.3f}  {item}: {systems[system][item]}")
                for reference in references[item]:
                    click.echo(f"       reference: {reference}")


def _numbers(order: Difficulties, scores: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    numbers: dict[str, Any] = {"fifths": [float(part.mean()) for part in _fifths(order.values)]}
    hard = -order.values if order.kind == "frequency" else order.values
    for system, items in scores.items():
        along = order.along(items)
        numbers[system] = {
            "fifths": [float(part.mean()) for part in _fifths(along)],
            "spearman": float(spearman(hard, along)),
        }
    return numbers


def _fifths(values: Any) -> Sequence[Any]:
    return [part for part in np.array_split(values, _PARTS) if len(part)]


def _grid(order: Difficulties, scores: Mapping[str, Mapping[str, float]]) -> Grid:
    numbers = _numbers(order, scores)
    heads = [f"{value:.1f}" if value < 1000 else f"{value:.0f}" for value in numbers["fifths"]]
    rows = [
        [
            Cell(system),
            *(Cell(f"{value:.4f}") for value in numbers[system]["fifths"]),
            Cell(f"{numbers[system]['spearman']:+.3f}"),
        ]
        for system in scores
    ]
    return Grid([f"mean {order.kind}", *heads, "rho"], rows)


@click.command("topics", cls=FilesCommand)
@click.argument("candidates", nargs=-1, metavar="[CANDIDATES...]")
@refs_option()
@metric_option
@choice_option(
    "--of",
    choices=["references", "candidates"],
    default="references",
    help="Whose verbs to count: those of the references, or of each system.",
)
@choice_option(
    "--clauses",
    choices=["single", "first"],
    default="single",
    help="Scores by references with exactly one verb, or by the first verb of every reference.",
)
@choice_option("--senses", choices=RULES[:3], default="first", help="How verbs get their meaning.")
@resamples_option("Bootstrap resamples of the items, for the intervals.")
@seed_option
@tokenizer_option
@reading_options()
@threads_option
@outputs(figure="with the scores by topic")
def analyse_topics(
    candidates: tuple[str, ...],
    refs: tuple[str, ...],
    metric: str,
    of: str,
    clauses: str,
    senses: str,
    resamples: int,
    seed: int,
    tokenizer: Tokenizer,
    reading: Reading,
    threads: int | None,
    outputs: Outputs,
) -> None:
    """Topics of verbs, and the scores of systems on each.

    The topic of a verb is its group in WordNet, such as motion or communication. The first table
    counts verbs; entropy (in bits) says how many different ones a topic has. The second has the
    mean score of each system on the items of a topic, with 95 % intervals; the best is marked.
    Means of fewer than 20 items are in brackets.

    \b
    Example:
      reelscore analyse topics systems/*.json -r references.json -o topics.pdf
    """
    if not candidates and of == "candidates":
        raise DataError("No systems were given whose verbs could be counted.")
    inputs = read_captions(candidates, refs, reading) if candidates else None
    references = inputs.references if inputs else references_of_files(refs, reading)[0]
    if not references:
        raise DataError("An analysis needs references; none were given. Add --refs FILE.")
    parsed = parse(references, senses=senses, threads=threads)
    tables = {"references": topic_table(parsed)}
    if of == "candidates" and inputs:
        tables = {
            system: topic_table(parse(captions, senses=senses, threads=threads))
            for system, captions in inputs.systems.items()
        }
    content: dict[str, Any] = {
        "entropy": "bits",
        "senses": senses,
        "topics": {name: msgspec.to_builtins(table) for name, table in tables.items()},
    }
    scores = draw = None
    if inputs:
        name, values = _scores(inputs, metric, tokenizer, threads)
        units = cast("Units", clauses)
        scores = topic_scores(parsed, values, units=units, resamples=resamples, seed=seed)
        content |= {"metric": name, "scores": msgspec.to_builtins(scores)}
        draw = partial(draw_topics, scores, name)
    elif outputs.paths:
        raise DataError("The plot shows scores of systems; none were given.")
    outputs.write(draw=draw, json=lambda: content)
    if not outputs.shows:
        return
    for owner, counted in tables.items():
        click.echo(_title(owner, counted, tables))
        click.echo(topic_grid(counted).to_text(terminal_width()) + "\n")
    if scores:
        kind = "with one verb" if scores.units == "single" else "by their first verb"
        total = tables["references"].captions if "references" in tables else None
        share = f" of {total:,}" if total else ""
        click.echo(f"{name} on items by topic: {scores.references:,}{share} references {kind}")
        click.echo(score_grid(scores).to_text(terminal_width()))


def _title(owner: str, table: TopicTable, tables: Mapping[str, TopicTable]) -> str:
    counts = (
        f"{table.captions:,} captions: {table.without_verb:,} without verb, "
        f"{table.with_one:,} with one, {table.with_several:,} with several"
    )
    return counts if list(tables) == ["references"] else f"{owner}, {counts}"


def _scores(
    inputs: Inputs, metric: str, tokenizer: Tokenizer, threads: int | None
) -> tuple[str, dict[str, ItemScores]]:
    """Score the systems, print the notes, and return the name of the score and those of items."""
    with inputs.explained(), progress_bar("Scoring") as progress:
        table = score_systems(
            inputs.systems,
            inputs.references,
            metric,
            tokenizer=tokenizer,
            empty="zero",
            threads=threads,
            progress=progress,
        )
    show_notes([*inputs.notes, *table.notes], err=True)
    name = table.metrics[-1]
    return name, {system: table[system][name].items for system in table.systems}


@click.command("similarity", cls=FilesCommand)
@click.argument("candidates", nargs=-1, metavar="[CANDIDATES...]")
@refs_option("References to compare as well: the first of every item, the second, and so on")
@metric_option
@tokenizer_option
@reading_options()
@threads_option
@outputs(figure="with the matrix and the distributions")
def similarity(
    candidates: tuple[str, ...],
    refs: tuple[str, ...],
    metric: str,
    tokenizer: Tokenizer,
    reading: Reading,
    threads: int | None,
    outputs: Outputs,
) -> None:
    """Measure how similarly systems or annotators write.

    CANDIDATES are files of captions, one for each system or annotator, or NAME=FILE. The captions
    of each are scored against those of every other as the reference, both ways.

    \b
    Examples:
      reelscore similarity systems/*.json
      reelscore similarity --refs references.json -o annotators.pdf
    """
    inputs = read_captions(candidates, refs, reading)
    captions = dict(inputs.systems)
    if refs and inputs.references:
        captions |= by_annotator(inputs.references)
    with progress_bar("Comparing") as progress:
        writers = compare_writers(
            captions, metric, tokenizer=tokenizer, threads=threads, progress=progress
        )
    outputs.write(draw=partial(draw_similarity, writers), json=writers.to_dict)
    if outputs.shows:
        click.echo(_writers_grid(writers).to_text(terminal_width()))
        click.echo(f"\nmean {writers.metric}, both ways, over {len(writers.items):,} items")


def _writers_grid(similarity: Similarity) -> Grid:
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
