"""The files that a user names: one by one, as a folder, or by a pattern."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable
from pathlib import Path

from reelscore.errors import DataError

PathLike = str | os.PathLike[str]


def expanded(paths: Iterable[PathLike]) -> list[PathLike]:
    """Replace folders and patterns by the files they stand for; all others stay as they are.

    Args:
        paths: Files, folders, and patterns with ``*``, ``?`` or ``[…]`` that name no file.

    Raises:
        DataError: If a folder has no files, or none matches a pattern.

    >>> from tempfile import mkdtemp
    >>> folder = Path(mkdtemp())
    >>> for name in ("b.txt", "a.txt", ".hidden"):
    ...     _ = (folder / name).write_text("a man")
    >>> [Path(path).name for path in expanded([folder, folder / "a*"])]
    ['a.txt', 'b.txt', 'a.txt']
    """
    return [file for path in paths for file in _files(path)]


def is_several(path: PathLike) -> bool:
    """Tell whether a path is a folder or a pattern, and may stand for several files.

    >>> is_several("runs/*.json"), is_several("run.json")
    (True, False)
    """
    try:
        return Path(path).is_dir() or _is_pattern(path)
    except OSError:  # a name too long for a file
        return False


def _files(path: PathLike) -> list[PathLike]:
    if not is_several(path):
        return [path]
    if Path(path).is_dir():
        files = sorted(file for file in Path(path).iterdir() if file.is_file())
        visible = [os.fspath(file) for file in files if not file.name.startswith(".")]
        if not visible:
            folders = sorted(folder.name for folder in Path(path).iterdir() if folder.is_dir())
            deeper = f", or a pattern such as '{Path(path, folders[0], '*')}'" if folders else ""
            raise DataError(
                f"{os.fspath(path)}: the folder has no files in it; name another{deeper}."
            )
        return list(visible)
    matching = [file for file in sorted(glob.glob(os.fspath(path))) if Path(file).is_file()]  # noqa: PTH207 (a text stays a text)
    if not matching:
        raise DataError(f"{os.fspath(path)}: no file matches the pattern.")
    return list(matching)


def _is_pattern(path: PathLike) -> bool:
    return glob.has_magic(os.fspath(path)) and not Path(path).exists()
