"""What commands about challenges share."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from reelscore.challenges.challenge import Challenge, Challenges
from reelscore.challenges.permissions import Who
from reelscore.cli.messages import printable
from reelscore.cli.options import gathered
from reelscore.errors import DataError, RefusedError

ACTOR = "command line"  # who does what is done here, for the log
OWNER = Who("owner")  # whoever has the database has everything in it
# Exit statuses of a file that is handed in; 2 is that of every error.
NO_QUOTA, CLOSED, FAILED, WAITING = 3, 4, 5, 6
_STATUS = {"quota": NO_QUOTA, "concurrent": NO_QUOTA, "often": NO_QUOTA, "closed": CLOSED}

database_argument = click.argument("database", metavar="DATABASE")
database_option = click.option(
    "--database", metavar="DATABASE", help="The database, where there is no server."
)
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
phase_option = click.option("--phase", required=True, metavar="ID", help="The phase.")
reason_option = click.option("--reason", required=True, metavar="TEXT", help="Why, for the log.")


@contextmanager
def open_challenge(database: str, id: str) -> Iterator[Challenge]:
    """Open a database and find a challenge in it; without an id, the only one."""
    with Challenges.opened(database) as challenges:
        yield challenges.find(id)


def _opened(database: str, challenge_id: str) -> Challenge:
    """Open a challenge until the command ends."""
    return click.get_current_context().with_resource(open_challenge(database, challenge_id))


opened_challenge = gathered(
    "challenge", _opened, {"database": database_argument, "challenge_id": challenge_option}
)


@contextmanager
def exit_status() -> Iterator[None]:
    """End with the status that belongs to a refusal."""
    try:
        yield
    except RefusedError as error:
        if error.reason not in _STATUS:
            raise
        say_line(f"Error: {error}")
        sys.exit(_STATUS[error.reason])


def say_line(*messages: str) -> None:
    """Print messages, each in one line as logs of servers take it, on standard error."""
    for message in messages:
        click.echo(printable(message), err=True)


def say_accepted(
    number: int, id: str, left: tuple[int | None, int | None], notes: Iterable[str]
) -> None:
    """Print that a submission is accepted, what was passed over, and what is left."""
    today, total = ("without limit" if count is None else count for count in left)
    accepted = f"Submission {number} is accepted as {id}; left today {today}, in all {total}."
    say_line(*notes, accepted)


def read_file(file: Path) -> bytes:
    """Read a file that is named on the command line."""
    try:
        return file.read_bytes()
    except OSError as error:
        raise DataError(f"{file}: cannot be read: {error.strerror or error}.") from None
