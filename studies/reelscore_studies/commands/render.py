"""``reelscore caption render``."""

from __future__ import annotations

import click

from reelscore.cli.options import choice_option, json_option, number_option
from reelscore.cli.terminal import STDOUT, check_targets, progress_bar, resumable, write_json
from reelscore_studies.rendered.dataset import SETS, RenderedClips, Size, write_clips


@click.command("render")
@click.argument("out", metavar="OUT")
@choice_option(
    "--size",
    choices=["small", "full", "tiny"],
    default="small",
    help="small: 60 movies of 100 clips; full: 120 of 500; tiny: 10 of 30.",
)
@number_option("--seed", default=0, least=0, help="Random seed.")
@number_option(
    "--noise-labels", default=0, least=0, metavar="K", help="Add K labels that mean nothing."
)
@number_option(
    "--misaligned",
    default=0.10,
    least=0,
    most=1,
    metavar="P",
    help="Share of first references that describe the clip before.",
)
@click.option("--clips", type=click.IntRange(2, 1000), metavar="N", help="Clips a movie.")
@click.option(
    "--videos",
    type=click.Choice(SETS),
    multiple=True,
    metavar="SET",
    help="Write the clips of train, val or test as videos too; may be repeated.",
)
@number_option("--jobs", default=1, least=1, help="Processes; the clips are the same with any.")
@json_option
def command(
    out: str,
    size: Size,
    seed: int,
    noise_labels: int,
    misaligned: float,
    clips: int | None,
    videos: tuple[str, ...],
    jobs: int,
    json_file: str | None,
) -> None:
    """Render clips into OUT: a synthetic data set whose truth is known.

    The clips are drawn by a program and are no films: a table made on them must
    say "rendered clips (synthetic)". OUT gets captions, features, tuples and the
    truth. A second call with the same settings renders nothing again.

    \b
    Examples:
      reelscore caption render clips --size small
      reelscore caption render clips --videos test
    """
    check_targets(json_file)
    wanted = RenderedClips(size, seed, noise_labels, misaligned, clips)
    with resumable(out), progress_bar("Rendering") as progress:
        record = write_clips(out, wanted, videos=videos, jobs=jobs, progress=progress)
    if json_file:
        write_json(json_file, record)
    if json_file != STDOUT:
        counts = ", ".join(f"{record['items'][name]:,} {name}" for name in SETS)
        click.echo(f"{out}: {record['title']}, {record['name']}, seed {seed}: {counts}.")
