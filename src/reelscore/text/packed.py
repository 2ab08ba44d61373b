"""Many strings in two flat arrays, the form in which text crosses into C++.

A million captions packed cost their bytes and eight million more; as Python strings they cost
three times that, and could not be read without holding the interpreter's lock.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reelscore import _native
from reelscore._digests import blake2b
from reelscore.errors import DataError


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
        return Packed(*_native.take(self.data, self.offsets, numbers))


def pack(texts: Iterable[str] | Packed) -> Packed:
    """Pack strings; what is packed already stays as it is.

    Raises:
        DataError: If one is not text, or cannot be written as UTF-8.

    >>> pack(["a man", ""]).offsets.tolist()
    [0, 5, 5]
    """
    if isinstance(texts, Packed):
        return texts
    if isinstance(texts, str):
        raise DataError(f"Expected a list of captions, got one text ({texts[:40]!r}).")
    if isinstance(texts, Mapping) or hasattr(texts, "columns") or hasattr(texts, "num_rows"):
        raise DataError(
            f"Expected a list of captions, got a {type(texts).__name__}; give its texts alone, "
            "such as list(captions.values()) or frame['caption']."
        )
    texts = texts if isinstance(texts, list) else list(texts)
    try:
        return Packed(*_native.pack(texts))
    except TypeError:
        odd = next(text for text in texts if not isinstance(text, str))
        raise DataError(f"A caption is {odd!r}; expected text.") from None
    except UnicodeEncodeError as error:
        raise DataError(
            f"A caption holds half a character (a lone surrogate): {error.object!r}."
        ) from None


def array_fingerprint(*arrays: NDArray[Any]) -> str:
    """Eight hex digits that tell whether two results were made from the same data.

    >>> array_fingerprint(*pack(["a man"])) == array_fingerprint(*pack(["a man "]))
    False
    """
    digest = blake2b(digest_size=4)
    for values in arrays:
        digest.update(np.ascontiguousarray(values).data)
    return digest.hexdigest()
