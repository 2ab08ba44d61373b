"""What a learned metric was trained on, as hashes of texts: enough to know an item again.

A metric that has seen an item's judgments scores it too well. Items are known by their references,
which people wrote for one video and which hardly ever occur twice, compared without case and
punctuation. Of each reference a number of 32 bits is kept; the text cannot be had back from it.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from reelscore.errors import DataError

_WORDS = re.compile(r"\w+")
_WORTH_A_WARNING = 0.01  # share of items; a few short references are those of other videos too

IntArray = NDArray[np.int64]


@lru_cache(maxsize=1 << 18)
def plain_form(text: str) -> str:
    """Reduce a text to what makes it the same caption.

    >>> plain_form("A man, playing  a Guitar!")
    'a man playing a guitar'
    """
    return " ".join(_WORDS.findall(text.lower()))


@dataclass(frozen=True, eq=False)
class TrainingItems:
    """The items a metric was trained on, by group, such as a year."""

    # of each group, the hashes of its items' references, sorted
    groups: Mapping[str, NDArray[np.uint32]]

    @classmethod
    def of(cls, references: Mapping[str, Iterable[str]]) -> TrainingItems:
        """Take the references of all items of each group."""
        return cls({group: np.unique(_hashes(texts)) for group, texts in references.items()})

    @classmethod
    def together(cls, parts: Iterable[TrainingItems | None]) -> TrainingItems | None:
        """Put together what several metrics were trained on; ``None`` where none was."""
        groups: dict[str, NDArray[np.uint32]] = {}
        for part in parts:
            for group, hashes in part.groups.items() if part is not None else ():
                groups[group] = np.union1d(groups.get(group, hashes), hashes)
        return cls(groups) if groups else None

    @cached_property
    def fingerprint(self) -> str:
        """Eight hex digits that tell whether two metrics were trained on the same items."""
        digest = hashlib.blake2b(digest_size=4)
        for group in sorted(self.groups):
            digest.update(group.encode() + b"\0" + self.groups[group].astype("<u4").tobytes())
        return digest.hexdigest()

    def seen(self, references: Sequence[str], offsets: IntArray) -> dict[str, NDArray[np.bool_]]:
        """Return for each group which items are its own: half of their references or more are."""
        hashes = _hashes(references)
        counts = np.diff(offsets)
        seen = {}
        for group, own in self.groups.items():
            known = np.concatenate([[0], np.cumsum(np.isin(hashes, own))])
            of_item = known[offsets[1:]] - known[offsets[:-1]]
            seen[group] = (counts > 0) & (2 * of_item >= counts)
        return seen

    def counts(self, references: Sequence[str], offsets: IntArray) -> dict[str, int]:
        """Count the items of each group that has some; arguments as in `seen`."""
        counts = {group: int(own.sum()) for group, own in self.seen(references, offsets).items()}
        return {group: count for group, count in counts.items() if count}

    def encoded(self) -> dict[str, str]:
        """Return the hashes as text, for JSON."""
        return {
            group: base64.b64encode(own.astype("<u4").tobytes()).decode()
            for group, own in self.groups.items()
        }

    @classmethod
    def decoded(cls, groups: Mapping[str, str]) -> TrainingItems:
        """Read what `encoded` gave."""
        try:
            return cls(
                {
                    group: np.frombuffer(base64.b64decode(text, validate=True), dtype="<u4")
                    for group, text in groups.items()
                }
            )
        except (ValueError, TypeError, AttributeError) as error:
            raise DataError(f"These are not hashes of training items: {error}.") from error


def training_warning(
    name: str, counts: Mapping[str, int], items: int, remedy: Callable[[Sequence[str]], str]
) -> list[str]:
    """Warn of scores of items that the metric was trained on."""
    seen = min(sum(counts.values()), items)
    if seen < max(1, _WORTH_A_WARNING * items):
        return []
    groups = sorted(counts)
    return [
        f"Warning: {name} was trained on {seen:,} of these {items:,} items ({', '.join(groups)}): "
        "its scores of them and its agreement with people are better than on new items. "
        f"{remedy(groups)}".rstrip()
    ]


def _hashes(texts: Iterable[str]) -> NDArray[np.uint32]:
    digests = [
        int.from_bytes(hashlib.blake2b(plain_form(text).encode(), digest_size=4).digest(), "little")
        for text in texts
    ]
    return np.array(digests, dtype=np.uint32)
