"""Tokens: by which programs act for an account; only their digests are kept."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from sqlalchemy import insert, select, update

from reelscore.challenges.challenge import DAY, Challenges, day_of
from reelscore.challenges.store.blobs import blob_digest
from reelscore.challenges.store.events import log
from reelscore.challenges.store.tables import TableRow
from reelscore.challenges.store.tables import token as table
from reelscore.errors import DataError, RefusedError

SCOPES = ("read", "submit", "organise")
_DAYS = 180
_MOST = 20  # tokens that an account may have at a time
_NAME = 60


def make_token(
    challenges: Challenges, account: int, name: str, scopes: Sequence[str], *, actor: str = ""
) -> str:
    """Make a token for an account."""
    unknown = [scope for scope in scopes if scope not in SCOPES]
    if unknown or not scopes:
        raise DataError(f"A token has some of these scopes: {', '.join(SCOPES)}.")
    if len(name) > _NAME:
        raise DataError(f"The name has {len(name)} characters; at most {_NAME}.")
    secret = secrets.token_urlsafe(24)
    if len(list_tokens(challenges, account)) >= _MOST:
        raise DataError(f"There are {_MOST} tokens already; revoke one first.")
    with challenges.writing() as connection:
        now = challenges.now(connection)
        connection.execute(
            insert(table).values(
                account=account,
                digest=blob_digest(secret.encode()),
                name=name,
                scopes=" ".join(scopes),
                created=now,
                expires=now + _DAYS * DAY,
                used="",
                revoked=None,
            )
        )
        log(connection, now, None, "token", str(account), actor=actor, after=" ".join(scopes))
    return secret


def find_token(challenges: Challenges, secret: str) -> TableRow:
    """Return the row of the token that somebody sends; the day of its use is noted."""
    with challenges.reading() as connection:
        now = challenges.now(connection)
        own = select(table).filter_by(digest=blob_digest(secret.encode()))
        row = connection.execute(own).one_or_none()
    if row is None:
        raise RefusedError("unknown", "There is no such token; log in with a new one.")
    if row.revoked is not None:
        raise RefusedError("revoked", "The token was revoked; make a new one on the page Team.")
    if now >= row.expires:
        raise RefusedError("expired", "The token has expired; make a new one on the page Team.")
    if row.used != day_of(now):
        with challenges.database.whole.writing() as connection:
            connection.execute(update(table).filter_by(key=row.key).values(used=day_of(now)))
    return row


def list_tokens(challenges: Challenges, account: int) -> Sequence[TableRow]:
    """Return the rows of an account's tokens that can be used, oldest first."""
    with challenges.reading() as connection:
        now = challenges.now(connection)
        return connection.execute(
            select(table)
            .where(table.c.account == account, table.c.revoked.is_(None), table.c.expires > now)
            .order_by(table.c.key)
        ).all()


def revoke_token(challenges: Challenges, account: int, key: int, *, actor: str = "") -> None:
    """Let a token open nothing any more."""
    with challenges.writing() as connection:
        now = challenges.now(connection)
        own = update(table).where(table.c.key == key, table.c.account == account)
        if not connection.execute(own.values(revoked=now)).rowcount:
            raise RefusedError("unknown", "There is no such token.")
        log(connection, now, None, "token", str(account), actor=actor, after="revoked")
