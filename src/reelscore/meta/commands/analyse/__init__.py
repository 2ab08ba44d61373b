"""``reelscore analyse``."""

from __future__ import annotations

import click

from reelscore.cli.main import LazyGroup

# name: (module, what it does)
_COMMANDS = {
    "difficulty": ("difficulty", "Scores by length and word frequency; best, worst items."),
    "topics": ("topics", "Topics of verbs, and the scores of systems on each."),
}


@click.command("analyse", cls=LazyGroup, package=__name__, modules=_COMMANDS, default="difficulty")
def command() -> None:
    """See where scores come from.

    'reelscore analyse FILE...' is 'reelscore analyse difficulty FILE...'; a file that is called as
    a command is written ./topics.

    \b
    Examples:
      reelscore analyse systems/*.json -r references.json --plot hard.pdf
      reelscore analyse topics systems/*.json -r references.json --plot topics.pdf
    """
