"""``reelscore corpus status``."""

from __future__ import annotations

import click

from reelscore.campaigns.commands.options import say
from reelscore.cli.options import json_option
from reelscore.cli.terminal import STDOUT, check_targets, write_json
from reelscore.corpus.commands.options import project_option, show_grid
from reelscore.corpus.project import RESULTS, Project
from reelscore.corpus.stages import stage_states


@click.command("status")
@project_option
@json_option
def command(project: str, json_file: str | None) -> None:
    """Show where every film of a project stands, step by step.

    open: not made yet. done: made from the files as they are. stale: a file has changed since.
    failed: the result must not be trusted; its report says why. needs review: a person should
    look at some of it.

    \b
    Example:
      reelscore corpus status --project films
    """
    check_targets(json_file)
    opened = Project.open(project)
    states, stages = opened.status(), stage_states(opened)
    if json_file:
        write_json(json_file, {"name": opened.name, "films": states, "corpus": stages})
    if json_file != STDOUT and not states:
        say(f"{opened.name}: no films yet; add one with 'reelscore corpus add-film'.")
    elif json_file != STDOUT:
        rows = [[film_id, *(steps[step] for step in RESULTS)] for film_id, steps in states.items()]
        show_grid(["film", *RESULTS], rows)
        if set(stages.values()) != {"open"}:
            say(", ".join(f"{stage}: {state}" for stage, state in stages.items()))
