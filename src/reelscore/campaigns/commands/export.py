"""``reelscore campaign export``."""

from __future__ import annotations

import click

from reelscore.campaigns.commands.options import campaign_argument, id_option, opened, say
from reelscore.campaigns.imports.files import judgments_csv
from reelscore.cli.terminal import STDOUT, check_targets, write


@click.command("export")
@campaign_argument
@click.argument("path", metavar="PATH")
@id_option
@click.option("--judgments", is_flag=True, help="Only the judgments, as one CSV table.")
def command(campaign: str, path: str, campaign_id: str | None, judgments: bool) -> None:
    """Export everything, or the judgments, to plain files.

    PATH is a .jsonl file or a new folder of CSV files; 'campaign import' restores the campaign
    from them. With --judgments it is a CSV file, or - for standard output.

    \b
    Examples:
      reelscore campaign export my.db my-campaign.jsonl
      reelscore campaign export my.db judgments.csv --judgments
    """
    with opened(campaign, campaign_id) as opened_campaign:
        if judgments:
            check_targets(path)
            write(path, judgments_csv(opened_campaign.rows()), private=True)
        else:
            opened_campaign.export(path)
        if path != STDOUT:
            say(f"{opened_campaign.status().judgments:,} judgments are in {path}.")
