"""One HTTP client for all servers: requests are sent again where that may help.

A redirect is an answer like any other and is not followed, so that a key goes to no other host.
"""

from __future__ import annotations

import email.utils
import http.client
import random
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.message import Message
from typing import Any, NamedTuple, TypeVar

from reelscore._version import __version__
from reelscore.errors import DataError, EndpointError

_LONGEST_PAUSE = 60.0  # seconds; a server may ask for more
_LONGEST_TIMEOUT = 604_800.0  # a week, in seconds: no system waits for any number of them
_LARGEST_BODY = 64 << 20
_Read = TypeVar("_Read")


class Response(NamedTuple):
    """What a server answered, whatever its status."""

    status: int
    headers: Message
    body: bytes

    def asked_pause(self) -> float | None:
        """Read how long the server asks to wait, in seconds: a number, or a date."""
        header = self.headers.get("Retry-After", "")
        try:
            return max(0.0, float(header))
        except ValueError:
            pass
        try:
            moment: float = email.utils.parsedate_to_datetime(header).timestamp()
            return max(0.0, moment - time.time())
        except (ValueError, TypeError):
            return None


class TryAgainError(Exception):
    """Another try may help."""

    def __init__(self, fault: str, pause: float | None = None) -> None:
        super().__init__(fault)
        self.pause = pause


class NoAnswerError(EndpointError):
    """A server that did not answer any try."""


class InvalidRequestError(EndpointError):
    """A server that does not take what a request asks for; another try would not help."""


def growing_pause(number: int) -> float:
    """Wait twice as long after each try, with chance, so that many clients do not come at once."""
    return min(_LONGEST_PAUSE, 0.5 * 2.0**number) * random.uniform(0.5, 1.0)


@dataclass(frozen=True)
class HttpClient:
    """A server, and how patient we are with it."""

    url: str  # its base address, such as ``http://127.0.0.1:8000/v1``
    # the key, if it needs one. It appears in no message and no representation
    key: str | None = field(default=None, repr=False)
    timeout: float = 120.0  # seconds that one request may take
    tries: int = 6  # how often a request is sent at most
    # waits some seconds before another try
    pause: Callable[[float], object] = field(default=time.sleep, repr=False, compare=False)
    # how long to wait after a try, by its number, where the server does not say
    seconds: Callable[[int], float] = field(default=growing_pause, repr=False, compare=False)
    # says that there will be another try
    tell: Callable[[str], object] = field(default=lambda _: None, repr=False, compare=False)
    # faults of the connection after which another try would not help
    hopeless: tuple[type[Exception], ...] = field(default=(), repr=False)

    def ask(
        self,
        path: str,
        read: Callable[[Response], _Read],
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> tuple[_Read, int]:
        """Send a request until its answer can be read."""
        for number in range(1, self.tries + 1):
            pause: float | None = None
            try:
                return read(self._send(path, body, headers or {})), number
            except TryAgainError as error:
                fault, pause = str(error), error.pause
            if number < self.tries:
                wait = self.seconds(number) if pause is None else min(pause, _LONGEST_PAUSE)
                self.tell(f"{self.url}: {fault}; trying again in {wait:.0f} s.")
                self.pause(wait)
        tries = "1 try" if self.tries == 1 else f"{self.tries} tries"
        raise NoAnswerError(f"{self.url}: no answer after {tries}; the last: {fault}.")

    def _send(self, path: str, body: bytes | None, headers: Mapping[str, str]) -> Response:
        common = {"User-Agent": f"reelscore/{__version__}"}
        if self.key:
            common["Authorization"] = f"Bearer {self.key}"
        request = urllib.request.Request(self.url + path, body, {**common, **headers})
        deadline = time.monotonic() + self.timeout
        try:
            with _OPENER.open(request, timeout=self.timeout) as response:
                return Response(response.status, response.headers, _content(response, deadline))
        except urllib.error.HTTPError as error:
            with error:
                try:
                    content = error.read(_LARGEST_BODY)
                except (OSError, http.client.HTTPException):
                    content = b""
                return Response(error.code, error.headers, content)
        except (OSError, http.client.HTTPException) as error:
            raise TryAgainError(self._fault(error)) from None

    def _fault(self, error: Exception) -> str:
        reason = getattr(error, "reason", error)
        if isinstance(reason, TimeoutError):
            return f"no answer within {self.timeout:g} seconds"
        text = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
        text = shortened(self.without_key(text))
        if isinstance(reason, self.hopeless):
            raise NoAnswerError(f"{self.url}: cannot be reached: {text}.") from None
        return f"the connection failed: {text}"

    def without_key(self, said: Any) -> Any:
        """Take the key out of what a server said, text or JSON: some servers repeat it."""
        if isinstance(said, str):
            return said.replace(self.key, "[key]") if self.key else said
        if isinstance(said, list):
            return [self.without_key(part) for part in said]
        if isinstance(said, dict):
            return {self.without_key(name): self.without_key(part) for name, part in said.items()}
        return said


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *arguments: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirects)


def _content(response: http.client.HTTPResponse, deadline: float) -> bytes:
    """Read an answer in parts: a server may send a byte now and then."""
    content = bytearray()
    while part := response.read1(1 << 16):
        content += part
        if response.length != 0 and time.monotonic() > deadline:
            raise TimeoutError
        if len(content) > _LARGEST_BODY:
            raise TryAgainError(f"the body has more than {_LARGEST_BODY >> 20} MB")
    if response.length:  # read1 says nothing when a connection breaks
        raise http.client.IncompleteRead(bytes(content), response.length)
    return bytes(content)


def check_timeout(seconds: float) -> None:
    """Refuse a timeout that nothing can keep.

    >>> check_timeout(0)
    Traceback (most recent call last):
    reelscore.errors.DataError: timeout is 0; expected seconds above 0, up to 604,800 (a week).
    """
    if not 0 < seconds <= _LONGEST_TIMEOUT:
        raise DataError(
            f"timeout is {seconds:g}; expected seconds above 0, up to {_LONGEST_TIMEOUT:,.0f} "
            "(a week)."
        )


def shortened(text: str, length: int = 200) -> str:
    r"""Put a text of a server into one line, without control characters.

    >>> shortened("not\nso \x1b[2J fast")
    'not so \\x1b[2J fast'
    """
    line = " ".join(text.split())
    line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in line)
    return line if len(line) <= length else line[: length - 1] + "…"
