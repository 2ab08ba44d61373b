"""Accounts: an owner may do everything, an assistant looks after raters and submissions.

Participants of challenges have accounts too; they are no organisers.
"""

from __future__ import annotations

import re
import secrets
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from sqlalchemy import Connection, delete, func, insert, select, update

from reelscore.errors import DataError, check_choice
from reelscore.store.database import Database, alone, server_clock
from reelscore.store.values import checked_name, skeleton
from reelscore.web.security import digest, hash_password, is_password
from reelscore.web.store.schema import account, ended
from reelscore.wings import offers

Role = Literal["owner", "assistant", "participant"]
ROLES: tuple[Role, ...] = get_args(Role)
ORGANISERS: tuple[Role, ...] = ("owner", "assistant")
_NAME = re.compile(r"[\w.@+-]{1,60}")


@dataclass(frozen=True)
class Deed:
    """Who changes an account, and when, for the log of the server."""

    actor: str = ""  # the name of whoever does it; empty for the account's own
    time: int | None = None  # in microseconds since 1970; the server's if not given


_OWN = Deed()


@dataclass(frozen=True)
class Account:
    """One organiser or participant."""

    id: int
    name: str
    role: Role
    sessions: int

    @property
    def is_owner(self) -> bool:
        """Whether everything is allowed."""
        return self.role == "owner"

    @property
    def is_organiser(self) -> bool:
        """Whether the organisers' pages are open to them."""
        return self.role in ORGANISERS


_COLUMNS = (account.c.id, account.c.name, account.c.role, account.c.sessions)


def _find(connection: Connection, id: int) -> Account:
    """Look up an account that is to be changed."""
    row = connection.execute(select(*_COLUMNS).filter_by(id=id)).one_or_none()
    if row is None:
        raise DataError("There is no such account; somebody has removed it.")
    return Account(*row)


def add_account(
    database: Database, name: str, password: str, role: str, deed: Deed = _OWN
) -> Account:
    """Make an account; that of an organiser stands in the log."""
    kept = checked_name(name) if _NAME.fullmatch(name) else ""
    if not _NAME.fullmatch(kept):
        raise DataError(
            f"{name[:60]!r} cannot be a name; expected 1 to 60 letters, digits and . @ + - _."
        )
    check_choice("role", role, ROLES)
    password = hash_password(password)
    # nobody's old session may fit a new account, whatever its number
    first = secrets.randbelow(1 << 30)
    with database.writing() as connection:
        alone(connection, account.name)
        _check_new(connection, kept)
        row = connection.execute(
            insert(account)
            .values(name=kept, password=password, role=role, sessions=first)
            .returning(*_COLUMNS)
        ).one()
        if role in ORGANISERS:
            _log(connection, deed, "account", kept, after=role)
        return Account(*row)


def _check_new(connection: Connection, name: str) -> None:
    """Refuse the name of another account, and one that looks like it."""
    wanted = skeleton(name)
    for other in connection.scalars(select(account.c.name)):
        if other == name:
            raise DataError(f"There is an account {name!r} already; choose another name.")
        if skeleton(other) == wanted:
            raise DataError(
                f"The name {name!r} looks like that of another account; choose another."
            )


def account_key(name: str) -> str:
    """Return what spellings of one account's name have in common."""
    return unicodedata.normalize("NFKC", name).strip()


def find_account(database: Database, id: int) -> Account | None:
    """Look an account up by its number."""
    with database.reading() as connection:
        row = connection.execute(select(*_COLUMNS).filter_by(id=id)).one_or_none()
        return None if row is None else Account(*row)


def check_account(database: Database, name: str, password: str) -> Account | None:
    """Return the account with this name and password; None where either is wrong."""
    named, stored = _named(database, name)
    # the password is looked at in any case, so that the time tells nothing
    return named if is_password(password, stored) else None


def find_named(database: Database, name: str) -> Account | None:
    """Look an account up by its name."""
    return _named(database, name)[0]


def _named(database: Database, name: str) -> tuple[Account | None, str | None]:
    """Return an account by its name, and the hash of its password."""
    if not _NAME.fullmatch(name):
        return None, None
    with database.reading() as connection:
        # accounts of earlier versions may have names that would be kept otherwise now
        kept = {name, account_key(name)}
        query = select(account.c.password, *_COLUMNS).where(account.c.name.in_(kept))
        rows = connection.execute(query).all()
        row = max(rows, key=lambda row: bool(row.name == name), default=None)
        return (None, None) if row is None else (Account(*row[1:]), row.password)


def list_accounts(database: Database, roles: Sequence[Role] = ORGANISERS) -> Sequence[Account]:
    """Return the accounts with some roles, by name."""
    with database.reading() as connection:
        wanted = select(*_COLUMNS).where(account.c.role.in_(roles))
        rows = connection.execute(wanted.order_by(account.c.name))
        return [Account(*row) for row in rows]


