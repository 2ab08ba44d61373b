"""How to read a score: what it is called and how it is written, which way is better, its range.

A score has a name in the table, such as ``bleu_4``, and a label in print, such as BLEU-4, which the
metric declares. Where a table has a metric in several variants, the name ends with the parameters
that differ from the defaults: ``cider|variant:plain``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args

import msgspec

from reelscore.errors import DataError, check_choice

Better = Literal["high", "low", "neither"]


class Scale(msgspec.Struct, frozen=True):
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
        label: The score's name in tables and figures, as papers write it: ``BLEU-4``.
        percent: Whether papers print the score times 100.

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
    label: str = ""
    percent: bool = False

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
        """A score's name or label, with an arrow where lower is better.

        >>> Scale("low").heading("Self-BLEU"), Scale().heading("METEOR")
        ('Self-BLEU ↓', 'METEOR')
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
        """Return the scale as the JSON form of a table has it."""
        return {
            "better": self.better,
            "range": [self.least, self.most],
            "mean": self.mean,
            **{name: value for name in _WHERE_SAID if (value := getattr(self, name))},
        }


_WHERE_SAID = ("together", "headline", "label", "percent")  # left out where they say nothing
_DECIMALS = 4  # of scores below 10
HIGHER = Scale()  # assumed of a score if nothing is known about it


def plain_name(name: str) -> str:
    """Return a name without capitals and without what separates its parts.

    >>> {plain_name(name) for name in ("BLEU-4", "bleu_4", "bleu4", "Bleu@4")}
    {'bleu4'}
    """
    return re.sub(r"[^a-z0-9]", "", name.lower())


def output_name(name: str) -> str:
    """Return a score's name without the parameters of a variant.

    >>> output_name("cider|variant:plain")
    'cider'
    """
    return name.partition("|")[0]


def score_labels(scales: Mapping[str, Scale]) -> dict[str, str]:
    """Return what each score is called in print."""
    labels = {name: scale.label or name for name, scale in scales.items()}
    plain = list(labels.values())
    for name, label in labels.items():
        variant = name.partition("|")[2]
        if variant and label != name and plain.count(label) > 1:
            labels[name] = f"{label} ({variant.replace('|', ', ')})"
    return labels


def scores_named(wanted: str, labels: Mapping[str, str], metrics: Mapping[str, str]) -> list[str]:
    """Find the scores that somebody means."""
    if wanted in labels:
        return [wanted]
    plain = plain_name(wanted)
    for spelling in ({name: name for name in labels}, labels, metrics):
        names = [name for name, text in spelling.items() if plain and plain_name(text) == plain]
        if names:
            return names
    return []


class NumberFormat(msgspec.Struct, frozen=True):
    """How the numbers of one column are written."""

    factor: float  # what they are multiplied by
    decimals: int  # how many decimals they have

    def text(self, value: float, sign: str = "-") -> str:
        """Write a number; ``sign="+"`` writes the sign of positive numbers too."""
        text = f"{self.factor * value:{sign}.{self.decimals}f}"
        return f"{0:{sign}.{self.decimals}f}" if float(text) == 0 else text  # not -0.00


def number_format(
    values: Iterable[float], factor: float = 1, digits: int | None = None
) -> NumberFormat:
    """Choose one format for the numbers of a column: by default, four decimals below 10."""
    finite = [abs(float(value)) for value in values if math.isfinite(value)]
    most = max(finite, default=0.0)
    if most >= 10 and all(map(float.is_integer, finite)):
        return NumberFormat(factor, 0)
    if digits is not None:
        return NumberFormat(factor, digits)
    if factor != 1:  # as many digits as without the factor
        return NumberFormat(factor, max(0, _DECIMALS - round(math.log10(abs(factor)))))
    return NumberFormat(factor, _DECIMALS if most < 10 else 2 if most < 1000 else 0)


def score_text(value: float) -> str:
    """Write one score with four decimals below 10, and fewer above.

    >>> score_text(0.17271), score_text(12.345), score_text(1284)
    ('0.1727', '12.35', '1284')
    """
    return number_format([value]).text(value)
