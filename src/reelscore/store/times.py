"""Times as the database keeps them, whole microseconds since 1970, and as files and programs do."""

from __future__ import annotations

import math
from datetime import datetime, timedelta, timezone

from reelscore.errors import DataError

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_END = 253_402_300_800  # the year 10000, where dates as text end


def microseconds(seconds: float) -> int:
    """Round a time in seconds since 1970.

    Raises:
        DataError: If there is no such time.

    >>> microseconds(1700000000.000001)
    1700000000000001
    """
    if not 0 <= seconds < _END:  # also refuses NaN
        raise DataError(f"the time is {seconds!r}; expected seconds since 1970.")
    whole = math.floor(seconds)
    return whole * 1_000_000 + round((seconds - whole) * 1_000_000)


def seconds(microseconds: int | None) -> float | None:
    """Give a time in seconds since 1970; `microseconds` makes the same of it again.

    >>> seconds(1700000000000001)
    1700000000.000001
    """
    return None if microseconds is None else microseconds / 1_000_000


def to_iso(microseconds: int | None) -> str | None:
    """Write a time as text, in UTC.

    >>> to_iso(1700000000000001)
    '2023-11-14T22:13:20.000001Z'
    """
    if microseconds is None:
        return None
    moment = _EPOCH + timedelta(microseconds=microseconds)
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def from_iso(text: str | None) -> int | None:
    """Read a time as ISO 8601 writes it; it must say which zone it is of.

    Raises:
        DataError: If it is no such time.

    >>> from_iso("2023-11-14T22:13:20.000001Z"), from_iso("2023-11-14T23:13:20+01:00")
    (1700000000000001, 1700000000000000)
    """
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
        passed = moment - _EPOCH
    except (ValueError, TypeError, OverflowError):
        passed = timedelta(-1)
    if passed < timedelta(0):
        raise DataError(f"the time is {text!r}; expected one such as '2023-11-14T22:13:20Z'.")
    return passed // timedelta(microseconds=1)
