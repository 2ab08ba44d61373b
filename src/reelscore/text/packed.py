"""Many strings in two flat arrays, the form in which text crosses into C++."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Any

from reelscore import _native
from reelscore._native import Packed as Packed
from reelscore.errors import DataError


def pack(texts: Iterable[str] | Packed) -> Packed:
    """Pack strings; what is packed already stays as it is.

    Raises:
        DataError: If one is not text, or cannot be written as UTF-8.

    >>> packed = pack(["a man", "", "naïve"])
    >>> packed.offsets.tolist(), packed.unpack()
    ([0, 5, 5, 11], ['a man', '', 'naïve'])
    >>> packed.slice(0, 2).unpack()
    ['a man', '']
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
        return _native.pack(texts)
    except TypeError:
        odd = next(text for text in texts if not isinstance(text, str))
        raise DataError(f"A caption is {odd!r}; expected text.") from None
    except UnicodeEncodeError as error:
        raise DataError(
            f"A caption holds half a character (a lone surrogate): {error.object!r}."
        ) from None


def array_fingerprint(*parts: Any) -> str:
    """Eight hex digits that tell whether two results were made from the same data.

    Args:
        parts: Packed strings, arrays, bytes: all that lies in one piece of memory.

    >>> array_fingerprint(pack(["a man"])) == array_fingerprint(pack(["a man "]))
    False
    """
    digest = blake2b(digest_size=4)
    for part in parts:
        for values in part.memory() if isinstance(part, Packed) else [part]:
            digest.update(values)
    return digest.hexdigest()
