"""``reelscore challenge invite``: teams that may know of a phase which is not listed."""

from __future__ import annotations

from reelscore.challenges.people.invitations import invited_teams
from support.challenge_data import a_team, new_challenge


def test_the_command_invites_and_takes_it_back(tmp_path, run):
    challenge = new_challenge(tmp_path / "dogs.db", tmp_path, more="listed = false")
    team = a_team(challenge, "Theirs")
    command = ("challenge", "invite", str(tmp_path / "dogs.db"), "--phase", "main")
    why = ("--reason", "a try")
    with challenge.database:
        done = run(*command, "--team", "Theirs", *why)
        assert done == (0, "", "Theirs is invited to main.\n")
        assert invited_teams(challenge) == {"main": [team.id]}
        done = run(*command, "--team", "Theirs", *why, "--withdraw")
        assert done == (0, "", "Theirs is no longer invited to main.\n")
        assert invited_teams(challenge) == {"main": []}
        status, _, err = run(*command, "--team", "Thiers", *why)
    assert status == 2
    assert "Did you mean 'Theirs'" in err
