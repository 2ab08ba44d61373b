"""One request to an OpenAI-compatible server, tried again where that may help.

Tried again, after a pause: no connection, a timeout, status 408, 425, 429 and 5xx, and a body that
is not an answer of the protocol. Any other status stops at once with the server's own message.
Redirects are not followed, so that the key goes to no other host.
"""

from __future__ import annotations

import email.utils
import http.client
import os
import random
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, NoReturn
from urllib.parse import urlsplit

import msgspec

from reelscore._version import __version__
from reelscore.errors import DataError, EndpointError

_AGAIN = frozenset({408, 425, 429})  # and all from 500
_LONGEST_PAUSE = 60.0  # seconds; a server may ask for more
_LONGEST_TIMEOUT = 604_800.0  # a week, in seconds: no system waits for any number of them
_LARGEST_BODY = 16 << 20
_HINTS = {
    400: "The model may not know a parameter of the request.",
    401: "Set {} to a valid key.",
    403: "The key in {} may not use this model.",
    404: "Check the address, which usually ends in /v1, and the model's name.",
}


class _Message(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None


class _Tokens(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Completion(msgspec.Struct):
    """The part of a chat completion that is used."""

    choices: Annotated[list[_Choice], msgspec.Meta(min_length=1)]
    model: str | None = None
    system_fingerprint: str | None = None
    usage: _Tokens | None = None


@dataclass(frozen=True)
class Reply:
    """What a model said.

    Attributes:
        content: The text; empty where there is none.
        refusal: Why the model does not answer, where it says so.
        finish: Why it stopped: ``stop``, ``length``, or what the server calls it.
        model: The model as the server names it.
        fingerprint: The server's name for the state it is in.
        tokens_in: Tokens of the question.
        tokens_out: Tokens of the answer.
        tries: How many requests it took.
        seconds: How long it took, pauses included.

    >>> Reply("a man runs").finish
    'stop'
    """

    content: str
    refusal: str = ""
    finish: str = "stop"
    model: str = ""
    fingerprint: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    tries: int = 1
    seconds: float = 0.0


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *arguments: Any) -> None:
        return None


@dataclass(frozen=True)
class Endpoint:
    """A server that speaks the protocol of OpenAI's chat completions.

    Attributes:
        url: Its base, such as ``http://127.0.0.1:8000/v1``.
        key: The key, if it needs one. It appears in no message and no representation.
        timeout: Seconds that one request may take.
        tries: How often a request is sent at most.
        pause: Waits some seconds before another try.
        key_from: Where the user sets the key, for messages.

    >>> Endpoint("http://127.0.0.1:8000/v1/", key="secret")
    Endpoint(url='http://127.0.0.1:8000/v1', timeout=120.0, tries=6)
    """

    url: str
    key: str | None = field(default=None, repr=False)
    timeout: float = 120.0
    tries: int = 6
    pause: Callable[[float], object] = field(default=time.sleep, repr=False, compare=False)
    key_from: str = field(default="REELSCORE_API_KEY", repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", checked_url(self.url))
        check_timeout(self.timeout)
        if self.key is not None and not (self.key.isascii() and self.key.isprintable()):
            raise DataError(
                f"The key in {self.key_from} holds characters that no key has, such as a line "
                "break; set it again."
            )

    @classmethod
    def from_environment(cls, url: str, **fields: Any) -> Endpoint:
        """Take the key from ``REELSCORE_API_KEY``, where there is one.

        Args:
            url: As of the class.
            fields: As of the class.
        """
        return cls(url, key=os.environ.get("REELSCORE_API_KEY") or None, **fields)

    def chat(self, request: bytes) -> Reply:
        """Send a chat request, again where that may help.

        Args:
            request: The body, in JSON.

        Raises:
            EndpointError: If the server refuses the request, or no try brought an answer.
        """
        started = time.monotonic()
        for number in range(1, self.tries + 1):
            wait: float | None = None
            try:
                answer = self._decoded(self._post(request))
                break
            except urllib.error.HTTPError as error:
                text = self._message(_body_of(error))
                wait = _asked_pause(error.headers.get("Retry-After"))
                fault = f"{error.code} from the server{': ' if text else ''}{text}"
                if error.code not in _AGAIN and error.code < 500:
                    self._refused(error.code, error.headers.get("Location"), fault)
            except (OSError, http.client.HTTPException, msgspec.DecodeError) as error:
                fault = self._fault(error)
            if number == self.tries:
                tries = "1 try" if self.tries == 1 else f"{self.tries} tries"
                raise EndpointError(f"{self.url}: no answer after {tries}; the last: {fault}.")
            self.pause(_pause(number) if wait is None else min(wait, _LONGEST_PAUSE))
        [choice, *_], usage = answer.choices, answer.usage or _Tokens()
        return Reply(
            choice.message.content or "",
            choice.message.refusal or "",
            choice.finish_reason or "stop",
            answer.model or "",
            answer.system_fingerprint or "",
            usage.prompt_tokens or 0,
            usage.completion_tokens or 0,
            number,
            time.monotonic() - started,
        )

    def _safe(self, said: Any) -> Any:
        """Take the key out of what a server said, text or JSON: some servers repeat it."""
        if isinstance(said, str):
            return said.replace(self.key, "[key]") if self.key else said
        if isinstance(said, list):
            return [self._safe(part) for part in said]
        if isinstance(said, dict):
            return {self._safe(name): self._safe(part) for name, part in said.items()}
        return said

    def _post(self, body: bytes) -> bytes:
        headers = {
            "Content-Type": "application/json",
            "User-Agent": f"reelscore/{__version__}",
            **({"Authorization": f"Bearer {self.key}"} if self.key else {}),
        }
        post = urllib.request.Request(f"{self.url}/chat/completions", body, headers)
        opener = urllib.request.build_opener(_NoRedirects)
        deadline = time.monotonic() + self.timeout
        with opener.open(post, timeout=self.timeout) as response:
            content = bytearray()
            while part := response.read1(1 << 16):  # a server may send a byte now and then
                content += part
                if time.monotonic() > deadline:
                    raise TimeoutError
                if len(content) > _LARGEST_BODY:
                    raise msgspec.DecodeError("more than 16 MB")
            if response.length:  # read1 says nothing when a connection breaks
                raise http.client.IncompleteRead(bytes(content), response.length)
        return bytes(content)

    def _decoded(self, body: bytes) -> _Completion:
        content = self._json(body)
        try:
            return msgspec.convert(content, _Completion)
        except msgspec.ValidationError:
            if not (isinstance(content, dict) and content.get("error")):
                raise
            # some servers say with status 200 that something went wrong
            raise msgspec.DecodeError(self._message(body)) from None

    def _json(self, body: bytes) -> Any:
        """Read JSON of the server, without the key."""
        try:
            return self._safe(msgspec.json.decode(body))
        except (UnicodeDecodeError, RecursionError) as error:
            raise msgspec.DecodeError(str(error)) from None

    def _message(self, body: bytes) -> str:
        """Find what a server says went wrong: OpenAI's form, that of others, or plain text."""
        try:
            content = self._json(body)
        except msgspec.DecodeError:
            content = self._safe(body.decode(errors="replace"))
        while isinstance(content, dict):
            names = ("error", "message", "detail")
            content = next((content[name] for name in names if name in content), "")
        return shortened(str(content)).rstrip(".")

    def _fault(self, error: Exception) -> str:
        reason = getattr(error, "reason", error)
        if isinstance(reason, TimeoutError):
            return f"no answer within {self.timeout:g} seconds"
        if isinstance(error, msgspec.DecodeError):
            return f"the body is no chat completion ({shortened(str(error))})"
        text = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
        return f"the connection failed ({shortened(self._safe(text))})"

    def _refused(self, status: int, location: str | None, fault: str) -> NoReturn:
        hint = _HINTS.get(status, "").format(self.key_from)
        if 300 <= status < 400:
            there = shortened(self._safe(_without_query(location or "another address")))
            hint = f"It sends us to {there}; if you trust it, give that address."
        raise EndpointError(f"{self.url}: {fault}. {hint}".rstrip())


def checked_url(url: str) -> str:
    """Return the base address of an endpoint without its last slash.

    Raises:
        DataError: If it is no address, or holds a password or a query, which would be shown.

    >>> checked_url("https://example.org/v1/")
    'https://example.org/v1'
    """
    parts = urlsplit(url)
    if parts.username or parts.password or parts.query or parts.fragment:
        raise DataError(
            f"The address of the endpoint on {parts.hostname} holds a user, a password or a "
            "query; expected only http(s)://HOST/PATH. A key belongs in REELSCORE_API_KEY."
        )
    if parts.scheme not in ("http", "https") or not parts.hostname or not url.isprintable():
        raise DataError(
            f"{url!r} is not the address of an endpoint; expected http(s)://HOST/PATH, such as "
            "http://127.0.0.1:8000/v1."
        )
    return url.rstrip("/")


def check_timeout(seconds: float) -> None:
    """Refuse a timeout that nothing can keep.

    Raises:
        DataError: If it is none.

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


def _body_of(error: urllib.error.HTTPError) -> bytes:
    with error:
        try:
            return error.read(_LARGEST_BODY)
        except (OSError, http.client.HTTPException):
            return b""


def _without_query(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname}{parts.path}" if parts.hostname else parts.path


def _pause(number: int) -> float:
    """Twice as long after each try, with chance, so that many clients do not come at once."""
    longest = min(_LONGEST_PAUSE, 0.5 * 2.0**number)
    return longest * random.uniform(0.5, 1.0)


def _asked_pause(header: str | None) -> float | None:
    """Read how long the server asks to wait: seconds, or a date."""
    if header is None:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        moment: float = email.utils.parsedate_to_datetime(header).timestamp()
        return max(0.0, moment - time.time())
    except (ValueError, TypeError):
        return None
