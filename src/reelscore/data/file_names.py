"""The files that a user names: one by one, as a folder, or by a pattern."""

from __future__ import annotations

import os
from collections.abc import Iterable
from glob import glob
from pathlib import Path
from stat import S_ISDIR

from reelscore.errors import DataError

PathLike = str | os.PathLike[str]

_MAGIC = frozenset("*?[")  # the characters of patterns


def expanded(paths: Iterable[PathLike]) -> list[PathLike]:
    """Replace folders and patterns by the files they stand for; all others stay as they are."""
    return [file for path in paths for file in _files(path)]


def is_several(path: PathLike) -> bool:
    """Return whether a path is a folder or a pattern, and may stand for several files.

    >>> is_several("runs/*.json"), is_several("run.json")
    (True, False)
    """
    try:
        return S_ISDIR(Path(path).stat().st_mode)
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: no name of a file
        return not _MAGIC.isdisjoint(os.fspath(path))
    except OSError:  # a name too long for a file
        return False


def exists(path: PathLike) -> bool:
    """Return whether there is a file or a folder; a text that cannot be a name stands for none.

    >>> exists("a man rides a horse " * 100)
    False
    """
    try:
        return Path(path).exists()
    except (OSError, ValueError):  # too long a name, or with a null character
        return False


def is_file(path: PathLike) -> bool:
    """Return whether there is a file, as `exists` does."""
    return exists(path) and Path(path).is_file()


def folder_of(path: PathLike) -> str:
    """Return the folder that a file lies in; "" for the current one.

    >>> folder_of("./refs//a.txt"), folder_of("a.txt")
    ('refs', '')
    """
    folder = Path(path).parent
    return "" if folder == Path() else str(folder)


def shard_files(paths: Iterable[PathLike]) -> list[PathLike]:
    """Expand paths, and leave out what programs put beside their shards, such as _SUCCESS.

    Such files have no ending; captions may be in one whose name begins with "_", too.

    >>> shard_files(["part-0.parquet", "_SUCCESS", "_ours.jsonl"])
    ['part-0.parquet', '_ours.jsonl']
    """
    files = expanded(paths)
    names = [Path(path).name for path in files]
    are_marks = [name.startswith("_") and "." not in name for name in names]
    return [path for path, mark in zip(files, are_marks, strict=True) if not mark] or files


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
    names = glob(os.fspath(path))  # noqa: PTH207 - Path.glob takes no absolute patterns
    matching = [file for file in sorted(names) if Path(file).is_file()]
    if not matching:
        raise DataError(f"{os.fspath(path)}: no file matches the pattern.")
    return list(matching)
