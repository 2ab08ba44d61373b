"""``reelscore challenge trecvid``."""

from __future__ import annotations

from pathlib import Path

import click

from reelscore.challenges.commands.options import say_line
from reelscore.cli.options import choice_option
from reelscore.data.datasets.trecvid_ha import FOLDERS
from reelscore_studies.trecvid import trecvid_challenge


@click.command("trecvid")
@click.argument("data", type=click.Path(path_type=Path), metavar="DATA")
@choice_option("--part", choices=list(FOLDERS), default="SA-2020", help="Year and assessment.")
@click.option("-o", "--output", required=True, metavar="FOLDER", help="The folder to make.")
def command(data: Path, part: str, output: str) -> None:
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
