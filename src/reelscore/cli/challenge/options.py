"""What commands about challenges share."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

from reelscore.challenge.arena import Arena
from reelscore.challenge.ladder import Score
from reelscore.challenge.store.tables import open_challenges
from reelscore.cli.messages import printable

database_argument = click.argument("database", metavar="DATABASE")
challenge_option = click.option(
    "--challenge",
    "challenge_id",
    default="",
    metavar="ID",
    help="The challenge, if there are several.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@contextmanager
def open_arena(database: str, *, create: bool = False) -> Iterator[Arena]:
    """Open a database of challenges."""
    with open_challenges(database, create=create) as opened:
        yield Arena(opened)


def say(message: str) -> None:
    """Print a message for people: on standard error, since standard output is for data."""
    click.echo(printable(message), err=True)


def show(value: Any) -> None:
    """Print data as JSON."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))


def plain(scores: Mapping[str, Mapping[str, Score]]) -> dict[str, dict[str, Any]]:
    """Give scores by split as plain data."""
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
    }
