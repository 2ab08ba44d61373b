"""The log of a challenge: each row is chained to the one before, so changed history is found."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import NamedTuple

from sqlalchemy import Connection, insert, select

from reelscore.challenges.store.tables import challenge as challenge_table
from reelscore.challenges.store.tables import event
from reelscore.errors import DataError
from reelscore.store.database import alone


class LogEvent(NamedTuple):
    """A row of the log."""

    time: int
    actor: str
    what: str
    about: str
    reason: str
    before: str
    after: str
    chain: str


_COLUMNS = [event.c[name] for name in LogEvent._fields]


def link(chain: str, challenge: str, row: Iterable[object]) -> str:
    """Chain a row to those before it.

    >>> link("", "dogs", [1, "ada", "made", "dogs", "", "", ""])[:8]
    '...'
    """
    text = json.dumps([chain, challenge, *row], ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def log(
    connection: Connection,
    time: int,
    challenge: int | None,
    what: str,
    about: str,
    *,
    actor: str = "",
    reason: str = "",
    before: str = "",
    after: str = "",
) -> None:
    """Add a row to the log; call it last in a transaction, since others wait for its end."""
    alone(connection, "challenge_event", str(challenge))
    id = ""
    if challenge is not None:
        id = connection.execute(select(challenge_table.c.id).filter_by(key=challenge)).scalar_one()
    row = (time, actor, what, about, reason, before, after)
    chain = link(chain_head(connection, challenge), id, row)
    values = dict(zip(LogEvent._fields, (*row, chain), strict=True))
    connection.execute(insert(event).values(challenge=challenge, **values))


def log_account(connection: Connection, time: int, what: str, name: str, **said: str) -> None:
    """Add a change of an organiser's account to the log of the server; see `log`."""
    log(connection, time, None, what, name, **said)


def check_reason(reason: str) -> None:
    """Refuse a decision without a reason."""
    if not reason.strip():
        raise DataError("Say why; the reason is kept in the log.")


def chain_head(connection: Connection, challenge: int | None) -> str:
    """Return the chain of a challenge's last row; empty where there is none."""
    last = select(event.c.chain).where(event.c.challenge == challenge)
    return connection.scalar(last.order_by(event.c.key.desc()).limit(1)) or ""


def read_events(connection: Connection, challenge: int | None) -> list[LogEvent]:
    """Return the log of a challenge, oldest first."""
    rows = select(*_COLUMNS).where(event.c.challenge == challenge).order_by(event.c.key)
    return [LogEvent(*row) for row in connection.execute(rows)]


def broken_link(connection: Connection, challenge: int | None) -> int | None:
    """Find the first row whose chain is not right: its number from 1; ``None`` where all are."""
    id = ""
    if challenge is not None:
        id = connection.execute(select(challenge_table.c.id).filter_by(key=challenge)).scalar_one()
    chain = ""
    for number, row in enumerate(read_events(connection, challenge), start=1):
        chain = link(chain, id, row[:-1])
        if chain != row.chain:
            return number
    return None
