"""``reelscore challenge import``."""

from __future__ import annotations

import click

from reelscore.challenge.imports import import_challenge
from reelscore.challenge.store.tables import building_challenges
from reelscore.cli.challenge.options import say


@click.command("import")
@click.argument("file", metavar="FILE")
@click.argument("database", metavar="DATABASE")
def command(file: str, database: str) -> None:
    """Make a challenge of an export.

    It has the same ids, scores, signatures and log. DATABASE is made where there is none.

    \b
    Example:
      reelscore challenge import lsmdc.zip postgresql://host@db/challenges
    """
    with building_challenges(database) as opened:
        made = import_challenge(opened, file)
    say(f"Challenge {made.challenge!r} is in {database}.")
    if not made.references:
        say("The export has no references, so nothing can be scored here. To add them, run")
        say(f"'reelscore challenge new DEFINITION {database}' with the references beside it.")
