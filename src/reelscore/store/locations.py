"""Where a database is: the path of a SQLite file, or a URL."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from reelscore.errors import DataError

Where = str | os.PathLike[str]


def database_url(where: Where) -> URL:
    """Make a URL of a path or a URL.

    >>> database_url("dogs.db")
    sqlite:///dogs.db
    """
    name = os.fspath(where)
    if "://" not in name:
        return URL.create("sqlite", database=name)
    try:
        url = make_url(name.replace("postgres://", "postgresql://", 1))
    except (ArgumentError, ValueError):
        raise DataError(
            f"{name.partition('://')[0]}://…: not a database URL; expected one such as "
            "postgresql://user:password@host/name."
        ) from None
    backend = url.get_backend_name()
    if backend == "postgresql":
        return url.set(drivername="postgresql+psycopg")
    if backend != "sqlite":
        raise DataError(
            f"{url.render_as_string()}: campaigns are kept in SQLite or PostgreSQL, not {backend}."
        )
    if url.database in (None, "", ":memory:"):
        raise DataError(f"{name}: a campaign is kept in a file; name one.")
    return url


def place(url: URL) -> str:
    """Name a database for messages, without its password.

    >>> place(database_url("postgres://me:secret@lab/dogs"))
    'postgresql://me:***@lab/dogs'
    """
    if url.get_backend_name() == "sqlite":
        return url.database or ""
    return url.set(drivername="postgresql").render_as_string()


def check_file(path: Path, create: bool) -> None:
    """Refuse a SQLite file that cannot be there, or must be and is not."""
    if path.is_dir():
        raise DataError(f"{path}: is a folder; name a file in it.")
    if not create and not path.exists():
        raise DataError(f"{path}: no such file; make a campaign or a challenge there first.")
    if not path.parent.is_dir():
        raise DataError(f"{path}: there is no folder {str(path.parent)!r}; make it first.")


def keep_private(path: Path) -> None:
    """Let nobody but its owner read a SQLite file; a new one is made so, empty.

    SQLite gives the files that it puts beside it (``-wal``, ``-shm``) the same permissions.
    """
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        for suffix in ("", "-wal", "-shm"):
            with suppress(OSError):  # of somebody else, who decides; or not there
                path.with_name(path.name + suffix).chmod(0o600)
    except OSError as error:
        raise DataError(f"{path}: cannot be created there ({error.strerror}).") from None
