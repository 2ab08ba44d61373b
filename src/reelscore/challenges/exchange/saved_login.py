"""The server that a participant has logged in to, and the token, in a file that is theirs alone."""

from __future__ import annotations

import json
import os
import secrets
import stat
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from reelscore.challenges.exchange.remote import Server
from reelscore.errors import DataError

_HERE = ("127.0.0.1", "::1", "localhost")


def login_file() -> Path:
    """Return the file that the token is kept in."""
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "reelscore" / "login.json"


def checked_address(url: str) -> str:
    """Return the address of a server without its last slash.

    >>> checked_address("https://challenge.example/")
    'https://challenge.example'
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query:
        raise DataError(f"{url!r} is no address; expected one such as https://challenge.example.")
    if parts.scheme == "http" and parts.hostname not in _HERE:
        raise DataError(f"{url}: the token would travel unencrypted; use https.")
    return url.rstrip("/")


def keep_login(url: str, token: str) -> Path:
    """Keep a server's address and a token, in a file that nobody else can read."""
    file = login_file()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        aside = file.with_name(f"{file.name}.{secrets.token_hex(4)}")
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "w", encoding="utf-8") as target:  # noqa: PTH123 (a descriptor)
            json.dump({"url": url, "token": token}, target)
        aside.replace(file)
    except OSError as error:
        raise DataError(f"{file}: cannot be written: {error.strerror or error}.") from None
    return file


def known_server(
    url: str | None = None,
    *,
    visitor: bool = False,
    tell: Callable[[str], None] = lambda _: None,
) -> Server:
    """Return the server that somebody has logged in to; REELSCORE_TOKEN goes before the file."""
    file = login_file()
    kept: dict[str, str] = {}
    if file.exists():
        if stat.S_IMODE(file.stat().st_mode) & 0o077:
            raise DataError(f"{file}: others may read the token; run: chmod 600 {file}")
        try:
            kept = {key: str(value) for key, value in json.loads(file.read_text("utf-8")).items()}
        except (ValueError, AttributeError):
            raise DataError(f"{file}: cannot be read; log in again.") from None
    address = url or kept.get("url", "")
    same = bool(address) and address.rstrip("/") == kept.get("url")
    token = os.environ.get("REELSCORE_TOKEN") or (kept.get("token", "") if same else "")
    if visitor and not address:
        raise DataError("Which challenge? Name a server with --server URL, or a database.")
    if not visitor and not token:
        where = address or "URL"
        raise DataError(f"Log in first: reelscore challenge login {where}; or name a database.")
    return Server(checked_address(address), token, tell=tell)
