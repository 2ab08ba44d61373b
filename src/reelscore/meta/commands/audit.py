"""``reelscore audit``."""

from __future__ import annotations

import sys
from dataclasses import replace

import click

from reelscore.cli.commands.score import tokenizer_option
from reelscore.cli.file_options import FilesCommand, read_captions, reading_options, refs_option
from reelscore.cli.options import json_option, plot_option, seed_option, threads_option
from reelscore.cli.table_options import column_option
from reelscore.cli.terminal import (
    STDOUT,
    check_targets,
    progress_bar,
    write_json,
)
from reelscore.data.reading import Reading
from reelscore.data.table import ScoreTable
from reelscore.data.table_files import csv_rows
from reelscore.data.table_forms import merge_tables
from reelscore.errors import DataError
from reelscore.meta.alignment import Scan, Verdict, signed
from reelscore.meta.audit import METRIC, Audit, audit_captions, audit_tables
from reelscore.text.tokens import Tokenizer


@click.command("audit", cls=FilesCommand)
@click.argument("candidates", nargs=-1, required=True, metavar="CANDIDATES...")
@refs_option()
@click.option(
    "--human", metavar="TABLE", help="People's scores: .csv or .json, by system and item."
)
@column_option("the first if not given")
@click.option(
    "--metric",
    default=METRIC,
    show_default=True,
    metavar="NAME",
    help="The metric to compare with.",
)
@tokenizer_option
@reading_options()
@seed_option
@threads_option
@plot_option("all shifts")
@json_option
def command(
    candidates: tuple[str, ...],
    refs: tuple[str, ...],
    human: str | None,
    column: str | None,
    metric: str,
    tokenizer: Tokenizer,
    reading: Reading,
    seed: int,
    threads: int | None,
    plot: str | None,
    json_file: str | None,
) -> None:
    """Check that captions, references and judgments belong together.

    CANDIDATES are files of captions, one for each system, or NAME=FILE. Without --refs they are
    score tables, one for each metric, to be audited against the human table.

    Says "aligned", "shifted by −1 (z = 14.7)", "mixed", "scores in another order", or "cannot
    tell"; the exit status is 1 for shifted, mixed and another order. A shift of −1 means that the
    text or score of an item belongs to the item before it. Items are ordered as in the references
    or, for score tables, by the numbers at the end of their ids. Score tables are also tried in
    the orders that tools return scores in: by ids or row numbers, sorted as strings or numbers.

    \b
    Examples:
      reelscore audit systems/*.json --refs refs.json
      reelscore audit runs/*.txt -r refs.txt --human da.csv --plot audit.pdf
      reelscore audit meteor.csv cider.csv --human judgments.csv
    """
    check_targets(plot, json_file)
    people = ScoreTable.read(human, repeats="mean", column=column) if human else None
    if refs:
        inputs = read_captions(candidates, refs, reading)
        assert inputs.references is not None
        with inputs.explained(), progress_bar("Comparing") as progress:
            audited = audit_captions(
                inputs.systems,
                inputs.references,
                people,
                metric=metric,
                tokenizer=tokenizer,
                seed=seed,
                threads=threads,
                progress=progress,
            )
        audited = replace(audited, notes=[*inputs.notes, *audited.notes])
    elif people is None:
        raise DataError("Give --refs to audit captions, or --human to audit score tables.")
    else:
        tables = merge_tables(ScoreTable.read(path) for path in candidates)
        assert human is not None
        rows = [csv_rows(path) for path in (human, *candidates)]
        audited = audit_tables(tables, people, rows=rows)
    if plot:
        from reelscore.meta.report.plots import draw_audit

        draw_audit(audited, plot)
    if json_file:
        write_json(json_file, audited.to_dict())
    if json_file != STDOUT:
        _show(audited)
    if audited.verdict.misaligned:
        sys.exit(1)


def _show(audited: Audit) -> None:
    for note in audited.notes:
        click.echo(note)
    if audited.references is not None:
        click.echo(f"references: {_sentence(*audited.references)}")
    if audited.judgments is not None:
        click.echo(f"judgments:  {_sentence(*audited.judgments)}")
    colour = "red" if audited.verdict.misaligned else None
    click.echo(click.style(str(audited.verdict), bold=True, fg=colour))


def _sentence(verdict: Verdict, scan: Scan) -> str:
    here = float(scan.strengths[scan.at(0)])
    parts = [f"{verdict}; {verdict.strength:.3f} at {signed(verdict.shift)}"]
    if verdict.shift:
        parts.append(f"{here:.3f} at 0")
    if verdict.blocks:
        same = sum(shift == verdict.shift for shift in verdict.blocks)
        parts.append(f"best in {same} of {len(verdict.blocks)} blocks")
    return ", ".join(parts)
