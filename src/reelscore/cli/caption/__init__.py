"""``reelscore caption``."""

from __future__ import annotations

import click

from reelscore.cli.main import LazyGroup

# name: (module, what it does); a command is a file here and a line in this table
_COMMANDS = {
    "nearest": ("caption.nearest", "Give every item the caption of its nearest neighbour."),
    "bound": ("caption.bound", "Give every item its best training sentence: an oracle."),
    "constant": ("caption.constant", "Give every item the best constant sentence."),
    "labels": ("caption.labels", "Train, filter and apply classifiers of visual labels."),
    "train": ("caption.train", "Train a network that describes label scores."),
    "generate": ("caption.generate", "Write captions with one trained network, or several."),
    "translate": ("caption.translate", "Find who does what, and translate it into a sentence."),
    "study": ("caption.study", "Run the rows of a plan with several seeds: Tables 7 to 13."),
    "table": ("caption.table", "Print the tables of a finished study."),
    "render": ("caption.render", "Render clips: a synthetic data set whose truth is known."),
    "run": ("caption.run", "Describe clips with any captioner."),
}


@click.command("caption", cls=LazyGroup, modules=_COMMANDS)
def command() -> None:
    """Make captions: baselines to put under a table, or those of any model.

    The baselines are floors to compare with, no competitors of today's models.
    Every output is a captions file that 'reelscore score' takes, with a record
    of how it was made (OUT.run.json).
    """
