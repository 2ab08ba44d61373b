"""Values that both databases and all file forms can keep: names, texts and times.

Names of teams and of accounts are readable, of one script, and not to be mistaken for another's.
"""

from __future__ import annotations

import math
import re
import unicodedata
from datetime import datetime, timedelta, timezone

from reelscore.errors import DataError

LONGEST = 100_000  # characters; a CSV reader takes a longer field for a runaway one


def check_text(text: str, what: str) -> str:
    r"""Refuse text that could not be stored and read back."""
    if len(text) > LONGEST:
        raise DataError(f"{what} has {len(text):,} characters; at most {LONGEST:,} are stored.")
    if "\0" in text:
        raise DataError(f"{what} holds a NUL character; remove it.")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise DataError(f"{what} holds a lone surrogate; it is not valid text.") from None
    return text


def check_name(name: str, what: str) -> str:
    """Refuse a name that is empty or could not be stored."""
    if not name:
        raise DataError(f"{what} has no name; expected at least one character.")
    return check_text(name, what)


_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_END = 253_402_300_800  # the year 10000, where dates as text end


def microseconds(seconds: float) -> int:
    """Round a time in seconds since 1970.

    >>> microseconds(1700000000.000001)
    1700000000000001
    """
    if not 0 <= seconds < _END:  # also refuses NaN
        raise DataError(f"the time is {seconds!r}; expected seconds since 1970.")
    whole = math.floor(seconds)
    return whole * 1_000_000 + round((seconds - whole) * 1_000_000)


def seconds(microseconds: int | None) -> float | None:
    """Return a time in seconds since 1970; `microseconds` makes the same of it again.

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


_LONGEST = 60
# Letters of other scripts, and digits, that look like Latin letters once they are lower case.
_LOOKALIKES = str.maketrans(
    "01а" + "сеіјорѕхуқһԁԛԝ" + "αειοκνρτυχ",
    "ola" + "ceijopsxyqhdqw" + "aeiokvptux",
)
# Scripts that belong together in one name.
_TOGETHER = {"HIRAGANA": "CJK", "KATAKANA": "CJK", "HANGUL": "CJK", "IDEOGRAPHIC": "CJK"}


def checked_name(name: str) -> str:
    """Return the name of a team or an account as it is kept."""
    name = " ".join(unicodedata.normalize("NFKC", name).split())
    if not name or len(name) > _LONGEST:
        raise DataError(f"The name has {len(name)} characters; expected 1 to {_LONGEST}.")
    for character in name:
        if unicodedata.category(character)[0] == "C":
            code = f"U+{ord(character):04X}"
            raise DataError(f"The name holds {code}, which does not show; remove it.")
    if not any(map(str.isalnum, name)):
        raise DataError("The name has no letter or digit; expected at least one.")
    if re.search("\\W{4}|[\u0300-\u036f]{2}", name):
        raise DataError("The name has many marks in a row; expected letters and digits.")
    scripts = sorted({_script(character) for character in name if character.isalpha()})
    if len(scripts) > 1:
        listed = " and ".join(scripts)
        raise DataError(f"The name {name!r} mixes letters of {listed}; use one script.")
    return name


def _script(letter: str) -> str:
    first = unicodedata.name(letter, "OTHER").split()[0]
    return _TOGETHER.get(first, first)


def skeleton(name: str) -> str:
    """Return what names that look alike have in common.

    >>> skeleton("Team 1O") == skeleton("team-lo") == skeleton("TEAM l0")
    True
    """
    plain = unicodedata.normalize("NFKD", name.casefold())
    plain = "".join(character for character in plain if not unicodedata.combining(character))
    plain = plain.translate(_LOOKALIKES).replace("rn", "m").replace("vv", "w").replace("i", "l")
    return "".join(character for character in plain if character.isalnum()) or plain
