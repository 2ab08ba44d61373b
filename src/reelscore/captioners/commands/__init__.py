"""``reelscore caption``."""

from __future__ import annotations

import click

from reelscore.cli.main import LazyGroup

# name: (module, what it does); a command is a file here and a line in this table
_COMMANDS = {
    "nearest": ("nearest", "Give every item the caption of its nearest neighbour."),
    "bound": ("bound", "Give every item its best training sentence: an oracle."),
    "constant": ("constant", "Give every item the best constant sentence."),
    "labels": ("labels", "Train, filter and apply classifiers of visual labels."),
    "train": ("train", "Train a network that describes label scores."),
    "generate": ("generate", "Write captions with one trained network, or several."),
    "run": ("run", "Describe clips with any captioner."),
}


@click.command("caption", cls=LazyGroup, package=__name__, modules=_COMMANDS)
def command() -> None:
    """Make captions: baselines to put under a table, or those of any model.

    The baselines are floors to compare with, no competitors of today's models.
    Every output is a captions file that 'reelscore score' takes, with a record
    of how it was made (OUT.run.json).
    """
