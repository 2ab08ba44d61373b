"""``reelscore analyse``: where scores come from, and how alike writers are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, cast

import click
import msgspec
import numpy as np

from reelscore.cli.commands.score import tokenizer_option
from reelscore.cli.file_options import FilesCommand, read_captions, reading_options, refs_option
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


@click.command("analyse", cls=FilesCommand)
@click.argument(
    "what",
    type=click.Choice(["difficulty", "topics", "similarity"]),
    metavar="difficulty|topics|similarity",
)
@click.argument("candidates", nargs=-1, metavar="[CANDIDATES...]")
@refs_option()
@metric_option
@number_option(
    "--window",
    default=500,
    least=1,
    help="Difficulty: items in the running mean of the plot; at most a fifth of all items.",
)
@number_option(
    "--top",
    default=3,
    least=0,
    help="Difficulty: how many of the best and of the worst items to show.",
)
@choice_option(
    "--of",
    choices=["references", "candidates"],
    default="references",
    help="Topics: whose verbs to count, those of the references, or of each system.",
)
@choice_option(
    "--clauses",
    choices=["single", "first"],
    default="single",
    help="Topics: scores by references with exactly one verb, or by the first verb of each.",
)
@choice_option(
    "--senses", choices=RULES[:3], default="first", help="Topics: how verbs get their meaning."
)
@resamples_option("Topics: bootstrap resamples of the items, for the intervals.")
@seed_option
@tokenizer_option
@reading_options()
@threads_option
@outputs(figure="with what was analysed")
def command(
    what: str,
    candidates: tuple[str, ...],
    refs: tuple[str, ...],
    metric: str,
    window: int,
    top: int,
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
    """See where scores come from, and how similarly systems or annotators write.

    difficulty: scores by length and word frequency of the references; best and worst items. Items
    are sorted by difficulty (long references, rare words). The tables show the mean score of each
    fifth of the items, from easy to hard, and Spearman's rho of score and difficulty.

    topics: topics of verbs, and the scores of systems on each. The topic of a verb is its group in
    WordNet, such as motion or communication. The first table counts verbs; entropy (in bits) says
    how many different ones a topic has. The second has the mean score of each system on the items
    of a topic, with 95 % intervals; the best is marked. Means of fewer than 20 items are in
    brackets.

    similarity: the captions of each system or annotator, scored against those of every other as
    the reference, both ways. Of --refs the first of every item are one annotator, and so on.

    \b
    Examples:
      reelscore analyse difficulty systems/*.json -r references.json -o hard.pdf
      reelscore analyse topics systems/*.json -r references.json -o topics.pdf
      reelscore analyse similarity --refs references.json -o annotators.pdf
    """
    scored = Scored(metric, tokenizer, threads)
    if what == "difficulty":
        if not candidates:
            raise click.UsageError("Missing argument 'CANDIDATES...'.")
        _show_difficulty(read_captions(candidates, refs, reading), scored, window, top, outputs)
    elif what == "similarity":
        _show_similarity(read_captions(candidates, refs, reading), bool(refs), scored, outputs)
    else:
        if not candidates and of == "candidates":
            raise DataError("No systems were given whose verbs could be counted.")
        inputs = read_captions(candidates, refs, reading) if candidates else None
        references = inputs.references if inputs else references_of_files(refs, reading)[0]
        how = TopicChoices(of, cast("Units", clauses), senses, resamples, seed)
        _show_topics(inputs, references, scored, how, outputs)


class Scored(NamedTuple):
    """How captions are scored."""

    metric: str
    tokenizer: Tokenizer
    threads: int | None

    def items(self, inputs: Inputs) -> tuple[str, dict[str, ItemScores]]:
        """Score the systems, print notes, and return the score's name and the items' scores."""
        with inputs.explained(), progress_bar("Scoring") as progress:
            table = score_systems(
                inputs.systems,
                inputs.references,
                self.metric,
                tokenizer=self.tokenizer,
                empty="zero",
                threads=self.threads,
                progress=progress,
            )
        show_notes([*inputs.notes, *table.notes], err=True)
        name = table.metrics[-1]
        return name, {system: table[system][name].items for system in table.systems}


class TopicChoices(NamedTuple):
    """Whose verbs are counted, and by which items systems are scored."""

    of: str
    clauses: Units
    senses: str
    resamples: int
    seed: int


def _show_difficulty(
    inputs: Inputs, scored: Scored, window: int, top: int, outputs: Outputs
) -> None:
    systems, references = inputs.systems, inputs.references
    if references is None:
        raise DataError("An analysis needs references; none were given. Add --refs FILE.")
    name, scores = scored.items(inputs)
    orders = [
        difficulties(references, kind, tokenizer=scored.tokenizer)
        for kind in ("length", "frequency")
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


def _show_topics(
    inputs: Inputs | None,
    references: Mapping[str, Sequence[str]] | None,
    scored: Scored,
    how: TopicChoices,
    outputs: Outputs,
) -> None:
    if not references:
        raise DataError("An analysis needs references; none were given. Add --refs FILE.")
    parsed = parse(references, senses=how.senses, threads=scored.threads)
    tables = {"references": topic_table(parsed)}
    if how.of == "candidates" and inputs:
        tables = {
            system: topic_table(parse(captions, senses=how.senses, threads=scored.threads))
            for system, captions in inputs.systems.items()
        }
    content: dict[str, Any] = {
        "entropy": "bits",
        "senses": how.senses,
        "topics": {name: msgspec.to_builtins(table) for name, table in tables.items()},
    }
    scores = draw = None
    if inputs:
        name, values = scored.items(inputs)
        scores = topic_scores(
            parsed, values, units=how.clauses, resamples=how.resamples, seed=how.seed
        )
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


def _show_similarity(
    inputs: Inputs, has_annotators: bool, scored: Scored, outputs: Outputs
) -> None:
    captions = dict(inputs.systems)
    if has_annotators and inputs.references:
        captions |= by_annotator(inputs.references)
    with progress_bar("Comparing") as progress:
        writers = compare_writers(
            captions,
            scored.metric,
            tokenizer=scored.tokenizer,
            threads=scored.threads,
            progress=progress,
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
