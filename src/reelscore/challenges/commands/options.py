"""What commands about challenges share."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from reelscore.challenges.arena import Arena
from reelscore.challenges.challenge import Known
from reelscore.challenges.showing import Who
from reelscore.challenges.store.tables import open_challenges
from reelscore.challenges.views import Record, View
from reelscore.cli.messages import printable
from reelscore.errors import RefusedError

# Exit statuses of a file that is handed in; 2 is that of every error.
NO_QUOTA, CLOSED, FAILED, WAITING = 3, 4, 5, 6
_STATUS = {"quota": NO_QUOTA, "concurrent": NO_QUOTA, "often": NO_QUOTA, "closed": CLOSED}

database_argument = click.argument("database", metavar="DATABASE")
challenge_option = click.option(
    "--challenge",
    "challenge_id",
    default="",
    metavar="ID",
    help="The challenge, if there are several.",
)
server_option = click.option(
    "--server", metavar="URL", help="The server; that of 'challenge login' if not given."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@contextmanager
def open_arena(database: str) -> Iterator[Arena]:
    """Open a database of challenges."""
    with open_challenges(database) as opened:
        yield Arena(opened)


@contextmanager
def exit_status() -> Iterator[None]:
    """End with the status that belongs to a refusal."""
    try:
        yield
    except RefusedError as error:
        if error.reason not in _STATUS:
            raise
        say(f"Error: {error}")
        sys.exit(_STATUS[error.reason])


def say(message: str) -> None:
    """Print a message for people: on standard error, since standard output is for data."""
    click.echo(printable(message), err=True)


def show(value: Any) -> None:
    """Print data as JSON."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))


def owner_view(arena: Arena, known: Known) -> View:
    """Look at a challenge as its owner: whoever has the database has everything in it."""
    return View(arena.database, known.id, Who("owner"), now=arena.now())


def seen_scores(view: View, phase: str, record: Record) -> dict[str, dict[str, Any]]:
    """Return the scores of a submission that may be seen, by split, as plain data."""
    splits = view.definition.phase(phase).splits
    scores = {split: view.scores(phase, split, record) for split in splits}
    return {
        split: {
            name: {
                "score": score.value,
                "interval": None if score.low is None else [score.low, score.high],
                "signature": score.signature,
            }
            for name, score in of_split.items()
        }
        for split, of_split in scores.items()
        if of_split
    }
