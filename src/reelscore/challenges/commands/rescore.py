"""``reelscore challenge rescore``."""

from __future__ import annotations

import click

from reelscore.challenges.challenge import find_challenge
from reelscore.challenges.commands.options import (
    challenge_option,
    database_argument,
    open_arena,
    say,
)
from reelscore.challenges.queue.jobs import rescore


@click.command("rescore")
@database_argument
@challenge_option
@click.option("--phase", required=True, metavar="ID", help="The phase.")
@click.option("--reason", required=True, metavar="TEXT", help="Why, for the log.")
def command(database: str, challenge_id: str, phase: str, reason: str) -> None:
    """Score all submissions of a phase again.

    They become the next generation, which boards show when all of it is done.

    \b
    Example:
      reelscore challenge rescore lsmdc.db --phase blind-test --reason "new version"
    """
    with open_arena(database) as arena:
        known = find_challenge(arena, challenge_id)
        count = rescore(arena, known, phase, actor="command line", reason=reason)
    say(f"{count} submissions wait to be scored again.")
