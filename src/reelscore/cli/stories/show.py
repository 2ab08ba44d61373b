"""``reelscore stories show``."""

from __future__ import annotations

from typing import Any

import click

from reelscore.cli.file_options import FilesCommand
from reelscore.cli.option_kinds import choice_option, number_option
from reelscore.cli.options import check_targets, show_notes, terminal_width
from reelscore.cli.reading_options import system_files
from reelscore.cli.stories.options import choices, given_of, preset_option, truth_option
from reelscore.stories.protocol import SODA_SCORES


@click.command("show", cls=FilesCommand)
@click.argument("candidates", nargs=-1, required=True, metavar="CANDIDATES...")
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
    candidates: tuple[str, ...],
    refs: tuple[str, ...],
    video: str,
    score: str,
    tiou: float,
    output: str | None,
    **choices: Any,
) -> None:
    """Show how one video is matched: references above, candidates below.

    CANDIDATES are files of timed captions, or NAME=FILE; several are shown side by side. Matched
    pairs come with their overlap (IoU) and sentence score (f); captions without a match are marked.

    \b
    Examples:
      reelscore stories show ours.json -r val_1.json --video v_uqiMw7tQ1Cc
      reelscore stories show a.json b.json -r val_1.json --video v_1 -o story.html
    """
    from reelscore.report.timeline.files import check_format, timeline_text, write_timeline
    from reelscore.stories.timelines import side_by_side

    if output:
        check_format(output)
        check_targets(output)
    systems = system_files(candidates)
    shown = side_by_side(systems, list(refs), video, score, tiou=tiou, **given_of(choices))
    show_notes(shown.notes, err=True)
    if output:
        write_timeline(shown, output)
    else:
        click.echo(timeline_text(shown, terminal_width()), nl=False)
