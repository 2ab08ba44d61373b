"""``reelscore corpus new``."""

from __future__ import annotations

import click

from reelscore.cli.messages import say
from reelscore.corpus.project import Project


@click.command("new")
@click.argument("folder", metavar="FOLDER")
@click.option("--name", metavar="TEXT", help="The corpus's name; the folder's if not given.")
def command(folder: str, name: str | None) -> None:
    """Create a project folder.

    \b
    Example:
      reelscore corpus new films --name "Films of 2026"
    """
    project = Project.new(folder, name)
    say(f"Project {project.name!r} was made.")
