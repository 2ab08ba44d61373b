"""What a server is told when it starts."""

from __future__ import annotations

import os
import secrets
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from reelscore.errors import DataError

DEVELOPMENT_SECRET = "for development only"
_SHORTEST_SECRET = 32  # characters
_MEGABYTE = 1 << 20


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
        session: Seconds after which an organiser logs in again.
        attempts: Wrong passwords or links that one address may try in a minute.
        new_owner: Whether one more owner may be made by the link shown at the start.
        clock: Where the time comes from, in seconds since 1970.
        steady: A clock that nobody can set, in seconds since whenever; None for the machine's own,
            or for `clock` where that is not the machine's.

    Raises:
        DataError: If the address is none, or a public server has no secret of its own.

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
    session: float = 12 * 3600.0
    attempts: int = 10
    new_owner: bool = False
    clock: Callable[[], float] = time.time
    steady: Callable[[], float] | None = None

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query:
            raise DataError(
                f"{self.url!r} is no address for a server; expected one such as "
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
    """Give the secret: REELSCORE_SECRET, else that of a file, which is made where there is none.

    Args:
        file: Where the secret is kept between two starts.

    Raises:
        DataError: If there is neither, or others may read the file.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     first = load_secret(Path(folder, "secret"))
    ...     first == load_secret(Path(folder, "secret")), len(first)
    (True, 43)
    """
    given = os.environ.get("REELSCORE_SECRET")
    if given:
        return given
    if file is None:
        raise DataError(
            "There is no secret to sign with: set REELSCORE_SECRET, or name a file for it with "
            "--secret-file."
        )
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return _read_secret(file)
    except OSError as error:
        raise DataError(f"{file}: the secret cannot be kept there ({error.strerror}).") from None
    secret = secrets.token_urlsafe(32)
    with open(descriptor, "w", encoding="ascii") as target:  # noqa: PTH123 (a descriptor)
        target.write(secret + "\n")
    return secret


def _read_secret(file: Path) -> str:
    if stat.S_IMODE(file.stat().st_mode) & 0o077:
        raise DataError(f"{file}: others may read the secret; run: chmod 600 {file}")
    secret = file.read_text(encoding="utf-8").strip()
    if not secret:
        raise DataError(
            f"{file}: the file is empty; expected a secret. Remove it to get a new one."
        )
    return secret
