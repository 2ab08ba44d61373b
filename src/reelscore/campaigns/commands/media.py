"""``reelscore campaign media``."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import click

from reelscore.campaigns.commands.options import campaign_argument, id_option, opened
from reelscore.cli.terminal import progress_bar, terminal_width
from reelscore.errors import DataError
from reelscore.report.safe_text import legible


@click.command("media")
@campaign_argument
@click.option(
    "--videos",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    required=True,
    help="The videos, named by their items: clip01.mp4.",
)
@id_option
def command(campaign: str, videos: Path, campaign_id: str | None) -> None:
    """Check, before a campaign opens, that its videos can be played.

    Checks the video of every item of the HITs and of the practice: is it missing, unreadable,
    truncated, without pictures, or in a container or codec that Chromium does not play? Videos on
    another site cannot be checked. The lengths are stored in the campaign; the exit status is 1
    if anything is wrong.

    \b
    Example:
      reelscore campaign media my.db --videos clips/
    """
    from reelscore.cli.serve import need_web

    need_web()
    from reelscore.web.media import CONVERT, check_media

    if not videos.is_dir():
        raise DataError(f"{videos}: no such folder; expected the folder with the videos.")
    with (
        opened(campaign, campaign_id) as opened_campaign,
        progress_bar("Checking videos") as progress,
    ):
        report = check_media(opened_campaign, videos, progress=progress)
    if report.faults:
        for fault in report.faults:
            _say(legible(str(fault)))
        click.echo()
    _say(str(report))
    if report.faults:
        _say(f"To convert a file, for example: {CONVERT}")
        sys.exit(1)


def _say(text: str) -> None:
    click.echo(textwrap.fill(text, terminal_width(), subsequent_indent="  "))
