"""``reelscore challenge new``."""

from __future__ import annotations

from pathlib import Path

import click

from reelscore.challenges.arena import Arena
from reelscore.challenges.challenge import Known, find_challenge, make_challenge
from reelscore.challenges.commands.options import say
from reelscore.challenges.definition.reader import read_definition
from reelscore.challenges.people.teams import add_team, list_teams
from reelscore.challenges.store.tables import building_challenges
from reelscore.challenges.submissions import Upload, hand_in
from reelscore.challenges.uploads.uploads import Readers
from reelscore.errors import RefusedError
from reelscore.web.store.names import skeleton


@click.command("new")
@click.argument("definition", type=click.Path(path_type=Path), metavar="DEFINITION")
@click.argument("database", required=False, metavar="[DATABASE]")
@click.option("--draft", is_flag=True, help="Show it to organisers only, for now.")
@click.option("--rescore", is_flag=True, help="Score again where the rules of scoring change.")
def command(definition: Path, database: str | None, draft: bool, rescore: bool) -> None:
    """Make a challenge from its definition, or update it.

    DEFINITION is a TOML file; everything that is wrong in it is named with its line. DATABASE is
    made where there is none; without it, the file is named after the challenge. The references
    are copied into the database, so those of blind splits can be kept elsewhere afterwards.

    How a phase is scored that has scores changes with --rescore only: then all its submissions are
    scored again, and boards change over when all of them are done.

    \b
    Examples:
      reelscore challenge new lsmdc.toml
      reelscore challenge new lsmdc.toml postgresql://host@db/challenges --draft
    """
    read = read_definition(definition)
    where = database or f"{read.id}.db"
    with building_challenges(where) as opened:
        arena = Arena(opened)
        changes = make_challenge(arena, definition, draft=draft, rescore=rescore)
        for change in changes or ["Nothing has changed."]:
            say(change)
        known = find_challenge(arena, read.id)
        _hand_in_baselines(arena, known, definition.parent)
    say(f"Challenge {read.id!r} is in {where}.")


def _hand_in_baselines(arena: Arena, known: Known, folder: Path) -> None:
    """Put the organisers' baselines into the queue; those that are there already are left."""
    teams = {skeleton(t.name): t for t in list_teams(arena, known) if t.kind == "baseline"}
    readers = Readers(1)
    try:
        for baseline in known.definition.baselines:
            own = skeleton(baseline.name)
            if own not in teams:
                teams[own] = add_team(
                    arena, known, baseline.name, kind="baseline", actor="command line"
                )
            content = (folder / baseline.file).read_bytes()
            upload = Upload(baseline.file, content, method=baseline.method)
            opens = known.definition.phase(baseline.phase).opens
            try:
                moment = max(arena.now(), opens)
                hand_in(arena, readers, known, baseline.phase, teams[own], upload, arrived=moment)
            except RefusedError as error:
                if error.reason not in ("same", "closed"):
                    raise
                continue
            say(f"Baseline {baseline.name!r} waits to be scored.")
    finally:
        readers.close()
