"""``reelscore audit`` and ``data``: whether captions, references and judgments belong together."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click
import msgspec

from reelscore.cli.commands.score import tokenizer_option
from reelscore.cli.file_options import FilesCommand, read_captions, reading_options, refs_option
from reelscore.cli.main import Group
from reelscore.cli.options import (
    choice_option,
    seed_option,
    threads_option,
)
from reelscore.cli.report_options import Outputs, outputs
from reelscore.cli.table_options import People, human_option
from reelscore.cli.terminal import progress_bar, terminal_width
from reelscore.data.atomic_files import write_atomically
from reelscore.data.datasets import trecvid_ha
from reelscore.data.datasets.trecvid_ha import FOLDERS, Assessment
from reelscore.data.reading import Reading
from reelscore.data.tables.table import ScoreTable
from reelscore.data.tables.table_files import csv_rows
from reelscore.data.tables.table_forms import merge_tables
from reelscore.errors import DataError
from reelscore.meta.audit import METRIC, Audit, audit_captions, audit_tables
from reelscore.meta.report.figures import draw_audit, draw_shifts
from reelscore.meta.shifts import Scan, ShiftVerdict, signed
from reelscore.report.tables.grid import Cell, Grid
from reelscore.text.tokens import Tokenizer


@click.command("audit", cls=FilesCommand)
@click.argument("candidates", nargs=-1, required=True, metavar="CANDIDATES...")
@refs_option()
@human_option()
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
@outputs(figure="with all shifts")
def audit(
    candidates: tuple[str, ...],
    refs: tuple[str, ...],
    human: People | None,
    metric: str,
    tokenizer: Tokenizer,
    reading: Reading,
    seed: int,
    threads: int | None,
    outputs: Outputs,
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
      reelscore audit runs/*.txt -r refs.txt --human da.csv -o audit.pdf
      reelscore audit meteor.csv cider.csv --human judgments.csv
    """
    people = (
        ScoreTable.read(human.table, repeats=human.raters, column=human.column) if human else None
    )
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


@click.group("data", cls=Group)
def data() -> None:
    """Describe data sets with human judgments, and convert them for the other commands."""


@data.command("trecvid-ha")
@click.argument("path", metavar="PATH")
@choice_option(
    "--reading",
    choices=["aligned", "as-published"],
    default="aligned",
    help="Read line numbers as intended, or counted from 0 as in the published tables.",
)
@click.option("--people", is_flag=True, help="Count human captions as a system.")
@click.option("--audit", "audited", is_flag=True, help="Audit the alignment of every folder.")
@click.option("--export", metavar="DIR", help="Write captions, references and judgments as files.")
@outputs(
    figure="with r against shift (with --audit)",
    json="Write the table as JSON; - for standard output.",
)
def trecvid(
    path: str,
    reading: trecvid_ha.Reading,
    people: bool,
    audited: bool,
    export: str | None,
    outputs: Outputs,
) -> None:
    """TRECVid video-to-text 2016–2020 with human assessments.

    PATH is a copy of https://github.com/LLebronC/TRECvid-VTT_HA.

    \b
    Examples:
      reelscore data trecvid-ha TRECvid-VTT_HA
      reelscore data trecvid-ha TRECvid-VTT_HA --reading as-published --audit
      reelscore data trecvid-ha TRECvid-VTT_HA --export files
      cd files/MA-2018
      reelscore audit systems/* -r references.json --human human_z.csv
    """
    if outputs.paths and not audited:
        raise DataError("--output draws the audit; add --audit.")
    assessments: dict[str, tuple[Assessment, Audit | None]] = {}
    with progress_bar("Reading") as progress:
        for done, assessment in enumerate(
            trecvid_ha.load_all(path, reading=reading, people=people), 1
        ):
            report = (
                audit_captions(assessment.candidates, assessment.references(), assessment.human)
                if audited
                else None
            )
            assessments[assessment.folder] = assessment, report
            if progress is not None:
                progress(done, len(FOLDERS))
    if export:
        for assessment, _ in assessments.values():
            _export(assessment, Path(export))
    rows = [_row(*pair) for pair in assessments.values()]
    outputs.write(draw=partial(draw_shifts, dict(_scans(assessments))), json=lambda: rows)
    if outputs.shows:
        grid = Grid(list(rows[0]), [[Cell(_text(value)) for value in r.values()] for r in rows])
        click.echo(grid.to_text(terminal_width()))


def _row(assessment: Assessment, report: Audit | None) -> dict[str, Any]:
    judged = [result["z"].items for result in assessment.human.results.values()]
    count = sum(map(len, judged))
    row = {
        "folder": assessment.folder,
        "items": len(assessment.items),
        "systems": len(assessment.candidates),
        "references": len(assessment.annotators),
        "judged": count,
        "ratings": sum(sum(ratings.values()) for ratings in assessment.judgments.values()),
        "mean z": sum(float(scores.array.sum()) for scores in judged) / count,
    }
    if report is not None and report.judgments is not None:
        verdict, scan = report.judgments
        row["r at 0"] = float(scan.strengths[scan.at(0)])
        row["r at −1"] = float(scan.strengths[scan.at(-1)])
        row["audit"] = str(verdict)
    return row


def _text(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _scans(assessments: dict[str, tuple[Assessment, Audit | None]]) -> Iterator[tuple[str, Any]]:
    for name, (_, report) in assessments.items():
        if report is not None and report.judgments is not None:
            yield name, report.judgments[1]


def _export(assessment: Assessment, folder: Path) -> None:
    home = folder / assessment.folder
    (home / "systems").mkdir(parents=True, exist_ok=True)
    for name, captions in assessment.candidates.items():
        write_atomically(home / "systems" / f"{name}.json", msgspec.json.encode(captions))
    write_atomically(home / "references.json", msgspec.json.encode(assessment.references()))
    for scale in assessment.human.metrics:
        table = {name: {scale: row[scale]} for name, row in assessment.human.results.items()}
        ScoreTable(table).write(home / f"human_{scale}.csv")
