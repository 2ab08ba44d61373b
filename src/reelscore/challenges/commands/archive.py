"""``reelscore challenge archive``."""

from __future__ import annotations

import click

from reelscore.challenges.boards.board_teams import named_members
from reelscore.challenges.challenge import find_challenge
from reelscore.challenges.commands.options import (
    challenge_option,
    database_argument,
    open_arena,
    say,
)
from reelscore.challenges.exchange.archive import write_archive
from reelscore.challenges.views import View


def _names(view: View) -> dict[int, str]:
    """Return the names of members of teams that agree to be named; accounts are the server's."""
    from sqlalchemy import inspect

    members = named_members(view)
    with view.database.reading() as connection:
        if not members or not inspect(connection).has_table("web_account"):
            return {}
    from reelscore.web.store.accounts import account_names

    return account_names(view.database, members)


@click.command("archive")
@database_argument
@challenge_option
@click.option("-o", "--output", required=True, metavar="FOLDER", help="The folder to make.")
def command(database: str, challenge_id: str, output: str) -> None:
    """Write a challenge as a static site, as a visitor sees it.

    The pages need no server and no network: put the folder on any web space.

    \b
    Example:
      reelscore challenge archive lsmdc.db -o lsmdc-2026
    """
    with open_arena(database) as arena:
        known = find_challenge(arena, challenge_id)
        view = View(arena.database, known.id, now=arena.now())
        files = write_archive(view, output, _names(view))
    say(f"Wrote {len(files)} files; open {output}/index.html.")
