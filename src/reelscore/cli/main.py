"""The ``reelscore`` command; the module of a command is imported when it is called."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import click

from reelscore._version import __version__
from reelscore.cli.messages import as_options, printable
from reelscore.errors import ReelscoreError
from reelscore.wings import load, wing_commands

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class LazyGroup(click.Group):
    """A group that knows its commands' names and purposes, and imports what is called.

    Args:
        package: The package of the modules.
        modules: For each command its module in that package, or ``module:attribute``, and what it
            does; the text is there so that ``--help`` imports no command. Wings may add commands
            to any group.
        default: The command that is meant where none is typed.
        fields: As of `click.Group`.
    """

    def __init__(
        self,
        *,
        package: str,
        modules: Mapping[str, tuple[str, str]],
        default: str = "",
        **fields: Any,
    ) -> None:
        super().__init__(**fields)
        self.default = default
        self._own = {
            name: (f"{package}.{module}", text) for name, (module, text) in modules.items()
        }
        self._above = "" if package == "reelscore.cli" else str(self.name)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the default command first, where there is one and none is typed."""
        completing = ctx.resilient_parsing and not args  # the name of a command may come
        if self.default and not completing and (not args or not self._is_meant(args[0], ctx)):
            args = [self.default, *args]
        return super().parse_args(ctx, args)

    def _is_meant(self, word: str, ctx: click.Context) -> bool:
        return word in self.modules or word in ctx.help_option_names

    @cached_property
    def modules(self) -> dict[str, tuple[str, str]]:
        """The modules of all commands, those that wings add included."""
        return self._own | dict(wing_commands(self._above))

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in their own order, not by the alphabet."""
        return list(self.modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        target = self._own.get(cmd_name) or self.modules.get(cmd_name)
        if target is None:
            return None
        command: click.Command = load(target[0], "command")
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Offer the commands without importing them, and the options."""
        from click.shell_completion import CompletionItem

        commands = [
            CompletionItem(name, help=text)
            for name, (_, text) in self.modules.items()
            if name.startswith(incomplete)
        ]
        return [*commands, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self.modules.items()])


# name: (module, what it does)
_COMMANDS = {
    "score": ("score", "Score captions: one row per system."),
    "compare": ("compare", "Score systems and test whether they differ."),
    "check": ("check", "Find defects in caption files before they are scored or published."),
    "stories": ("stories", "Score timed captions of long videos: SODA and ActivityNet."),
    "serve": ("serve", "Serve the rating pages of a campaign."),
    "report": ("report", "Write stored score tables as one HTML page to explore."),
    "inspect": ("inspect", "Show the items on which systems or scores differ most."),
    "parse": ("parse", "Read captions as language: who does what to whom, and where."),
    "tokenize": ("tokenize", "Tokenize captions as the metrics see them."),
    "metrics": ("metrics", "List the metrics and their parameters."),
    "demo": ("demo", "Score the embedded example and show what reelscore does."),
}


@click.command(
    cls=LazyGroup,
    package="reelscore.cli",
    modules=_COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="reelscore")
def cli() -> None:
    """How good your video captions are, and how far to trust the number."""


def main() -> None:
    """Run the command line; an expected error is one message and exit status 2."""
    if os.environ.get("_REELSCORE_COMPLETE"):  # set by the scripts that click writes for shells
        from reelscore.cli.completion import add_shells

        add_shells()
    try:
        cli(prog_name="reelscore", standalone_mode=False)
    except ReelscoreError as error:
        click.echo(f"Error: {printable(as_options(str(error)))}", err=True)
        sys.exit(2)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt) as error:
        # click puts its own in place of one that says what is kept
        cause = error.__cause__ if isinstance(error.__cause__, KeyboardInterrupt) else error
        click.echo(f"Interrupted; {str(cause) or 'nothing was written'}.", err=True)
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
