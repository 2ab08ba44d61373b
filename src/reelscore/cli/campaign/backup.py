"""``reelscore campaign backup``."""

from __future__ import annotations

import click

from reelscore.cli.campaign.options import campaign_argument, say
from reelscore.human.campaign import Campaign


@click.command("backup")
@campaign_argument
@click.argument("path", metavar="PATH")
def command(campaign: str, path: str) -> None:
    """Copy the whole database while it is in use.

    PATH is a new file, or a folder, where the file is named by the database and the time. Of a
    SQLite file it is a copy to be used as it is, of a PostgreSQL database an archive for
    pg_restore, made by pg_dump. All campaigns, raters and accounts are in it; the secret that
    links and completion codes are signed with is not.

    \b
    Examples:
      reelscore campaign backup my.db backups/
      reelscore campaign backup postgresql://rate@db/rate rate.dump
    """
    say(f"The database is copied to {Campaign.backup(campaign, path)}.")
