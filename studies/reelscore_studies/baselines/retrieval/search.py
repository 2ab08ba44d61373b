"""Nearest training items by features: histogram intersection, L1 distance, or cosine.

Features are L1-normalised, so that the intersection of two, Σ min(x, y), is 1 − ½‖x − y‖₁. All
pairs are compared in single precision, in blocks, by faiss where it is installed and by numpy
otherwise. What may be among the nearest is compared again in double precision, and ordered by its
similarity rounded to 1e-6 and then by its place among the training items: ties are real, and the
result must not depend on who breaks them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from reelscore._packages import need
from reelscore._progress import Progress
from reelscore.errors import DataError, check_choice
from reelscore.text.tokens import thread_count
from reelscore_studies.baselines.clip_features import Features, Matrix

Distance = Literal["intersection", "l1", "cosine"]
Backend = Literal["auto", "faiss", "numpy"]
Places = NDArray[np.int64]

_TOLERANCE = 1e-5  # more than single precision can be wrong
_DIGITS = 6
_SPARE = 16  # items beyond the nearest that faiss gives, for ties
_BLOCK = 1 << 18  # numbers of training items that stay in a processor's cache
_QUERIES = 2048  # queries between two signs of life; for fewer, threads mostly wait
_PRODUCTS = 256  # queries whose products with all training rows are in memory at once


class Neighbours(NamedTuple):
    """The nearest training items of each query, the nearest first.

    Attributes:
        places: Their numbers, a row for each query.
        similarities: How similar they are, rounded to 1e-6.
    """

    places: Places
    similarities: NDArray[np.float64]


def normalised(
    features: Features,
    distance: Distance = "intersection",
    *,
    clip_negative: bool = False,
    overwrite: bool = False,
) -> Features:
    """Scale every row as a distance needs it: to a sum of 1, or for cosine to a length of 1.

    A row without any positive number stays 0, and is similar to nothing.

    >>> normalised(Features.of({"v": [1.0, 3.0]})).matrix.tolist()
    [[0.25, 0.75]]
    """
    check_choice("distance", distance, get_args(Distance))
    matrix = features.matrix
    result = matrix if overwrite and matrix.flags.writeable else np.empty_like(matrix)
    height = max(1, _BLOCK // matrix.shape[1])
    for begin in range(0, len(matrix), height):
        rows = matrix[begin : begin + height]
        if distance == "cosine":
            sizes = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
        else:
            if not clip_negative and (rows < 0).any():
                place = begin + int(np.flatnonzero((rows < 0).any(axis=1))[0])
                raise DataError(
                    f"Item {features.items[place]!r} has negative features; a histogram has none. "
                    'Pass clip_negative=True to take them for 0, or distance="cosine".'
                )
            rows = np.maximum(rows, 0)
            sizes = rows.sum(axis=1, dtype=np.float64)
        sizes[sizes == 0] = 1.0
        result[begin : begin + height] = rows / sizes[:, None]
    return Features(features.items, result)


def side_by_side(parts: Sequence[Features]) -> Features:
    """Join features of the same items, each with the same weight.

    >>> parts = [Features.of({"v": [1.0]}), Features.of({"v": [0.25, 0.75]})]
    >>> side_by_side(parts).matrix.tolist()
    [[1.0, 0.25, 0.75]]
    """
    if len(parts) == 1:
        return parts[0]
    items = parts[0].items
    return Features(items, np.hstack([part.take(items).matrix for part in parts]))


def nearest_rows(
    training: Matrix,
    queries: Matrix,
    *,
    k: int = 1,
    distance: Distance = "intersection",
    backend: Backend = "auto",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Neighbours:
    """Find the nearest training rows of each query; see `normalised` for what rows must be."""
    check_choice("distance", distance, get_args(Distance))
    check_choice("backend", backend, get_args(Backend))
    if training.shape[1] != queries.shape[1]:
        raise DataError(
            f"Training items have {training.shape[1]:,} features, queries {queries.shape[1]:,}. "
            "Are these the same features?"
        )
    if not 1 <= k <= len(training):
        raise DataError(f"k is {k}; expected a number from 1 to {len(training):,} training items.")
    exact = _EXACT[distance]
    candidates = _chooser(training, k, distance, backend, threads)
    places = np.empty((len(queries), k), dtype=np.int64)
    similarities = np.empty((len(queries), k))
    for begin in range(0, len(queries), _QUERIES):
        part = queries[begin : begin + _QUERIES]
        for number, own in enumerate(candidates(part), start=begin):
            rounded = np.round(exact(training[own], queries[number]), _DIGITS)
            order = np.lexsort((own, -rounded))[:k]
            places[number], similarities[number] = own[order], rounded[order]
        if progress is not None:
            progress(begin + len(part), len(queries))
    return Neighbours(places, similarities)


# Similarities in double precision

Similarity = Callable[[NDArray[np.float32], NDArray[np.float32]], NDArray[np.float64]]


def _intersection(rows: Matrix, query: NDArray[np.float32]) -> NDArray[np.float64]:
    shared: NDArray[np.float64] = np.minimum(rows, query).astype(np.float64).sum(axis=1)
    return shared


def _closeness(rows: Matrix, query: NDArray[np.float32]) -> NDArray[np.float64]:
    gaps: NDArray[np.float64] = np.abs(rows.astype(np.float64) - query).sum(axis=1)
    return -gaps


def _cosine(rows: Matrix, query: NDArray[np.float32]) -> NDArray[np.float64]:
    products: NDArray[np.float64] = (rows.astype(np.float64) * query).sum(axis=1)
    return products


_EXACT: dict[str, Similarity] = {
    "intersection": _intersection,
    "l1": _closeness,
    "cosine": _cosine,
}


# What may be among the nearest, in single precision

Chooser = Callable[[Matrix], list[Places]]


def _chooser(
    training: Matrix, k: int, distance: Distance, backend: Backend, threads: int | None
) -> Chooser:
    """Choose who compares: a product of matrices for cosine, else faiss or numpy."""

    def by_numpy(queries: Matrix) -> list[Places]:
        return [_near(_similarities(training, query, distance), k) for query in queries]

    def by_product(queries: Matrix) -> list[Places]:
        parts = [queries[b : b + _PRODUCTS] for b in range(0, len(queries), _PRODUCTS)]
        return [_near(row, k) for part in parts for row in part @ training.T]

    if distance == "cosine":
        return by_product
    if backend == "numpy" or (backend == "auto" and find_spec("faiss") is None):
        return by_numpy
    faiss = need("faiss", "faiss-cpu", "This search needs")
    faiss.omp_set_num_threads(thread_count(threads))
    masses = training.sum(axis=1, dtype=np.float64)
    # The intersection is one half of both sums less the distance. So a row with a smaller sum, such
    # as one of zeros, is less similar than its distance says; all others keep their order.
    light = (masses < masses.max() - _TOLERANCE) & (distance == "intersection")

    def by_faiss(queries: Matrix) -> list[Places]:
        wanted = min(k + _SPARE, len(training))
        distances, places = _nearest_by_faiss(training, queries, wanted)
        chosen = []
        for query, own_distances, own in zip(queries, distances, places, strict=True):
            limit = own_distances[k - 1] + 2 * _TOLERANCE
            more_ties = wanted < len(training) and own_distances[-1] <= limit
            if more_ties or light[own].any():
                own = _near(_similarities(training, query, distance), k)
            chosen.append(own)
        return chosen

    return by_faiss


def _near(similarities: NDArray[np.float32], k: int) -> Places:
    """The rows that may be among the k most similar, given what single precision can be wrong."""
    limit = np.partition(similarities, len(similarities) - k)[len(similarities) - k]
    return np.flatnonzero(similarities >= limit - 2 * _TOLERANCE)


def _similarities(
    training: Matrix, query: NDArray[np.float32], distance: Distance
) -> NDArray[np.float32]:
    """Return how similar all training rows are to a query, in blocks."""
    similarities = np.empty(len(training), dtype=np.float32)
    height = max(1, _BLOCK // training.shape[1])
    for begin in range(0, len(training), height):
        rows = training[begin : begin + height]
        if distance == "l1":
            similarities[begin : begin + height] = -np.abs(rows - query).sum(axis=1)
        else:
            similarities[begin : begin + height] = np.minimum(rows, query).sum(axis=1)
    return similarities


def _nearest_by_faiss(
    training: Matrix, queries: Matrix, count: int
) -> tuple[NDArray[np.float32], Places]:
    """Return the nearest rows by L1 distance; training rows pass through the cache once."""
    import faiss

    distances = np.empty((len(queries), 0), dtype=np.float32)
    places = np.empty((len(queries), 0), dtype=np.int64)
    height = max(1, _BLOCK // training.shape[1])
    ours = np.ascontiguousarray(queries)
    for begin in range(0, len(training), height):
        rows = np.ascontiguousarray(training[begin : begin + height])
        own, numbers = faiss.knn(ours, rows, min(count, len(rows)), metric=faiss.METRIC_L1)
        distances = np.hstack([distances, own])
        places = np.hstack([places, numbers + begin])
        if distances.shape[1] > count:
            best = np.argpartition(distances, count - 1, axis=1)[:, :count]
            distances = np.take_along_axis(distances, best, axis=1)
            places = np.take_along_axis(places, best, axis=1)
    order = np.argsort(distances, axis=1, kind="stable")
    return np.take_along_axis(distances, order, axis=1), np.take_along_axis(places, order, axis=1)
