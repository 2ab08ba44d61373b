"""``reelscore parse``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import click
import msgspec

from reelscore.captioners.tuples import Tuples
from reelscore.cli.file_options import FilesCommand, FilesOption, read_texts, reading_options
from reelscore.cli.options import (
    choice_option,
    file_option,
    number_option,
    seed_option,
    threads_option,
)
from reelscore.cli.terminal import (
    STDOUT,
    check_targets,
    show_notes,
    terminal_width,
    write,
)
from reelscore.data.reading import Reading
from reelscore.data.source import read_lines
from reelscore.data.spreadsheet import spreadsheet_csv
from reelscore.errors import DataError
from reelscore.report.parser import (
    Parsed,
    conllu_lines,
    json_lines,
    label_record,
    parse_text,
    translation_lines,
)
from reelscore.text.parser.labels import GROUPS, labels
from reelscore.text.parser.senses import RULES
from reelscore.text.parser.sentences import PRONOUN_RULES, parse
from reelscore_studies.parser import parser_check
from reelscore_studies.parser.tables import clause_text, component_grid, gold_grid

_WRITERS: dict[str, Callable[[Parsed], Iterable[str]]] = {
    "conllu": conllu_lines,
    "sr": translation_lines,
}


@click.command("parse", cls=FilesCommand)
@click.argument("files", nargs=-1, metavar="[FILE...]")
@choice_option(
    *("--format", "layout"),
    choices=["table", "tree", "conllu", "sr", "tuples", "graph", "labels"],
    default="table",
    help="What to print: the clauses; trees with their roles; CoNLL-U; lines of subject, verb, "
    "object, location; the same as JSON lines; scene graphs; labels for captioners.",
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
@click.option(
    "--gold", metavar="FILE", help="Compare with captions whose roles are known, and show errors."
)
@click.option(
    "--check-sheet", metavar="FILE", help="Write a sheet for judges: one word a row, as CSV."
)
@click.option(
    "--score-sheets", cls=FilesOption, metavar="FILE...", help="Score the sheets of several judges."
)
@click.option(
    "--campaign",
    metavar="FILE",
    help="Make a campaign in which judges check the clauses in a browser ('reelscore serve').",
)
@click.option("--score-campaign", metavar="FILE", help="Score what judges said in a campaign.")
@number_option("--judges", default=3, least=1, help="Campaign: how many judge each clause.")
@click.option(
    "--sample",
    type=click.IntRange(min=1),
    metavar="N",
    help="Take N captions at random, a quarter of them from each quarter by length.",
)
@number_option(
    "--minimum", default=30, least=1, help="Labels: in how many items a label must occur."
)
@click.option(
    "--groups", default=",".join(GROUPS), show_default=True, metavar="LIST", help="Labels: which."
)
@choice_option(
    "--kind", choices=["text", "sense"], default="text", help="Labels, tuples: words or senses."
)
@click.option("--places", metavar="FILE", help="Labels: words that are places, one a line.")
@click.option("--objects", metavar="FILE", help="Labels: words that are objects, one a line.")
@threads_option
@seed_option
def command(
    files: tuple[str, ...],
    layout: str,
    reading: Reading,
    senses: str,
    verbnet: str | None,
    pronouns: str,
    json_file: str | None,
    html_file: str | None,
    gold: str | None,
    check_sheet: str | None,
    score_sheets: tuple[str, ...],
    campaign: str | None,
    score_campaign: str | None,
    judges: int,
    sample: int | None,
    minimum: int,
    groups: str,
    kind: str,
    places: str | None,
    objects: str | None,
    threads: int | None,
    seed: int,
) -> None:
    """Read captions as language: who does what to whom, and where.

    Needs the extra 'language' and the package reelscore-parser; nothing is downloaded.

    \b
    Examples:
      reelscore parse captions.json
      reelscore parse captions.json --format tree --sample 3
      reelscore parse captions.json --json clauses.jsonl --html clauses.html
      reelscore parse --gold roles.json
    """
    targets = [target for target in (json_file, html_file, check_sheet) if target]
    check_targets(*targets)
    if score_sheets:
        _show_sheets(score_sheets)
        return
    if score_campaign:
        from reelscore_studies.parser import parser_campaign

        checks = parser_campaign.score_campaign(score_campaign)
        click.echo(component_grid(checks).to_text(terminal_width()))
        return
    captions, notes = read_texts(files, reading) if files else ({}, [])
    show_notes(notes, err=True)
    if gold:
        _show_gold(gold, captions, senses)
        return
    if not files:
        raise DataError("There is nothing to parse. Name a file with captions, or --gold FILE.")

    parsed = parse(captions, senses=senses, verbnet=verbnet, pronouns=pronouns, threads=threads)
    if sample:
        parsed = parser_check.sample_items(parsed, sample, seed)
    if json_file:
        write(json_file, "\n".join(json_lines(parsed)))
    if html_file:
        from reelscore.report.parser import parses_html

        write(html_file, parses_html(parsed))
    if check_sheet:
        _write_sheet(check_sheet, parsed)
    if campaign:
        from reelscore_studies.parser import parser_campaign

        clauses = parser_campaign.make_campaign(campaign, parsed, judges=judges)
        click.echo(
            f"Made a campaign of {clauses} clauses in {campaign}. "
            f"Start the pages: reelscore serve {campaign}"
        )
    if layout == "labels":
        table = labels(
            parsed,
            kind="sense" if kind == "sense" else "text",
            minimum=minimum,
            groups=[group.strip() for group in groups.split(",")],
            places=read_lines(places),
            objects=read_lines(objects),
        )
        click.echo(msgspec.json.encode(label_record(table)).decode())
    elif layout == "tuples":
        for line in Tuples.of(parsed, "sense" if kind == "sense" else "text").lines():
            click.echo(line)
    elif not (targets or campaign) or layout != "table":
        _show(parsed, layout)


def _show(parsed: Parsed, layout: str) -> None:
    width = terminal_width()
    if layout in _WRITERS:
        for line in _WRITERS[layout](parsed):
            click.echo(line)
    elif layout == "graph":
        _show_graphs(parsed)
    elif layout == "tree":
        sentences = [(item, sentence) for item, several in parsed.items() for sentence in several]
        blocks = [f"{item}\n{parse_text(sentence, width)}" for item, sentence in sentences]
        click.echo("\n\n".join(blocks))
    else:
        click.echo(clause_text(parsed, width))


def _show_graphs(parsed: Parsed) -> None:
    from reelscore.text import scene_graph

    for item, sentences in parsed.items():
        for sentence in sentences:
            facts = scene_graph(sentence.text).tuples
            record = {"item": item, "text": sentence.text, "tuples": facts}
            click.echo(msgspec.json.encode(record).decode())


def _show_gold(path: str, captions: Mapping[str, list[str]], senses: str) -> None:
    """Print the shares of right roles, then the captions with an error."""
    gold = parser_check.read_gold(path)
    missing = [item.id for item in gold if captions and not captions.get(item.id)]
    if missing:
        raise DataError(
            f"{len(missing)} captions of {path} are not in the files, such as {missing[0]!r}. "
            "Leave the files out to parse the texts of the gold file."
        )
    texts = {item.id: captions[item.id][0] if captions else item.text for item in gold}
    parsed = dict(zip(texts, parse(list(texts.values()), senses=senses), strict=True))
    shares, wrong = parser_check.gold_accuracy(gold, parsed)
    click.echo(gold_grid(shares).to_text(terminal_width()))
    for item, lemmas in wrong:
        expected = [
            "/".join(word or "–" for word in accepted)
            for accepted in (item.subject, item.verb, item.object, item.location)
        ]
        click.echo(f"\n{item.id}: {item.text}")
        click.echo("  parsed    " + " · ".join(lemma or "–" for lemma in lemmas))
        click.echo("  expected  " + " · ".join(expected))


def _write_sheet(path: str, parsed: Parsed) -> None:
    clauses = sum(len(s.clauses) for sentences in parsed.values() for s in sentences)
    write(path, spreadsheet_csv(parser_check.check_sheet(parsed)))
    if path != STDOUT:
        click.echo(
            f"Wrote {clauses} clauses to {path}. Give each judge a copy; 1 is right, 0 is wrong, "
            "an empty cell does not count."
        )


def _show_sheets(paths: tuple[str, ...]) -> None:
    checks = parser_check.score_sheets(paths)
    click.echo(component_grid(checks).to_text(terminal_width()))
    judges = "1 judge" if len(paths) == 1 else f"{len(paths)} judges"
    click.echo(
        f"{judges}; the majority counts, ties are wrong; a clause is right if all its words are."
    )
