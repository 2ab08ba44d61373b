"""Features of clips: read from any of five layouts, pooled over frames, one row an item.

- one ``.npz``, ``.h5`` or ``.safetensors`` with an array per item id;
- a folder with one ``.npy``, ``.npz`` or ``.safetensors`` per item, named by its id;
- one 2-D ``.npy`` with the ids beside it, one a line: ``feats.npy`` and ``feats.ids.txt``.

The content tells the format, not the name. An array is ``(d,)``, or ``(frames, d)`` and pooled.
Arrays are read a piece at a time, so that memory holds the pooled matrix and little more; a 2-D
``.npy`` in single precision is mapped and not read at all. Nothing is ever unpickled.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from reelscore.data.checks import counted, first_few
from reelscore.errors import DataError, check_choice
from reelscore.text.words import array_fingerprint, pack
from reelscore_studies.baselines.array_files import (
    StoredArray,
    StoredMatrix,
    metadata_of,
    opened_arrays,
)

Matrix = NDArray[np.float32]
Pool = Literal["mean", "max"]
MissingItems = Literal["error", "skip"]
PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class Features:
    """Numbers of each item, in single precision.

    Attributes:
        items: The item ids.
        matrix: A row for each item.
        labels: Where the numbers are scores of labels: a hash of these labels; empty where they
            are not, or nobody knows.

    >>> features = Features(("v1", "v2"), np.float32([[1, 0], [0, 1]]))
    >>> features.take(["v2"]).matrix.tolist()
    [[0.0, 1.0]]
    """

    items: tuple[str, ...]
    matrix: Matrix
    labels: str = ""

    def __post_init__(self) -> None:
        if self.matrix.ndim != 2 or len(self.matrix) != len(self.items):
            raise DataError(
                f"{len(self.items):,} items have features of shape {self.matrix.shape}; expected "
                "a row for each."
            )
        if len(self._places) < len(self.items):
            raise DataError("An item has features twice; give each item one row.")

    def __len__(self) -> int:
        """Count the items."""
        return len(self.items)

    def __contains__(self, item: object) -> bool:
        """Return whether an item has features."""
        return item in self._places

    @cached_property
    def _places(self) -> dict[str, int]:
        return {item: place for place, item in enumerate(self.items)}

    def take(self, items: Sequence[str]) -> Features:
        """Pick items, in the order given; without a copy where they are all, in their order.

        Args:
            items: Their ids.

        Raises:
            DataError: If an item has no features.
        """
        if tuple(items) == self.items:
            return self
        missing = [item for item in items if item not in self._places]
        if missing:
            raise missing_features(missing)
        rows = self.matrix[[self._places[item] for item in items]]
        return Features(tuple(items), rows, self.labels)

    @property
    def hash(self) -> str:
        """Eight hex digits of ids and numbers."""
        return array_fingerprint(pack(list(self.items)), np.ascontiguousarray(self.matrix))

    @classmethod
    def of(cls, vectors: Mapping[str, Sequence[float] | NDArray[np.floating]]) -> Features:
        """Make features from a vector for each item.

        Args:
            vectors: By item id.

        >>> Features.of({"v1": [1.0, 0.5]}).matrix.tolist()
        [[1.0, 0.5]]
        """
        rows = {item: np.asarray(vector, np.float32) for item, vector in vectors.items()}
        arrays = [StoredArray.of(item, vector) for item, vector in rows.items()]
        return _collected(arrays, [array.item for array in arrays], "mean", "features")


def read_features(
    path: PathLike, items: Sequence[str] | None = None, *, pool: Pool = "mean"
) -> Features:
    """Read features from a file or folder, in any of the layouts above.

    Args:
        path: The file or folder.
        items: The ids wanted, in the order wanted; all, in the order of the file, by default.
        pool: How frames become one row: their ``mean`` or their ``max``.

    Raises:
        DataError: If the file cannot be read, holds a pickle, an array that is empty, not finite or
            of another length than the others, or an id twice; or if a wanted item is not there.
        MissingExtraError: If h5py or safetensors is needed and not installed.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     np.savez(Path(folder, "feats.npz"), v1=[1.0, 2.0], v2=[[1.0, 1.0], [3.0, 5.0]])
    ...     read_features(Path(folder, "feats.npz")).matrix.tolist()
    [[1.0, 2.0], [2.0, 3.0]]
    """
    check_choice("pooling", pool, get_args(Pool))
    with opened_arrays(Path(path)) as stored:
        if isinstance(stored, list):
            wanted = [array.item for array in stored] if items is None else list(items)
            features = _collected(stored, wanted, pool, os.fspath(path))
            return replace(features, labels=str(metadata_of(Path(path)).get("labels", "")))
        order = stored.items if items is None else tuple(items)
        return Features(order, _checked_matrix(stored, order, os.fspath(path)))


def feature_items(path: PathLike) -> list[str]:
    """List the ids of a file or folder with features, without reading the features."""
    with opened_arrays(Path(path)) as stored:
        return [array.item for array in stored] if isinstance(stored, list) else list(stored.items)


def common_items(
    captions: Iterable[str],
    features: Iterable[str],
    missing: MissingItems = "error",
    what: str = "features",
) -> list[str]:
    """Return the items that have captions and features, in the order of the captions.

    >>> common_items(["a", "b"], ["b"], missing="skip")
    ['b']
    """
    check_choice("policy missing=", missing, get_args(MissingItems))
    own, theirs = list(captions), list(features)
    described, others = set(own), set(theirs)
    without = [item for item in own if item not in others]
    if without and missing == "error":
        raise missing_features(without, what)
    extra = [item for item in theirs if item not in described] if missing == "error" else []
    if extra:
        raise DataError(
            f"{counted(len(extra), 'item')} of the {what} {_have(len(extra))} no caption "
            f'({first_few(extra)}). Add captions or pass missing="skip".'
        )
    both = [item for item in own if item in others]
    if not both:
        raise DataError(
            f"No item has both captions and {what}: captions have {first_few(own)}, {what} "
            f"{first_few(theirs)}. Are these the same clips?"
        )
    return both


def items_with_all(parts: Sequence[Features], missing: MissingItems = "error") -> list[str]:
    """Return the items that have every kind of features, in the order of the first.

    >>> items_with_all([Features.of({"a": [1.0], "b": [2.0]}), Features.of({"b": [3.0]})], "skip")
    ['b']
    """
    items = [item for item in parts[0].items if all(item in part for part in parts)]
    if not items:
        shown = "; ".join(first_few(list(part.items)) for part in parts)
        raise DataError(f"No item has all features ({shown}). Are these the same clips?")
    common = set(items)
    lone = next((item for part in parts for item in part.items if item not in common), None)
    if missing == "error" and lone is not None:
        raise DataError(
            f"Item {lone!r} has some of the features, but not all. Extract them or pass "
            'missing="skip".'
        )
    return items


def missing_features(items: Sequence[str], what: str = "features") -> DataError:
    """Return the error for captions whose items have no features.

    >>> print(missing_features(["a", "b", "c", "d"]))
    4 captions have no features (first: 'a', 'b', 'c'). Add them or pass missing="skip".
    """
    return DataError(
        f"{counted(len(items), 'caption')} {_have(len(items))} no {what} "
        f'({first_few(list(items))}). Add them or pass missing="skip".'
    )


def _have(number: int) -> str:
    return "has" if number == 1 else "have"


# From stored arrays to a matrix

_PIECE = 1 << 22  # numbers checked at once


def _collected(
    arrays: Sequence[StoredArray], wanted: Sequence[str], pool: Pool, path: str
) -> Features:
    """Pool the arrays of the wanted items into the rows of one matrix."""
    by_item: dict[str, StoredArray] = {}
    for array in arrays:
        if array.item in by_item:
            raise DataError(f"{path}: item {array.item!r} is there twice; give it one array.")
        by_item[array.item] = array
    missing = [item for item in wanted if item not in by_item]
    if missing:
        raise missing_features(missing)
    if not wanted:
        raise DataError(f"{path}: holds no features; expected an array for each item.")
    widths = {item: by_item[item].width(path) for item in wanted}
    width = _usual(widths.values())
    for item, own in widths.items():
        if own != width:
            raise DataError(
                f"{path}: item {item!r} has {own:,} numbers, the others {width:,} (shape "
                f"{by_item[item].shape}). Extract it again or leave it out."
            )
    matrix = np.empty((len(wanted), width), dtype=np.float32)
    for row, item in zip(matrix, wanted, strict=True):
        row[:] = _pooled(by_item[item], pool, path)
    return Features(tuple(wanted), matrix)


def _usual(widths: Iterable[int]) -> int:
    """Return the commonest width; the first of those that are equally common."""
    counts: dict[int, int] = {}
    for width in widths:
        counts[width] = counts.get(width, 0) + 1
    return max(counts, key=counts.__getitem__)


def _pooled(array: StoredArray, pool: Pool, path: str) -> Matrix:
    """Return one row from an array of frames; sums are made in double precision."""
    total: NDArray[np.float64] | None = None
    for frames in array.pieces():
        own = frames.max(axis=0) if pool == "max" else frames.sum(axis=0, dtype=np.float64)
        if total is None:
            total = own.astype(np.float64)
        elif pool == "max":
            np.maximum(total, own, out=total)
        else:
            total += own
    assert total is not None
    with np.errstate(over="ignore", invalid="ignore"):
        row = (total if pool == "max" else total / array.frames).astype(np.float32)
    if not np.isfinite(row).all():
        raise _not_finite(path, array.item, array.shape)
    return row


def _checked_matrix(stored: StoredMatrix, wanted: tuple[str, ...], path: str) -> Matrix:
    """The rows of some items in single precision; not copied where the file has them like that."""
    numbers = {item: number for number, item in enumerate(stored.items)}
    missing = [item for item in wanted if item not in numbers]
    if missing:
        raise missing_features(missing)
    matrix = stored.matrix
    as_stored = matrix.dtype == np.dtype("<f4") and matrix.flags.c_contiguous
    as_stored = as_stored and wanted == stored.items
    result = matrix if as_stored else np.empty((len(wanted), matrix.shape[1]), dtype=np.float32)
    height = max(1, _PIECE // matrix.shape[1])
    for begin in range(0, len(wanted), height):
        rows = slice(begin, begin + height)
        if not as_stored:
            with np.errstate(over="ignore"):
                result[rows] = matrix[[numbers[item] for item in wanted[rows]]]
            stored.release()
        finite = np.isfinite(result[rows]).all(axis=1)
        if not finite.all():
            place = begin + int(np.flatnonzero(~finite)[0])
            raise _not_finite(path, wanted[place], (matrix.shape[1],))
    return result


def _not_finite(path: str, item: str, shape: tuple[int, ...]) -> DataError:
    return DataError(
        f"{path}: item {item!r} (shape {shape}) has a number that is NaN, infinite or beyond "
        "single precision; expected finite numbers. Extract it again or leave it out."
    )


def feature_rows(features: Features, size: int) -> Iterator[tuple[slice, Matrix]]:
    """Walk over the rows of features, so many at once."""
    for begin in range(0, len(features), size):
        rows = slice(begin, min(begin + size, len(features)))
        yield rows, features.matrix[rows]
