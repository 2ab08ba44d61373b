"""Everything of a challenge in one file, and back: another database, another server, a backup.

The file is a ZIP archive: tables as lines of JSON, with ids in place of the database's own numbers;
blobs by their digest; linked campaigns; and a manifest with the SHA-256 of every part. Two exports
of the same moment are equal byte by byte, whichever database they come from.

Left out: accounts, passwords, tokens and addresses; and, unless asked for, references and the
campaigns that show references of blind splits.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, insert, select, update

from reelscore import __version__
from reelscore.challenge.store import tables
from reelscore.challenge.store.events import broken_link, chain_head
from reelscore.data.atomic_files import opened_atomically
from reelscore.errors import DataError, UnknownNameError
from reelscore.store.database import Database
from reelscore.store.values import to_iso

FORMAT = 1
_MANIFEST = "manifest.json"
_DATE = (1980, 1, 1, 0, 0, 0)  # of all parts: the manifest alone says when
_LIMIT = 1 << 34  # bytes that an export may unpack to
# In the order in which rows can be made; a row refers to rows of tables before it.
TABLES: tuple[Table, ...] = (
    *(tables.challenge, tables.split, tables.phase, tables.phase_split, tables.team),
    *(tables.member, tables.submission, tables.job, tables.charge, tables.grant, tables.refusal),
    *(tables.result, tables.array, tables.shown, tables.human, tables.event),
)
_ACCOUNTS = ("account",)  # columns with numbers of accounts, which stay where they are
_BLOB = tables.blob.name


@dataclass(frozen=True)
class Exported:
    """What an export holds.

    Attributes:
        challenge: The challenge's id.
        rows: How many rows of each table.
        blobs: How many blobs.
        references: Whether the references are in it.
        campaigns: The linked campaigns that are in it.
        chain: The head of the log's chain.
    """

    challenge: str
    rows: Mapping[str, int]
    blobs: int
    references: bool
    campaigns: Sequence[str]
    chain: str


def export_challenge(
    database: Database,
    id: str,
    path: str | os.PathLike[str],
    *,
    now: int,
    references: bool = False,
) -> Exported:
    """Write everything of a challenge to one file, as it stands at one moment.

    Args:
        database: Where it is kept.
        id: Its id.
        path: The file to make.
        now: The time, in microseconds since 1970.
        references: Whether to include the references, those of blind splits too.

    Raises:
        UnknownNameError: If there is no such challenge.
        DataError: If the file cannot be written.
    """
    with database.reading() as connection:
        known = dict(
            connection.execute(select(tables.challenge.c.id, tables.challenge.c.key)).all()
        )
        if id not in known:
            raise UnknownNameError.of("challenge", id, known)
        parts = dict(_parts(connection, known[id], references))
        chain = chain_head(connection, known[id])
    manifest = {
        "format": FORMAT,
        "challenge": id,
        "exported": to_iso(now),
        "reelscore": __version__,
        "references": references,
        "chain": chain,
        "files": {name: hashlib.sha256(part).hexdigest() for name, part in parts.items()},
    }
    text = json.dumps(manifest, ensure_ascii=False, indent=1).encode() + b"\n"
    with opened_atomically(path, private=True) as file, zipfile.ZipFile(file, "w") as archive:
        for name, part in {_MANIFEST: text, **parts}.items():
            entry = zipfile.ZipInfo(name, _DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o600 << 16
            archive.writestr(entry, part)
    return _exported(manifest, parts)


def _exported(manifest: Mapping[str, Any], parts: Mapping[str, bytes]) -> Exported:
    return Exported(
        manifest["challenge"],
        {table.name: parts[f"tables/{table.name}.jsonl"].count(b"\n") for table in TABLES},
        sum(name.startswith("blobs/") for name in parts),
        manifest["references"],
        [Path(name).stem for name in parts if name.startswith("campaigns/")],
        manifest["chain"],
    )


def _parts(connection: Connection, key: int, references: bool) -> Iterator[tuple[str, bytes]]:
    """Give the parts of an export by name."""
    natural: dict[str, dict[int, str]] = {}
    blobs: dict[str, None] = {}
    secret = _secret_blobs(connection, key) if not references else set()
    for table in TABLES:
        lines = []
        order = [table.c.key] if "key" in table.c else [*table.primary_key]
        query = select(table).where(_scope(table, key)).order_by(*order)
        rows = connection.execute(query).mappings().all()
        own = natural.setdefault(table.name, {})
        if "id" in table.c:  # rows may refer to rows of the same table
            own |= {row["key"]: row["id"] for row in rows}
        for row in rows:
            values = {}
            for column in table.columns:
                value = row[column.name]
                target = _target(column)
                if column.name == "key":
                    continue
                if column.name in _ACCOUNTS:
                    value = None
                elif target == _BLOB and value is not None:
                    blobs[value] = None
                elif target and value is not None:
                    value = natural[target][value]
                values[column.name] = value
            if "key" in table.c:
                own[row["key"]] = _natural_id(table, values)
            lines.append(json.dumps(values, ensure_ascii=False, sort_keys=True) + "\n")
        yield f"tables/{table.name}.jsonl", "".join(lines).encode()
    for digest in sorted(blobs):
        packed = connection.execute(select(tables.blob).filter_by(digest=digest)).one()
        content = zlib.decompress(packed.bytes)
        if digest not in secret and hashlib.sha256(content).hexdigest() == digest:
            yield f"blobs/{digest}", content
    yield from _campaigns(connection, key, references)


def _secret_blobs(connection: Connection, key: int) -> set[str]:
    query = select(tables.split.c.references_blob).where(tables.split.c.challenge == key)
    return set(connection.execute(query).scalars())


def _campaigns(connection: Connection, key: int, references: bool) -> Iterator[tuple[str, bytes]]:
    """Give the linked campaigns; those of blind splits show references to raters."""
    from reelscore.challenge.definition import parse_definition
    from reelscore.human.store.campaigns import all_terms
    from reelscore.human.store.files import export

    text = connection.execute(select(tables.challenge.c.definition).filter_by(key=key)).scalar_one()
    definition = parse_definition(text)
    blind = {
        human.id
        for human in definition.humans
        if definition.split(human.split).visibility == "blind"
    }
    query = (
        select(tables.human.c.id, tables.human.c.campaign)
        .where(_scope(tables.human, key))
        .order_by(tables.human.c.key)
    )
    terms = {each.id: each for each in all_terms(connection)}
    for row in connection.execute(query).all():
        if row.campaign not in terms or (row.id in blind and not references):
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "campaign.jsonl")
            export(connection, terms[row.campaign], path)
            yield f"campaigns/{row.campaign}.jsonl", path.read_bytes()


def _scope(table: Table, key: int) -> ColumnElement[bool]:
    """Say in SQL which rows of a table belong to a challenge."""
    if table is tables.challenge:
        return table.c.key == key
    if "challenge" in table.c:
        return table.c.challenge == key
    column = next(c for c in table.columns if (t := _target(c)) and t != _BLOB)
    target = tables.metadata.tables[_target(column)]
    return column.in_(select(target.c.key).where(_scope(target, key)))


def _target(column: Any) -> str:
    """The table that a column refers to; empty where it refers to none."""
    return next((key.column.table.name for key in column.foreign_keys), "")


def _natural_id(table: Table, values: Mapping[str, Any]) -> str:
    """What rows of other tables call a row: its id, or what it belongs to."""
    if "id" in values:
        return str(values["id"])
    if table is tables.job:
        return f"{values['submission']}/{values['generation']}"
    return ""


def read_export(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Read an export and check every part of it.

    Returns:
        The manifest, and the parts by name.

    Raises:
        DataError: If it is no export, or a part of it is missing, changed or not listed.
    """
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
        manifest = json.loads(parts.pop(_MANIFEST))
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


