"""Everything of a challenge in one file, and back: another database, another server, a backup.

The file is a ZIP archive: tables as lines of JSON, with ids in place of the database's own numbers;
blobs by their digest; linked campaigns; and a manifest with the SHA-256 of every part. Two exports
of the same moment are equal byte by byte, whichever database they come from.

Left out, unless asked for: accounts with the hashes of their passwords and tokens, contact
addresses, references, and the campaigns that show references of blind splits. What a server sends
over HTTP has neither accounts nor references, nor scores of single items of blind splits, nor what
they could be computed from.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, Select, Table, select

from reelscore import __version__
from reelscore.challenges.challenge import Challenge
from reelscore.challenges.store import tables
from reelscore.challenges.store.events import chain_head, log
from reelscore.data.atomic_files import opened_atomically
from reelscore.store.values import to_iso

FORMAT = 1
MANIFEST = "manifest.json"
_DATE = (1980, 1, 1, 0, 0, 0)  # of all parts: the manifest alone says when
# In the order in which rows can be made; a row refers to rows of tables before it.
TABLES: tuple[Table, ...] = (
    *(tables.challenge, tables.split, tables.phase, tables.phase_split, tables.team),
    *(tables.phase_team, tables.member, tables.submission, tables.job, tables.charge),
    *(tables.grant, tables.refusal),
    *(tables.result, tables.array, tables.shown, tables.human, tables.event),
)
ACCOUNT = "account"  # columns with numbers of accounts, which stay where they are
ACCOUNTS, TOKENS = "accounts.jsonl", "tokens.jsonl"
# gives name and hash of the password of some accounts by their numbers; the pages have them
AccountReader = Callable[[Connection, Collection[int]], Mapping[int, Mapping[str, str]]]
BLOBS = tables.blob.name


@dataclass(frozen=True)
class Exported:
    """What an export holds."""

    challenge: str  # the challenge's id
    rows: Mapping[str, int]  # how many rows of each table
    blobs: int  # how many blobs
    references: bool  # whether the references are in it
    accounts: bool  # whether the accounts of participants are in it
    campaigns: Sequence[str]  # the linked campaigns that are in it
    chain: str  # the head of the log's chain

    @classmethod
    def of(cls, manifest: Mapping[str, Any], lines: Mapping[str, int]) -> Exported:
        """Return what an export holds, by its manifest and the number of lines of each part."""
        return cls(
            manifest["challenge"],
            {table.name: lines.get(f"tables/{table.name}.jsonl", 0) for table in TABLES},
            sum(name.startswith("blobs/") for name in lines),
            manifest["references"],
            manifest.get("accounts", False),
            [Path(name).stem for name in lines if name.startswith("campaigns/")],
            manifest["chain"],
        )


@dataclass(frozen=True)
class Contents:
    """What goes into an export beside everything else."""

    references: bool = False  # the references, those of blind splits too
    addresses: bool = False  # the contact addresses of members
    # scores of single items of blind splits, and the resamples, from which they can be computed
    blind_items: bool = True
    # the accounts of participants, by what reads them; ``None`` leaves them out
    accounts: AccountReader | None = None


def export_challenge(
    challenge: Challenge,
    path: str | os.PathLike[str],
    contents: Contents | None = None,
    *,
    now: int | None = None,
) -> Exported:
    """Write everything of a challenge to one file, as it stands at one moment."""
    contents = contents or Contents()
    with challenge.reading() as connection:
        manifest: dict[str, Any] = {
            "format": FORMAT,
            "challenge": challenge.id,
            "exported": to_iso(challenge.now(connection) if now is None else now),
            "reelscore": __version__,
            "references": contents.references,
            "addresses": contents.addresses,
            "blind_items": contents.blind_items,
            "accounts": contents.accounts is not None,
            "chain": chain_head(connection, challenge.key),
            "files": {},
        }
        lines = {}
        with opened_atomically(path, private=True) as file, zipfile.ZipFile(file, "w") as archive:
            for name, part in _parts(connection, challenge.key, contents):
                _put(archive, name, part)
                manifest["files"][name] = hashlib.sha256(part).hexdigest()
                lines[name] = part.count(b"\n")
            text = json.dumps(manifest, ensure_ascii=False, indent=1) + "\n"
            _put(archive, MANIFEST, text.encode())
    return Exported.of(manifest, lines)


def note_download(challenge: Challenge, what: str, *, actor: str, reason: str) -> None:
    """Write into the log that somebody has taken an ``export`` or an ``archive`` along."""
    with challenge.writing() as connection:
        now = challenge.now(connection)
        log(connection, now, challenge.key, what, challenge.id, actor=actor, reason=reason)


def _put(archive: zipfile.ZipFile, name: str, part: bytes) -> None:
    entry = zipfile.ZipInfo(name, _DATE)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o600 << 16
    archive.writestr(entry, part)


def _parts(connection: Connection, key: int, contents: Contents) -> Iterator[tuple[str, bytes]]:
    """Yield the parts of an export by name."""
    natural: dict[str, dict[int, str]] = {}
    blobs: dict[str, None] = {}
    secret = _secret_blobs(connection, key) if not contents.references else set()
    people = _people(connection, key, contents.accounts) if contents.accounts else {}
    for table in TABLES:
        exported = []
        order = [table.c.key] if "key" in table.c else [*table.primary_key]
        query = select(table).where(_scope(table, key)).order_by(*order)
        if table is tables.array and not contents.blind_items:
            query = query.where(table.c.split.in_(_public_splits(key)))
        rows = connection.execute(query).mappings().all()
        own = natural.setdefault(table.name, {})
        if "id" in table.c:  # rows may refer to rows of the same table
            own |= {row["key"]: row["id"] for row in rows}
        for row in rows:
            values = {}
            for column in table.columns:
                value = row[column.name]
                target = target_of(column)
                if column.name == "key":
                    continue
                if column.name == ACCOUNT:
                    value = people[value]["name"] if value in people else None
                elif column is tables.member.c.contact and not contents.addresses:
                    value = ""
                elif target == BLOBS and value is not None:
                    blobs[value] = None
                elif target and value is not None:
                    value = natural[target][value]
                values[column.name] = value
            if "key" in table.c:
                own[row["key"]] = natural_id(table, values)
            exported.append(values)
        yield f"tables/{table.name}.jsonl", _lines(exported)
    for digest in sorted(blobs):
        packed = connection.execute(select(tables.blob).filter_by(digest=digest)).one()
        content = zlib.decompress(packed.bytes)
        if digest not in secret and hashlib.sha256(content).hexdigest() == digest:
            yield f"blobs/{digest}", content
    yield from _campaigns(connection, key, contents.references)
    if contents.accounts:
        named = sorted(people.values(), key=lambda person: person["name"])
        yield ACCOUNTS, _lines(named)
        yield TOKENS, _lines(_tokens(connection, people))


def _people(
    connection: Connection, key: int, read: AccountReader
) -> Mapping[int, Mapping[str, str]]:
    """Return the accounts that take part in a challenge, by their numbers."""
    numbers = {
        number
        for table in TABLES
        if ACCOUNT in table.c
        for number in connection.scalars(select(table.c[ACCOUNT]).where(_scope(table, key)))
    }
    return read(connection, numbers - {None})


def _tokens(
    connection: Connection, people: Mapping[int, Mapping[str, str]]
) -> Iterator[dict[str, object]]:
    """Yield the tokens of accounts that were not revoked: what is kept of them are digests."""
    token = tables.token
    own = select(token).where(token.c.account.in_(people), token.c.revoked.is_(None))
    rows = connection.execute(own.order_by(token.c.created, token.c.digest)).mappings()
    for row in rows:
        values = {name: value for name, value in row.items() if name != "key"}
        yield {**values, ACCOUNT: people[row[ACCOUNT]]["name"]}


def _lines(rows: Iterable[Mapping[str, object]]) -> bytes:
    lines = (json.dumps(dict(row), ensure_ascii=False, sort_keys=True) + "\n" for row in rows)
    return "".join(lines).encode()


def _public_splits(key: int) -> Select[tuple[int]]:
    split = tables.split
    return select(split.c.key).where(split.c.challenge == key, split.c.visibility == "public")


def _secret_blobs(connection: Connection, key: int) -> set[str]:
    query = select(tables.split.c.references_blob).where(tables.split.c.challenge == key)
    return set(connection.execute(query).scalars())


def _campaigns(connection: Connection, key: int, references: bool) -> Iterator[tuple[str, bytes]]:
    """Yield the linked campaigns; those of blind splits show references to raters."""
    from reelscore.campaigns.store.campaigns import all_terms
    from reelscore.campaigns.store.files import export
    from reelscore.challenges.definition.reader import parse_definition

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
    """Return in SQL which rows of a table belong to a challenge."""
    if table is tables.challenge:
        return table.c.key == key
    if "challenge" in table.c:
        return table.c.challenge == key
    column = next(c for c in table.columns if (t := target_of(c)) and t != BLOBS)
    target = tables.metadata.tables[target_of(column)]
    return column.in_(select(target.c.key).where(_scope(target, key)))


def target_of(column: Column[object]) -> str:
    """Return the table that a column refers to; empty where it refers to none."""
    return next((key.column.table.name for key in column.foreign_keys), "")


def natural_id(table: Table, values: Mapping[str, object]) -> str:
    """Return what rows of other tables call a row: its id, or what it belongs to."""
    if "id" in values:
        return str(values["id"])
    if table is tables.job:
        return f"{values['submission']}/{values['generation']}"
    return ""
