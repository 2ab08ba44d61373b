"""How to read a score: which way is better, its range, and whether items add up to the whole."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

from reelscore.errors import DataError, check_choice

Better = Literal["high", "low", "neither"]


@dataclass(frozen=True)
class Scale:
    """How to read a score.

    Attributes:
        better: Whether a ``high`` or a ``low`` score is better, or ``neither``, as with lengths.
        least: The lowest score there can be; ``None`` where there is none, or it is not known.
        most: The highest score there can be.
        mean: Whether any items together score the mean of their scores, so that items can be
            resampled; ``None`` where that is not known.
        together: Whether an item's score depends on the system's other captions, so that items
            cannot be resampled at all.
        headline: Whether papers quote the score before others; a report shows it first.

    >>> Scale("low").best([0.5, 0.25]), Scale("low").sign
    (0.25, -1)
    >>> Scale("neither").best([3, 4]) is None
    True
    """

    better: Better = "high"
    least: float | None = None
    most: float | None = None
    mean: bool | None = None
    together: bool = False
    headline: bool = False

    def __post_init__(self) -> None:
        check_choice("direction of a score", self.better, get_args(Better))
        if self.least is not None and self.most is not None and not self.least < self.most:
            raise DataError(f"A score's range is {self.least:g} to {self.most:g}; it is empty.")

    @property
    def sign(self) -> int:
        """What to multiply scores by, so that higher is better."""
        return -1 if self.better == "low" else 1

    @property
    def ranks(self) -> bool:
        """Whether one score is better than another at all."""
        return self.better != "neither"

    def best(self, scores: Iterable[float]) -> float | None:
        """The best of some scores; ``None`` where none is, or there are no scores."""
        if not self.ranks:
            return None
        return (min if self.better == "low" else max)(scores, default=None)

    def heading(self, name: str) -> str:
        """A score's name, with an arrow where lower is better.

        >>> Scale("low").heading("self_bleu"), Scale().heading("meteor")
        ('self_bleu ↓', 'meteor')
        """
        return f"{name} ↓" if self.better == "low" else name

    def __str__(self) -> str:
        words = {
            "high": "higher is better",
            "low": "lower is better",
            "neither": "neither is better",
        }
        if self.least is None and self.most is None:
            return words[self.better]
        low = "−∞" if self.least is None else f"{self.least:g}"
        high = "∞" if self.most is None else f"{self.most:g}"
        return f"{low} to {high}, {words[self.better]}"

    def to_dict(self) -> dict[str, Any]:
        """Give the scale as the JSON form of a table has it."""
        return {
            "better": self.better,
            "range": [self.least, self.most],
            "mean": self.mean,
            **({"together": True} if self.together else {}),
            **({"headline": True} if self.headline else {}),
        }


HIGHER = Scale()  # assumed of a score if nothing is known about it
