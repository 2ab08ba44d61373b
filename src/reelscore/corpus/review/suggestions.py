"""What a passage may have to be rejected for, by its words; people decide."""

from __future__ import annotations

import re
from functools import lru_cache

from reelscore.corpus.review.actions import REASONS

_ENDS = 180.0  # seconds at the start and the end of a film with logos and cast
_CREDITS = re.compile(
    r"\b(presents?|directed by|produced by|written by|starring|in association with|production|"
    r"productions|pictures|studios?|logo|credits?|screenplay|executive producer)\b",
    re.IGNORECASE,
)
_SCREEN = re.compile(
    r"[\"“][^\"”]+[\"”]|\b[A-Z]{2,}(?:[ ,.'’-]+[A-Z]{2,})+\b|"
    r"\b(reads|reading:|captions?|caption reads|subtitles?|titles?|text on|words appear)\b"
)
_SOUND = re.compile(
    r"\b(music|song|melody|sounds? of|sounds|hears?|heard|noise|audible|voices? off)\b",
    re.IGNORECASE,
)


def suggested_flags(
    text: str, start: float, end: float, seconds: float | None = None
) -> tuple[str, ...]:
    """Name the reasons for which the paper would have removed a sentence, by its words.

    Args:
        text: The sentence.
        start: When it begins.
        end: When it ends.
        seconds: How long the film is; without it, nothing is taken for its ending.

    >>> suggested_flags("A caption reads: LONDON.", 400.0, 403.0)
    ('text on screen',)
    >>> suggested_flags("Blue Door Pictures presents.", 4.0, 6.0)
    ('introduction or ending',)
    >>> suggested_flags("Anna opens the door.", 4.0, 6.0)
    ()
    """
    credit_words, on_screen, sound = _words(text)
    at_end = start < _ENDS or (seconds is not None and end > seconds - _ENDS)
    marks = (credit_words and at_end, on_screen, False, sound)
    return tuple(reason for reason, mark in zip(REASONS, marks, strict=True) if mark)


@lru_cache(maxsize=1 << 16)
def _words(text: str) -> tuple[bool, bool, bool]:
    return bool(_CREDITS.search(text)), bool(_SCREEN.search(text)), bool(_SOUND.search(text))
