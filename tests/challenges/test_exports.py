"""Exports of challenges: complete, checked, and the same after a round trip."""

from __future__ import annotations

import hashlib
import json
import zipfile

import pytest
from sqlalchemy import select, update

from reelscore.challenges.challenge import Challenges
from reelscore.challenges.exchange.exports import ACCOUNTS, TOKENS
from reelscore.challenges.exchange.imports import import_challenge, read_export
from reelscore.challenges.people.teams import team_of
from reelscore.challenges.people.tokens import find_token, make_token
from reelscore.challenges.store import tables
from reelscore.challenges.store.blobs import get_blob
from reelscore.challenges.store.events import log
from reelscore.challenges.store.tables import open_challenges
from reelscore.errors import DataError, UnknownNameError
from reelscore.web.store.accounts import (
    add_account,
    check_account,
    read_accounts,
    restore_accounts,
)
from reelscore.web.store.schema import open_database
from support.challenge_data import export, open_view
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
    export(database, "clips", first, now=REVEALS, **options)
    other = open_challenges(where or tmp_path / "other.db", create=True)
    import_challenge(other, first)
    return first, other


@pytest.mark.parametrize("references", [False, True])
def test_a_round_trip_is_equal_byte_by_byte(database, tmp_path, where, references):
    first, other = moved(database, tmp_path, where, references=references)
    second = tmp_path / "second.zip"
    with other:
        export(other, "clips", second, now=REVEALS, references=references)
        assert first.read_bytes() == second.read_bytes()
        before = open_view(database, "clips", now=REVEALS).board("main")
        after = open_view(other, "clips", now=REVEALS).board("main")
    assert before == after


def test_two_exports_differ_in_their_time_alone(database, tmp_path):
    paths = [tmp_path / "one.zip", tmp_path / "two.zip"]
    for path, now in zip(paths, (REVEALS, REVEALS + 1_000_000), strict=True):
        export(database, "clips", path, now=now)
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
    export(database, "clips", whole, now=REVEALS, references=True)
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
    export(database, "clips", path, now=REVEALS)
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
    export(database, "clips", path, now=REVEALS)
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
        export(database, "none", tmp_path / "n.zip", now=0)


def with_member(database, contact, account=7):
    with database.writing() as connection:
        team = connection.execute(select(tables.team)).first()
        connection.execute(
            tables.member.insert().values(
                challenge=team.challenge,
                team=team.key,
                account=account,
                role="captain",
                state="active",
                invitation="",
                since=OPENS,
                contact=contact,
            )
        )


def test_addresses_are_left_out_unless_asked_for(database, tmp_path):
    with_member(database, "pat@lab.example")
    for addresses in (False, True):
        path = tmp_path / f"{addresses}.zip"
        export(database, "clips", path, now=REVEALS, addresses=addresses)
        manifest, parts = read_export(path)
        rows = [json.loads(row) for row in parts["tables/challenge_member.jsonl"].splitlines()]
        assert [row["contact"] for row in rows] == ["pat@lab.example" if addresses else ""]
        assert manifest["addresses"] is addresses


def with_accounts(folder):
    """The challenge on a server that has people: a captain with a token, and somebody else."""
    made_with(folder).database.close()
    database = open_database(folder / "c.db")
    add_account(database, "eve", "correct horse", "participant")  # takes no part
    captain = add_account(database, "ada", "battery staple", "owner").id
    with_member(database, "", captain)
    token = make_token(Challenges(database, lambda _: OPENS), captain, "laptop", ["submit"])
    return database, token


