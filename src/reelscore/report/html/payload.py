"""The data inside a page: columns of numbers and texts, compressed, as text that HTML can hold.

A payload is a header in JSON and the columns behind it. Numbers lie as the browser's typed arrays
have them, floats with their bytes sorted by significance, which halves what compression leaves.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Kind = Literal["f4", "u1", "u2", "u4"]

_ALIGNED = 4  # typed arrays begin at multiples of their size


class Payload:
    """Columns by name, to be read by ``decode.js``.

    >>> payload = Payload()
    >>> payload.numbers("scores", [0.5, 0.25], "f4")
    >>> payload.texts("captions", ["a man", "a dog"])
    >>> text = payload.encoded({"title": "two captions"})
    >>> raw = zlib.decompress(base64.b64decode(text))
    >>> length = int.from_bytes(raw[:4], "little")
    >>> json.loads(raw[4 : 4 + length])["title"]
    'two captions'
    """

    def __init__(self) -> None:
        self._columns: list[dict[str, Any]] = []
        self._parts: list[bytes] = []
        self._size = 0

    def numbers(self, name: str, values: ArrayLike, kind: Kind) -> None:
        """Add a column of numbers; integers must fit their kind."""
        array: NDArray[Any] = np.asarray(values).ravel()
        if kind != "f4" and len(array):
            assert 0 <= array.min() <= array.max() <= np.iinfo(kind).max, name
        plain = np.ascontiguousarray(array, dtype=f"<{kind}")
        if kind == "f4":
            plain = np.ascontiguousarray(plain.view(np.uint8).reshape(-1, 4).T)
        self._add(name, kind, plain.tobytes())

    def texts(self, name: str, texts: Sequence[str]) -> None:
        r"""Add a column of texts, which have no ``\n`` in them."""
        self._add(name, "text", "\n".join(texts).encode())

    def _add(self, name: str, kind: str, data: bytes) -> None:
        self._columns.append({"name": name, "kind": kind, "at": self._size, "bytes": len(data)})
        padded = data + bytes(-len(data) % _ALIGNED)
        self._parts.append(padded)
        self._size += len(padded)

    def encoded(self, head: dict[str, Any]) -> str:
        """Give everything as one text of base64."""
        # json, not msgspec: names may hold a lone surrogate, which only an escape can carry.
        header = json.dumps({**head, "columns": self._columns}, separators=(",", ":")).encode()
        header += b" " * (-len(header) % _ALIGNED)
        raw = b"".join([len(header).to_bytes(4, "little"), header, *self._parts])
        return base64.b64encode(zlib.compress(raw, 6)).decode()
