"""Scores of an export computed again."""

from __future__ import annotations

import hashlib
import json
import zipfile

import pytest

from reelscore.challenge.exports import export_challenge
from reelscore.challenge.verification import verify_export
from reelscore.errors import DataError
from support.challenges import REVEALS, made_with


@pytest.fixture(scope="module")
def export(tmp_path_factory):
    folder = tmp_path_factory.mktemp("verified")
    with made_with(folder).database as database:
        for name, references in (("whole.zip", True), ("bare.zip", False)):
            export_challenge(database, "clips", folder / name, now=REVEALS, references=references)
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
    with pytest.raises(DataError, match="--with-references"):
        verify_export(export.with_name("bare.zip"))
