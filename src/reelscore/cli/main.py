"""The ``reelscore`` command; the module of a command is imported when it is called."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import click

from reelscore._version import __version__
from reelscore.cli.messages import as_options, printable
from reelscore.errors import ReelscoreError
from reelscore.wings import load, wing_commands, wings

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_DESCRIBED = 3  # commands of each heading of the first screen
_NAME = 11  # columns of a command's name


class Group(click.Group):
    """A group of commands, whose errors name remedies as options of the command."""

    def invoke(self, ctx: click.Context) -> Any:
        """Call a command."""
        try:
            return super().invoke(ctx)
        except ReelscoreError as error:
            command = self.get_command(ctx, ctx.invoked_subcommand or "") or self
            error.args = (as_options(str(error), command), *error.args[1:])
            raise


class LazyGroup(Group):
    """A group that knows its commands' names and purposes, and imports what is called."""

    def __init__(
        self,
        *,
        package: str,
        modules: Mapping[str, tuple[str, str]],
        default: str = "",
        headings: Mapping[str, Sequence[str]] | None = None,
        **fields: Any,
    ) -> None:
        super().__init__(**fields)
        self.default = default
        self.headings = headings or {}
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

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Describe the group; of one with a default, the default and what else there is."""
        default = self.get_command(ctx, self.default)
        if default is None:
            super().format_help(ctx, formatter)
        else:
            default.format_help(click.Context(default, ctx.parent, ctx.info_name), formatter)
            self.format_commands(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self.modules.items()])


class FirstScreen(LazyGroup):
    """The group at the top: its help fits a terminal, and names every command under a heading.

    The first commands of a heading are described, the others are named.
    """

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Describe the program and its commands."""
        formatter.write(f"Usage: {ctx.command_path} [--version] [-h] COMMAND [OPTIONS] ...\n")
        self.format_help_text(ctx, formatter)
        formatter.write_paragraph()
        headings = {heading: list(names) for heading, names in self.headings.items()}
        for wing in wings():
            for heading, names in getattr(wing, "HEADINGS", {}).items():
                headings.setdefault(heading, []).extend(names)
        listed = {name for names in headings.values() for name in names}
        if others := [name for name in self.modules if name not in listed]:
            headings["More"] = others
        margin = max(map(len, headings)) + 2
        for heading, names in headings.items():
            names = [name for name in names if name in self.modules]
            described, others = names[:_DESCRIBED], names[_DESCRIBED:]
            lines = [f"{name:<{_NAME}}{self.modules[name][1]}" for name in described]
            lines += textwrap.wrap("also: " + ", ".join(others), 80 - margin) if others else []
            for before, line in zip_longest([heading], lines, fillvalue=""):
                formatter.write(f"{before:<{margin}}{line}\n")
        formatter.write_paragraph()
        formatter.write("'reelscore COMMAND --help' describes a command.\n")


# name: (module, what it does)
_COMMANDS = {
    "score": ("commands.score", "Score captions: one row per system."),
    "compare": ("commands.compare", "Score systems and test whether they differ."),
    "stories": ("commands.stories", "Score timed captions of long videos: SODA and ActivityNet."),
    "check": ("commands.check", "Find defects in caption files before they are scored."),
    "report": ("commands.report", "Write stored score tables as one HTML page to explore."),
    "inspect": ("commands.inspect", "Show the items on which systems or scores differ most."),
    "parse": ("commands.parse", "Read captions as language: who does what to whom, and where."),
    "metrics": ("commands.metrics", "List the metrics and their parameters."),
    "tokenize": ("commands.tokenize", "Tokenize captions as the metrics see them."),
    "demo": ("commands.demo", "Score the embedded example and show what reelscore does."),
    "doctor": ("commands.doctor", "Show what is installed, and what more would enable."),
    "serve": ("serve", "Serve the pages of campaigns and challenges."),
}
_HEADINGS = {
    "Score": ["score", "compare", "stories", "check", "metrics", "tokenize", "demo", "doctor"],
    "Look": ["report", "inspect", "parse"],
    "People": [],
    "Make": [],
    "Trust": [],
}


@click.command(
    cls=FirstScreen,
    package="reelscore.cli",
    modules=_COMMANDS,
    headings=_HEADINGS,
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
        click.echo(f"Error: {printable(str(error))}", err=True)
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