def account_names(database: Database, ids: Collection[int]) -> dict[int, str]:
    """Return the names of some accounts by their number; those that were removed have none."""
    if not ids:
        return {}
    with database.reading() as connection:
        rows = select(account.c.id, account.c.name).where(account.c.id.in_(ids))
        return {row.id: row.name for row in connection.execute(rows)}


def read_accounts(connection: Connection, ids: Collection[int]) -> dict[int, dict[str, str]]:
    """Return the name and the hash of the password of some accounts by their number."""
    rows = connection.execute(select(account).where(account.c.id.in_(ids)))
    return {row.id: {"name": row.name, "password": row.password} for row in rows}


def restore_accounts(connection: Connection, people: Iterable[Mapping[str, str]]) -> dict[str, int]:
    """Make accounts of participants of what `read_accounts` gave elsewhere.

    An account of the same name and password is the same person's: they have come with another
    challenge before. What else they may do here, an owner decides.
    """
    alone(connection, account.name)
    numbers = {}
    for person in people:
        name, password = person["name"], person["password"]
        own = select(account.c.id).filter_by(name=name, password=password)
        number = connection.scalar(own)
        if number is None:
            if not _NAME.fullmatch(name):
                raise DataError(f"{name[:60]!r} cannot be the name of an account.")
            _check_new(connection, name)
            values = {"role": "participant", "sessions": secrets.randbelow(1 << 30)}
            added = insert(account).values(name=name, password=password, **values)
            number = connection.execute(added.returning(account.c.id)).scalar_one()
        numbers[name] = number
    return numbers


def has_accounts(database: Database) -> bool:
    """Return whether an organiser can log in; participants alone cannot run a server."""
    with database.reading() as connection:
        organisers = select(func.count()).where(account.c.role.in_(ORGANISERS))
        return bool(connection.scalar(organisers))


def set_password(database: Database, id: int, password: str, deed: Deed = _OWN) -> Account:
    """Change a password; whoever was logged in with the old one is no longer."""
    return _change(database, id, deed, password=hash_password(password))


def set_role(database: Database, id: int, role: str, deed: Deed = _OWN) -> Account:
    """Return an account another role; its sessions end."""
    check_choice("role", role, ROLES)
    return _change(database, id, deed, role=role)


def remove_account(database: Database, id: int, deed: Deed = _OWN) -> None:
    """Remove an account; what was done by its name stays in the logs."""
    with database.writing() as connection:
        alone(connection, account.name)
        before = _find(connection, id)
        connection.execute(delete(account).filter_by(id=id))
        _check_owners(connection)
        _log(connection, deed, "account", before.name, before=before.role, after="removed")


def end_session(database: Database, cookie: str, now: int, age: float) -> None:
    """Let a session be good for nothing, and forget those that would have ended by themselves."""
    with database.writing() as connection:
        connection.execute(delete(ended).where(ended.c.ended < now - age * 1e6))
        connection.execute(delete(ended).filter_by(digest=digest(cookie)))  # ended before
        connection.execute(insert(ended).values(digest=digest(cookie), ended=now))


def is_ended(database: Database, cookie: str) -> bool:
    """Return whether somebody has logged out of a session."""
    with database.reading() as connection:
        query = select(ended.c.ended).filter_by(digest=digest(cookie))
        return connection.scalar(query) is not None


def end_sessions(database: Database, id: int) -> None:
    """Log somebody out everywhere."""
    _change(database, id, _OWN)


def _change(database: Database, id: int, deed: Deed, **values: str) -> Account:
    """Change an account, and end its sessions; the log has what is changed, but no password."""
    changes = {**values, "sessions": account.c.sessions + 1}
    with database.writing() as connection:
        alone(connection, account.name)
        before = _find(connection, id)
        changed = update(account).filter_by(id=id).values(changes).returning(*_COLUMNS)
        row = connection.execute(changed).one()
        if "role" in values:
            _check_owners(connection)
            _log(connection, deed, "role", row.name, before=before.role, after=row.role)
        if "password" in values:
            _log(connection, deed, "password", row.name)
        return Account(*row)


def _log(
    connection: Connection, deed: Deed, what: str, name: str, *, before: str = "", after: str = ""
) -> None:
    """Write a change of an account into the logs that wings keep."""
    time = server_clock(connection) if deed.time is None else deed.time
    actor = deed.actor or name
    for log in offers("ACCOUNT_LOG"):
        log(connection, time, what, name, actor=actor, before=before, after=after)


def _check_owners(connection: Connection) -> None:
    """Refuse what leaves nobody who may do everything; the transaction is undone then."""
    if not connection.scalar(select(func.count()).select_from(account).filter_by(role="owner")):
        raise DataError("This is the last owner; make somebody else an owner first.")
