"""``reelscore challenge import``."""

from __future__ import annotations

import click

from reelscore.challenges.commands.options import say
from reelscore.challenges.exchange.imports import import_challenge, read_export
from reelscore.challenges.store.tables import building_challenges


@click.command("import")
@click.argument("file", metavar="FILE")
@click.argument("database", metavar="DATABASE")
def command(file: str, database: str) -> None:
    """Make a challenge of an export.

    It has the same ids, scores, signatures and log, and where the export has them, the accounts
    of participants. DATABASE is made where there is none.

    \b
    Example:
      reelscore challenge import lsmdc.zip postgresql://host@db/challenges
    """
    manifest, _ = read_export(file)
    if manifest.get("accounts"):
        from reelscore.web.server import need_web

        need_web()
        from reelscore.web.store.accounts import restore_accounts
        from reelscore.web.store.schema import building_database

        with building_database(database) as opened:
            made = import_challenge(opened, file, accounts=restore_accounts)
    else:
        with building_challenges(database) as opened:
            made = import_challenge(opened, file)
    say(f"Challenge {made.challenge!r} is in {database}.")
    if made.accounts:
        say("Participants log in with their names and passwords of before.")
    if not made.references:
        say("The export has no references, so nothing can be scored here. To add them, run")
        say(f"'reelscore challenge new DEFINITION {database}' with the references beside it.")
