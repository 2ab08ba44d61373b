"""METEOR's language data: function words, WordNet synonyms and five million paraphrases.

It is compiled into one file when reelscore is built (see models/meteor), which is mapped into
memory in milliseconds and shared between processes.
"""

from __future__ import annotations

import mmap
from functools import lru_cache
from pathlib import Path

from reelscore import _native
from reelscore.errors import ResourceError

_REMEDY = "Install reelscore again: pip install --force-reinstall --no-deps reelscore"


def meteor_index() -> _native.MeteorIndex:
    """Open the index; it stays open.

    >>> meteor_index() is meteor_index()
    True
    """
    return _opened(index_file())


def index_file() -> Path:
    """Return the file of the index, which lies beside the native module.

    >>> index_file().name
    'meteor.index'
    """
    return Path(str(_native.__file__)).with_name("meteor.index")


@lru_cache(maxsize=1)
def _opened(path: Path) -> _native.MeteorIndex:
    try:
        with path.open("rb") as file:
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:  # ValueError: an empty file
        raise ResourceError(
            f"{path}: METEOR's language data cannot be read ({error}). {_REMEDY}"
        ) from error
    index = _native.MeteorIndex.open(content)
    if index is None:
        raise ResourceError(f"{path}: METEOR's language data is damaged. {_REMEDY}")
    return index
