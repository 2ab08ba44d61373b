"""A challenge on a server, seen from a participant's machine: the other end of ``/api/v1``."""

from __future__ import annotations

import http.client
import json
import os
import secrets
import stat
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from reelscore._version import __version__
from reelscore.errors import DataError, EndpointError, RefusedError

_TRIES = 5
_PATIENCE = 120.0  # seconds for one answer; reading a large file takes a while
_BUSY = (502, 503, 504)
_HERE = ("127.0.0.1", "::1", "localhost")


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Send the token nowhere else."""

    def redirect_request(self, *arguments: Any) -> None:
        return None


@dataclass(frozen=True)
class Server:
    """A server of challenges.

    Attributes:
        url: Its address, such as ``https://challenge.example``.
        token: The participant's token; it appears in no message.
        pause: Waits some seconds before another try.

    >>> Server("https://challenge.example", "secret")
    Server(url='https://challenge.example')
    """

    url: str
    token: str = field(repr=False)
    pause: Callable[[float], None] = field(default=time.sleep, repr=False)

    def get(self, path: str) -> Any:
        """Read something below ``/api/v1``.

        Raises:
            RefusedError: If the server refuses.
            EndpointError: If it does not answer.
        """
        return self._ask(path, None, {})

    def submit(
        self, challenge: str, phase: str, file: Path, fields: Mapping[str, str], key: str = ""
    ) -> Any:
        """Hand a file in; what is sent again by itself is one submission.

        Args:
            challenge: The challenge's id.
            phase: The phase's id.
            file: The file of captions.
            fields: What is said about it.
            key: The same key is the same submission; a new one by default.

        Raises:
            DataError: If the file cannot be read.
            RefusedError: If the server refuses it; the message names what is wrong.
            EndpointError: If it does not answer.
        """
        try:
            content = file.read_bytes()
        except OSError as error:
            raise DataError(f"{file}: cannot be read: {error.strerror or error}.") from None
        boundary = secrets.token_hex(16)
        headers = {
            "Content-Type": f"multipart/form-data; boundary={boundary}",
            "Idempotency-Key": key or secrets.token_hex(16),
        }
        path = f"/challenges/{quote(challenge)}/phases/{quote(phase)}/submissions"
        return self._ask(path, form_body(boundary, file.name, content, fields), headers)

    def _ask(self, path: str, body: bytes | None, headers: Mapping[str, str]) -> Any:
        common = {
            "Authorization": f"Bearer {self.token}",
            "Accept": "application/json",
            "User-Agent": f"reelscore/{__version__}",
        }
        request = urllib.request.Request(f"{self.url}/api/v1{path}", body, {**common, **headers})
        opener = urllib.request.build_opener(_NoRedirects)
        fault = ""
        for number in range(_TRIES):
            if number:
                self.pause(2.0**number)
            try:
                with opener.open(request, timeout=_PATIENCE) as response:
                    return json.loads(response.read())
            except urllib.error.HTTPError as error:
                content = error.read()
                if error.code not in _BUSY:
                    raise _refusal(self.url, error.code, content) from None
                fault = f"it is busy (status {error.code})"
            except (OSError, http.client.HTTPException, ValueError) as error:
                reason = getattr(error, "reason", error)
                fault = str(getattr(reason, "strerror", None) or reason or type(error).__name__)
        raise EndpointError(f"{self.url}: no answer after {_TRIES} tries: {fault}.")


def form_body(boundary: str, name: str, content: bytes, fields: Mapping[str, str]) -> bytes:
    r"""Write a form with a file as browsers do.

    >>> form_body("x", 'a"b.json', b"{}", {"method": "ours"}).count(b"--x")
    3
    """
    safe = "".join("_" if char in '"\\\r\n' else char for char in name)
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{value}\r\n'
        for field, value in fields.items()
    ]
    head = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{safe}"\r\n'
        "Content-Type: application/octet-stream\r\n\r\n"
    )
    return "".join([*parts, head]).encode() + content + f"\r\n--{boundary}--\r\n".encode()


def _refusal(url: str, status: int, content: bytes) -> RefusedError:
    try:
        answer = json.loads(content)
        message = str(answer["message"])
    except (ValueError, KeyError, TypeError):
        return RefusedError("unknown", f"{url}: answers with status {status}, not as expected.")
    return RefusedError(str(answer.get("reason", "unknown")), message)


# Where the token is kept


def login_file() -> Path:
    """Give the file that the token is kept in."""
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "reelscore" / "login.json"


def checked_address(url: str) -> str:
    """Give the address of a server without its last slash.

    Raises:
        DataError: If it is none, or a token would travel to another machine unencrypted.

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


def known_server(url: str | None = None) -> Server:
    """Give the server that somebody has logged in to; REELSCORE_TOKEN goes before the file.

    Args:
        url: Its address; that of the file by default.

    Raises:
        DataError: If nobody has logged in, or others may read the file.
    """
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
    if not address or not token:
        raise DataError("Log in first: reelscore challenge login URL; or name a --database.")
    return Server(checked_address(address), token)
