"""A challenge made of an export: every part checked, the same ids, scores, signatures and log."""

from __future__ import annotations

import hashlib
import io
import json
import os
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Table, insert, select, update

from reelscore.challenges.exchange.exports import (
    ACCOUNT,
    ACCOUNTS,
    BLOBS,
    FORMAT,
    MANIFEST,
    TABLES,
    TOKENS,
    Exported,
    natural_id,
    target_of,
)
from reelscore.challenges.store import tables
from reelscore.challenges.store.events import broken_link, chain_head
from reelscore.errors import DataError
from reelscore.store.database import Database

_LIMIT = 1 << 34  # bytes that an export may unpack to
# makes accounts of names and hashes of passwords, and gives their numbers by name
AccountWriter = Callable[[Connection, Iterable[Mapping[str, str]]], Mapping[str, int]]


def read_export(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Read an export and check every part of it."""
    name = os.fspath(path)
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > _LIMIT:
                raise DataError(f"{name}: unpacks to more than {_LIMIT >> 30} GB.")
            parts = {entry: archive.read(entry) for entry in archive.namelist()}
    except FileNotFoundError:
        raise DataError(f"{name}: no such file.") from None
    except (zipfile.BadZipFile, zlib.error, OSError) as error:
        raise DataError(f"{name}: not an export of a challenge: {error}.") from None
    try:
        manifest = json.loads(parts.pop(MANIFEST))
        files, form = manifest["files"], manifest["format"]
    except (KeyError, ValueError, TypeError):
        raise DataError(f"{name}: not an export of a challenge: it has no manifest.") from None
    if form != FORMAT:
        raise DataError(
            f"{name}: has format {form}; this version reads {FORMAT}. Upgrade reelscore."
        )
    wrong = [
        part
        for part in sorted({*files, *parts})
        if part not in parts or hashlib.sha256(parts[part]).hexdigest() != files.get(part)
    ]
    if wrong:
        raise DataError(f"{name}: {wrong[0]} is missing, changed or not listed; export again.")
    return manifest, parts


def import_challenge(
    database: Database,
    path: str | os.PathLike[str],
    *,
    accounts: AccountWriter | None = None,
) -> Exported:
    """Make a challenge of an export, with the same ids, scores, signatures and log."""
    manifest, parts = read_export(path)
    id = manifest["challenge"]
    with database.reading() as connection:
        taken = connection.execute(select(tables.challenge.c.key).filter_by(id=id)).first()
    if taken is not None:
        raise DataError(f"{database.place}: has a challenge {id!r} already; name another database.")
    with database.writing() as connection:
        _insert_blobs(connection, parts)
        people = accounts(connection, _lines(parts.get(ACCOUNTS, b""))) if accounts else {}
        keys: dict[str, dict[str, int]] = {}
        for table in TABLES:
            _insert_rows(connection, table, rows_of(parts, table), keys, people)
        _insert_tokens(connection, parts.get(TOKENS, b""), people)
        own = keys[tables.challenge.name][id]
        if (number := broken_link(connection, own)) is not None:
            raise DataError(f"{os.fspath(path)}: row {number} of the log was changed.")
        if chain_head(connection, own) != manifest["chain"]:
            raise DataError(f"{os.fspath(path)}: the log is not the one that was exported.")
    _restore_campaigns(database, parts)
    counts = {name: part.count(b"\n") for name, part in parts.items()}
    return Exported.of(manifest, counts)


def rows_of(parts: Mapping[str, bytes], table: Table) -> bytes:
    """Return the rows of a table; an export of an earlier version may have none of it."""
    return parts.get(f"tables/{table.name}.jsonl", b"")


def _restore_campaigns(database: Database, parts: Mapping[str, bytes]) -> None:
    from reelscore.campaigns.store.campaigns import all_terms
    from reelscore.campaigns.store.files import restore

    with database.reading() as connection:
        there = {terms.id for terms in all_terms(connection)}
    for name, part in parts.items():
        if name.startswith("campaigns/") and Path(name).stem not in there:
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder, "campaign.jsonl")
                file.write_bytes(part)
                restore(database, file, None)


def _insert_blobs(connection: Connection, parts: Mapping[str, bytes]) -> None:
    """Keep the blobs; those that were left out get a row without content."""
    blob = tables.blob
    needed = {
        value
        for table in TABLES
        for row in _lines(rows_of(parts, table))
        for column in table.columns
        if target_of(column) == BLOBS and (value := row[column.name]) is not None
    }
    there = set(
        connection.execute(select(blob.c.digest).where(blob.c.digest.in_(needed))).scalars()
    )
    for digest in sorted(needed - there):
        content = parts.get(f"blobs/{digest}", b"")
        connection.execute(
            insert(blob).values(digest=digest, size=len(content), bytes=zlib.compress(content, 1))
        )


def _insert_rows(
    connection: Connection,
    table: Table,
    part: bytes,
    keys: dict[str, dict[str, int]],
    people: Mapping[str, int],
) -> None:
    own = keys.setdefault(table.name, {})
    later: list[tuple[int, str, str]] = []  # rows that refer to rows of the same table
    for row in _lines(part):
        values, waiting = dict(row), {}
        if ACCOUNT in values:
            values[ACCOUNT] = people.get(values[ACCOUNT])
        for column in table.columns:
            target, value = target_of(column), values.get(column.name)
            if not target or target == BLOBS or value is None:
                continue
            if target == table.name:
                waiting[column.name] = value
                values[column.name] = None
            else:
                values[column.name] = keys[target][value]
        made = connection.execute(insert(table).values(values))
        if "key" in table.c:
            [key] = made.inserted_primary_key or [0]
            own[natural_id(table, row)] = key
            later += [(key, name, value) for name, value in waiting.items()]
    for key, name, value in later:
        connection.execute(update(table).where(table.c.key == key).values({name: own[value]}))


def _insert_tokens(connection: Connection, part: bytes, people: Mapping[str, int]) -> None:
    """Let tokens open here what they opened before; other challenges may have brought them."""
    token = tables.token
    for row in _lines(part):
        known = select(token.c.key).filter_by(digest=row["digest"])
        if row[ACCOUNT] in people and connection.execute(known).first() is None:
            connection.execute(insert(token).values({**row, ACCOUNT: people[row[ACCOUNT]]}))


def _lines(part: bytes) -> Iterator[dict[str, Any]]:
    for line in io.BytesIO(part):
        yield json.loads(line)
