"""``reelscore campaign import``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.commands.options import campaign_argument, id_option, say
from reelscore.campaigns.imports.files import FORMATS, Format, stream_judgments
from reelscore.campaigns.protocols import PROTOCOLS
from reelscore.errors import DataError


@click.command("import")
@campaign_argument
@click.argument("files", nargs=-1, required=True, metavar="FILES...")
@id_option
@click.option(
    "--format",
    "file_format",
    type=click.Choice(FORMATS),
    help="mturk: batch results; ad-latest: tables of the Direct Assessment tools; "
    "standardized: the same with z scores; csv: any table with rater, system, "
    "item, score. Recognised by the header if not given.",
)
@click.option("--pair", metavar="cs-en", help="Language pair to import, if the files hold several.")
@click.option(
    "--moments",
    metavar="FILE",
    help="For z scores: raters' means and deviations; by default next to the file.",
)
@click.option(
    "--protocol",
    type=click.Choice(list(PROTOCOLS)),
    help="What raters were asked; direct-assessment for a new campaign.",
)
@click.option(
    "--human",
    "humans",
    multiple=True,
    metavar="NAME",
    help="A system that stands for human captions.",
)
@click.option(
    "--name", metavar="TEXT", help="Name of a new campaign; the file's name if not given."
)
def command(
    campaign: str,
    files: tuple[str, ...],
    campaign_id: str | None,
    file_format: Format | None,
    pair: str | None,
    moments: str | None,
    protocol: str | None,
    humans: tuple[str, ...],
    name: str | None,
) -> None:
    """Import judgments, or a whole campaign, from files.

    If CAMPAIGN does not exist, it is created from the files. If it exists, the judgments must be
    of its tasks. Either everything is imported or nothing. A .jsonl file or a folder written by
    'campaign export' becomes a campaign again.

    \b
    Examples:
      reelscore campaign import run-a.db Batch_*_batch_results.csv
      reelscore campaign import wmt.db ad-csen-good-stnd.csv
      reelscore campaign import copy.db my-campaign.jsonl
    """
    if len(files) == 1 and (Path(files[0]).is_dir() or ".jsonl" in Path(files[0]).name):
        with Campaign.restore(campaign, files[0], id=campaign_id) as made:
            say(f"Campaign {made.id!r} is restored in {campaign}.")
        return
    notes: list[str] = []
    options: Any = {"format": file_format, "pair": pair, "moments": moments}
    if _exists(campaign):
        with Campaign.open(campaign, campaign_id) as there:
            asked = there.protocol.name
            if protocol not in (None, asked):
                raise DataError(f"Campaign {there.id!r} asks for {asked}.")
            rows = stream_judgments(files, notes, protocol_name=asked, **options)
            count = there.append(rows, new_hits=there.layout == "imported")
            _tell(notes)
            say(f"{count:,} judgments are added to {there.id!r}.")
        return
    asked = protocol or "direct-assessment"
    with Campaign.from_judgments(
        campaign,
        name or Path(campaign).stem,
        stream_judgments(files, notes, protocol_name=asked, **options),
        protocol=asked,
        humans=humans,
        id=campaign_id,
    ) as made:
        _tell(notes)
        status = made.status()
        say(
            f"{status.judgments:,} judgments of {status.hits:,} HITs by {status.raters:,} raters "
            f"are in {campaign}, campaign {made.id!r}."
        )


def _exists(where: str) -> bool:
    """Return whether judgments are to be added to a campaign; a URL's may hold several."""
    if "://" in where:
        try:
            return bool(Campaign.list(where))
        except DataError:
            return False
    return Path(where).exists()


def _tell(notes: list[str]) -> None:
    for note in notes:
        say(note)
