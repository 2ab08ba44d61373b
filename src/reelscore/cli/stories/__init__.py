"""``reelscore stories`` and the commands below it."""

from __future__ import annotations

import click

from reelscore.cli.main import LazyGroup

# name: (module, what it does)
_COMMANDS = {
    "score": ("score", "Score timed captions of long videos: one row per system."),
    "show": ("show", "Show how one video is matched: references above, candidates below."),
}


@click.command("stories", cls=LazyGroup, package=__name__, modules=_COMMANDS, default="score")
def command() -> None:
    """Score timed captions of long videos: SODA and ActivityNet.

    Without the name of a command, ``score`` is run.
    """
