"""``reelscore challenge serve``."""

from __future__ import annotations

from typing import Any

import click

from reelscore.challenges.commands.options import database_argument
from reelscore.challenges.queue.workers import default_scorers
from reelscore.cli.serve import serve, server_options


@click.command("serve")
@database_argument
@server_options
@click.option(
    "--scorers",
    type=click.IntRange(min=0),
    help="How many submissions to score at a time; all cores but one if not given, and with 0 "
    "none: workers do.",
)
def command(database: str, scorers: int | None, **options: Any) -> None:
    """Serve the pages of challenges, and score what is handed in.

    The server is that of 'reelscore serve', with scorers: campaigns of the same database are
    served, too. A SQLite file has one server.

    \b
    Examples:
      reelscore challenge serve lsmdc.db
      reelscore challenge serve postgresql://host@db/challenges --public \\
        --url https://challenge.example --scorers 4
    """
    serve(database, scorers=default_scorers() if scorers is None else scorers, **options)
