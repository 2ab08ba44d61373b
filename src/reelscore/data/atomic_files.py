"""Write files all or nothing: aside first, in the same folder, then renamed into place.

Readers see the old content or the new, never half of it. A file that was there keeps its
permissions and a new one gets the usual ones, save that private files are for their owner alone.
Links are followed; devices and pipes, which cannot be replaced, are written to directly.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from reelscore.errors import DataError


def write_atomically(
    path: str | os.PathLike[str], content: str | bytes, *, private: bool = False
) -> None:
    r"""Write a whole file, or leave everything as it was."""
    try:
        data = content.encode() if isinstance(content, str) else content
    except UnicodeEncodeError as error:
        raise DataError(
            f"{os.fspath(path)}: the text holds a lone surrogate ({error.object[error.start]!a}, "
            f"position {error.start + 1}) and cannot be written as UTF-8."
        ) from None
    with opened_atomically(path, private=private) as file:
        file.write(data)


def make_folder(path: str | os.PathLike[str]) -> None:
    """Make a folder, and those above it, unless it is there."""
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(
            f"{os.fspath(path)}: the folder cannot be made ({error.strerror}); name another."
        ) from error


def check_own_folder(
    path: str | os.PathLike[str], marker: str, others: Collection[str] = ()
) -> None:
    """Refuse a folder that holds files, and not those of the work that wants to write there."""
    folder = Path(path)
    try:
        names = sorted(each.name for each in folder.iterdir() if not each.name.startswith("."))
    except FileNotFoundError:
        return
    except NotADirectoryError:
        raise DataError(f"{os.fspath(path)}: is a file; name a folder.") from None
    except OSError as error:
        raise DataError(f"{os.fspath(path)}: cannot be read ({error.strerror}).") from None
    strange = [name for name in names if name not in others]
    if strange and marker not in names:
        shown = ", ".join(strange[:3]) + (" …" if len(strange) > 3 else "")
        raise DataError(
            f"{os.fspath(path)}: holds other files ({shown}) and no {marker}; choose an empty "
            "folder."
        )


@contextmanager
def opened_atomically(
    path: str | os.PathLike[str], *, private: bool = False
) -> Iterator[IO[bytes]]:
    r"""Open a file to write piece by piece; it is in place when the block ends without an error."""
    name = os.fspath(path)
    try:
        with _opened(Path(path).resolve(), private) as file:
            yield file
    except FileNotFoundError:
        folder = str(Path(path).parent)
        raise DataError(f"{name}: there is no folder {folder!r}; make it first.") from None
    except IsADirectoryError:
        raise DataError(f"{name}: is a folder; name a file in it.") from None
    except NotADirectoryError:
        folder = str(Path(path).parent)
        raise DataError(f"{name}: {folder!r} is a file, not a folder.") from None
    except PermissionError:
        raise DataError(f"{name}: permission denied; choose a folder you may write to.") from None
    except OSError as error:
        raise DataError(f"{name}: cannot be written: {error.strerror or error}.") from None


def check_target(path: str | os.PathLike[str]) -> None:
    """Find out before long work whether a file can be written at its end."""
    target = Path(path)
    if not target.parent.is_dir():
        raise DataError(f"{os.fspath(path)}: there is no folder {str(target.parent)!r}; make it.")
    if target.is_dir():
        raise DataError(f"{os.fspath(path)}: is a folder; name a file.")
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        raise DataError(f"{os.fspath(path)}: permission denied; choose another place.")


@contextmanager
def _opened(target: Path, private: bool) -> Iterator[IO[bytes]]:
    mode = target.stat().st_mode if target.exists() else None
    if mode is not None and not stat.S_ISREG(mode):
        with target.open("wb") as file:  # renaming onto /dev/null would destroy it
            yield file
        return
    # The part of a name that 255 bytes leave room for; the suffix makes it unique.
    aside = target.with_name(f".{target.name[:50]}.{os.urandom(4).hex()}.tmp")
    # os.open leaves the permissions of a new file to the user's umask, as tempfile does not.
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666)
    try:
        with open(descriptor, "wb") as file:  # noqa: PTH123 (a descriptor, not a path)
            yield file
            file.flush()
            os.fsync(descriptor)
        if mode is not None and not private:
            aside.chmod(stat.S_IMODE(mode))
        aside.replace(target)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
