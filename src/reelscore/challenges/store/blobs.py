"""Files and arrays in the database, each kept once, by the SHA-256 of its content."""

from __future__ import annotations

import hashlib
import zlib
from contextlib import suppress
from typing import Any

from sqlalchemy import Connection, select, update
from sqlalchemy.dialects import postgresql, sqlite

from reelscore.challenges.store.tables import blob
from reelscore.errors import DataError

_FAST = 1  # arrays of scores hardly get smaller by more effort


def blob_digest(content: bytes) -> str:
    """Return the digest that content is kept by."""
    return hashlib.sha256(content).hexdigest()


def put_blob(connection: Connection, content: bytes) -> str:
    """Keep content, unless it is there already."""
    digest = blob_digest(content)
    size = connection.scalar(select(blob.c.size).filter_by(digest=digest))
    if size == len(content):
        return digest
    values = {"size": len(content), "bytes": zlib.compress(content, _FAST)}
    if size is None:
        dialect: Any = sqlite if connection.dialect.name == "sqlite" else postgresql
        added = dialect.insert(blob).values(digest=digest, **values)
        # somebody else may put the same at the same time
        connection.execute(added.on_conflict_do_nothing())
    else:  # an export had left it out
        connection.execute(update(blob).filter_by(digest=digest).values(values))
    return digest


def has_blob(connection: Connection, digest: str) -> bool:
    """Return whether content is there; an export may have left it out."""
    return connection.scalar(select(blob.c.size).filter_by(digest=digest)) not in (None, 0)


def get_blob(connection: Connection, digest: str) -> bytes:
    """Return the content with a digest."""
    row = connection.execute(select(blob.c.bytes).filter_by(digest=digest)).one_or_none()
    content = None
    with suppress(zlib.error):
        content = None if row is None else zlib.decompress(row.bytes)
    if content is None or blob_digest(content) != digest:
        raise DataError(f"The content {digest[:12]} is missing or damaged; restore a backup.")
    return content
