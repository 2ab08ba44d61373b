"""Scores of an export computed again."""

from __future__ import annotations

import hashlib
import json
import zipfile

import pytest

from reelscore.challenges.challenge import Challenges
from reelscore.challenges.exchange.exports import note_download
from reelscore.challenges.exchange.verification import is_database, verify_export, verify_logs
from reelscore.challenges.people.tokens import make_token
from reelscore.errors import DataError
from support import challenge_data
from support.challenges import REVEALS, made_with


@pytest.fixture(scope="module")
def export(tmp_path_factory):
    folder = tmp_path_factory.mktemp("verified")
    with made_with(folder).database as database:
        for name, references in (("whole.zip", True), ("bare.zip", False)):
            challenge_data.export(
                database, "clips", folder / name, now=REVEALS, references=references
            )
    return folder / "whole.zip"


def test_all_bits_are_equal(export):
    result = verify_export(export, threads=1)
    assert result.submissions == 4
    assert result.arrays == 4 * 3
    assert result.scores > 4 * 5
    assert result.differences == []


def test_a_changed_score_is_found(export, tmp_path):
    """Whoever changes a score can make the checksums right, but not the score."""
    name = "tables/challenge_result.jsonl"
    changed = tmp_path / "changed.zip"
    with zipfile.ZipFile(export) as old, zipfile.ZipFile(changed, "w") as new:
        parts = {part: old.read(part) for part in old.namelist()}
        rows = [json.loads(line) for line in parts[name].splitlines()]
        rows[0]["value"] = rows[0]["value"] * (1 + 2**-52) + 1e-300
        parts[name] = "".join(json.dumps(row, sort_keys=True) + "\n" for row in rows).encode()
        manifest = json.loads(parts["manifest.json"])
        manifest["files"][name] = hashlib.sha256(parts[name]).hexdigest()
        parts["manifest.json"] = json.dumps(manifest).encode()
        for part, content in parts.items():
            new.writestr(part, content)
    [difference] = verify_export(changed, threads=1).differences
    assert rows[0]["score"] in difference


def test_an_export_without_references_cannot_be_verified(export):
    with pytest.raises(DataError, match="--with references"):
        verify_export(export.with_name("bare.zip"))


def test_the_logs_of_a_database_are_checked(tmp_path):
    with made_with(tmp_path).database as database:
        challenges = Challenges(database, lambda _: REVEALS)
        challenge = challenges.find()
        make_token(challenges, 1, "laptop", ["read"], actor="ada")
        note_download(challenge, "archive", actor="ada", reason="for the lab")
        logs = {log.challenge: (log.events, len(log.chain)) for log in verify_logs(database)}
        assert logs == {"clips": (1, 64), "": (1, 64)}
        assert is_database(str(tmp_path / "c.db"))
        with database.writing() as connection:
            connection.exec_driver_sql("DROP TRIGGER challenge_event_no_update")
            connection.exec_driver_sql("UPDATE challenge_event SET actor = 'x' WHERE what='token'")
        with pytest.raises(DataError, match="row 1 of the log of the server was changed"):
            verify_logs(database)
