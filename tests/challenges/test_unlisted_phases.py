"""Phases that are not listed: invited teams and organisers know of them, nobody else."""

from __future__ import annotations

import pytest

from reelscore.challenges.challenge import change_dates, find_challenge, find_phase, make_challenge
from reelscore.challenges.exchange.archive import archive_files, citation, phase_lines
from reelscore.challenges.exchange.exports import export_challenge
from reelscore.challenges.exchange.imports import import_challenge
from reelscore.challenges.people.phase_invitations import (
    invite_to_phase,
    invited_teams,
    withdraw_invitation,
)
from reelscore.challenges.people.team_decisions import merge
from reelscore.challenges.quota import give
from reelscore.challenges.showing import VISITOR, Who
from reelscore.challenges.store.tables import open_challenges
from reelscore.challenges.views import View
from reelscore.errors import DataError, UnknownNameError
from support.challenge_data import SECOND, START, a_team, new_arena, write_definition

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
    arena, known = new_arena(mostly_sqlite, tmp_path, more=SECRET)
    own, other = a_team(arena, known, "Ours"), a_team(arena, known, "Theirs")
    invite_to_phase(arena, known, "zzphase", own, actor="ada", reason="a test")
    with arena.database:
        yield arena, known, own, other


def view(arena, who=VISITOR):
    return View(arena.database, "dogs", who, now=START + SECOND)


def known_to(arena, who):
    seen = view(arena, who)
    return ("zzphase" in seen.phases, "zzsplit" in seen.splits, "zzboard" in seen.boards())


def test_invited_teams_and_organisers_know_of_it(made):
    arena, known, own, other = made
    for role in ("assistant", "owner"):
        assert known_to(arena, Who(role)) == (True, True, True)
    assert known_to(arena, Who("participant", own.id)) == (True, True, True)
    assert view(arena, Who("participant", own.id)).definition.award is not None
    for who in (VISITOR, Who("participant", other.id)):
        assert known_to(arena, who) == (False, False, False)
        assert view(arena, who).board("zzboard") is None
        assert {phase.name for phase in phase_lines(view(arena, who))} == {"main"}
        assert "2026" in citation(view(arena, who))
        assert view(arena, who).definition.award is None
    assert invited_teams(arena, known) == {"zzphase": [own.id]}


def test_an_invitation_is_taken_back_and_goes_on_to_a_merged_team(made):
    arena, known, own, other = made
    merge(arena, known, own, other, actor="ada", reason="they asked")
    assert known_to(arena, Who("participant", other.id)) == (True, True, True)
    withdraw_invitation(arena, known, "zzphase", own, actor="ada", reason="it is over")
    assert known_to(arena, Who("participant", other.id)) == (False, False, False)


def test_what_cannot_be_invited_to(made):
    arena, known, own, other = made
    for team, phase, reason, said in (
        (own, "zzphase", "again", "already"),
        (other, "zzphase", "", "Say why"),
        (other, "main", "why not", "needs no invitation"),
    ):
        with pytest.raises(DataError, match=said):
            invite_to_phase(arena, known, phase, team, actor="ada", reason=reason)
    with pytest.raises(DataError, match="not invited"):
        withdraw_invitation(arena, known, "zzphase", other, actor="ada", reason="x")
    with pytest.raises(UnknownNameError):
        invite_to_phase(arena, known, "none", other, actor="ada", reason="x")


def test_the_log_and_the_archive_do_not_tell_of_it(made, tmp_path):
    arena, known, own, other = made
    change_dates(arena, known, "zzphase", actor="ada", reason="later", closes=START + 10**12)
    path = write_definition(tmp_path, more=SECRET.replace("2025-06-01", "2025-07-01"))
    assert "zzphase" in " ".join(make_challenge(arena, path))
    known = find_challenge(arena)
    give(
        arena,
        known,
        find_phase(arena, known, "zzphase"),
        other,
        1,
        actor="ada",
        reason="by mistake",
    )
    for who in (VISITOR, Who("participant", other.id)):
        told = str(view(arena, who).events())
        assert not any(word in told for word in HIDDEN)
        assert "The definition is changed." in told
    assert any(event.about == "zzphase" for event in view(arena, Who("owner")).events())
    assert "zzphase" in str(view(arena, Who("participant", own.id)).events())
    files = archive_files(view(arena))
    assert "data/definition.toml" not in files  # it would tell
    content = b"\n".join([*files.values(), *(name.encode() for name in files)])
    assert not any(word.encode() in content for word in HIDDEN)


def test_invitations_are_exported_and_older_exports_have_none(made, tmp_path):
    arena, _, own, _ = made
    first, second = tmp_path / "first.zip", tmp_path / "second.zip"
    export_challenge(arena.database, "dogs", first, now=START, references=True)
    with open_challenges(tmp_path / "other.db", create=True) as other:
        import_challenge(other, first)
        export_challenge(other, "dogs", second, now=START, references=True)
        seen = View(other, "dogs", Who("participant", own.id), now=START)
        assert "zzphase" in seen.phases
    assert first.read_bytes() == second.read_bytes()
