"""Files and arrays in the database, each kept once, by the SHA-256 of its content."""

from __future__ import annotations

import hashlib
import zlib
from typing import Any

from sqlalchemy import Connection, select
from sqlalchemy.dialects import postgresql, sqlite

from reelscore.challenge.store.tables import blob
from reelscore.errors import DataError

_FAST = 1  # arrays of scores hardly get smaller by more effort


def put_blob(connection: Connection, content: bytes) -> str:
    """Keep content, unless it is there already.

    Returns:
        Its digest.

    >>> from tempfile import TemporaryDirectory
    >>> from reelscore.challenge.store.tables import open_challenges
    >>> with TemporaryDirectory() as folder, open_challenges(f"{folder}/c.db", create=True) as made:
    ...     with made.writing() as connection:
    ...         digest = put_blob(connection, b"captions")
    ...         get_blob(connection, digest)
    b'captions'
    """
    digest = hashlib.sha256(content).hexdigest()
    if connection.scalar(select(blob.c.digest).filter_by(digest=digest)) is None:
        dialect: Any = sqlite if connection.dialect.name == "sqlite" else postgresql
        values = {"digest": digest, "size": len(content), "bytes": zlib.compress(content, _FAST)}
        # somebody else may put the same at the same time
        connection.execute(dialect.insert(blob).values(values).on_conflict_do_nothing())
    return digest


def get_blob(connection: Connection, digest: str) -> bytes:
    """Give the content with a digest.

    Raises:
        DataError: If there is none, or it has changed.
    """
    row = connection.execute(select(blob.c.bytes).filter_by(digest=digest)).one_or_none()
    content = None if row is None else zlib.decompress(row.bytes)
    if content is None or hashlib.sha256(content).hexdigest() != digest:
        raise DataError(f"The content {digest[:12]} is missing or damaged; restore a backup.")
    return content
