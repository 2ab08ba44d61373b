"""A database of challenges with its clock: what every function about challenges works on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from sqlalchemy import Connection

from reelscore.store.database import Database, server_clock

Clock = Callable[[Connection], int]
DAY = 86_400_000_000  # microseconds


@dataclass(frozen=True)
class Arena:
    """A database of challenges, and the clock that decides about windows, days and leases."""

    database: Database
    clock: Clock = server_clock

    def now(self) -> int:
        """Return the time in microseconds since 1970."""
        with self.database.reading() as connection:
            return self.clock(connection)


def day_of(moment: int) -> str:
    """Return the day of UTC that a time lies in.

    >>> day_of(86_399_999_999), day_of(86_400_000_000)
    ('1970-01-01', '1970-01-02')
    """
    start = datetime(1970, 1, 1, tzinfo=timezone.utc)
    return (start + timedelta(microseconds=moment)).strftime("%Y-%m-%d")


def next_day(moment: int) -> int:
    """Return the time at which the next day of UTC begins.

    >>> next_day(86_399_999_999)
    86400000000
    """
    return (moment // DAY + 1) * DAY
