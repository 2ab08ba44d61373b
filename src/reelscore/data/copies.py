"""Candidates that are the references themselves: a score of 1.0 that means nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

_NEARLY_ALL = 0.9
_HANDFUL = 5  # captions below which equality may be chance
_SAMPLE = 1000  # captions that are looked at first, spread over all


def copy_warning(
    candidates: Sequence[str], references_of: Callable[[int], Iterable[str]]
) -> list[str]:
    """Warn where nearly all captions equal one of their references, word for word.

    Args:
        candidates: The captions.
        references_of: Gives the references of the caption at a place.

    >>> copy_warning(["a man"] * 5, lambda place: ["a dog", "a man"])
    ['Warning: 5 of 5 captions equal one of their references word for word; are they the
    references?']
    >>> copy_warning(["a man"] * 5, lambda place: ["a dog"])
    []
    """

    def copies(places: range) -> int:
        return sum(candidates[k].strip() in map(str.strip, references_of(k)) for k in places)

    count = len(candidates)
    sample = range(0, count, max(1, count // _SAMPLE))
    if count < _HANDFUL or copies(sample) < _NEARLY_ALL * len(sample):
        return []
    equal = copies(range(count))
    if equal < _NEARLY_ALL * count:
        return []
    return [
        f"Warning: {equal:,} of {count:,} captions equal one of their references word for word; "
        "are they the references?"
    ]
