"""Types that msgspec reads, made ready by one thread before several use them.

msgspec looks at the fields of a type when it reads it for the first time, and keeps what it finds
in the type. A second thread that reads the same type meanwhile finds it half done, and the process
ends with a segmentation fault (msgspec 0.22). Servers and requests to models read in threads, so
whatever is read into a type of ours names it by `resolved`: where it is read, or once for a module
whose requests should not do it again.
"""

from __future__ import annotations

from threading import Lock
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")
_lock = Lock()
_ready: set[Any] = set()


def resolved(kind: T) -> T:
    """Return a type once msgspec knows its fields.

    >>> class Pair(msgspec.Struct):
    ...     first: int
    ...     second: int
    >>> msgspec.json.decode('{"first": 1, "second": 2}', type=resolved(Pair)).second
    2
    """
    if kind not in _ready:
        with _lock:
            msgspec.json.Decoder(kind)
            _ready.add(kind)
    return kind
