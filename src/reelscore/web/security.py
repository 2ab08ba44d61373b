"""Signatures, passwords, and tokens that prove a request comes from our own page."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import secrets
import time
from asyncio import wrap_future
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from threading import BoundedSemaphore, Lock
from typing import Any, TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from itsdangerous import BadSignature, TimestampSigner, URLSafeTimedSerializer
from starlette.exceptions import HTTPException

from reelscore.errors import DataError

_SHORTEST_PASSWORD = 10
_LONGEST_PASSWORD = 200  # hashing a long one is work that anybody could ask for
_QUEUE = 8  # passwords that may wait for being hashed, those under way included
_HASHERS = max(1, (os.cpu_count() or 1) // 2)  # passwords hashed at a time
_hasher = PasswordHasher()
T = TypeVar("T")


@dataclass(frozen=True)
class Signer:
    """Signs what browsers keep for us, and derives names nobody can guess."""

    secret: str = field(repr=False)
    clock: Callable[[], float] = time.time

    def sign(self, purpose: str, value: Any) -> str:
        """Sign a value that JSON can say, with the time."""
        text: str = self._serializer(purpose).dumps(value)
        return text

    def read(self, purpose: str, text: str | None, *, age: float) -> Any:
        """Return the value back; None where it was not signed here for this, or is too old.

        What seems to be of the future was signed before the clock was set back, and is good.
        """
        try:
            value, signed = self._serializer(purpose).loads(text or "", return_timestamp=True)
        except BadSignature:
            return None
        return value if self.clock() - signed.timestamp() <= age else None

    def name(self, purpose: str, *parts: str, length: int = 12) -> str:
        """Derive a name from parts; without the secret nobody finds it or reads it."""
        digest = self._digest(purpose, *parts)
        return base64.urlsafe_b64encode(digest).decode()[:length].replace("-", "x")

    def proof(self, *parts: str) -> str:
        """Return the token that forms send back, so that no other site can send them."""
        return self.name("form", *parts, length=32)

    def is_proof(self, token: str, *parts: str) -> bool:
        """Return whether a form's token is the one of this browser."""
        return hmac.compare_digest(token.encode(), self.proof(*parts).encode())

    def code(self, *parts: str) -> str:
        """Make a completion code that people can copy by hand.

        >>> Signer("a secret").code("dogs", "r1", "1")
        'M4PF-LQMJ'
        """
        letters = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"  # no letters that look like digits
        code = "".join(letters[byte % 32] for byte in self._digest("code", *parts)[:8])
        return f"{code[:4]}-{code[4:]}"

    def _digest(self, *parts: str) -> bytes:
        return hmac.digest(self.secret.encode(), "\x1f".join(parts).encode(), "sha256")

    def _serializer(self, purpose: str) -> URLSafeTimedSerializer:
        clock = self.clock

        class Dated(TimestampSigner):
            def get_timestamp(self) -> int:
                return int(clock())

        return URLSafeTimedSerializer(self.secret, salt=f"reelscore.{purpose}", signer=Dated)


def new_token() -> str:
    """Make a token nobody can guess, for a link or a cookie."""
    return secrets.token_urlsafe(24)


def digest(token: str) -> str:
    """Return what is stored of a token: who reads the database cannot use it.

    >>> digest("a")[:12]
    'ca978112ca1b'
    """
    return hashlib.sha256(token.encode()).hexdigest()


def hash_password(password: str) -> str:
    """Return what is stored of a password."""
    if not _SHORTEST_PASSWORD <= len(password) <= _LONGEST_PASSWORD:
        raise DataError(
            f"A password has {_SHORTEST_PASSWORD} to {_LONGEST_PASSWORD} characters; this one has "
            f"{len(password)}."
        )
    return _hasher.hash(password)


@cache
def _nobody() -> str:
    """The hash of a password that nobody knows, to compare with where there is no account."""
    return _hasher.hash(secrets.token_urlsafe())


def is_password(password: str, stored: str | None) -> bool:
    """Return whether a password is right; takes as long where there is no such account."""
    if len(password) > _LONGEST_PASSWORD:
        return False
    try:
        return _hasher.verify(stored or _nobody(), password) and stored is not None
    except (VerificationError, InvalidHashError):
        return False


class Hashing:
    """Hashes passwords on threads of its own, by half of the processors.

    Hashing takes much time and memory on purpose. A burst of logins must not take the threads and
    the processors that raters' pages need; whoever finds the queue full is told so at once.
    """

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_HASHERS, "hashing")
        self._threads.submit(_nobody)  # before the first login, which must not take longer for it
        self._places = BoundedSemaphore(_QUEUE)

    async def run(self, function: Callable[..., T], *arguments: Any) -> T:
        """Call a function that hashes, when its turn comes."""
        if not self._places.acquire(blocking=False):
            raise HTTPException(
                503,
                "Many people are logging in just now. Try again in a few seconds.",
                {"Retry-After": "5"},
            )
        future = self._threads.submit(function, *arguments)
        future.add_done_callback(lambda _: self._places.release())
        return await wrap_future(future)

    def close(self) -> None:
        """Let go of what waits."""
        self._threads.shutdown(wait=False, cancel_futures=True)


@dataclass(frozen=True)
class Attempts:
    """Counts failures by address, or by account; who has too many in a minute waits."""

    most: int
    clock: Callable[[], float] = time.monotonic
    seconds: float = 60.0
    _times: dict[str, deque[float]] = field(default_factory=dict, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def exhausted(self, key: str) -> bool:
        """Return whether there were too many."""
        with self._lock:
            self._forget()
            return len(self._times.get(key, ())) >= self.most

    def take(self, key: str) -> bool:
        """Count an attempt before its outcome is known; tell whether there may be one more."""
        with self._lock:
            self._forget()
            times = self._times.setdefault(key, deque(maxlen=self.most))
            if len(times) >= self.most:
                return False
            times.append(self.clock())
            return True

    def forgive(self, key: str) -> None:
        """Take back the last count: the attempt was no failure."""
        with self._lock:
            times = self._times.get(key)
            if times:
                times.pop()
            if not times:
                self._times.pop(key, None)

    def _forget(self) -> None:
        late = self.clock() - self.seconds
        for key in [key for key, times in self._times.items() if times[-1] <= late]:
            del self._times[key]
        for times in self._times.values():
            while times[0] <= late:
                times.popleft()
