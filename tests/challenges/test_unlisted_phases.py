"""Phases that are not listed: invited teams and organisers know of them, nobody else."""

from __future__ import annotations

import pytest

from reelscore.challenges.exchange.archive import archive_files, citation, phase_lines
from reelscore.challenges.exchange.imports import import_challenge
from reelscore.challenges.people.invitations import (
    invite_to_phase,
    invited_teams,
    withdraw_invitation,
)
from reelscore.challenges.people.teams import merge
from reelscore.challenges.permissions import VISITOR, Who
from reelscore.challenges.quota import give
from reelscore.challenges.store.tables import open_challenges
from reelscore.challenges.updates import make_challenge
from reelscore.errors import DataError, UnknownNameError
from support.challenge_data import (
    SECOND,
    START,
    a_team,
    export,
    new_challenge,
    open_view,
    write_definition,
)

SECRET = """
[[split]]
id = "zzsplit"
visibility = "public"
references = "references.json"
[[phase]]
id = "zzphase"
splits = ["zzsplit"]
opens = 2025-06-01T00:00:00Z
closes = 2026-06-11T00:00:00Z
listed = false
[[board]]
id = "zzboard"
phase = "zzphase"
primary = "cider"
columns = [{ scores = ["cider"] }, { human = "zzpeople" }]
[[human]]
id = "zzpeople"
phase = "zzphase"
protocol = "against-reference"
items = 3
[award]
rule = "column"
column = "human:zzpeople"
"""
HIDDEN = ("zzphase", "zzsplit", "zzboard", "zzpeople")


@pytest.fixture
def made(tmp_path, mostly_sqlite):
    challenge = new_challenge(mostly_sqlite, tmp_path, more=SECRET)
    own, other = a_team(challenge, "Ours"), a_team(challenge, "Theirs")
    invite_to_phase(challenge, "zzphase", own, actor="ada", reason="a test")
    with challenge.database:
        yield challenge, own, other


def view(challenges, who=VISITOR):
    return open_view(challenges.database, "dogs", who, now=START + SECOND)


def known_to(challenges, who):
    seen = view(challenges, who)
    return ("zzphase" in seen.phases, "zzsplit" in seen.splits, "zzboard" in seen.boards())


def test_invited_teams_and_organisers_know_of_it(made):
    challenge, own, other = made
    for role in ("assistant", "owner"):
        assert known_to(challenge.store, Who(role)) == (True, True, True)
    assert known_to(challenge.store, Who("participant", own.id)) == (True, True, True)
    assert view(challenge.store, Who("participant", own.id)).definition.award is not None
    for who in (VISITOR, Who("participant", other.id)):
        assert known_to(challenge.store, who) == (False, False, False)
        assert view(challenge.store, who).board("zzboard") is None
        assert {phase.name for phase in phase_lines(view(challenge.store, who))} == {"main"}
        assert "2026" in citation(view(challenge.store, who))
        assert view(challenge.store, who).definition.award is None
    assert invited_teams(challenge) == {"zzphase": [own.id]}


def test_an_invitation_is_taken_back_and_goes_on_to_a_merged_team(made):
    challenge, own, other = made
    merge(challenge, own, other, actor="ada", reason="they asked")
    assert known_to(challenge.store, Who("participant", other.id)) == (True, True, True)
    withdraw_invitation(challenge, "zzphase", own, actor="ada", reason="it is over")
    assert known_to(challenge.store, Who("participant", other.id)) == (False, False, False)


def test_what_cannot_be_invited_to(made):
    challenge, own, other = made
    for team, phase, reason, said in (
        (own, "zzphase", "again", "already"),
        (other, "zzphase", "", "Say why"),
        (other, "main", "why not", "needs no invitation"),
    ):
        with pytest.raises(DataError, match=said):
            invite_to_phase(challenge, phase, team, actor="ada", reason=reason)
    with pytest.raises(DataError, match="not invited"):
        withdraw_invitation(challenge, "zzphase", other, actor="ada", reason="x")
    with pytest.raises(UnknownNameError):
        invite_to_phase(challenge, "none", other, actor="ada", reason="x")


def test_the_log_and_the_archive_do_not_tell_of_it(made, tmp_path):
    challenge, own, other = made
    challenge.change_dates("zzphase", actor="ada", reason="later", closes=START + 10**12)
    path = write_definition(tmp_path, more=SECRET.replace("2025-06-01", "2025-07-01"))
    assert "zzphase" in " ".join(make_challenge(challenge.store, path))
    challenge = challenge.store.find()
    give(
        challenge,
        challenge.find_phase("zzphase"),
        other,
        1,
        actor="ada",
        reason="by mistake",
    )
    for who in (VISITOR, Who("participant", other.id)):
        told = str(view(challenge.store, who).events())
        assert not any(word in told for word in HIDDEN)
        assert "The definition is changed." in told
    assert any(event.about == "zzphase" for event in view(challenge.store, Who("owner")).events())
    assert "zzphase" in str(view(challenge.store, Who("participant", own.id)).events())
    files = archive_files(view(challenge.store))
    assert "data/definition.toml" not in files  # it would tell
    content = b"\n".join([*files.values(), *(name.encode() for name in files)])
    assert not any(word.encode() in content for word in HIDDEN)


def test_invitations_are_exported_and_older_exports_have_none(made, tmp_path):
    challenge, own, _ = made
    first, second = tmp_path / "first.zip", tmp_path / "second.zip"
    export(challenge.database, "dogs", first, now=START, references=True)
    with open_challenges(tmp_path / "other.db", create=True) as other:
        import_challenge(other, first)
        export(other, "dogs", second, now=START, references=True)
        seen = open_view(other, "dogs", Who("participant", own.id), now=START)
        assert "zzphase" in seen.phases
    assert first.read_bytes() == second.read_bytes()
