"""Claims: work that one server at a time does, of all that share a database.

A claim ends some minutes after it was last taken, so that a server that dies holds none for ever.
"""

from __future__ import annotations

import secrets

from sqlalchemy import delete, insert, select

from reelscore.store.database import Database, alone, server_clock
from reelscore.web.store.schema import claim

LEASE = 300_000_000  # microseconds; a mail server may take half of it for one letter


class Claim:
    """What one server holds, or would like to hold."""

    def __init__(self, database: Database, work: str) -> None:
        self._database, self._work, self._holder = database, work, secrets.token_hex(16)

    def take(self) -> bool:
        """Take the work, or go on holding it; return False where another server holds it."""
        with self._database.writing() as connection:
            alone(connection, claim.name, self._work)
            now = server_clock(connection)
            held = select(claim.c.holder).filter_by(work=self._work).where(claim.c.until > now)
            if connection.scalar(held) not in (None, self._holder):
                return False
            connection.execute(delete(claim).filter_by(work=self._work))
            values = {"work": self._work, "holder": self._holder, "until": now + LEASE}
            connection.execute(insert(claim).values(values))
            return True

    def release(self) -> None:
        """Let another server have the work."""
        with self._database.writing() as connection:
            connection.execute(delete(claim).filter_by(work=self._work, holder=self._holder))
