"""``reelscore audit``: whether captions, references and judgments belong together."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from typing import Any

import click

from reelscore.cli.commands.score import tokenizer_option
from reelscore.cli.file_options import FilesCommand, read_captions, reading_options, refs_option
from reelscore.cli.options import seed_option, threads_option
from reelscore.cli.report_options import Outputs, outputs
from reelscore.cli.table_options import People, human_option
from reelscore.cli.terminal import progress_bar
from reelscore.data.reading import Reading
from reelscore.data.tables.table import ScoreTable
from reelscore.data.tables.table_files import csv_rows
from reelscore.data.tables.table_forms import merge_tables
from reelscore.errors import DataError
from reelscore.meta.audit import METRIC, Audit, audit_captions, audit_tables
from reelscore.meta.report.figures import draw_audit
from reelscore.meta.shifts import Scan, ShiftVerdict, signed


@click.command("audit", cls=FilesCommand)
@click.argument("candidates", nargs=-1, required=True, metavar="CANDIDATES...")
@refs_option()
@human_option()
@click.option(
    "--metric", default=METRIC, show_default=True, metavar="NAME", help="Metric to compare with."
)
@tokenizer_option
@reading_options()
@seed_option
@threads_option
@outputs(figure="with all shifts")
def audit(
    candidates: tuple[str, ...],
    refs: tuple[str, ...],
    human: People | None,
    reading: Reading,
    outputs: Outputs,
    **options: Any,
) -> None:
    """Check that captions, references and judgments belong together.

    CANDIDATES are files of captions, one for each system, or NAME=FILE. Without --refs they are
    score tables, one for each metric, to be audited against the human table.

    Says "aligned", "shifted by −1 (z = 14.7)", "mixed", "scores in another order", or "cannot
    tell"; the exit status is 1 for shifted, mixed and another order. A shift of −1 means that the
    text or score of an item belongs to the item before it. Items are ordered as in the references
    or, for score tables, by the numbers at the end of their ids, and as tools sort them.

    \b
    Examples:
      reelscore audit runs/*.txt -r refs.txt --human da.csv -o audit.pdf
      reelscore audit meteor.csv cider.csv --human judgments.csv
    """
    people = None
    if human:
        people = ScoreTable.read(human.table, repeats=human.raters, column=human.column)
    if refs:
        inputs = read_captions(candidates, refs, reading)
        assert inputs.references is not None
        with inputs.explained(), progress_bar("Comparing") as progress:
            given = (inputs.systems, inputs.references, people)
            audited = audit_captions(*given, progress=progress, **options)
        audited = replace(audited, notes=[*inputs.notes, *audited.notes])
    elif people is None or human is None:
        raise DataError("Give --refs to audit captions, or --human to audit score tables.")
    else:
        tables = merge_tables(ScoreTable.read(path) for path in candidates)
        rows = [csv_rows(path) for path in (human.table, *candidates)]
        audited = audit_tables(tables, people, rows=rows)
    outputs.write(draw=partial(draw_audit, audited), json=audited.to_dict)
    if outputs.shows:
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


def _sentence(verdict: ShiftVerdict, scan: Scan) -> str:
    here = float(scan.strengths[scan.at(0)])
    parts = [f"{verdict}; {verdict.strength:.3f} at {signed(verdict.shift)}"]
    if verdict.shift:
        parts.append(f"{here:.3f} at 0")
    if verdict.blocks:
        same = sum(shift == verdict.shift for shift in verdict.blocks)
        parts.append(f"best in {same} of {len(verdict.blocks)} blocks")
    return ", ".join(parts)
