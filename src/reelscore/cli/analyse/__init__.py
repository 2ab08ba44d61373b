"""``reelscore analyse``."""

from __future__ import annotations

import click

from reelscore.cli.main import LazyGroup

# name: (module, what it does)
_COMMANDS = {
    "difficulty": ("analyse.difficulty", "Scores by length and word frequency; best, worst items."),
    "topics": ("analyse.topics", "Topics of verbs, and the scores of systems on each."),
}


class _WithDefault(LazyGroup):
    """A group whose first command may be left out: what is no command is its first argument."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in self.modules and args[0] not in ctx.help_option_names:
            args = [next(iter(self.modules)), *args]
        return super().parse_args(ctx, args)


@click.command("analyse", cls=_WithDefault, modules=_COMMANDS)
def command() -> None:
    """See where scores come from.

    'reelscore analyse FILE...' is 'reelscore analyse difficulty FILE...'; a file that is called as
    a command is written ./topics.

    \b
    Examples:
      reelscore analyse systems/*.json -r references.json --plot hard.pdf
      reelscore analyse topics systems/*.json -r references.json --plot topics.pdf
    """
