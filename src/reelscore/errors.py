"""Every error reelscore raises on purpose.

ReelscoreError
├── DataError (ValueError)             a file or argument does not say what it should
│   ├── RefusedError                   a campaign cannot take this from this rater
│   └── FullError                      the disk under a database has no room left
├── UnknownNameError (LookupError)     an unknown metric, format or option
├── ResourceError (OSError)            the language index cannot be built, written or read
└── MissingExtraError (ImportError)    an optional dependency is not installed

A message says what is wrong, where, what was expected, and how to fix it. The command line
prints it as it is and exits with status 2; any other exception is a defect of reelscore and
keeps its traceback.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable

__all__ = [
    "DataError",
    "FullError",
    "MissingExtraError",
    "ReelscoreError",
    "RefusedError",
    "ResourceError",
    "UnknownNameError",
]


class ReelscoreError(Exception):
    """The root of the tree: catch this to catch everything reelscore reports."""


class DataError(ReelscoreError, ValueError):
    """Input that cannot be used as it is."""


class RefusedError(DataError):
    """An answer or a claim that a campaign cannot take.

    Attributes:
        reason: Why, in one word: ``unknown``, ``answered``, ``taken``, ``closed``, ``excluded``.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class FullError(DataError):
    """A database whose disk is full: nothing more can be stored until there is room."""


class UnknownNameError(ReelscoreError, LookupError):
    """A name that is not in the list it was looked up in."""

    @classmethod
    def of(cls, kind: str, name: str, known: Iterable[str], remedy: str = "") -> UnknownNameError:
        """Build the message, with the nearest known name as a suggestion.

        >>> print(UnknownNameError.of("metric", "rogue_l", ["bleu", "rouge_l"]))
        Unknown metric 'rogue_l'. Did you mean 'rouge_l'? Known: bleu, rouge_l.
        """
        known = sorted(known)
        near = difflib.get_close_matches(name, known, n=1)
        guess = f" Did you mean {near[0]!r}?" if near else ""
        ending = remedy or f"Known: {', '.join(known)}."
        return cls(f"Unknown {kind} {name!r}.{guess} {ending}")


class ResourceError(ReelscoreError, OSError):
    """Language data that is missing, damaged or cannot be stored."""


class MissingExtraError(ReelscoreError, ImportError):
    """A feature whose optional dependencies are not installed."""


def check_choice(kind: str, name: object, known: Collection[str]) -> None:
    """Refuse a name that is not one of those known.

    Raises:
        UnknownNameError: With the nearest known name as a suggestion.

    >>> check_choice("tokenizer", "ptb", ["ptb", "none"])
    """
    if name not in known:
        raise UnknownNameError.of(kind, str(name), known)
