"""What makes an item id or a caption unusable, in words, and one error for all bad records.

Each check returns `None` for a good value, and otherwise the rest of a sentence whose subject the
caller knows: "the caption of item 'v1'" + "is null; expected text".
"""

from __future__ import annotations

import operator
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from reelscore import _native
from reelscore.errors import DataError

SHOWN = 5  # bad records that an error names
_LONG = 240  # characters of a message that stands for all
_TOGETHER = 1000  # texts that are looked at together: few enough to take no memory to speak of


def text_fault(value: object) -> str | None:
    r"""Return why a value is not usable as text: another type, a NUL, half a surrogate pair."""
    if not isinstance(value, str):
        return f"is {in_words(value)}; expected text"
    if "\0" in value:
        return f"holds a NUL character (position {value.index(chr(0)) + 1})"
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            lone = ascii(value[error.start])
            return f"holds a lone surrogate ({lone}, position {error.start + 1}), half a character"
    return None


def are_texts(values: Iterable[object]) -> bool:
    r"""Return whether all values are usable as text; a quick check.

    >>> are_texts(["a man", "a café"]), are_texts(["a man", 3]), are_texts(["a\x00b"])
    (True, False, False)
    """
    values = iter(values)
    while some := list(islice(values, _TOGETHER)):
        try:
            together = b"".join(map(str.encode, some))  # type: ignore[arg-type]
        except (TypeError, UnicodeEncodeError):
            return False
        if b"\0" in together:
            return False
    return True


def has_words(text: str, *, tokenized: bool = False) -> bool:
    """Return whether a caption says anything: punctuation alone does not.

    The tokenizer of the COCO tools drops some of it, as "..." and "?!", so that nothing is left.

    >>> has_words("a man"), has_words("..."), has_words("...", tokenized=True)
    (True, False, True)
    """
    if any(map(str.isalnum, text)):
        return True
    if tokenized:
        return bool(text.strip())
    if all(unicodedata.category(character)[0] in "PZC" for character in text):
        return False
    [tokens] = _native.ptb_tokenize(_native.pack([text]), False, False, 1).unpack()
    return bool(tokens.strip())


def is_written_list(text: str) -> bool:
    r"""Return whether a text is a list of texts or records, as programs write one into a cell."""
    if text[:1] != "[" or text[-1:] != "]":
        return False
    inside = text[1:-1].strip()
    return len(inside) > 1 and inside[0] in "'\"{" and inside[-1] in "'\"}"


def id_fault(value: object) -> str | None:
    """Return why a value is not usable as an item id: an integer, or a text that is not blank."""
    if isinstance(value, str):
        if not value or value.isspace():
            return "is empty; expected text or an integer"
        return text_fault(value)
    if hasattr(value, "__index__") and not isinstance(value, bool):  # NumPy's integers, too
        return None
    return f"is {in_words(value)}; expected text or an integer"


def id_text(item: Any) -> str:
    """Write a good item id as text: the integer 7 and the text '7' are the same item.

    >>> id_text(7)
    '7'
    """
    return item if isinstance(item, str) else str(operator.index(item))


def references_fault(item: object, texts: Sequence[object]) -> str | None:
    """Return what is wrong with the references of an item, if anything is.

    >>> references_fault("v1", [])
    "item 'v1' has no references; at least one is needed"
    """
    if not texts:
        return f"item {item!r} has no references; at least one is needed"
    for rank, fault in enumerate(map(text_fault, texts), start=1):
        if fault:
            which = "the reference" if len(texts) == 1 else f"reference {rank}"
            return f"{which} of item {item!r} {fault}"
    return None


def candidate_fault(item: object, caption: object) -> str | None:
    """Return what is wrong with the candidate of an item, if anything is.

    >>> candidate_fault("v1", None)
    "the caption of item 'v1' is null; expected text"
    """
    fault = text_fault(caption)
    return f"the caption of item {item!r} {fault}" if fault else None


def in_words(value: object) -> str:
    """Name the kind of a value that should have been something else.

    >>> in_words(["a man"]), in_words(None), in_words(float("nan"))
    ('a list', 'null', 'missing (nan)')
    """
    if value is not None and is_missing(value):
        return f"missing ({value})"
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case int() | float():
            return f"a number ({value})"
        case str():
            return "a text"
        case list() | tuple():
            return "a list"
        case dict():
            return "an object"
    return f"of type {type(value).__name__}"


def is_missing(value: object) -> bool:
    """Return whether a value says that there is none: None, or what data frames have there.

    >>> is_missing(None), is_missing(float("nan")), is_missing("")
    (True, True, False)
    """
    if isinstance(value, float):
        return value != value
    return value is None or type(value).__name__ in ("NAType", "NaTType")


class Problems:
    """The bad records found so far."""

    def __init__(self, subject: str) -> None:
        """Start with none; `subject` names the file or argument they are found in."""
        self.subject = subject
        self.count = 0
        self.first: list[str] = []

    def add(self, message: str) -> None:
        """Count one bad record; the message says where and what."""
        self.count += 1
        if len(self.first) < SHOWN:
            self.first.append(message)

    def raise_if_any(self) -> None:
        """Raise one DataError for all of them; do nothing if there are none."""
        if self.count == 1:
            raise DataError(self.first[0])
        if self.count:
            long = max(map(len, self.first)) > _LONG  # five of them would fill a screen
            shown = self.first[:1] if long else self.first
            said = {self.count: ":", 1: "; the first:"}.get(len(shown), f"; the first {SHOWN}:")
            heading = f"{self.subject}: {self.count:,} records cannot be used{said}"
            raise DataError("\n  ".join([heading, *shown]))


def counted(number: int, what: str, several: str = "") -> str:
    """Count things in words.

    >>> counted(1, "caption"), counted(2000, "caption"), counted(2, "entry", "entries")
    ('1 caption', '2,000 captions', '2 entries')
    """
    return f"{number:,} {what}" if number == 1 else f"{number:,} {several or f'{what}s'}"


def first_few(ids: list[str]) -> str:
    """Name the first ids of a list, for a message.

    >>> first_few(["v1", "v2", "v3", "v4"])
    "first: 'v1', 'v2', 'v3'"
    """
    return "first: " + ", ".join(map(repr, ids[:3]))
