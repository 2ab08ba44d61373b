"""Bad records: every one is counted, the first few are named, and one error tells it all."""

from __future__ import annotations

from reelscore.errors import DataError

SHOWN = 5


class Problems:
    """The bad records found so far.

    >>> problems = Problems("refs.jsonl")
    >>> problems.add("refs.jsonl:2: no field 'caption'.")
    >>> problems.add("refs.jsonl:7: the item id is null; expected text or an integer.")
    >>> problems.raise_if_any()
    Traceback (most recent call last):
    reelscore.errors.DataError: refs.jsonl: 2 records cannot be used:
      refs.jsonl:2: no field 'caption'.
      refs.jsonl:7: the item id is null; expected text or an integer.
    """

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
            shown = f"; the first {SHOWN}:" if self.count > SHOWN else ":"
            heading = f"{self.subject}: {self.count:,} records cannot be used{shown}"
            raise DataError("\n  ".join([heading, *self.first]))


def first_few(ids: list[str]) -> str:
    """Name the first ids of a list, for a message.

    >>> first_few(["v1", "v2", "v3", "v4"])
    "first: 'v1', 'v2', 'v3'"
    """
    return "first: " + ", ".join(map(repr, ids[:3]))
