"""``reelscore campaign backup``."""

from __future__ import annotations

import click

from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.commands.options import campaign_argument, say


@click.command("backup")
@campaign_argument
@click.argument("path", metavar="PATH")
def command(campaign: str, path: str) -> None:
    """Copy the whole database while it is in use.

    PATH is a new file, or a folder, in which the file is named after the database and the time.
    The backup of a SQLite file is a SQLite file that can be used directly; that of a PostgreSQL
    database is an archive for pg_restore, made by pg_dump. It contains all campaigns, raters and
    accounts, but not the secret that signs links and completion codes.

    \b
    Examples:
      reelscore campaign backup my.db backups/
      reelscore campaign backup postgresql://rate@db/rate rate.dump
    """
    say(f"The database is copied to {Campaign.backup(campaign, path)}.")
