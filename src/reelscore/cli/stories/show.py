"""``reelscore stories show``."""

from __future__ import annotations

from typing import Any

import click

from reelscore.cli.file_options import FilesCommand
from reelscore.cli.option_kinds import choice_option, number_option
from reelscore.cli.options import check_targets, system_files, terminal_width
from reelscore.cli.stories.options import choices, given_of, preset_option, truth_option
from reelscore.stories.protocol import SODA_SCORES


@click.command("show", cls=FilesCommand)
@click.argument("candidates", metavar="CANDIDATES")
@truth_option
@click.option("--video", required=True, metavar="ID", help="The video to show.")
@choice_option(
    "--score", choices=SODA_SCORES, default="soda_c", help="The score whose matching to show."
)
@number_option(
    "--tiou",
    default=0.5,
    least=0,
    most=1,
    help="Threshold of soda_a; its score averages over several.",
)
@click.option(
    "--output",
    "-o",
    metavar="FILE",
    help="Draw a picture (.png, .svg, .pdf) or write a page (.html) instead of text.",
)
@preset_option()
@choices("scores", "metrics", "variant", "max_captions", "epsilon", "missing", "tious")
def command(
    candidates: str,
    refs: tuple[str, ...],
    video: str,
    score: str,
    tiou: float,
    output: str | None,
    **choices: Any,
) -> None:
    """Show how one video is matched: references above, candidates below.

    CANDIDATES is a file of timed captions, or NAME=FILE. Matched pairs come with their overlap
    (IoU) and sentence score (f); captions without a match are marked.

    \b
    Examples:
      reelscore stories show ours.json -r val_1.json --video v_uqiMw7tQ1Cc
      reelscore stories show ours.json -r val_1.json --video v_1 -o story.html
    """
    from reelscore.report.timeline.files import check_format, timeline_text, write_timeline
    from reelscore.stories.timelines import timeline

    if output:
        check_format(output)
        check_targets(output)
    ((name, path),) = system_files([candidates]).items()
    shown = timeline(path, list(refs), video, score, system=name, tiou=tiou, **given_of(choices))
    if output:
        write_timeline(shown, output)
    else:
        click.echo(timeline_text(shown, terminal_width()), nl=False)
