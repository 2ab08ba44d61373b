"""Exports of challenges: complete, checked, and the same after a round trip."""

from __future__ import annotations

import hashlib
import json
import zipfile

import pytest
from sqlalchemy import select, update

from reelscore.challenge.exports import export_challenge, import_challenge, read_export
from reelscore.challenge.store import tables
from reelscore.challenge.store.blobs import get_blob
from reelscore.challenge.store.events import log
from reelscore.challenge.store.tables import open_challenges
from reelscore.challenge.views import View
from reelscore.errors import DataError, UnknownNameError
from support.challenges import OPENS, REVEALS, made_with


@pytest.fixture
def database(tmp_path):
    made = made_with(tmp_path, "ladder", "0.01")
    with made.database.writing() as connection:
        for what in ("opened", "dates"):
            log(
                connection, OPENS, made.keys["challenge"], what, "main", actor="ada", reason="ready"
            )
        keys = dict(connection.execute(select(tables.team.c.name, tables.team.c.key)).all())
        connection.execute(  # refers to a row that comes later
            update(tables.team)
            .where(tables.team.c.name == "strong")
            .values(state="merged", merged_into=keys["broken"])
        )
        connection.execute(update(tables.submission).values(account=5))
    with made.database:
        yield made.database


def moved(database, tmp_path, where=None, **options):
    first = tmp_path / "first.zip"
    export_challenge(database, "clips", first, now=REVEALS, **options)
    other = open_challenges(where or tmp_path / "other.db", create=True)
    import_challenge(other, first)
    return first, other


@pytest.mark.parametrize("references", [False, True])
def test_a_round_trip_is_equal_byte_by_byte(database, tmp_path, where, references):
    first, other = moved(database, tmp_path, where, references=references)
    second = tmp_path / "second.zip"
    with other:
        export_challenge(other, "clips", second, now=REVEALS, references=references)
        assert first.read_bytes() == second.read_bytes()
        before = View(database, "clips", now=REVEALS).board("main")
        after = View(other, "clips", now=REVEALS).board("main")
    assert before == after


def test_two_exports_differ_in_their_time_alone(database, tmp_path):
    paths = [tmp_path / "one.zip", tmp_path / "two.zip"]
    for path, now in zip(paths, (REVEALS, REVEALS + 1_000_000), strict=True):
        export_challenge(database, "clips", path, now=now)
    (one, parts), (two, others) = map(read_export, paths)
    assert parts == others
    assert {key for key in one if one[key] != two[key]} == {"exported"}


def test_references_and_accounts_are_left_out(database, tmp_path):
    path, other = moved(database, tmp_path)
    other.close()
    with database.reading() as connection:
        digest = connection.execute(select(tables.split.c.references_blob)).scalar_one()
        references = json.loads(get_blob(connection, digest))["references"]
    sentence = references[0][0].encode()
    parts = zipfile.ZipFile(path)
    content = b"".join(parts.read(name) for name in parts.namelist())
    assert sentence not in content
    assert f"blobs/{digest}" not in parts.namelist()
    rows = parts.read("tables/challenge_submission.jsonl").splitlines()
    assert all(json.loads(row)["account"] is None for row in rows)
    whole = tmp_path / "whole.zip"
    export_challenge(database, "clips", whole, now=REVEALS, references=True)
    assert sentence in zipfile.ZipFile(whole).read(f"blobs/{digest}")


def test_references_that_were_left_out_are_missing_not_wrong(database, tmp_path):
    _, other = moved(database, tmp_path)
    with other, other.reading() as connection:
        digest = connection.execute(select(tables.split.c.references_blob)).scalar_one()
        with pytest.raises(DataError, match="missing"):
            get_blob(connection, digest)


def rewritten(path, target, change):
    """Copy an export, with a change of its parts by name."""
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            content = change(name, old.read(name))
            if content is not None:
                new.writestr(name, content)
    return target


def test_damaged_exports_are_refused(database, tmp_path):
    path = tmp_path / "first.zip"
    export_challenge(database, "clips", path, now=REVEALS)
    result = "tables/challenge_result.jsonl"

    def better(name, content):
        return content.replace(b'"value": 0.', b'"value": 1.') if name == result else content

    for k, change in enumerate((better, lambda name, content: None if name == result else content)):
        with pytest.raises(DataError, match="challenge_result"):
            read_export(rewritten(path, tmp_path / f"changed{k}.zip", change))
    bare = rewritten(path, tmp_path / "bare.zip", lambda n, c: None if n[0] == "m" else c)
    with pytest.raises(DataError, match="manifest"):
        read_export(bare)
    with pytest.raises(DataError, match="not an export"):
        read_export(tmp_path / "c.db")
    with pytest.raises(DataError, match="no such file"):
        read_export(tmp_path / "none.zip")


def test_a_changed_log_is_found_even_with_right_checksums(database, tmp_path):
    path = tmp_path / "first.zip"
    export_challenge(database, "clips", path, now=REVEALS)
    name = "tables/challenge_event.jsonl"
    log_part = zipfile.ZipFile(path).read(name).replace(b"ada", b"eve")

    def change(part, content):
        if part == name:
            return log_part
        if part == "manifest.json":
            manifest = json.loads(content)
            manifest["files"][name] = hashlib.sha256(log_part).hexdigest()
            return json.dumps(manifest)
        return content

    forged = rewritten(path, tmp_path / "forged.zip", change)
    with (
        open_challenges(tmp_path / "new.db", create=True) as other,
        pytest.raises(DataError, match="row 1 of the log"),
    ):
        import_challenge(other, forged)
    with open_challenges(tmp_path / "new.db") as other, other.reading() as connection:
        assert connection.execute(select(tables.challenge)).first() is None


def test_a_challenge_is_imported_once(database, tmp_path):
    path, other = moved(database, tmp_path)
    with other, pytest.raises(DataError, match="already"):
        import_challenge(other, path)
    with pytest.raises(UnknownNameError):
        export_challenge(database, "none", tmp_path / "n.zip", now=0)
