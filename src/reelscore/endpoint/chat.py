"""One request to an OpenAI-compatible server, tried again where that may help.

Tried again, after a pause: no connection, a timeout, status 408, 425, 429 and 5xx, and a body that
is not an answer of the protocol. Any other status stops at once with the server's own message, and
so does a 500 whose message says that the request is invalid, as some servers answer.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, ClassVar, TypeVar
from urllib.parse import urlsplit

import msgspec

from reelscore._records import resolved
from reelscore.endpoint.answers import NumberToken
from reelscore.endpoint.http import (
    HttpClient,
    InvalidRequestError,
    Response,
    TryAgainError,
    check_timeout,
    shortened,
)
from reelscore.errors import DataError, EndpointError

_AGAIN = frozenset({408, 425, 429})  # and all from 500
# as pydantic's messages say it, and Python's where a server expects no pictures beside the text
_INVALID = re.compile(
    r"validation error|Input should be|response_format|json_schema|logprobs|image_url"
    r"|can only concatenate str"
)
_HINTS = {
    400: "The model may not know a parameter of the request.",
    401: "Set {} to a valid key.",
    403: "The key in {} may not use this model.",
    404: "Check the address, which usually ends in /v1, and the model's name.",
}


class _Message(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None


class _Chance(msgspec.Struct):
    token: str
    logprob: float


class _Token(msgspec.Struct):
    token: str
    logprob: float = 0.0
    top_logprobs: list[_Chance] = []


class _Logprobs(msgspec.Struct):
    content: list[_Token] | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None
    logprobs: _Logprobs | None = None


class _Tokens(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Completion(msgspec.Struct):
    """The part of a chat completion that is used."""

    title: ClassVar[str] = "chat completion"
    choices: Annotated[list[_Choice], msgspec.Meta(min_length=1)]
    model: str | None = None
    system_fingerprint: str | None = None
    usage: _Tokens | None = None


class _Transcription(msgspec.Struct):
    """The part of a transcription that every server gives."""

    title: ClassVar[str] = "transcription"
    text: str


_Answer = TypeVar("_Answer", _Completion, _Transcription)


@dataclass(frozen=True)
class ChatReply:
    """What a model said."""

    content: str  # the text; empty where there is none
    refusal: str = ""  # why the model does not answer, where it says so
    finish: str = "stop"  # why it stopped: ``stop``, ``length``, or what the server calls it
    model: str = ""  # the model as the server names it
    fingerprint: str = ""  # the server's name for the state it is in
    tokens_in: int = 0  # tokens of the question
    tokens_out: int = 0  # tokens of the answer
    tries: int = 1  # how many requests it took
    seconds: float = 0.0  # how long it took, pauses included
    # the form of answers that the server was asked for, of `reelscore.endpoint.abilities`
    form: str = ""
    # the tokens with digits, where log-probabilities were asked for
    numbers: Sequence[NumberToken] = ()


@dataclass(frozen=True)
class Endpoint(HttpClient):
    """A server that speaks the protocol of OpenAI's chat completions.

    Attributes:
        key_from: Where the user sets the key, for messages.

    >>> Endpoint("http://127.0.0.1:8000/v1/", key="secret")
    Endpoint(url='http://127.0.0.1:8000/v1', timeout=120.0, tries=6)
    """

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
        """Take the key from ``REELSCORE_API_KEY``, where there is one."""
        return cls(url, key=os.environ.get("REELSCORE_API_KEY") or None, **fields)

    def chat(self, request: bytes) -> ChatReply:
        """Send a chat request, again where that may help.

        Args:
            request: The body, in JSON.

        Raises:
            EndpointError: If the server refuses the request, or no try brought an answer.
        """
        started = time.monotonic()
        kind = {"Content-Type": "application/json"}
        read = partial(self._read, kind=_Completion)
        answer, tries = self.ask("/chat/completions", read, request, kind)
        [choice, *_], usage = answer.choices, answer.usage or _Tokens()
        return ChatReply(
            choice.message.content or "",
            choice.message.refusal or "",
            choice.finish_reason or "stop",
            answer.model or "",
            answer.system_fingerprint or "",
            usage.prompt_tokens or 0,
            usage.completion_tokens or 0,
            tries,
            time.monotonic() - started,
            numbers=_numbers(choice),
        )

    def transcribe(self, sound: bytes, model: str, language: str | None = None) -> str:
        """Send a WAV file to be transcribed, again where that may help; return the answer's JSON.

        Args:
            sound: The file.
            model: The server's name of the model.
            language: The language that is spoken, such as ``en``, where it is known.

        Raises:
            EndpointError: If the server refuses the request, or no try brought an answer.
        """
        mark = hashlib.sha256(sound).hexdigest()
        fields = [("model", model), ("response_format", "verbose_json"), ("temperature", "0")]
        fields += [("timestamp_granularities[]", unit) for unit in ("word", "segment")]
        fields += [("language", language)] if language else []
        head = f'--{mark}\r\nContent-Disposition: form-data; name="'
        body = "".join(f'{head}{name}"\r\n\r\n{value}\r\n' for name, value in fields)
        body += f'{head}file"; filename="passage.wav"\r\nContent-Type: audio/wav\r\n\r\n'
        request = body.encode() + sound + f"\r\n--{mark}--\r\n".encode()
        kind = {"Content-Type": f"multipart/form-data; boundary={mark}"}

        def read(response: Response) -> str:
            self._read(response, _Transcription)
            return response.body.decode()

        return self.ask("/audio/transcriptions", read, request, kind)[0]

    def _read(self, response: Response, kind: type[_Answer]) -> _Answer:
        """Read an answer; all but one of the kind is a fault, with the server's own message."""
        try:
            content = self.without_key(msgspec.json.decode(response.body))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            content = self.without_key(response.body.decode(errors="replace"))
        if 200 <= response.status < 300:
            try:
                return msgspec.convert(content, resolved(kind))
            except msgspec.ValidationError as error:
                # some servers say with status 200 that something went wrong
                said = _message(content) or shortened(str(error))
                raise TryAgainError(f"the body is no {kind.title} ({said})") from None
        text = _message(content)
        fault = f"{response.status} from the server{': ' if text else ''}{text}"
        if response.status == 500 and _INVALID.search(str(content)):
            raise InvalidRequestError(f"{self.url}: {fault}. {_HINTS[400]}")
        if response.status in _AGAIN or response.status >= 500:
            raise TryAgainError(fault, response.asked_pause())
        hint = _HINTS.get(response.status, "").format(self.key_from)
        if response.status in (400, 422):
            raise InvalidRequestError(f"{self.url}: {fault}. {_HINTS[400]}")
        if 300 <= response.status < 400:
            there = _without_query(response.headers.get("Location") or "another address")
            there = shortened(self.without_key(there))
            hint = f"It sends us to {there}; if you trust it, give that address."
        raise EndpointError(f"{self.url}: {fault}. {hint}".rstrip())


def checked_url(url: str) -> str:
    """Return the base address of an endpoint without its last slash.

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


def _numbers(choice: _Choice) -> list[NumberToken]:
    """Find the tokens with digits, and where they stand in the answer, white space before aside."""
    text = choice.message.content or ""
    tokens = (choice.logprobs.content or []) if choice.logprobs else []
    said = "".join(token.token for token in tokens)
    place = len(text) - len(text.lstrip()) - (len(said) - len(said.lstrip()))
    found = []
    for token in tokens:
        if any(map(str.isdecimal, token.token)) and text.startswith(token.token, max(place, 0)):
            chances = {token.token: token.logprob}
            chances |= {other.token: other.logprob for other in token.top_logprobs}
            found.append(NumberToken(place, token.token, chances))
        place += len(token.token)
    return found


def _message(content: Any) -> str:
    """Find what a server says went wrong: OpenAI's form, that of others, or plain text."""
    while isinstance(content, dict):
        names = ("error", "message", "detail")
        content = next((content[name] for name in names if content.get(name)), "")
    return shortened(str(content)).rstrip(".")


def _without_query(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname}{parts.path}" if parts.hostname else parts.path
