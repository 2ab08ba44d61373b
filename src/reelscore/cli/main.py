"""The ``reelscore`` command; the module of a command is imported when it is called."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from reelscore._version import __version__
from reelscore.cli.messages import as_options, printable
from reelscore.errors import ReelscoreError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class LazyGroup(click.Group):
    """A group that knows its commands' names and purposes, and imports what is called.

    Args:
        modules: For each command its module in `reelscore.cli` and what it does; the text stands
            there so that ``--help`` imports no command.
        fields: As of `click.Group`.
    """

    def __init__(self, *, modules: Mapping[str, tuple[str, str]], **fields: Any) -> None:
        super().__init__(**fields)
        self.modules = modules

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Give the names in their own order, not by the alphabet."""
        return list(self.modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in self.modules:
            return None
        module = import_module(f"reelscore.cli.{self.modules[cmd_name][0]}")
        command: click.Command = module.command
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
    "caption": ("caption", "Make captions: baselines under a table, or those of any model."),
    "campaign": ("campaign", "Ask people: plan, run and evaluate human assessments."),
    "challenge": ("challenge", "Host a challenge: blind test sets, submissions, leaderboards."),
    "corpus": ("corpus", "Build a corpus: align described films, find their narration."),
    "serve": ("serve", "Serve the rating pages of a campaign."),
    "report": ("report", "Write stored score tables as one HTML page to explore."),
    "inspect": ("inspect", "Show the items on which systems or scores differ most."),
    "meta": ("meta", "Measure which metrics agree with people, and which better."),
    "audit": ("audit", "Check that captions, references and judgments belong together."),
    "stress": ("stress", "Fool metrics: damage captions by rule and see whether scores fall."),
    "data": ("data", "Describe data sets with human judgments."),
    "repro": ("repro", "Recompute published tables and compare them."),
    "bertha": ("bertha", "Train and measure BERTHA, the metric learned from human judgments."),
    "ensemble": ("ensemble", "Combine metrics by weights fitted to people's scores."),
    "similarity": ("similarity", "Measure how similarly systems or annotators write."),
    "analyse": ("analyse", "Where scores come from: difficult items, topics of verbs."),
    "parse": ("parse", "Read captions as language: who does what to whom, and where."),
    "tokenize": ("tokenize", "Tokenize captions as the metrics see them."),
    "metrics": ("metrics", "List the metrics and their parameters."),
    "demo": ("demo", "Score the embedded example and show what reelscore does."),
}


@click.command(
    cls=LazyGroup, modules=_COMMANDS, context_settings={"help_option_names": ["-h", "--help"]}
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
