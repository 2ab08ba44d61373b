"""``reelscore caption table``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import click
from msgspec import structs

from reelscore.cli.options import choice_option, file_option
from reelscore.cli.report_options import Outputs, Pictures, outputs, videos_option
from reelscore.cli.terminal import (
    STDOUT,
    check_targets,
    show_notes,
    terminal_width,
    write,
)
from reelscore.report.tables.grid import Grid

if TYPE_CHECKING:
    from reelscore_studies.captioning.tables import StudyResults


@click.command("table")
@click.argument("study", metavar="STUDY/", required=False)
@click.option("--only", metavar="TABLES", help="Some tables, such as t12.")
@choice_option(
    "--split",
    choices=["val", "test"],
    default="val",
    help="test: where the study was run with --freeze.",
)
@click.option("--published", is_flag=True, help="Show what the paper's text says.")
@outputs(".tex")
@file_option("--html", "Write the tables as one page.")
@videos_option
def command(
    study: str | None,
    only: str | None,
    split: str,
    published: bool,
    outputs: Outputs,
    html_file: str | None,
    videos: str | None,
) -> None:
    """Print the tables of a finished study: one row a method.

    With --videos, the page also shows the clips, and what each row says of them.

    \b
    Examples:
      reelscore caption table study --only t12 --split test
      reelscore caption table study -o tables.tex --html tables.html
      reelscore caption table study --html clips.html --videos clips/videos
    """
    from reelscore_studies.captioning.paper import published_grid, published_rows
    from reelscore_studies.captioning.tables import StudyResults

    check_targets(html_file)
    if published:
        if study or only or videos:
            raise click.UsageError("--published shows the paper's numbers; it takes no study.")
        paper = {"Numbers of the paper's text": published_grid()}
        outputs.write(tex=partial(_latex, paper), json=published_rows)
        _write_page(paper, html_file, "the paper's text", [])
        if outputs.shows and html_file != STDOUT:
            click.echo(published_grid().to_text(terminal_width()))
        return
    if study is None:
        raise click.UsageError("Missing argument 'STUDY/'; or pass --published.")
    if videos and not html_file:
        raise click.UsageError("--videos adds to a page; name its file with --html.")
    results = StudyResults.read(study, split)
    if only:
        tables = [name.strip() for name in only.split(",")]
        results = replace(results, plan=results.plan.only(tables))
    grids = results.grids()
    findings = results.findings()
    outputs.write(tex=partial(_latex, grids), json=results.to_dict)
    _write_page(grids, None if videos else html_file, results.title, findings)
    if html_file and videos:
        _write_gallery(results, grids, html_file, videos)
    if outputs.shows and html_file != STDOUT:
        for title, grid in grids.items():
            click.echo(f"{title}\n\n{grid.to_text(terminal_width())}\n")
        show_notes(findings)


def _latex(grids: Mapping[str, Grid]) -> str:
    return "\n\n".join(f"% {name}\n{grid.to_latex()}" for name, grid in grids.items())


def _write_page(
    grids: Mapping[str, Grid], html_file: str | None, title: str, findings: Sequence[str]
) -> None:
    """Write tables as one page, where it is wanted."""
    if html_file:
        from reelscore.report.pages import render, style_sheet

        styles = style_sheet("results.css")
        page = render("study.html", title=title, grids=grids, findings=findings, styles=styles)
        write(html_file, page)


def _write_gallery(
    results: StudyResults, grids: Mapping[str, Grid], html_file: str, videos: str
) -> None:
    """Write a report of the captions beside their clips, with the study's tables in it."""
    from reelscore.report.html.contents import Section
    from reelscore.scoring.captions import score_systems

    systems, references = results.systems(), results.references()
    table = score_systems(systems, references, list(results.plan.study.metrics), empty="zero")
    seeds = results.plan.study.seeds
    notes = [
        f"Leaderboard, plots and items are those of seed {seeds[0]} alone; the tables of the study "
        f"are means over seeds {', '.join(map(str, seeds))}."
    ]
    table = structs.replace(table, notes=[*table.notes, *notes])
    sections = [
        Section(title, grid.notes, [structs.replace(grid, notes=())], lead=True)
        for title, grid in grids.items()
    ]
    bounds = [row.name for row in results.plan.row if row.is_bound and row.name in systems]
    findings = Section("Findings of the paper on this data", results.findings())
    Pictures(html_file, f"A study of captioners: {results.title}", videos).write(
        table,
        captions=systems,
        references=references,
        bounds=list(dict.fromkeys(bounds)),
        sections=[*sections, findings],
        tests=(),
    )
