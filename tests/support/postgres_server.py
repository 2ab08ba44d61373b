"""A PostgreSQL server of the tests' own: its own folder, its own socket, gone with the tests."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

_names = count(1)


class MissingServer(Exception):
    """PostgreSQL, or something its start needs, is not there."""


@contextmanager
def postgres_server(*, durable: bool = False) -> Iterator[str]:
    """Run a server and give the URL of its first database.

    Unless it is to be durable, the disk is not waited for: nothing outlives the tests.
    """
    programs = _programs()
    folder = Path(tempfile.mkdtemp(prefix="reelscore-postgres-"))
    prefix = _other_user(folder)
    try:
        options = ["-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync"]
        subprocess.run(
            [*prefix, programs / "initdb", "-D", folder / "data", *options],
            check=True,
            capture_output=True,
            cwd=folder,
        )
        values = ["listen_addresses=", "max_connections=300"]
        values += [] if durable else ["fsync=off", "full_page_writes=off"]
        settings = [word for value in values for word in ("-c", value)]
        with (folder / "log").open("wb") as log:
            server = subprocess.Popen(
                [*prefix, programs / "postgres", "-D", folder / "data", "-k", folder, *settings],
                cwd=folder,
                stdout=log,
                stderr=log,
            )
        try:
            url = f"postgresql://postgres@/postgres?host={folder}"
            _wait(url, server, folder / "log")
            yield url
        finally:
            server.send_signal(signal.SIGQUIT)  # at once: nothing in it is needed again
            server.wait(30)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def new_schema(server: str) -> str:
    """Make an empty schema in the server's first database and give a URL that means it."""
    import psycopg

    name = f"test_{os.getpid()}_{next(_names)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    return f"{server}&options=-csearch_path%3D{name}"


def new_database(server: str) -> str:
    """Make an empty database on the server and give its URL; takes longer than a schema."""
    import psycopg

    name = f"test_{os.getpid()}_{next(_names)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return server.replace("/postgres?", f"/{name}?")


def _programs() -> Path:
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=_version)
    program = shutil.which("postgres") or (str(debian[-1]) if debian else None)
    if program is None:
        raise MissingServer("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    return Path(program).resolve().parent


def _version(program: Path) -> float:
    return float(program.parts[-3])


def _other_user(folder: Path) -> list[str]:
    """Give the command prefix for a server that refuses to run as root."""
    if os.getuid() != 0:
        return []
    try:
        user = pwd.getpwnam("postgres")
    except KeyError:
        raise MissingServer("PostgreSQL does not run as root, and there is no user postgres") from (
            None
        )
    os.chown(folder, user.pw_uid, user.pw_gid)
    ids = [f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
    return ["setpriv", *ids, "--pdeathsig=INT"]


def _wait(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    import psycopg

    for _ in range(300):
        try:
            psycopg.connect(url).close()
            return
        except psycopg.OperationalError:
            if server.poll() is not None:
                break
            time.sleep(0.1)
    raise RuntimeError(f"PostgreSQL did not start:\n{log.read_text()}")
