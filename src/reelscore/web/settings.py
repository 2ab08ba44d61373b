"""What a server is told when it starts, and how long it has run since."""

from __future__ import annotations

import logging
import os
import secrets
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from urllib.parse import urlsplit

from reelscore.errors import DataError

DEVELOPMENT_SECRET = "for development only"
_SHORTEST_SECRET = 32  # characters
_MEGABYTE = 1 << 20
logger = logging.getLogger("reelscore.web")


@dataclass(frozen=True)
class Settings:
    """Everything `create_app` needs to know.

    Attributes:
        database: The path of a SQLite file, or the URL of a PostgreSQL database.
        secret: What cookies and links are signed with.
        url: The address people use, with the path prefix of a proxy if there is one.
        public: Whether people elsewhere can reach it.
        videos: The folder with the videos, named by their items.
        largest_upload: Bytes an organiser may upload at once.
        largest_submission: Bytes a participant may upload at once.
        scorers: How many scorers of challenges run in the server; 0 for none, and with None all
            cores but one where there are challenges.
        session: Seconds after which somebody logs in again.
        attempts: Wrong passwords or links that one address may try in a minute.
        new_owner: Whether one more owner may be made by the link shown at the start.
        sender: The address that letters are sent from; none are sent if empty.
        smtp: The mail server that takes them, with the password if it asks for one.
        clock: Where the time comes from, in seconds since 1970.
        steady: A clock that nobody can set, in seconds since whenever; None for the machine's own,
            or for `clock` where that is not the machine's.

    Raises:
        DataError: If the address is not valid, or a public server has no secret of its own.

    >>> Settings("dogs.db", url="https://lab.example/rate/").prefix
    '/rate'
    >>> Settings("dogs.db", url="https://lab.example", public=True)
    Traceback (most recent call last):
    reelscore.errors.DataError: A public server needs a secret of its own of at least 32 ...
    """

    database: str
    secret: str = DEVELOPMENT_SECRET
    url: str = "http://127.0.0.1:8000"
    public: bool = False
    videos: Path | None = None
    largest_upload: int = 64 * _MEGABYTE
    largest_submission: int = 65 * _MEGABYTE
    scorers: int | None = 0
    session: float = 12 * 3600.0
    attempts: int = 10
    new_owner: bool = False
    sender: str = ""
    smtp: str = field(default="smtp://localhost", repr=False)
    clock: Callable[[], float] = time.time
    steady: Callable[[], float] | None = None

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query:
            raise DataError(
                f"{self.url!r} is not the address of a server; expected one such as "
                "https://lab.example/rate."
            )
        if self.public and (
            self.secret == DEVELOPMENT_SECRET or len(self.secret) < _SHORTEST_SECRET
        ):
            raise DataError(
                f"A public server needs a secret of its own of at least {_SHORTEST_SECRET} "
                "characters: set REELSCORE_SECRET, or name a file for it with --secret-file."
            )
        if self.videos is not None and not self.videos.is_dir():
            raise DataError(f"{self.videos}: no such folder; expected the one with the videos.")

    @property
    def prefix(self) -> str:
        """The path all pages lie under; empty for the top."""
        return urlsplit(self.url).path.rstrip("/")

    @property
    def host(self) -> str:
        """The host name that requests must ask for."""
        return urlsplit(self.url).hostname or ""

    @property
    def ticks(self) -> Callable[[], float]:
        """The clock that nobody can set."""
        return self.steady or (time.monotonic if self.clock is time.time else self.clock)

    @property
    def secure(self) -> bool:
        """Whether people come over https, so that cookies go nowhere else."""
        return urlsplit(self.url).scheme == "https"


def load_secret(file: Path | None) -> str:
    """Return the secret: REELSCORE_SECRET, else that of a file, which is made if need be."""
    if secret := os.environ.get("REELSCORE_SECRET"):
        return secret
    if file is None:
        raise DataError(
            "There is no secret to sign with: set REELSCORE_SECRET, or name a file for it with "
            "--secret-file."
        )
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        if stat.S_IMODE(file.stat().st_mode) & 0o077:
            raise DataError(f"{file}: others may read the secret; run: chmod 600 {file}") from None
        if secret := file.read_text(encoding="utf-8").strip():
            return secret
        raise DataError(
            f"{file}: the file is empty; expected a secret. Remove it to get a new one."
        ) from None
    except OSError as error:
        raise DataError(f"{file}: the secret cannot be kept there ({error.strerror}).") from None
    secret = secrets.token_urlsafe(32)
    with open(descriptor, "w", encoding="ascii") as target:  # noqa: PTH123 (a descriptor)
        target.write(secret + "\n")
    return secret


GAP = 300.0  # seconds that the two clocks may differ; less is not worth a word
GRACE = 3600.0  # seconds after a start in which raters at work show that they are there


class Uptime:
    """How long the server has run without a gap, whatever becomes of the machine's clock.

    A laptop sleeps, a clock is set by hours, a server is down for a night: raters could not answer
    meanwhile, and must not lose their HITs for it. A second clock that nobody can set tells such
    gaps from hours in which the server was there.
    """

    def __init__(self, clock: Callable[[], float], steady: Callable[[], float]) -> None:
        self._clock, self._steady = clock, steady
        self._begin, self._begin_ticks = clock(), steady()
        self._offset = self._begin - self._begin_ticks
        self._gap_ticks: float | None = None
        self._lock = Lock()

    def time(self) -> float:
        """Return the time as it was at the start, and what has passed since; it never jumps."""
        return self._begin + self._steady() - self._begin_ticks

    def lasts(self, hold: float) -> bool:
        """Return whether raters who were not seen for the hold time had the chance to be seen."""
        with self._lock:
            ticks = self._steady()
            jumped = self._clock() - ticks - self._offset
            self._offset += jumped  # small differences do not add up
            if abs(jumped) > GAP:
                logger.warning("clock jumped", extra={"details": {"seconds": round(jumped)}})
                self._gap_ticks = ticks
            is_past_gap = self._gap_ticks is None or ticks - self._gap_ticks >= hold
            return is_past_gap and ticks - self._begin_ticks >= min(hold, GRACE)
