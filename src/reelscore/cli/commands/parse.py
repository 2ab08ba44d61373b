"""``reelscore parse``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import click
import msgspec

from reelscore.cli.file_options import FilesCommand, read_texts, reading_options
from reelscore.cli.options import (
    choice_option,
    file_option,
    number_option,
    seed_option,
    threads_option,
)
from reelscore.cli.terminal import check_targets, show_notes, terminal_width, write
from reelscore.data.reading import Reading
from reelscore.errors import DataError
from reelscore.report.parser import (
    Parsed,
    clause_text,
    conllu_lines,
    json_lines,
    parse_text,
    translation_lines,
)
from reelscore.report.tuples import KINDS, TupleKind, Tuples
from reelscore.text.parser.senses import RULES
from reelscore.text.parser.sentences import PRONOUN_RULES, parse, sample_items


@click.command("parse", cls=FilesCommand)
@click.argument("files", nargs=-1, metavar="[FILE...]")
@choice_option(
    *("--format", "layout"),
    choices=["table", "tree", "conllu", "sr", "tuples", "graph"],
    default="table",
    help="What to print: the clauses; trees with their roles; CoNLL-U; lines of subject, verb, "
    "object, location; the same as JSON lines; scene graphs.",
)
@reading_options("--input-format")
@choice_option("--senses", choices=RULES, default="first", help="How verbs get their meaning.")
@click.option("--verbnet", metavar="DIR", help="Your copy of VerbNet 3.x, for --senses verbnet.")
@choice_option(
    "--pronouns",
    choices=PRONOUN_RULES,
    default="keep",
    help="person: he and she without antecedent become man and woman.",
)
@file_option("--json", "Write one JSON line for each caption; - for standard output.")
@file_option("--html", "Write a page with arcs and roles.")
@number_option(
    "--sample",
    least=1,
    metavar="N",
    help="Take N captions at random, a quarter of them from each quarter by length.",
)
@choice_option("--kind", choices=KINDS, default="text", help="Tuples: words or senses.")
@threads_option
@seed_option
def command(
    files: tuple[str, ...],
    layout: str,
    reading: Reading,
    json_file: str | None,
    html_file: str | None,
    sample: int | None,
    kind: TupleKind,
    seed: int,
    **choices: Any,
) -> None:
    """Read captions as language: who does what to whom, and where.

    Needs the extra 'language' and the package reelscore-parser; nothing is downloaded.

    \b
    Examples:
      reelscore parse captions.json
      reelscore parse captions.json --format tree --sample 3
      reelscore parse captions.json --json clauses.jsonl --html clauses.html
    """
    targets = [target for target in (json_file, html_file) if target]
    check_targets(*targets)
    if not files:
        raise DataError("There is nothing to parse. Name a file with captions.")
    captions, notes = read_texts(files, reading)
    show_notes(notes, err=True)
    parsed = parse(captions, **choices)
    if sample:
        parsed = sample_items(parsed, sample, seed)
    if json_file:
        write(json_file, "\n".join(json_lines(parsed)))
    if html_file:
        from reelscore.report.parser import parses_html

        write(html_file, parses_html(parsed))
    if layout == "tuples":
        for line in Tuples.of(parsed, kind).lines():
            click.echo(line)
    elif not targets or layout != "table":
        _show(parsed, layout)


def _show(parsed: Parsed, layout: str) -> None:
    width = terminal_width()
    if layout in _WRITERS:
        for line in _WRITERS[layout](parsed):
            click.echo(line)
    elif layout == "tree":
        sentences = [(item, sentence) for item, several in parsed.items() for sentence in several]
        blocks = [f"{item}\n{parse_text(sentence, width)}" for item, sentence in sentences]
        click.echo("\n\n".join(blocks))
    else:
        click.echo(clause_text(parsed, width))


def _graphs(parsed: Parsed) -> Iterator[str]:
    from reelscore.text import scene_graph

    for item, sentences in parsed.items():
        for sentence in sentences:
            facts = scene_graph(sentence.text).tuples
            record = {"item": item, "text": sentence.text, "tuples": facts}
            yield msgspec.json.encode(record).decode()


_WRITERS: dict[str, Callable[[Parsed], Iterable[str]]] = {
    "conllu": conllu_lines,
    "sr": translation_lines,
    "graph": _graphs,
}
