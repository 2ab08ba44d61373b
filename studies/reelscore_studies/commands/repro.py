"""``reelscore repro``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, cast

import click

from reelscore.cli.main import Group
from reelscore.cli.options import (
    Command,
    EngineChoice,
    choice_option,
    engine_option,
    file_option,
    gathered,
    number_option,
    seed_option,
)
from reelscore.cli.report_options import (
    Outputs,
    Pictures,
    command_line,
    html_option,
    output_option,
    outputs,
    page_options,
)
from reelscore.cli.terminal import (
    STDOUT,
    check_targets,
    progress_bar,
    show_engine,
    terminal_width,
    write_json,
)
from reelscore.corpus.sound.voices import DETECTORS, Detector
from reelscore.report.tables.grid import Grid
from reelscore_studies.repro.bertha import SETTINGS, odd_means, reproduce
from reelscore_studies.repro.direct_assessment import replicate
from reelscore_studies.repro.figures import draw_figures
from reelscore_studies.repro.papers import PAPERS, chosen_papers, papers_markdown, papers_text
from reelscore_studies.repro.tables import (
    coefficients_grid,
    likeness_grid,
    metrics_grid,
    replication_grid,
    table_grid,
    williams_grid,
)


@click.group("repro", cls=Group, invoke_without_command=True)
@click.option("--list", "as_list", is_flag=True, help="List all tables and figures of the papers.")
@click.option(
    "--paper", metavar="NAME", help=f"With --list: one of {', '.join(p.key for p in PAPERS)}."
)
@output_option(".md")
@click.pass_context
def command(
    context: click.Context, as_list: bool, paper: str | None, paths: tuple[str, ...]
) -> None:
    """Recompute published tables and compare them with the printed ones.

    --list shows for each table and figure of the five papers its command, and whether it comes
    out; --output writes it. Tables of papers about metrics, on judged sets of captions, are made
    by 'reelscore meta judged'.
    """
    if not as_list:
        if context.invoked_subcommand is None:
            click.echo(context.get_help())
        return
    outputs = Outputs(paths)
    papers = chosen_papers(paper)
    outputs.write(md=partial(papers_markdown, papers))
    if not outputs.wanted:
        click.echo(papers_text(papers, terminal_width()))
    context.exit()


data_option = click.option(
    "--data", required=True, metavar="PATH", help="A copy of TRECvid-VTT_HA (see 'data')."
)


_outputs = outputs(".md", ".tex", json="Write all numbers as JSON.")


@command.command("bertha")
@data_option
@_outputs
@gathered("pictures", Pictures, {"plots": page_options["plots"]})
@seed_option
@number_option(
    "--splits",
    default=20,
    least=1,
    help="Number of random splits that Table 7 averages over; the paper has one.",
)
def bertha(
    data: str,
    outputs: Outputs,
    pictures: Pictures,
    seed: int,
    splits: int,
) -> None:
    """All tables and figures of BERTHA (Lebron et al., 2022), and its Williams tests.

    Each metric has three rows: as printed; recomputed as published, with line numbers counted
    from 0; recomputed with the lines that were judged. "=" marks printed cells that are
    reproduced within 0.002, "≠" printed means that do not follow from the printed cells. SPICE
    comes from scores of the official tool; as published, they are paired with the judgments in
    the order of row numbers sorted as strings. If the package reelscore-bertha is installed,
    BERTHA has rows for models that have not seen the year.

    \b
    Example:
      reelscore repro bertha --data TRECvid-VTT_HA -o bertha.md
    """
    with progress_bar("Scoring") as progress:
        reproduction = reproduce(data, seed=seed, splits=splits, progress=progress)
    grids = [table_grid(reproduction, table) for table in reproduction.tables]
    grids.append(coefficients_grid(reproduction))
    grids += [
        williams_grid(reproduction, which, setting)
        for which in reproduction.williams
        for setting in SETTINGS
    ]
    _write(grids, reproduction.to_dict(), outputs)
    same = sum(len(reproduction.reproduced(table)) for table in ("2", "4"))
    has_spice = "SPICE" in reproduction.tables["2"]["as published"]
    if outputs.shows:
        cells = 50 if has_spice else 40
        click.echo(f"\n{same} of {cells} cells of Tables 2 and 4 are reproduced within 0.002.")
        for table, row, printed, mean in odd_means():
            click.echo(
                f"Table {table}, {row}: the printed mean is {printed:.3f}, that of the printed "
                f"cells {mean:.3f}."
            )
    for file in draw_figures(reproduction, *pictures.figures) if pictures.plots else ():
        click.echo(f"Wrote {file}.", err=True)


@command.command("unseen-years", cls=Command)
@data_option
@choice_option(
    "--part",
    "kind",
    choices=["MA", "SA"],
    default="MA",
    help="Captions judged by many people, or once.",
)
@file_option("--json", "Write all numbers as JSON.")
@html_option
@engine_option
def unseen_years(
    data: str, kind: str, json_file: str | None, html_file: str | None, engine: EngineChoice
) -> None:
    """Measure how metrics agree with people on each year; BERTHA has not seen the year.

    \b
    Example:
      reelscore repro unseen-years --data TRECvid-VTT_HA --html agreement.html
    """
    from reelscore_studies.repro.unseen_years import (
        agreement,
        features,
        held_out_grids,
        held_out_report,
        with_fusion,
    )

    check_targets(json_file, html_file)
    workers = engine.start()
    with progress_bar("Scoring", engine=workers) as progress:
        years = features(data, kind, progress=progress, engine=workers)
        measured = agreement(with_fusion(years))
    show_engine(workers)
    if json_file:
        write_json(json_file, asdict(measured))
    if html_file:
        from reelscore.report.html import write_report

        write_report(html_file, held_out_report(measured, kind, command=command_line()))
    if json_file != STDOUT:
        grids = held_out_grids(measured, kind)
        click.echo("\n\n".join(grid.to_text(terminal_width()) for grid in grids))


@command.command("direct-assessment")
@data_option
@_outputs
@click.option(
    "--similarity",
    default="meteor",
    show_default=True,
    metavar="METRIC",
    help="Tables 1 and 6: in place of the paper's service, which is gone; sts is another.",
)
def direct_assessment(data: str, outputs: Outputs, similarity: str) -> None:
    """Tables 1, 5 and 6 of Direct Assessment for video captioning (Graham et al., 2018).

    The judgments behind Table 4 and Figure 7, and the official scores of the metrics, are not
    public: Table 5 compares with the second collection, Table 6 with scores computed here.

    \b
    Example:
      reelscore repro direct-assessment --data TRECvid-VTT_HA
    """
    with progress_bar("Comparing") as progress:
        replication = replicate(data, similarity, progress=progress)
    grids = [form(replication) for form in (replication_grid, likeness_grid, metrics_grid)]
    _write(grids, replication._asdict(), outputs)


@command.command("narration")
@click.option(
    "--data", metavar="FOLDER", help="The public sounds: films, voices, pairs (see docs)."
)
@click.option("--film", "films", multiple=True, metavar="FILE", help="Own sound of films.")
@click.option(
    "--voices", multiple=True, metavar="FOLDER", help="Own clean recordings, those of one voice."
)
@choice_option(
    "--detector",
    choices=[*DETECTORS, "both"],
    default="both",
    help="What hears voices, after the comparison with the film; both: with and without.",
)
@_outputs
def narration(
    data: str | None,
    films: tuple[str, ...],
    voices: tuple[str, ...],
    detector: str,
    outputs: Outputs,
) -> None:
    """Mix narrators over films, as loud as these and 9 dB quieter, and measure what is found.

    The films of the movie-description paper are not public. FOLDER has notld_audio and
    vidln_narration, and in ad pairs of tracks with their truth. Own films need own voices too,
    unless FOLDER is given, and the other way round.

    \b
    Examples:
      reelscore repro narration --data movie
      reelscore repro narration --film film1.flac --film film2.flac --voices anna --voices ben
    """
    from reelscore_studies.repro.narration import measure_narration, narration_grid

    with progress_bar("Listening") as progress:
        found = measure_narration(
            data,
            ("none", "silero") if detector == "both" else (cast(Detector, detector),),
            films=[Path(film) for film in films],
            voices=[Path(folder) for folder in voices],
            progress=progress,
        )
    content = {"tracks": [each._asdict() for each in found]}
    _write([narration_grid(found)], content, outputs)


def _write(grids: Sequence[Grid], content: dict[str, Any], outputs: Outputs) -> None:
    outputs.write(grids, json=lambda: content)
    if outputs.shows:
        click.echo("\n\n".join(grid.to_text(terminal_width()) for grid in grids))
