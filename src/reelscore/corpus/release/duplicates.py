"""Films that are the same by their sound, whatever their titles say.

Every film is decoded once, and its features are kept in its cache. Two films are compared by a few
chunks first; only those that resemble each other there are aligned.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from reelscore._progress import Progress
from reelscore.corpus.pipeline import fingerprint
from reelscore.corpus.project import Project
from reelscore.corpus.project_files import SameFilm
from reelscore.corpus.sound.audio import Floats, Role, find_track, read_samples
from reelscore.corpus.sound.film_alignment import RELATED
from reelscore.corpus.sound.film_anchors import (
    CHUNK,
    STANDARD_RATES,
    FilmIndex,
    coarse_features,
    find_anchors,
)
from reelscore.corpus.sound.sound_features import sound_features, stretched
from reelscore.data.atomic_files import write_atomically
from reelscore.errors import DataError

_SHORTEST = 2 * CHUNK  # frames: 20 seconds
_CHUNKS = 12
_BEST = 3  # chunks: a quarter of the film is enough for a confidence of 0.12
# Mean correlation of the best chunks: 0.36 and more for versions of a film, with a narrator, other
# speeds and low bit rates; up to 0.20 for other films.
_ALIKE = 0.24


def film_features(project: Project, film_id: str) -> Floats | None:
    """Return the features of a film's sound, from its cache if its file is as it was."""
    film = project.film(film_id)
    path = _sound_file(project, film_id)
    if path is None:
        return None
    try:
        role: Role = "film" if film.film else "ad"
        stream = film.film_stream if film.film else film.ad_stream
        track = find_track(path, role=role, stream=stream)
    except DataError as error:
        raise DataError(f"{error} Or compare films by title alone, with --by-title.") from None
    cache = project.cache(film_id)
    place = cache / f"features-{fingerprint(path).sha256[:16]}-{track.stream}.npy"
    if place.is_file():
        kept: Floats = np.load(place).astype(np.float32)
        return kept
    with read_samples(track, folder=cache) as samples:
        features = sound_features(samples)
    content = io.BytesIO()
    np.save(content, features.astype(np.float16))
    for old in cache.glob("features-*.npy"):
        old.unlink(missing_ok=True)
    write_atomically(place, content.getvalue())
    return features.astype(np.float16).astype(np.float32)  # the same as from the cache


def _sound_file(project: Project, film_id: str) -> Path | None:
    film = project.film(film_id)
    name = film.film or film.ad
    path = project.folder / name if name else None
    return path if path is not None and path.is_file() else None


def same_films(
    project: Project, film_ids: Sequence[str], progress: Progress | None = None
) -> tuple[list[SameFilm], list[str]]:
    """Find the films of a project that have the same sound."""
    chunks: dict[str, list[Floats]] = {}
    lengths: dict[str, int] = {}
    silent = []
    for number, film_id in enumerate(film_ids, start=1):
        features = film_features(project, film_id)
        if features is None or len(features) < _SHORTEST:
            silent.append(film_id)
        else:
            chunks[film_id], lengths[film_id] = _chunks(features), len(features)
        if progress:
            progress(number, 2 * len(film_ids))
    pairs = []
    longest_first = sorted(lengths, key=lambda film_id: (-lengths[film_id], film_id))
    for number, film_id in enumerate(longest_first, start=1):
        others = longest_first[number:]
        if others:
            film = _features(project, film_id)
            index = FilmIndex(coarse_features(film), CHUNK // 2)
            for other in others:
                confidence = _confidence(project, other, film, index, chunks[other])
                if confidence >= RELATED:
                    pairs.append(SameFilm((film_id, other), round(confidence, 4)))
        if progress:
            progress(len(film_ids) + number, 2 * len(film_ids))
    return pairs, silent


def _features(project: Project, film_id: str) -> Floats:
    features = film_features(project, film_id)
    assert features is not None  # those without a file are not compared
    return features


def _chunks(features: Floats) -> list[Floats]:
    """Cut a few chunks out of a film, for each speed at which films are transferred."""
    coarse, length = coarse_features(features), CHUNK // 2
    groups = []
    for rate in STANDARD_RATES.values():
        at_rate = stretched(coarse, rate)
        starts = np.linspace(0, max(0, len(at_rate) - length), _CHUNKS).astype(int)
        groups.append(np.stack([at_rate[start : start + length] for start in starts]))
    return groups


def _confidence(
    project: Project, other: str, film: Floats, index: FilmIndex, groups: Sequence[Floats]
) -> float:
    """Return how well a film fits a longer one: 0 if its chunks are nowhere in it."""
    scores = []
    for chunks in groups:
        peaks = sorted(float(index.correlate(chunk)[0].max()) for chunk in chunks)
        scores.append(sum(peaks[-_BEST:]) / _BEST)
    if max(scores) < _ALIKE:
        return 0.0
    rate = list(STANDARD_RATES.values())[int(np.argmax(scores))]
    return find_anchors(_features(project, other), film, rate).confidence
