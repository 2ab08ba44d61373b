"""``reelscore challenge human``."""

from __future__ import annotations

import click

from reelscore.challenges.challenge import find_challenge
from reelscore.challenges.commands.options import (
    challenge_option,
    database_argument,
    open_arena,
    say,
)
from reelscore.challenges.people.human import link_campaign, make_campaign, publish
from reelscore.errors import DataError

_ACTOR = "command line"


@click.command("human")
@database_argument
@challenge_option
@click.option("--id", "human_id", required=True, metavar="ID", help="The [[human]] to work on.")
@click.option("--publish", "published", is_flag=True, help="Publish the closed campaign's column.")
@click.option(
    "--campaign",
    metavar="ID",
    help="Link a campaign of this database, whose systems are named as the teams are.",
)
@click.option("--reason", default="", metavar="TEXT", help="Why, for the log.")
def command(
    database: str,
    challenge_id: str,
    human_id: str,
    published: bool,
    campaign: str | None,
    reason: str,
) -> None:
    """Let people judge the final entries, and publish what they say.

    Without --publish, freezes the final entries of the phase and makes a campaign of them in the
    same database, as a draft. Open it, let raters work, close it; then publish its column.

    \b
    Examples:
      reelscore challenge human lsmdc.db --id helpful
      reelscore challenge human lsmdc.db --id helpful --publish
    """
    if published and campaign:
        raise DataError("--publish and --campaign are two steps; link the campaign first.")
    with open_arena(database) as arena:
        known = find_challenge(arena, challenge_id)
        now = arena.now()
        if published:
            count = publish(
                database,
                arena.database,
                known.id,
                human_id,
                now=now,
                actor=_ACTOR,
                reason=reason,
            )
            say(f"Published {human_id}: {count} {'column' if count == 1 else 'columns'}.")
            return
        if campaign:
            link_campaign(arena.database, known.id, human_id, campaign, now=now, actor=_ACTOR)
            say(f"Linked the campaign {campaign} as {human_id}.")
            return
        made = make_campaign(
            database, arena.database, known.id, human_id, now=now, actor=_ACTOR, reason=reason
        )
    say(f"Made the campaign {made.campaign} of {len(made.entries)} entries and {made.items} items.")
    if made.disclosed:
        say("Raters see references of these items; they are in the log as disclosed.")
    say(f"Serve it with: reelscore serve {database}")
