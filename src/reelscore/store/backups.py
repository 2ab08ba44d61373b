"""Copies of a whole database, made while raters work; nobody waits for it."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import tempfile
from contextlib import closing
from datetime import datetime, timezone
from pathlib import Path

from sqlalchemy.engine import URL

from reelscore.data.atomic_files import write_atomically
from reelscore.errors import DataError
from reelscore.store.database import PATIENCE
from reelscore.store.locations import Where, check_file, database_url, place


def backup(where: Where, target: str | os.PathLike[str]) -> Path:
    """Copy a database as it stands at one moment: all campaigns, raters and accounts.

    A target that is a folder gets a file named by the database and the time. A SQLite file becomes
    one that can be used as it is, a PostgreSQL database an archive for ``pg_restore``; only its
    owner may read it.

    Raises:
        DataError: If the database cannot be copied, or the file is there already.
    """
    url = database_url(where)
    is_sqlite = url.get_backend_name() == "sqlite"
    if is_sqlite:
        check_file(Path(url.database or ""), create=False)
    path = Path(target)
    if path.is_dir() or os.fspath(target).endswith("/"):
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        now = datetime.now(timezone.utc)
        name = Path(url.database or "campaigns").stem
        path /= f"{name}-{now:%Y%m%dT%H%M%S}Z.{'db' if is_sqlite else 'dump'}"
    check_file(path, create=True)
    if path.exists():
        raise DataError(f"{path}: exists already; name a new file, or a folder.")
    try:
        with tempfile.TemporaryDirectory(prefix=f".{path.name[:50]}.", dir=path.parent) as aside:
            copy = Path(aside, "copy")
            if is_sqlite:
                _copy_sqlite(url, copy)
            else:
                _dump_postgresql(url, copy)
            copy.chmod(0o600)
            os.link(copy, path)  # unlike a renaming, never replaces a file
    except OSError as error:
        raise DataError(f"{path}: cannot be written: {error.strerror or error}.") from None
    return path


def _copy_sqlite(url: URL, copy: Path) -> None:
    try:
        with (
            closing(sqlite3.connect(url.database or "", timeout=PATIENCE)) as source,
            closing(sqlite3.connect(copy)) as made,
        ):
            source.backup(made)  # all pages in one step: one moment
            made.execute("PRAGMA journal_mode = DELETE")  # one file, complete by itself
            [(said,)] = made.execute("PRAGMA quick_check(1)").fetchall()
    except sqlite3.Error as error:
        raise DataError(f"{place(url)}: cannot be copied: {error}.") from None
    if said != "ok":
        raise DataError(f"{place(url)}: the database is damaged, and so is its copy: {said}.")


def _dump_postgresql(url: URL, copy: Path) -> None:
    server = URL.create(
        "postgresql", url.username, None, url.host, url.port, url.database, url.query
    )
    if url.password:
        # Anybody on the machine can read a command; so the password goes by a private file.
        passwords = copy.with_name("passwords")
        written = re.sub(r"([\\:])", r"\\\1", str(url.password))
        write_atomically(passwords, f"*:*:*:*:{written}\n", private=True)
        server = server.update_query_dict({"passfile": str(passwords)})
    command = ["pg_dump", "--format=custom", "--no-owner", f"--file={copy}"]
    command.append(f"--dbname={server.render_as_string(hide_password=False)}")
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError:
        raise DataError(
            "pg_dump is missing; install PostgreSQL's client programs (Debian: postgresql-client)."
        ) from None
    if done.returncode:
        said = " ".join(done.stderr.decode(errors="replace").split())
        raise DataError(f"{place(url)}: pg_dump failed: {said}")
