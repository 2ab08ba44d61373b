"""``reelscore challenge invite``."""

from __future__ import annotations

import click

from reelscore.challenges.challenge import find_challenge
from reelscore.challenges.commands.options import (
    challenge_option,
    database_argument,
    open_arena,
    say,
)
from reelscore.challenges.people.phase_invitations import invite_to_phase, withdraw_invitation
from reelscore.challenges.people.teams import find_team, list_teams
from reelscore.errors import UnknownNameError


@click.command("invite")
@database_argument
@challenge_option
@click.option("--phase", required=True, metavar="ID", help="A phase that is not listed.")
@click.option("--team", "team_name", required=True, metavar="NAME", help="The team: name or id.")
@click.option("--reason", required=True, metavar="TEXT", help="Why, for the log.")
@click.option("--withdraw", is_flag=True, help="Take the invitation back.")
def command(
    database: str, challenge_id: str, phase: str, team_name: str, reason: str, withdraw: bool
) -> None:
    """Invite a team to a phase that is not listed.

    Nobody but organisers and invited teams can learn that such a phase exists.

    \b
    Example:
      reelscore challenge invite lsmdc.db --phase dry-run --team Ours --reason "tests the upload"
    """
    with open_arena(database) as arena:
        known = find_challenge(arena, challenge_id)
        team = find_team(arena, known, team_name)
        if team is None:
            names = [each.name for each in list_teams(arena, known)]
            raise UnknownNameError.of("team", team_name, names)
        change = withdraw_invitation if withdraw else invite_to_phase
        change(arena, known, phase, team, actor="command line", reason=reason)
    done = "is no longer invited" if withdraw else "is invited"
    say(f"{team.name} {done} to {phase}.")
