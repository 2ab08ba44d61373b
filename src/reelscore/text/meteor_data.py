"""METEOR's language data, compiled once into one memory-mapped index.

The data (function words, WordNet synonyms, five million paraphrases) comes with the pycocoevalcap
package. Unpacking it takes Java ten seconds and a gigabyte at each start; compiled, it is mapped
in milliseconds and shared between processes. The index lies in the user's cache directory, or
where the variable ``REELSCORE_CACHE`` says. It is written aside and renamed, under a lock, so that
two processes can start at once and one that is killed leaves nothing half-made; its checksum is
tested when it is opened, and a damaged index is built again.
"""

from __future__ import annotations

import os
import secrets
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from reelscore import _native
from reelscore._progress import Lines, Progress
from reelscore.errors import ResourceError

INDEX_NAME = f"meteor-1.5-en-v{_native.LanguageIndex.format_version}.index"
_CHUNK = 1 << 20


def cache_directory() -> Path:
    """Where the index lies: ``REELSCORE_CACHE``, or the platform's cache directory.

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


def language_index() -> _native.LanguageIndex:
    """Open the index, building it first where there is none or it is damaged.

    Raises:
        ResourceError: If the data cannot be found or the index cannot be written.

    >>> language_index() is language_index()  # it stays open
    True
    """
    return _opened(cache_directory() / INDEX_NAME)


@lru_cache(maxsize=1)
def _opened(path: Path) -> _native.LanguageIndex:
    index = _open(path)
    if index is None:
        with _locked(path):
            index = _open(path)  # another process may have built it while this one waited
            if index is None:
                build(path)
                index = _open(path)
    if index is None:
        raise ResourceError(
            f"{path}: the language index was written but does not read back intact. "
            "Check the disk, or set REELSCORE_CACHE to a folder on another one."
        )
    return index


def _open(path: Path) -> _native.LanguageIndex | None:
    """Map the index; None where it is absent or damaged."""
    try:
        content = np.memmap(path, dtype=np.uint8, mode="r")
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: an empty file
        return None
    except OSError as error:
        raise ResourceError(f"{path}: the language index cannot be read: {error}.") from error
    return _native.LanguageIndex.open(content)


def build(path: Path, progress: Progress | None = None) -> None:
    """Compile the language data and write the index.

    Args:
        path: The file to write.
        progress: Called with bytes read and bytes in all; a bar on stderr where none is given.

    Raises:
        ResourceError: If the data cannot be found or read, or the index cannot be written.
    """
    if progress is None:
        with _bar() as progress:
            return build(path, progress)
    jar, paraphrases = _source_files()
    builder = _native.LanguageIndexBuilder()
    try:
        with zipfile.ZipFile(jar) as archive:
            builder.add_function_words(archive.read("function/english.words"))
            builder.add_prefixes(archive.read("nonbreaking/english.prefixes"))
            builder.add_exceptions(archive.read("synonym/english.exceptions"))
            builder.add_synsets(archive.read("synonym/english.synsets"))
        for text, done in _decompressed(paraphrases):
            builder.add_paraphrases(text)
            progress(done, paraphrases.stat().st_size)
        content = builder.finish()
    except (OSError, KeyError, EOFError, ValueError, zipfile.BadZipFile, zlib.error) as error:
        raise ResourceError(
            f"{jar.parent}: METEOR's language data cannot be read ({error}). "
            "Install it again: pip install --force-reinstall pycocoevalcap==1.2"
        ) from error
    _write(path, content)


def _decompressed(path: Path) -> Iterator[tuple[bytes, int]]:
    """Yield pieces of a gzip file, each with how many bytes of the file were read for it."""
    unzip = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    done = 0
    with path.open("rb") as file:
        while piece := file.read(_CHUNK):
            done += len(piece)
            yield unzip.decompress(piece), done
    if not unzip.eof:
        raise EOFError(f"{path.name} is truncated")


def _source_files() -> tuple[Path, Path]:
    package = find_spec("pycocoevalcap")
    folders = list(package.submodule_search_locations or []) if package else []
    if not folders:
        raise ResourceError(
            "METEOR's language data is missing: it comes with pycocoevalcap. "
            "Install it: pip install pycocoevalcap==1.2"
        )
    folder = Path(folders[0]) / "meteor"
    return folder / "meteor-1.5.jar", folder / "data" / "paraphrase-en.gz"


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Let one process build at a time; the system drops the lock of a process that dies."""
    with _writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.with_suffix(".lock").open("a")
    with lock:
        try:
            import fcntl
        except ImportError:  # Windows: two processes may both build; the last one's file stays
            yield
            return
        with suppress(OSError):  # a file system without locks
            fcntl.flock(lock, fcntl.LOCK_EX)
            for left in path.parent.glob(f"{path.stem}.*.tmp"):  # by builds that were killed
                left.unlink(missing_ok=True)
        yield


def _write(path: Path, content: np.ndarray[tuple[int], np.dtype[np.uint8]]) -> None:
    aside = path.with_suffix(f".{secrets.token_hex(4)}.tmp")
    with _writing(path):
        try:
            with aside.open("wb") as file:
                file.write(content.data)
                file.flush()
                os.fsync(file.fileno())
            aside.replace(path)
        except BaseException:
            aside.unlink(missing_ok=True)
            raise


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ResourceError(
            f"{path}: the language index cannot be written ({error.strerror or error}). "
            "It needs about 100 MB; set REELSCORE_CACHE to a folder with room where you may write."
        ) from error


@contextmanager
def _bar() -> Iterator[Progress]:
    what = "Compiling METEOR's language data, once"
    if not sys.stderr.isatty():
        sys.stderr.write(f"{what}\n")
        yield Lines(what, lambda line: sys.stderr.write(f"{line}\n"))
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True)) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