def import_challenge(database: Database, path: str | os.PathLike[str]) -> Exported:
    """Make a challenge of an export, with the same ids, scores, signatures and log.

    Args:
        database: Where to make it.
        path: The file.

    Raises:
        DataError: If the file is damaged, its log was changed, or the database has the challenge
            already; then nothing is made.
    """
    manifest, parts = read_export(path)
    id = manifest["challenge"]
    with database.reading() as connection:
        taken = connection.execute(select(tables.challenge.c.key).filter_by(id=id)).first()
    if taken is not None:
        raise DataError(f"{database.place}: has a challenge {id!r} already; name another database.")
    with database.writing() as connection:
        _insert_blobs(connection, parts)
        keys: dict[str, dict[str, int]] = {}
        for table in TABLES:
            _insert_rows(connection, table, parts[f"tables/{table.name}.jsonl"], keys)
        own = keys[tables.challenge.name][id]
        if (number := broken_link(connection, own)) is not None:
            raise DataError(f"{os.fspath(path)}: row {number} of the log was changed.")
        if chain_head(connection, own) != manifest["chain"]:
            raise DataError(f"{os.fspath(path)}: the log is not the one that was exported.")
    _restore_campaigns(database, parts)
    return _exported(manifest, parts)


def _restore_campaigns(database: Database, parts: Mapping[str, bytes]) -> None:
    from reelscore.human.store.campaigns import all_terms
    from reelscore.human.store.files import restore

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
        for row in _lines(parts[f"tables/{table.name}.jsonl"])
        for column in table.columns
        if _target(column) == _BLOB and (value := row[column.name]) is not None
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
    connection: Connection, table: Table, part: bytes, keys: dict[str, dict[str, int]]
) -> None:
    own = keys.setdefault(table.name, {})
    later: list[tuple[int, str, str]] = []  # rows that refer to rows of the same table
    for row in _lines(part):
        values, waiting = dict(row), {}
        for column in table.columns:
            target, value = _target(column), values.get(column.name)
            if not target or target == _BLOB or value is None:
                continue
            if target == table.name:
                waiting[column.name] = value
                values[column.name] = None
            else:
                values[column.name] = keys[target][value]
        made = connection.execute(insert(table).values(values))
        if "key" in table.c:
            [key] = made.inserted_primary_key or [0]
            own[_natural_id(table, row)] = key
            later += [(key, name, value) for name, value in waiting.items()]
    for key, name, value in later:
        connection.execute(update(table).where(table.c.key == key).values({name: own[value]}))


def _lines(part: bytes) -> Iterator[dict[str, Any]]:
    for line in io.BytesIO(part):
        yield json.loads(line)
