"""``reelscore challenge worker``."""

from __future__ import annotations

import signal
import threading

import click

from reelscore._packages import default_device
from reelscore.challenges.commands.options import database_argument, open_arena, say
from reelscore.challenges.queue.workers import Workers, alone_on
from reelscore.cli.options import choice_option
from reelscore.errors import DataError


@click.command("worker")
@database_argument
@click.option(
    "--scorers",
    type=click.IntRange(min=1),
    help="How many submissions to score at a time; all cores but one if not given.",
)
@choice_option("--device", choices=["cpu", "cuda"], default="cpu", help="For learned metrics.")
@click.option("--once", is_flag=True, help="Score what waits now, then end.")
def command(database: str, scorers: int | None, device: str, once: bool) -> None:
    """Score what waits, without pages.

    Any number of workers, on any machines, may score for one PostgreSQL database. A SQLite file
    has one process that scores: a server, or this. Learned metrics are computed where the
    challenge says (device = "cpu" or "cuda"): with --device cuda, a worker takes those of the
    second kind, and leaves those of the first to others.

    \b
    Examples:
      reelscore challenge worker lsmdc.db --once
      reelscore challenge worker postgresql://host@db/challenges --scorers 4
    """
    if device == "cuda" and default_device() != "cuda":
        raise DataError("--device cuda: no GPU that torch can use is here. Leave the option out.")
    with open_arena(database) as arena, alone_on(arena.database):
        workers = Workers(arena, scorers, device=device)
        if once:
            count = workers.run_until_idle()
            say(f"{count} {'submission is' if count == 1 else 'submissions are'} done.")
            for message in workers.left_to_others():
                say(message)
            return
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        with workers:
            say(f"{workers.count} scorers wait for submissions; end with Ctrl-C.")
            stop.wait()
