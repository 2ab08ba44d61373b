"""``reelscore stories`` and the commands below it."""

from __future__ import annotations

import click

from reelscore.cli.main import LazyGroup

# name: (module, what it does)
_COMMANDS = {
    "score": ("stories.score", "Score timed captions of long videos: one row per system."),
    "show": ("stories.show", "Show how one video is matched: references above, candidates below."),
    "study": (
        "stories.study",
        "Repeat the experiments of the SODA papers on your data.",
    ),
}


class _WithDefault(LazyGroup):
    """A group whose first command is meant where none is named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        completing = ctx.resilient_parsing and not args  # the name of a command may come
        if not completing and (not args or args[0] not in self.modules):
            args.insert(0, next(iter(self.modules)))
        return super().parse_args(ctx, args)


@click.command("stories", cls=_WithDefault, modules=_COMMANDS)
def command() -> None:
    """Score timed captions of long videos: SODA and ActivityNet.

    Without the name of a command, ``score`` is run.
    """
