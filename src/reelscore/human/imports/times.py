"""Times as the files write them, in seconds since 1970."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone

from reelscore.errors import DataError

# MTurk writes the Pacific zone by its name, which datetime cannot read.
_ZONES = {"PST": -8, "PDT": -7, "UTC": 0, "GMT": 0}
_MTURK = re.compile(r"\w{3} (\w{3} \d{1,2} \d{2}:\d{2}:\d{2}) ([A-Z]{3}) (\d{4})")


def seconds(text: str) -> float | None:
    """Read a time: ISO 8601, seconds since 1970, or as MTurk writes it; nothing for no text.

    A time without a zone is taken as UTC.

    Raises:
        DataError: If it is none of these.

    >>> seconds("Fri Nov 25 04:32:21 PST 2016") == seconds("2016-11-25T12:32:21Z")
    True
    """
    text = text.strip()
    if not text:
        return None
    if match := _MTURK.fullmatch(text):
        day, zone, year = match.groups()
        if zone in _ZONES:
            moment = datetime.strptime(f"{day} {year}", "%b %d %H:%M:%S %Y")
            return moment.replace(tzinfo=timezone(timedelta(hours=_ZONES[zone]))).timestamp()
    try:
        return float(text)
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        raise DataError(
            f"the time is {text[:40]!r}; expected one such as 2026-03-01T12:00:00Z."
        ) from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp()
