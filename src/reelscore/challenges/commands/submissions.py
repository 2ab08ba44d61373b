"""``reelscore challenge submissions``."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import click

from reelscore.challenges.challenge import find_challenge, find_phase
from reelscore.challenges.commands.options import (
    challenge_option,
    json_option,
    open_arena,
    owner_view,
    seen_scores,
    server_option,
    show,
)
from reelscore.challenges.commands.served import login_server, served_challenge
from reelscore.challenges.exchange.remote import Server
from reelscore.cli.messages import printable
from reelscore.store.values import to_iso


@click.command("submissions")
@server_option
@click.option("--database", metavar="DATABASE", help="The database, where there is no server.")
@challenge_option
@click.option("--phase", metavar="ID", help="Of this phase only.")
@json_option
def command(
    server: str | None, database: str | None, challenge_id: str, phase: str | None, as_json: bool
) -> None:
    """List submissions and what became of them: your team's on a server, or all of a database.

    \b
    Examples:
      reelscore challenge submissions
      reelscore challenge submissions --database lsmdc.db --phase public-test
    """
    if database is None:
        listed = _served(login_server(server), challenge_id, phase)
    else:
        listed = _stored(database, challenge_id, phase)
    if as_json:
        show(listed)
        return
    for each in listed:
        reason = f" ({each['reason']})" if each["reason"] else ""
        line = f"{each['id']}  {each['team']}, {each['phase']} {each['number']}: "
        click.echo(printable(f"{line}{each['state']}{reason}"))
        for split, scores in each["scores"].items():
            numbers = "  ".join(f"{name} {score['score']:.6f}" for name, score in scores.items())
            click.echo(printable(f"  {split}: {numbers}"))


def _served(server: Server, challenge: str, phase: str | None) -> list[dict[str, Any]]:
    id = served_challenge(server, challenge, phase)["id"]
    submissions: list[dict[str, Any]] = server.get(f"/challenges/{quote(id)}/submissions")[
        "submissions"
    ]
    return [each for each in submissions if phase in (None, each["phase"])]


def _stored(database: str, challenge_id: str, phase: str | None) -> list[dict[str, Any]]:
    with open_arena(database) as arena:
        known = find_challenge(arena, challenge_id)
        view = owner_view(arena, known)
        if phase is not None:
            find_phase(arena, known, phase)  # refuses one that is not there
        return [
            {
                "id": record.id,
                "team": record.team_name,
                "phase": id,
                "number": record.number,
                "file": record.file_name,
                "arrived": to_iso(record.arrived),
                "late": bool(record.late),
                "status": record.status,
                "state": record.state,
                "reason": record.reason,
                "scores": seen_scores(view, id, record),
            }
            for id in view.phases
            if phase in (None, id)
            for record in view.submissions(id)
        ]
