"""Where reelscore keeps what would take long to compute or to download again."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def cache_directory() -> Path:
    """Return the directory of caches: ``REELSCORE_CACHE``, or that of the platform.

    >>> cache_directory().is_absolute()
    True
    """
    chosen = os.environ.get("REELSCORE_CACHE")
    if chosen:
        return Path(chosen).expanduser().absolute()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base).absolute() / "reelscore"


def keep_in_cache(path: Path, content: bytes) -> None:
    """Write a file below the directory of caches, all or nothing."""
    from reelscore.data.atomic_files import make_folder, write_atomically
    from reelscore.errors import DataError

    try:
        make_folder(path.parent)
        write_atomically(path, content)
    except DataError as error:
        raise DataError(
            f"{cache_directory()}: the cache cannot be written ({error.__cause__ or error}); set "
            "REELSCORE_CACHE to a folder that can be."
        ) from error
