"""``reelscore challenge invite``: teams that may know of a phase which is not listed."""

from __future__ import annotations

from reelscore.challenges.people.phase_invitations import invited_teams
from support.challenge_data import a_team, new_arena


def test_the_command_invites_and_takes_it_back(tmp_path, run):
    arena, known = new_arena(tmp_path / "dogs.db", tmp_path, more="listed = false")
    team = a_team(arena, known, "Theirs")
    command = ("challenge", "invite", str(tmp_path / "dogs.db"), "--phase", "main")
    why = ("--reason", "a try")
    with arena.database:
        done = run(*command, "--team", "Theirs", *why)
        assert done == (0, "", "Theirs is invited to main.\n")
        assert invited_teams(arena, known) == {"main": [team.id]}
        done = run(*command, "--team", "Theirs", *why, "--withdraw")
        assert done == (0, "", "Theirs is no longer invited to main.\n")
        assert invited_teams(arena, known) == {"main": []}
        status, _, err = run(*command, "--team", "Thiers", *why)
    assert status == 2
    assert "Did you mean 'Theirs'" in err
