"""Arrays in files: ``.npy``, ``.npz``, ``.h5``, ``.safetensors``, told by content, never unpickled.

A stored array says its shape and gives its frames in pieces, so that a file larger than memory can
be pooled.
"""

from __future__ import annotations

import json
import math
import mmap
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from reelscore._packages import need
from reelscore.data.checks import id_fault
from reelscore.errors import DataError

_PIECE = 1 << 22  # numbers that are read at once
_FLOATS = {"float16", "float32", "float64"}
Array = NDArray[np.generic]
PieceReader = Callable[[int], Iterator[Array]]


@dataclass(frozen=True)
class StoredArray:
    """The array of one item, in a file or in memory.

    Attributes:
        item: The item's id.
        shape: ``(d,)`` or ``(frames, d)``.
        dtype: The kind of its numbers.
        read: Yields the frames in order, so many at once, as ``(frames, d)``.
    """

    item: str
    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]
    read: PieceReader

    @classmethod
    def of(cls, item: str, array: Array) -> StoredArray:
        """Take an array that is in memory."""
        frames = np.atleast_2d(array)

        def read(step: int) -> Iterator[Array]:
            return (frames[begin : begin + step] for begin in range(0, len(frames), step))

        return cls(item, array.shape, array.dtype, read)

    @property
    def frames(self) -> int:
        """How many frames there are; one where the array is of the whole clip."""
        return self.shape[0] if len(self.shape) == 2 else 1

    def width(self, path: str) -> int:
        """Return how many numbers a frame has."""
        if fault := id_fault(self.item):
            raise DataError(f"{path}: an item id {fault}.")
        if self.dtype.name not in _FLOATS:
            raise DataError(
                f"{path}: item {self.item!r} holds values of type {self.dtype}; expected float16, "
                "float32 or float64. Convert it."
            )
        if len(self.shape) not in (1, 2):
            raise DataError(
                f"{path}: item {self.item!r} has an array of shape {self.shape}; expected (d,) or "
                "(frames, d)."
            )
        if 0 in self.shape:
            raise DataError(
                f"{path}: item {self.item!r} has an empty array, of shape {self.shape}; expected "
                "(d,) or (frames, d). Extract it again or leave it out."
            )
        return self.shape[-1]

    def pieces(self) -> Iterator[Array]:
        """Yield the frames, some millions of numbers at once."""
        return self.read(max(1, _PIECE // self.shape[-1]))


@dataclass(frozen=True)
class StoredMatrix:
    """A whole matrix with the ids of its rows, as in ``feats.npy`` and ``feats.ids.txt``."""

    items: tuple[str, ...]
    matrix: NDArray[Any]

    def release(self) -> None:
        """Let go of the pages of a mapped file that were read."""
        mapped = getattr(self.matrix, "_mmap", None)
        if mapped is not None and hasattr(mapped, "madvise"):
            mapped.madvise(mmap.MADV_DONTNEED)


@contextmanager
def opened_arrays(path: Path) -> Iterator[list[StoredArray] | StoredMatrix]:
    """Open a file or folder with features; its arrays can be read until the block ends."""
    with ExitStack() as stack:
        try:
            if not path.is_dir() and _format(path) == "npy":
                yield _with_ids(path)
                return
            arrays = _folder(path, stack) if path.is_dir() else _file(path, stack)
            if not arrays:
                raise DataError(f"{path}: holds no features; expected an array for each item.")
            yield arrays
        except (OSError, EOFError, zipfile.BadZipFile) as error:
            raise DataError(f"{path}: cannot be read: {_reason(error)}.") from error


def _reason(error: BaseException) -> str:
    return str(getattr(error, "strerror", None) or error or type(error).__name__).rstrip(".")


def write_arrays(
    path: Path, arrays: Mapping[str, Array], metadata: Mapping[str, str] | None = None
) -> None:
    """Write arrays as safetensors, which is a file of features where each is of one item."""
    _safetensors_package().save_file(dict(arrays), path, dict(metadata) if metadata else None)


def metadata_of(path: Path) -> Mapping[str, str]:
    """What a sound file of safetensors says about itself; nothing where it is of another kind."""
    if path.is_dir() or _format(path) != "safetensors":
        return {}
    with path.open("rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    said = header.get("__metadata__")
    return said if isinstance(said, dict) else {}


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Read all arrays of a file that `write_arrays` wrote."""
    package = _safetensors_package()
    try:
        arrays: dict[str, NDArray[Any]] = package.load(path.read_bytes())
    except package.SafetensorError as error:
        raise ValueError(str(error)) from error
    return arrays


def _safetensors_package() -> ModuleType:
    return need("safetensors.numpy", "reelscore[torch]", "Label files need", "safetensors")


# The content of one file

_SIGNATURES = {
    b"PK\x03\x04": "npz",
    b"PK\x05\x06": "npz",  # a zip without members
    b"\x93NUMPY": "npy",
    b"\x89HDF\r\n\x1a\n": "h5",
}
_HEADER = 100_000_000  # bytes that the header of safetensors may have


def _format(path: Path) -> str:
    with path.open("rb") as file:
        head = file.read(16)
        size = file.seek(0, 2)
    for signature, name in _SIGNATURES.items():
        if head.startswith(signature):
            return name
    length = int.from_bytes(head[:8], "little")
    if head[8:9] == b"{" and length <= min(_HEADER, size - 8):
        return "safetensors"  # first, since its length may begin as a pickle does
    if head[:1] == b"\x80" and head[1:2] in b"\x02\x03\x04\x05":
        raise DataError(
            f"{path}: is a pickle, which can run any code when it is read. Save the features with "
            "numpy.savez or safetensors."
        )
    raise DataError(
        f"{path}: is in no known format of features; expected .npz, .h5, .safetensors, or .npy "
        "with ids beside it."
    )


def _file(path: Path, stack: ExitStack) -> list[StoredArray]:
    readers = {"npz": _npz, "h5": _h5, "safetensors": _safetensors, "npy": _npy}
    return readers[_format(path)](path, stack)


def _folder(path: Path, stack: ExitStack) -> list[StoredArray]:
    """Read a file for each item; a file is opened when its turn comes, not all at once."""
    arrays = []
    for file in sorted(path.iterdir()):
        if file.name.startswith("."):
            continue
        item, _, ending = file.name.rpartition(".")
        if not file.is_file() or ending not in ("npy", "npz", "safetensors"):
            raise DataError(
                f"{path}: holds {file.name!r}; expected one .npy, .npz or .safetensors per item, "
                "named by its id."
            )
        with ExitStack() as opened:
            own = _file(file, opened)
        if len(own) != 1:
            raise DataError(
                f"{file}: holds {len(own)} arrays; a file of a folder holds the one of its item."
            )
        arrays.append(StoredArray(item, own[0].shape, own[0].dtype, _reopening(file)))
    return arrays


def _reopening(file: Path) -> PieceReader:
    def read(step: int) -> Iterator[Array]:
        with ExitStack() as opened:
            yield from _file(file, opened)[0].read(step)

    return read


# Each format


def _header(file: IO[bytes], place: str) -> tuple[tuple[int, ...], bool, np.dtype[np.generic]]:
    """Read what a ``.npy`` says about its array: shape, whether in Fortran's order, kind."""
    try:
        version = np.lib.format.read_magic(file)
        reader = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }[version]
        shape, fortran, dtype = reader(file)
    except (ValueError, KeyError, SyntaxError) as error:
        raise DataError(f"{place}: is not a sound .npy: {_first_line(error)}.") from None
    if dtype.hasobject:
        raise DataError(
            f"{place}: holds pickled objects, which can run any code when they are read. Save "
            "plain arrays of numbers."
        )
    return shape, fortran, dtype


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0].rstrip(".")


def _npy(path: Path, stack: ExitStack) -> list[StoredArray]:
    array = _mapped_npy(path)
    return [StoredArray.of(path.stem, array)]


def _mapped_npy(path: Path) -> Array:
    with path.open("rb") as file:
        shape, fortran, dtype = _header(file, str(path))
        offset, size = file.tell(), file.seek(0, 2)
    needed = offset + math.prod(shape) * dtype.itemsize
    if size < needed:
        raise DataError(f"{path}: is cut off: {size:,} bytes of {needed:,}. Copy it again.")
    if needed == offset:
        return np.empty(shape, dtype)
    # Copy on write: changes of the array stay in memory, and take the place of what was read.
    return np.memmap(path, dtype, "c", offset, shape, "F" if fortran else "C")


def _with_ids(path: Path) -> StoredMatrix:
    beside = path.with_name(f"{path.name.removesuffix('.npy')}.ids.txt")
    matrix = _mapped_npy(path)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise DataError(
            f"{path}: has an array of shape {matrix.shape}; expected (items, d), with the ids in "
            f"{beside.name}."
        )
    if matrix.dtype.name not in _FLOATS:
        raise DataError(
            f"{path}: holds values of type {matrix.dtype}; expected float16, float32 or float64."
        )
    if not beside.is_file():
        raise DataError(f"{path}: has no ids; expected {beside.name} beside it, with an id a line.")
    try:
        items = beside.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise DataError(f"{beside}: is not UTF-8; expected an id a line.") from None
    if len(items) != len(matrix):
        raise DataError(
            f"{beside}: has {len(items):,} ids, {path.name} {len(matrix):,} rows; expected as many."
        )
    for number, item in enumerate(items, start=1):
        if fault := id_fault(item):
            raise DataError(f"{beside}:{number}: the item id {fault}.")
    if len(set(items)) < len(items):
        first = next(item for k, item in enumerate(items) if item in items[:k])
        raise DataError(f"{beside}: item {first!r} is there twice; give it one row.")
    return StoredMatrix(tuple(items), matrix)


def _npz(path: Path, stack: ExitStack) -> list[StoredArray]:
    archive = stack.enter_context(zipfile.ZipFile(path))
    arrays = []
    for info in archive.infolist():
        place = f"{path}: item {info.filename.removesuffix('.npy')!r}"
        if not info.filename.endswith(".npy"):
            raise DataError(f"{path}: holds {info.filename!r}; expected arrays, as numpy.savez.")
        if info.flag_bits & 1:
            raise DataError(f"{place} is encrypted; save it without a password.")
        with archive.open(info) as member:
            shape, _, dtype = _header(member, place)
        reader = _member_reader(archive, info, place)
        arrays.append(StoredArray(info.filename.removesuffix(".npy"), shape, dtype, reader))
    return arrays


def _member_reader(archive: zipfile.ZipFile, info: zipfile.ZipInfo, place: str) -> PieceReader:
    """Read frames of an array in an archive."""

    def read(step: int) -> Iterator[Array]:
        with archive.open(info) as member:
            shape, fortran, dtype = _header(member, place)
            frames, width = shape if len(shape) == 2 else (1, *shape)
            if fortran and frames > 1:  # its frames are spread over all of it
                yield _numbers(member, frames * width, dtype, place).reshape(width, frames).T
                return
            for begin in range(0, frames, step):
                count = min(step, frames - begin) * width
                yield _numbers(member, count, dtype, place).reshape(-1, width)

    return read


def _numbers(file: IO[bytes], count: int, dtype: np.dtype[np.generic], place: str) -> Array:
    data = file.read(count * dtype.itemsize)
    if len(data) < count * dtype.itemsize:
        raise DataError(f"{place} is cut off: fewer numbers than its shape says. Copy it again.")
    return np.frombuffer(data, dtype)


def _h5(path: Path, stack: ExitStack) -> list[StoredArray]:
    h5py = need("h5py", "reelscore[files]", f"{path}: reading .h5 needs")
    file = stack.enter_context(h5py.File(path, "r"))
    arrays: list[StoredArray] = []

    def add(name: str, found: Any) -> None:
        if isinstance(found, h5py.Dataset):
            arrays.append(StoredArray(name, found.shape or (), found.dtype, _h5_reader(found)))

    file.visititems(add)
    return arrays


def _h5_reader(dataset: Any) -> PieceReader:
    def read(step: int) -> Iterator[Array]:
        if dataset.ndim == 1:
            yield dataset[()][np.newaxis]
            return
        for begin in range(0, len(dataset), step):
            yield dataset[begin : begin + step]

    return read


_KINDS = {"F16": "<f2", "F32": "<f4", "F64": "<f8"}


def _safetensors(path: Path, stack: ExitStack) -> list[StoredArray]:
    file = stack.enter_context(path.open("rb"))
    length = int.from_bytes(file.read(8), "little")
    try:
        header = json.loads(file.read(length), object_pairs_hook=_without_twins)
        header.pop("__metadata__", None)
        entries = {
            name: (entry["dtype"], tuple(map(int, entry["shape"])), *entry["data_offsets"])
            for name, entry in header.items()
        }
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        if isinstance(error, DataError):
            raise DataError(f"{path}: {error}") from None
        raise DataError(f"{path}: is not sound safetensors: its header cannot be read.") from None
    content = stack.enter_context(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    arrays = []
    for name, (kind, shape, begin, end) in entries.items():
        if kind not in _KINDS:
            raise DataError(
                f"{path}: item {name!r} holds values of type {kind}; expected F16, F32 or F64. "
                "Convert it."
            )
        dtype = np.dtype(_KINDS[kind])
        size = math.prod(shape) * dtype.itemsize
        if end - begin != size or not 0 <= 8 + length + begin <= 8 + length + end <= len(content):
            raise DataError(
                f"{path}: item {name!r} is cut off: its shape {shape} needs {size:,} bytes. Copy "
                "the file again."
            )
        reader = _mapped_reader(content, 8 + length + begin, shape, dtype)
        arrays.append(StoredArray(name, shape, dtype, reader))
    return arrays


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        names = [name for name, _ in pairs]
        twin = next(name for name in names if names.count(name) > 1)
        raise DataError(f"item {twin!r} is there twice; give it one array.")
    return entries


def _mapped_reader(
    content: mmap.mmap, offset: int, shape: tuple[int, ...], dtype: np.dtype[np.generic]
) -> PieceReader:
    """Read frames from a mapped file, and let go of the pages that were read."""

    def read(step: int) -> Iterator[Array]:
        width = shape[-1] * dtype.itemsize
        end = offset + math.prod(shape) * dtype.itemsize
        for begin in range(offset, end, step * width):
            piece = content[begin : min(begin + step * width, end)]
            if hasattr(content, "madvise") and len(piece) >= mmap.PAGESIZE:
                content.madvise(mmap.MADV_DONTNEED)
            yield np.frombuffer(piece, dtype).reshape(-1, shape[-1])

    return read
