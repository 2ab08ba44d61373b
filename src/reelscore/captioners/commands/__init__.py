"""``reelscore caption``."""

from __future__ import annotations

import click

from reelscore.cli.main import LazyGroup

# name: (module:command, what it does)
_COMMANDS = {
    "nearest": ("baselines:nearest", "Give every item the caption of its nearest neighbour."),
    "bound": ("baselines:bound", "Give every item its best training sentence: an oracle."),
    "constant": ("baselines:constant", "Give every item the best constant sentence."),
    "labels": ("label_commands", "Train, filter and apply classifiers of visual labels."),
    "train": ("network_commands:train", "Train a network that describes label scores."),
    "generate": (
        "network_commands:generate",
        "Write captions with trained networks.",
    ),
    "run": ("describe_clips", "Describe clips with any captioner."),
}


@click.command("caption", cls=LazyGroup, package=__name__, modules=_COMMANDS)
def command() -> None:
    """Make captions: baselines to put under a table, or those of any model.

    The baselines are floors to compare with, no competitors of today's models.
    Every output is a captions file that 'reelscore score' takes, with a record
    of how it was made (OUT.run.json).
    """
