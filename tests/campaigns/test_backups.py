"""Copies of a database that is in use: of one moment, whole, private, never over another file."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from sqlalchemy import text

from reelscore import DataError
from reelscore.campaigns.campaign import Campaign
from support.made_hits import begun_campaign
from support.postgres_server import new_database


@pytest.fixture
def database(request, tmp_path):
    """Where a campaign can be made whose database is copied as a whole."""
    if request.param == "sqlite":
        return str(tmp_path / "dogs.db")
    url = new_database(request.getfixturevalue("postgres_url"))
    return url.replace("postgres@", "postgres:a%3Apassword@")


both = pytest.mark.parametrize("database", ["sqlite", "postgresql"], indirect=True)


def restored(copy, tmp_path, request):
    """Where the copy can be used."""
    if copy.suffix == ".db":
        return str(copy)
    url = new_database(request.getfixturevalue("postgres_url"))
    subprocess.run(["pg_restore", "--no-owner", f"--dbname={url}", str(copy)], check=True)
    return url


@both
def test_a_copy_is_of_one_moment(database, tmp_path, request):
    if "://" in database and shutil.which("pg_dump") is None:
        pytest.skip("there is no pg_dump on this machine")
    with begun_campaign(database) as (campaign, held):
        with campaign.database.writing() as connection:  # somebody is in the middle of writing
            connection.execute(text("UPDATE campaign SET name = 'Cats'"))
            copy = Campaign.backup(database, tmp_path)
        campaign.submit(held.id, "r1", "t0-1", {"adequacy": [5]})
        assert campaign.judgments().score.tolist() == [71.0, 5.0]
    assert copy.stat().st_mode & 0o777 == 0o600
    assert [path for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    with Campaign.open(restored(copy, tmp_path, request)) as campaign_copy:
        assert campaign_copy.judgments().score.tolist() == [71.0]
        assert campaign_copy.name == "Dogs"


def test_names(tmp_path):
    where = str(tmp_path / "dogs.db")
    with begun_campaign(where):
        pass
    copy = Campaign.backup(where, f"{tmp_path}/backups/")  # a folder, by its slash
    assert copy.parent.name == "backups"
    assert copy.name.startswith("dogs-20")
    assert copy.name.endswith("Z.db")
    whole = copy.read_bytes()
    with pytest.raises(DataError, match="exists already"):
        Campaign.backup(where, copy)
    assert copy.read_bytes() == whole


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("nothing.db", "copy.db", "no such file"),
        ("text.db", "copy.db", "cannot be copied: file is not a database"),
        ("text.db", "nowhere/copy.db", "there is no folder"),
        ("postgresql://me:hidden@127.0.0.1:1/dogs", "copy.dump", r"me:\*\*\*@.*pg_dump failed"),
    ],
)
def test_what_cannot_be_copied(tmp_path, source, target, message):
    (tmp_path / "text.db").write_text("some text that is no database\n" * 100)
    where = source if "://" in source else tmp_path / source
    if "://" in source and shutil.which("pg_dump") is None:
        pytest.skip("there is no pg_dump on this machine")
    with pytest.raises(DataError, match=message) as refusal:
        Campaign.backup(where, tmp_path / target)
    assert "hidden" not in str(refusal.value)
    assert [path.name for path in tmp_path.iterdir()] == ["text.db"]


def test_passwords_stay_out_of_commands(tmp_path, monkeypatch):
    said = tmp_path / "said"
    program = tmp_path / "pg_dump"
    program.write_text(
        f'#!/bin/sh\necho "$@" > {said}\n'
        "for each; do case $each in --file=*) copy=${each#--file=};; esac; done\n"
        f': > "$copy"\ncat "${{copy%/*}}/passwords" >> {said}\n'
    )
    program.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    Campaign.backup(r"postgresql://me:a:b\c@lab/dogs", tmp_path / "copy.dump")
    command, password = said.read_text().splitlines()
    assert "--dbname=postgresql://me@lab/dogs?passfile=" in command
    assert r"a:b\c" not in command
    assert password == r"*:*:*:*:a\:b\\c"


def test_without_pg_dump(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DataError, match="pg_dump is missing"):
        Campaign.backup("postgresql://me@lab/dogs", tmp_path / "copy.dump")
