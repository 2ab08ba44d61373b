"""Groups of commands whose modules are imported when they are called."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click


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

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self.modules.items()])
