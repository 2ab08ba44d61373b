"""TRECVid with human assessments: ``data trecvid-ha`` and ``challenge trecvid``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import click
import msgspec

from reelscore.challenges.commands.options import say_line
from reelscore.cli.main import Group
from reelscore.cli.options import choice_option
from reelscore.cli.report_options import Outputs, outputs
from reelscore.cli.terminal import check_targets, progress_bar, terminal_width
from reelscore.data.atomic_files import write_atomically
from reelscore.data.tables.table import ScoreTable
from reelscore.errors import DataError
from reelscore.learned.judged_captions import write_captions
from reelscore.meta.audit import Audit, audit_captions
from reelscore.meta.report.figures import draw_shifts
from reelscore.report.tables.grid import Cell, Grid
from reelscore_studies.judged import trecvid_ha
from reelscore_studies.judged.trecvid_ha import FOLDERS, Assessment
from reelscore_studies.trecvid import trecvid_challenge


@click.command("trecvid")
@click.argument("data", type=click.Path(path_type=Path), metavar="DATA")
@choice_option("--part", choices=list(FOLDERS), default="SA-2020", help="Year and assessment.")
@click.option("-o", "--output", required=True, metavar="FOLDER", help="The folder to make.")
def challenge(data: Path, part: str, output: str) -> None:
    """Make a challenge of TRECVid's video-to-text task, with people's verdict.

    DATA is a copy of the human assessments 2016 to 2020, https://github.com/LLebronC/TRECvid-VTT_HA.
    Every system becomes a team whose captions are scored; the direct assessments become a campaign
    and its column. FOLDER gets the definition with its files, and the database.

    \b
    Example:
      reelscore challenge trecvid TRECvid-VTT_HA -o trecvid-2020
    """
    database = trecvid_challenge(data, part, output)
    say_line(f"The challenge is in {database}; look at it with one of:")
    say_line(f"  reelscore challenge leaderboard {database}")
    say_line(f"  reelscore serve {database}")


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
@click.option(
    "--judged", metavar="FILE", help="Write all judged captions for 'reelscore bertha', .jsonl."
)
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
    judged: str | None,
    outputs: Outputs,
) -> None:
    """TRECVid video-to-text 2016–2020 with human assessments.

    PATH is a copy of https://github.com/LLebronC/TRECvid-VTT_HA.

    \b
    Examples:
      reelscore data trecvid-ha TRECvid-VTT_HA
      reelscore data trecvid-ha TRECvid-VTT_HA --reading as-published --audit
      reelscore data trecvid-ha TRECvid-VTT_HA --judged judged.jsonl
      reelscore data trecvid-ha TRECvid-VTT_HA --export files
      cd files/MA-2018
      reelscore audit systems/* -r references.json --human human_z.csv
    """
    if outputs.paths and not audited:
        raise DataError("--output draws the audit; add --audit.")
    check_targets(judged)
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
    if judged:
        write_captions(judged, trecvid_ha.load_captions(path))
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
