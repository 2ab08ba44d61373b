"""Text that both databases and all file forms can keep, and nothing else."""

from __future__ import annotations

from reelscore.errors import DataError

LONGEST = 100_000  # characters; a CSV reader takes a longer field for a runaway one


def check_text(text: str, what: str) -> str:
    r"""Refuse text that could not be stored and read back.

    Args:
        text: The text.
        what: What it is, for the message.

    Returns:
        The same text.

    Raises:
        DataError: If it is too long, or holds a NUL or a lone surrogate.

    >>> check_text("a dog runs", "the caption")
    'a dog runs'
    >>> check_text("a dog\0", "the caption")
    Traceback (most recent call last):
    reelscore.errors.DataError: the caption holds a NUL character; remove it.
    """
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
    """Refuse a name that is empty or could not be stored.

    >>> check_name("", "the rater")
    Traceback (most recent call last):
    reelscore.errors.DataError: the rater has no name; expected at least one character.
    """
    if not name:
        raise DataError(f"{what} has no name; expected at least one character.")
    return check_text(name, what)