def test_accounts_come_along_if_asked_for(tmp_path):
    (tmp_path / "old").mkdir()
    database, token = with_accounts(tmp_path / "old")
    with database:
        first, bare = tmp_path / "first.zip", tmp_path / "bare.zip"
        export(database, "clips", bare, now=REVEALS)
        made = export(database, "clips", first, now=REVEALS, accounts=read_accounts)
        assert made.accounts
    manifest, parts = read_export(bare)
    assert manifest["accounts"] is False
    assert not [name for name, part in parts.items() if b"argon2" in part or b'"ada"' in part]
    assert not {ACCOUNTS, TOKENS} & set(parts)
    _, parts = read_export(first)
    [person] = map(json.loads, parts[ACCOUNTS].splitlines())
    assert person.keys() == {"name", "password"}
    assert person["password"].startswith("$argon2")
    assert not [name for name, part in parts.items() if token.encode() in part]
    with open_database(tmp_path / "new.db") as other:
        add_account(other, "pat", "correct horse", "owner")
        import_challenge(other, first, accounts=restore_accounts)
        challenges = Challenges(other, lambda _: OPENS)
        ada = check_account(other, "ada", "battery staple")
        assert ada.role == "participant"  # what they may do here is decided here
        challenge = challenges.find()
        assert team_of(challenge, ada.id).name == "strong"
        second = tmp_path / "second.zip"
        export(other, "clips", second, now=REVEALS, accounts=read_accounts)
        assert find_token(challenges, token).account == ada.id
    assert first.read_bytes() == second.read_bytes()
    with open_challenges(tmp_path / "third.db", create=True) as third:
        import_challenge(third, first)  # without the pages, nobody can have an account
        with third.reading() as connection:
            assert connection.scalars(select(tables.member.c.account)).all() == [None]


@pytest.mark.parametrize("taken", ["ada", "Ada"])
def test_nobody_gets_the_account_of_another_server(tmp_path, taken):
    (tmp_path / "old").mkdir()
    database, _ = with_accounts(tmp_path / "old")
    path = tmp_path / "people.zip"
    with database:
        export(database, "clips", path, now=REVEALS, accounts=read_accounts)
    with open_database(tmp_path / "new.db") as other:
        add_account(other, taken, "another password", "participant")
        with pytest.raises(DataError, match=r"already|looks like"):
            import_challenge(other, path, accounts=restore_accounts)
        with other.reading() as connection:
            assert connection.scalars(select(tables.challenge.c.id)).all() == []


def test_items_of_blind_splits_can_be_left_out(database, tmp_path):
    """Resamples go with them: their weights are known, so that they give the items away."""
    path = tmp_path / "reduced.zip"
    export(database, "clips", path, now=REVEALS, blind_items=False)
    _, parts = read_export(path)
    assert parts["tables/challenge_array.jsonl"] == b""
    assert parts["tables/challenge_result.jsonl"].count(b"\n") > 10
    with database.reading() as connection:
        arrays = set(connection.scalars(select(tables.array.c.blob)))
    assert len(arrays) > 10
    assert not {f"blobs/{digest}" for digest in arrays} & set(parts)
    with open_challenges(tmp_path / "other.db", create=True) as other:
        import_challenge(other, path)
        board = open_view(other, "clips", now=REVEALS).board("main")
    before = open_view(database, "clips", now=REVEALS).board("main")
    assert [row.team for row in board.rows] == [row.team for row in before.rows]


def test_an_export_of_the_version_before_is_read(database, tmp_path):
    """It has no invitations to phases, and members without addresses."""
    with_member(database, "")
    path, new = tmp_path / "new.zip", "tables/challenge_phase_team.jsonl"
    export(database, "clips", path, now=REVEALS)
    members = "tables/challenge_member.jsonl"

    def older(name, content):
        if name == new:
            return None
        if name == members:
            return b"".join(map(without_contact, content.splitlines(keepends=True)))
        if name == "manifest.json":
            manifest = json.loads(content)
            del manifest["files"][new], manifest["addresses"], manifest["blind_items"]
            old = zipfile.ZipFile(path).read(members)
            own = b"".join(map(without_contact, old.splitlines(keepends=True)))
            manifest["files"][members] = hashlib.sha256(own).hexdigest()
            return json.dumps(manifest)
        return content

    def without_contact(line):
        row = json.loads(line)
        del row["contact"]
        return (json.dumps(row, sort_keys=True) + "\n").encode()

    with open_challenges(tmp_path / "other.db", create=True) as other:
        import_challenge(other, rewritten(path, tmp_path / "old.zip", older))
        with other.reading() as connection:
            assert connection.execute(select(tables.member.c.contact)).scalars().all() == [""]
