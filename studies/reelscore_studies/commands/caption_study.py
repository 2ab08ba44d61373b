"""``reelscore caption study``."""

from __future__ import annotations

import click

from reelscore.cli.options import json_option, number_option
from reelscore.cli.terminal import (
    STDOUT,
    check_targets,
    progress_bar,
    resumable,
    show_notes,
    terminal_width,
    write_json,
)
from reelscore_studies.commands.baseline_options import device_option


@click.command("study")
@click.argument("plan", metavar="PLAN")
@click.option("--only", metavar="TABLES", help="Some tables of the plan, such as t8,t9.")
@click.option("--output", "-o", required=True, metavar="STUDY/", help="The folder of the study.")
@click.option(
    "--freeze",
    is_flag=True,
    help="Caption the test items too, once; the plan may not change after it.",
)
@number_option(
    "--jobs", default=1, least=1, help="Rows at the same time; the numbers are the same with any."
)
@device_option
@json_option
def command(
    plan: str,
    only: str | None,
    output: str,
    freeze: bool,
    jobs: int,
    device: str,
    json_file: str | None,
) -> None:
    """Run the rows of a PLAN with several seeds, and print its tables.

    PLAN is a TOML file, or one that is shipped: rendered1-small, rendered1-full
    or schedules. Choices are made on validation; test items are captioned once,
    with --freeze. A row that is finished is never run again, so that a study
    may be interrupted and resumed.

    \b
    Examples:
      reelscore caption study rendered1-small --only t9,t10 -o study
      reelscore caption study rendered1-full -o study --device cuda --jobs 4
    """
    from reelscore_studies.captioning.plans import read_plan
    from reelscore_studies.captioning.runs import run_study
    from reelscore_studies.captioning.tables import StudyResults

    check_targets(json_file)
    chosen = read_plan(plan)
    if chosen.left_out:
        names = ", ".join(chosen.left_out)
        show_notes([f"Left out, since only rendered clips can have them: {names}."], err=True)
    tables = [name.strip() for name in only.split(",")] if only else []
    bars = progress_bar("Rendering"), progress_bar("Running")
    with resumable(output), bars[0] as rendering, bars[1] as progress:
        run_study(
            chosen,
            output,
            only=tables,
            freeze=freeze,
            device=device,
            jobs=jobs,
            progress=progress,
            rendering=rendering,
        )
    results = StudyResults.read(output, "test" if freeze else "val")
    if json_file:
        write_json(json_file, results.to_dict())
    if json_file != STDOUT:
        for title, grid in results.grids().items():
            click.echo(f"{title}\n\n{grid.to_text(terminal_width())}\n")
        show_notes(results.findings())
