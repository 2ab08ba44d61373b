"""``reelscore check-parser``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from reelscore.cli.file_options import FilesCommand, FilesOption, read_texts, reading_options
from reelscore.cli.options import (
    choice_option,
    json_option,
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
    write_json,
)
from reelscore.data.reading import Reading
from reelscore.data.spreadsheet import spreadsheet_csv
from reelscore.errors import DataError
from reelscore.text.parser.roles import Sentence
from reelscore.text.parser.senses import RULES
from reelscore.text.parser.sentences import PRONOUN_RULES, parse, sample_items
from reelscore_studies.parser import parser_campaign, parser_check
from reelscore_studies.parser.tables import component_grid, gold_grid


@click.command("check-parser", cls=FilesCommand)
@click.argument("files", nargs=-1, metavar="[FILE...]")
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
@reading_options()
@choice_option("--senses", choices=RULES, default="first", help="How verbs get their meaning.")
@click.option("--verbnet", metavar="DIR", help="Your copy of VerbNet 3.x, for --senses verbnet.")
@choice_option(
    "--pronouns",
    choices=PRONOUN_RULES,
    default="keep",
    help="person: he and she without antecedent become man and woman.",
)
@threads_option
@seed_option
@json_option
def command(
    files: tuple[str, ...],
    gold: str | None,
    check_sheet: str | None,
    score_sheets: tuple[str, ...],
    campaign: str | None,
    score_campaign: str | None,
    judges: int,
    sample: int | None,
    reading: Reading,
    senses: str,
    verbnet: str | None,
    pronouns: str,
    threads: int | None,
    seed: int,
    json_file: str | None,
) -> None:
    """Measure the parser: on captions whose roles are known, or as people judge it.

    \b
    Examples:
      reelscore check-parser --gold roles.json
      reelscore check-parser captions.json --sample 101 --check-sheet sheet.csv
      reelscore check-parser --score-sheets a.csv b.csv c.csv
      reelscore check-parser captions.json --sample 101 --campaign check.db
    """
    check_targets(*filter(None, [check_sheet, json_file]))
    if score_sheets:
        _show_sheets(score_sheets, json_file)
        return
    if score_campaign:
        checks = parser_campaign.score_campaign(score_campaign)
        if json_file:
            write_json(json_file, checks)
        if json_file != STDOUT:
            click.echo(component_grid(checks).to_text(terminal_width()))
        return
    captions, notes = read_texts(files, reading) if files else ({}, [])
    show_notes(notes, err=True)
    if gold:
        _show_gold(gold, captions, senses, json_file)
        return
    if not files or not (check_sheet or campaign):
        raise DataError(
            "There is nothing to check. Give --gold FILE, or files with captions and --check-sheet "
            "or --campaign."
        )
    parsed = parse(captions, senses=senses, verbnet=verbnet, pronouns=pronouns, threads=threads)
    if sample:
        parsed = sample_items(parsed, sample, seed)
    if check_sheet:
        _write_sheet(check_sheet, parsed)
    if campaign:
        clauses = parser_campaign.make_campaign(campaign, parsed, judges=judges)
        click.echo(
            f"Made a campaign of {clauses} clauses in {campaign}. "
            f"Start the pages: reelscore serve {campaign}"
        )


def _show_gold(
    path: str, captions: Mapping[str, list[str]], senses: str, json_file: str | None
) -> None:
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
    if json_file:
        parsed_wrong = [{"item": item, "parsed": lemmas} for item, lemmas in wrong]
        write_json(json_file, {"shares": shares, "wrong": parsed_wrong})
    if json_file == STDOUT:
        return
    click.echo(gold_grid(shares).to_text(terminal_width()))
    for item, lemmas in wrong:
        expected = [
            "/".join(word or "–" for word in accepted)
            for accepted in (item.subject, item.verb, item.object, item.location)
        ]
        click.echo(f"\n{item.id}: {item.text}")
        click.echo("  parsed    " + " · ".join(lemma or "–" for lemma in lemmas))
        click.echo("  expected  " + " · ".join(expected))


def _write_sheet(path: str, parsed: Mapping[str, Sequence[Sentence]]) -> None:
    clauses = sum(len(s.clauses) for sentences in parsed.values() for s in sentences)
    write(path, spreadsheet_csv(parser_check.check_sheet(parsed)))
    if path != STDOUT:
        click.echo(
            f"Wrote {clauses} clauses to {path}. Give each judge a copy; 1 is right, 0 is wrong, "
            "an empty cell does not count."
        )


def _show_sheets(paths: tuple[str, ...], json_file: str | None) -> None:
    checks = parser_check.score_sheets(paths)
    if json_file:
        write_json(json_file, checks)
    if json_file == STDOUT:
        return
    click.echo(component_grid(checks).to_text(terminal_width()))
    judges = "1 judge" if len(paths) == 1 else f"{len(paths)} judges"
    click.echo(
        f"{judges}; the majority counts, ties are wrong; a clause is right if all its words are."
    )
