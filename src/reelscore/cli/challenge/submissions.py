"""``reelscore challenge submissions``."""

from __future__ import annotations

import click

from reelscore.challenge.challenges import find_challenge, find_phase
from reelscore.challenge.job_results import scores_of
from reelscore.challenge.submissions import list_submissions
from reelscore.challenge.teams import list_teams
from reelscore.cli.challenge.options import (
    challenge_option,
    json_option,
    open_arena,
    plain,
    show,
)
from reelscore.cli.messages import printable
from reelscore.store.values import to_iso


@click.command("submissions")
@click.option("--database", required=True, metavar="DATABASE", help="The database.")
@challenge_option
@click.option("--phase", metavar="ID", help="Of this phase only.")
@json_option
def command(database: str, challenge_id: str, phase: str | None, as_json: bool) -> None:
    """List submissions and what became of them.

    \b
    Example:
      reelscore challenge submissions --database lsmdc.db --phase public-test
    """
    with open_arena(database) as arena:
        known = find_challenge(arena, challenge_id)
        teams = {team.key: team.name for team in list_teams(arena, known)}
        phases = {
            find_phase(arena, known, each.id).key: each.id
            for each in known.definition.phases
            if phase is None or each.id == phase
        }
        if phase is not None:
            find_phase(arena, known, phase)  # refuses one that is not there
        rows = [row for row in list_submissions(arena) if row.phase in phases]
        listed = [
            {
                "id": row.id,
                "team": teams[row.team],
                "phase": phases[row.phase],
                "number": row.number,
                "file": row.file_name,
                "arrived": to_iso(row.arrived),
                "late": bool(row.late),
                "status": row.status,
                "state": row.state,
                "reason": row.reason,
                "scores": scores_of(arena, row.key),
            }
            for row in rows
        ]
    if as_json:
        show([{**each, "scores": plain(each["scores"])} for each in listed])
        return
    for each in listed:
        reason = f" ({each['reason']})" if each["reason"] else ""
        line = f"{each['id']}  {each['team']}, {each['phase']} {each['number']}: "
        click.echo(printable(f"{line}{each['state']}{reason}"))
        for split, scores in each["scores"].items():
            numbers = "  ".join(f"{name} {score.value:.6f}" for name, score in scores.items())
            click.echo(f"  {split}: {numbers}")
