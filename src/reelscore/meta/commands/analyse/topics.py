"""``reelscore analyse topics``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import click
import msgspec

from reelscore.cli.commands.score import tokenizer_option
from reelscore.cli.file_options import FilesCommand, read_captions, reading_options, refs_option
from reelscore.cli.options import (
    choice_option,
    json_option,
    metric_option,
    plot_option,
    resamples_option,
    seed_option,
    threads_option,
)
from reelscore.cli.terminal import (
    STDOUT,
    check_targets,
    progress_bar,
    show_notes,
    terminal_width,
    write_json,
)
from reelscore.data.caption_files import references_of_files
from reelscore.data.reading import Reading
from reelscore.errors import DataError
from reelscore.meta.report.topic_tables import score_grid, topic_grid
from reelscore.meta.topics import TopicTable, Units, topic_scores, topic_table
from reelscore.scoring.captions import score_systems
from reelscore.text.parser.senses import RULES
from reelscore.text.parser.sentences import parse
from reelscore.text.tokens import Tokenizer


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
@plot_option("the scores by topic")
@json_option
def command(
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
    plot: str | None,
    json_file: str | None,
) -> None:
    """Topics of verbs, and the scores of systems on each.

    The topic of a verb is its group in WordNet, such as motion or communication. The first table
    counts verbs; entropy (in bits) says how many different ones a topic has. The second has the
    mean score of each system on the items of a topic, with 95 % intervals; the best is marked.
    Means of fewer than 20 items are in brackets.

    \b
    Example:
      reelscore analyse topics systems/*.json -r references.json --plot topics.pdf
    """
    check_targets(plot, json_file)
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
    scores = None
    if inputs:
        with inputs.explained(), progress_bar("Scoring") as progress:
            table = score_systems(
                inputs.systems,
                references,
                metric,
                tokenizer=tokenizer,
                empty="zero",
                threads=threads,
                progress=progress,
            )
        show_notes([*inputs.notes, *table.notes], err=True)
        name = table.metrics[-1]
        values = {system: table[system][name].items for system in table.systems}
        units = cast("Units", clauses)
        scores = topic_scores(parsed, values, units=units, resamples=resamples, seed=seed)
        content |= {"metric": name, "scores": msgspec.to_builtins(scores)}
        if plot:
            from reelscore.meta.report.topic_plots import draw_topics

            draw_topics(scores, name, plot)
    elif plot:
        raise DataError("The plot shows scores of systems; none were given.")
    if json_file:
        write_json(json_file, content)
    if json_file == STDOUT:
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
