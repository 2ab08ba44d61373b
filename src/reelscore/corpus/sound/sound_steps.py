"""Aligning two files, and finding the narrator: what is decoded, and what results say of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any

from reelscore._progress import Progress
from reelscore.corpus.pipeline import ALIGN, StepWork
from reelscore.corpus.project_files import AlignedTracks, AudioTrack, NarrationSegments, Remark
from reelscore.corpus.sound.audio import Samples, find_track, read_samples
from reelscore.corpus.sound.film_alignment import align_samples
from reelscore.corpus.sound.segmentation import (
    RESIDUAL,
    level_method,
    narration_turns,
    segment_samples,
)
from reelscore.corpus.sound.sound_remarks import alignment_remarks, segmentation_remarks
from reelscore.corpus.sound.voices import Detector
from reelscore.errors import DataError


@dataclass(frozen=True)
class TrackPair:
    """The sound of a film and its described track.

    Attributes:
        film: The film's stream of sound.
        ad: The described one.
    """

    film: AudioTrack
    ad: AudioTrack


def find_pair(
    film: str | Path,
    ad: str | Path,
    *,
    film_stream: int | None = None,
    ad_stream: int | None = None,
) -> TrackPair:
    """Choose the streams of sound of a film and of its described version.

    Args:
        film: The film, or its sound.
        ad: The described track; it may be another stream of the same file.
        film_stream: The number of the film's stream, from 0; chosen if not given.
        ad_stream: The number of the described stream, from 0; chosen if not given.

    Raises:
        DataError: If a file cannot be read, has no sound, or both are the same stream.
    """
    film_track = find_track(film, role="film", stream=film_stream)
    ad_track = find_track(ad, role="ad", stream=ad_stream, language=film_track.language)
    same_file = Path(film).resolve() == Path(ad).resolve()
    if same_file and film_track.stream == ad_track.stream:
        raise DataError(
            f"{film}: film and described track are the same sound (stream {film_track.stream}); "
            "name another file with --ad, or another stream with --stream."
        )
    return TrackPair(film_track, ad_track)


@contextmanager
def _decoded(
    pair: TrackPair, folder: Path | None, channels: int = 1
) -> Iterator[tuple[Samples, Samples]]:
    with (
        read_samples(pair.film, folder=folder, channels=channels) as film,
        read_samples(pair.ad, folder=folder, channels=channels) as ad,
    ):
        yield film, ad


def align(
    pair: TrackPair,
    *,
    rate: float | None = None,
    search: float | None = 60.0,
    folder: Path | None = None,
    progress: Progress | None = None,
) -> AlignedTracks:
    """Align a described track with its film.

    Args:
        pair: The streams of sound.
        rate: Film seconds for each second of the track; found if not given.
        search: How many seconds around the expected place to look; None for the whole film.
        folder: Where temporary files go; the system's folder for them if not given.
        progress: Called with the work done and the work there is.

    Returns:
        The time map, whether both are of the same film, and a report.
    """
    with _decoded(pair, folder) as (film, ad):
        found = align_samples(ad, film, rate=rate, search=search, progress=progress)
        remarks = tuple(alignment_remarks(found, film, ad))
    pieces = found.map.pieces
    for piece in pieces:
        assert 0 <= piece.film_start <= piece.film_end <= found.film_seconds + 1e-6
    breaks = found.map.breaks(found.ad_seconds, found.film_seconds) if pieces else []
    return AlignedTracks(
        film=replace(pair.film, seconds=found.film_seconds),
        ad=replace(pair.ad, seconds=found.ad_seconds),
        match=found.related,
        mode="stretched" if found.stretched else "coherent",
        rate=found.rate,
        confidence=round(found.confidence, 4),
        coherent=round(found.coherent, 4),
        map=pieces,
        breaks=tuple(breaks),
        report=remarks,
    )


def segment(
    pair: TrackPair,
    aligned: AlignedTracks,
    *,
    method: str = RESIDUAL,
    threshold: float | None = None,
    min_length: float = 0.4,
    gap: float = 0.35,
    detector: Detector = "auto",
    folder: Path | None = None,
    progress: Progress | None = None,
) -> NarrationSegments:
    """Find the narration of a described track.

    Args:
        pair: The streams of sound.
        aligned: What `align` gave for them.
        method: `residual`, or where the studies are installed one of the paper's: `spectrogram`,
            `lms`.
        threshold: The level in dB that a segment must reach; the method's own if not given.
        min_length: Shorter segments are left out, in seconds.
        gap: Shorter pauses do not part segments, in seconds.
        detector: What hears voices, for the method `residual`: `silero`, `none`, or with `auto`
            silero-vad where it is installed.
        folder: Where temporary files go; the system's folder for them if not given.
        progress: Called with the work done and the work there is.

    Returns:
        The segments, the narrator's turns, and a report.

    Raises:
        DataError: If the track was not found in the film.
    """
    time_map = aligned.time_map
    channels = other.channels if (other := level_method(method)) else 1
    with _decoded(pair, folder, channels) as (film, ad):
        found = segment_samples(
            ad,
            film,
            time_map,
            stretched=aligned.mode == "stretched",
            method=method,
            threshold=threshold,
            min_length=min_length,
            gap=gap,
            detector=detector,
            progress=progress,
        )
        remarks = tuple(segmentation_remarks(found))
        if channels > 1:
            remarks += tuple(_isolation_remarks(film, ad))
    return NarrationSegments(
        method=found.method,
        detector=found.detector,
        thresholds=found.thresholds,
        narrated=round(sum(each.end - each.start for each in found.segments), 3),
        segments=found.segments,
        turns=narration_turns(found.segments),
        report=remarks,
    )


def _isolation_remarks(film: Samples, ad: Samples) -> Iterator[Remark]:
    for name, each in (("film", film), ("described track", ad)):
        if each.mono:
            words = f"Left and right of the {name} are equal: its centre cannot be isolated."
            yield Remark("mono", words)


def align_film(
    work: StepWork,
    *,
    rate: float | None = None,
    search: float | None = 60.0,
    film_stream: int | None = None,
    ad_stream: int | None = None,
) -> AlignedTracks:
    """Align the described track of a film of a project, as `align` does."""
    sounds = work.project.sounds(work.film_id)
    pair = find_pair(*sounds, film_stream=film_stream, ad_stream=ad_stream)
    folder = work.project.cache(work.film_id)
    return align(pair, rate=rate, search=search, folder=folder, progress=work.progress)


@wraps(segment, assigned=())
def segment_film(work: StepWork, **options: Any) -> NarrationSegments:
    """Find the narration of a film of a project, by the options of `segment`."""
    project, film_id = work.project, work.film_id
    film_stream, ad_stream = project.streams(film_id)
    pair = find_pair(*project.sounds(film_id), film_stream=film_stream, ad_stream=ad_stream)
    aligned, folder = project.needed(ALIGN, film_id), project.cache(film_id)
    return segment(pair, aligned, folder=folder, progress=work.progress, **options)
