"""Names of teams and of accounts: readable, of one script, and not to be mistaken for another's."""

from __future__ import annotations

import re
import unicodedata

from reelscore.errors import DataError

_LONGEST = 60
# Letters of other scripts, and digits, that look like Latin letters once they are lower case.
_LOOKALIKES = str.maketrans(
    "01а" + "сеіјорѕхуқһԁԛԝ" + "αειοκνρτυχ",
    "ola" + "ceijopsxyqhdqw" + "aeiokvptux",
)
# Scripts that belong together in one name.
_TOGETHER = {"HIRAGANA": "CJK", "KATAKANA": "CJK", "HANGUL": "CJK", "IDEOGRAPHIC": "CJK"}


def checked_name(name: str) -> str:
    """Return the name of a team or an account as it is kept.

    >>> checked_name("  Team  Seven ")
    'Team Seven'
    >>> checked_name("Pаr")
    Traceback (most recent call last):
    reelscore.errors.DataError: The name 'Pаr' mixes letters of CYRILLIC and LATIN; use one script.
    """
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
