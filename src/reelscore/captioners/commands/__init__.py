"""``reelscore caption``."""

from __future__ import annotations

import click

from reelscore.cli.main import LazyGroup

_RUN = ("describe_clips", "Describe clips with any captioner.")


@click.command("caption", cls=LazyGroup, package=__name__, modules={"run": _RUN})
def command() -> None:
    """Make captions: baselines to put under a table, or those of any model.

    The baselines are floors to compare with, no competitors of today's models.
    Every output is a captions file that 'reelscore score' takes, with a record
    of how it was made (OUT.run.json).
    """
