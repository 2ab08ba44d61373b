"""A challenge on a server, seen from a participant's machine: the other end of ``/api/v1``."""

from __future__ import annotations

import json
import os
import secrets
import socket
import ssl
import stat
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from reelscore.endpoint.http import HttpClient, NoAnswerError, Response, TryAgainError
from reelscore.errors import DataError, EndpointError, RefusedError

Answer = dict[str, Any]  # what a server sends as JSON
_TRIES = 5
_PAUSE = 2.0  # seconds before the second try; each further one waits twice as long
_PATIENCE = 120.0  # seconds for one answer; reading a large file takes a while
_BUSY = (502, 503, 504)
_HERE = ("127.0.0.1", "::1", "localhost")  # no token travels there
_HOPELESS = (socket.gaierror, ssl.SSLError)  # another try would end in the same way


@dataclass(frozen=True)
class Server:
    """A server of challenges.

    >>> Server("https://challenge.example", "secret")
    Server(url='https://challenge.example')
    """

    url: str  # its address, such as ``https://challenge.example``
    # the participant's token; it appears in no message. Empty for a visitor
    token: str = field(repr=False)
    # waits some seconds before another try
    pause: Callable[[float], None] = field(default=time.sleep, repr=False)
    # says that there will be another try
    tell: Callable[[str], None] = field(default=lambda _: None, repr=False)

    def get(self, path: str) -> Answer:
        """Read something below ``/api/v1``."""
        return self._ask(path, None, {})

    def challenges(self) -> list[str]:
        """List the ids of the challenges that the server has."""
        try:
            listed = self.get("/challenges")["challenges"]
        except RefusedError as error:
            if error.reason != "missing":
                raise
            raise _stranger(self.url) from None
        return [str(challenge["id"]) for challenge in listed]

    def submit(
        self, challenge: str, phase: str, file: Path, fields: Mapping[str, str], key: str = ""
    ) -> Answer:
        """Hand a file in; what is sent again by itself is one submission."""
        named = {"Idempotency-Key": key or secrets.token_hex(16)}
        return self._send(challenge, phase, "submissions", file, fields, named)

    def check(self, challenge: str, phase: str, file: Path) -> Answer:
        """Let the server read a file as if it were handed in; nothing is kept or charged."""
        return self._send(challenge, phase, "check", file, {}, {})

    def _send(
        self,
        challenge: str,
        phase: str,
        what: str,
        file: Path,
        fields: Mapping[str, str],
        headers: Mapping[str, str],
    ) -> Answer:
        try:
            content = file.read_bytes()
        except OSError as error:
            raise DataError(f"{file}: cannot be read: {error.strerror or error}.") from None
        boundary = secrets.token_hex(16)
        kind = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
        path = f"/challenges/{quote(challenge)}/phases/{quote(phase)}/{what}"
        body = form_body(boundary, file.name, content, fields)
        return self._ask(path, body, {**kind, **headers})

    def _ask(self, path: str, body: bytes | None, headers: Mapping[str, str]) -> Answer:
        client = HttpClient(
            *(self.url, self.token, _PATIENCE, _TRIES, self.pause),
            seconds=lambda number: _PAUSE * 2 ** (number - 1),
            tell=self.tell,
            hopeless=_HOPELESS,
        )
        try:
            answer, _ = client.ask(
                f"/api/v1{path}", self._read, body, {"Accept": "application/json", **headers}
            )
        except NoAnswerError as error:
            hint = "Is the address right, and does the server run?"
            raise EndpointError(f"{error} {hint}") from None
        return answer

    def _read(self, response: Response) -> Answer:
        """Read an answer, or raise why the server refuses something, and what to do."""
        if response.status in _BUSY:
            raise TryAgainError(f"it is busy (status {response.status})")
        try:
            answer: Answer = json.loads(response.body)
            if response.status < 300:
                return answer
            message, reason = str(answer["message"]), str(answer.get("reason", "unknown"))
        except (ValueError, KeyError, TypeError, AttributeError):
            raise _stranger(self.url) from None
        if response.status == 401:
            message += f" Then run: reelscore challenge login {self.url}"
        raise RefusedError("missing" if response.status == 404 else reason, message)


def _stranger(url: str) -> EndpointError:
    return EndpointError(
        f"{url}: answers, but not as a server of challenges does. Give the address that its pages "
        "have, up to /challenges."
    )


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


# The server that a participant has logged in to, and the token, in a file that is theirs alone


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
