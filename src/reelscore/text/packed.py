"""Many strings in two flat arrays, the form in which text crosses into C++.

A million captions packed cost their bytes and eight million more; as Python strings they cost
three times that, and could not be read without holding the interpreter's lock.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reelscore import _native


class Packed(NamedTuple):
    """String k is the UTF-8 text ``data[offsets[k]:offsets[k + 1]]``."""

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]

    @property
    def size(self) -> int:
        """How many strings there are."""
        return len(self.offsets) - 1

    def unpack(self) -> list[str]:
        """Give the strings back.

        >>> pack(["a man", "naïve"]).unpack()
        ['a man', 'naïve']
        """
        return _native.unpack(self.data, self.offsets)

    def take(self, numbers: NDArray[np.int64]) -> Packed:
        """Pick strings by number, in the order given.

        >>> import numpy as np
        >>> pack(["a", "man", "runs"]).take(np.array([2, 0])).unpack()
        ['runs', 'a']
        """
        lengths = np.diff(self.offsets)[numbers]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        places = np.repeat(self.offsets[numbers] - offsets[:-1], lengths) + np.arange(offsets[-1])
        return Packed(self.data[places], offsets)


def pack(texts: Sequence[str]) -> Packed:
    """Pack strings; they must be encodable as UTF-8 (no lone surrogates).

    >>> pack(["a man", ""]).offsets.tolist()
    [0, 5, 5]
    """
    return Packed(*_native.pack(texts if isinstance(texts, list) else list(texts)))
