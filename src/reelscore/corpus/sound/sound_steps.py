"""The steps of a corpus on files: each gives plain data, to be written as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import msgspec

from reelscore._progress import Progress
from reelscore.corpus.project_files import Piece, Remark
from reelscore.corpus.sound.audio import AudioTrack, Samples, find_track, read_samples
from reelscore.corpus.sound.film_alignment import align_samples
from reelscore.corpus.sound.segmentation import Method, narration_turns, segment_samples
from reelscore.corpus.sound.sound_remarks import alignment_findings, segmentation_findings
from reelscore.corpus.sound.time_map import TimeMap
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
) -> dict[str, Any]:
    """Align a described track with its film.

    Args:
        pair: The streams of sound.
        rate: Film seconds for each second of the track; found if not given.
        search: How many seconds around the expected place to look; None for the whole film.
        folder: Where temporary files go; the system's folder for them if not given.
        progress: Called with the work done and the work there is.

    Returns:
        The time map (`map`), whether both are of the same film (`match`), and a `report`.
    """
    with _decoded(pair, folder) as (film, ad):
        alignment = align_samples(ad, film, rate=rate, search=search, progress=progress)
        findings = alignment_findings(alignment, film, ad)
    pieces = alignment.map.pieces
    for piece in pieces:
        assert 0 <= piece.film_start <= piece.film_end <= alignment.film_seconds + 1e-6
    breaks = alignment.map.breaks(alignment.ad_seconds, alignment.film_seconds) if pieces else []
    return {
        "film": {**asdict(pair.film), "seconds": alignment.film_seconds},
        "ad": {**asdict(pair.ad), "seconds": alignment.ad_seconds},
        "match": alignment.related,
        "mode": "stretched" if alignment.stretched else "coherent",
        "rate": alignment.rate,
        "confidence": round(alignment.confidence, 4),
        "coherent": round(alignment.coherent, 4),
        "map": [asdict(piece) for piece in pieces],
        "breaks": [asdict(each) for each in breaks],
        "report": report(findings),
    }


def segment(
    pair: TrackPair,
    aligned: Mapping[str, Any],
    *,
    method: Method = "residual",
    threshold: float | None = None,
    min_length: float = 0.4,
    gap: float = 0.35,
    folder: Path | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Find the narration of a described track.

    Args:
        pair: The streams of sound.
        aligned: What `align` gave for them.
        method: `residual`, or one of the paper's: `spectrogram`, `lms`.
        threshold: The level in dB that a segment must reach; the method's own if not given.
        min_length: Shorter segments are left out, in seconds.
        gap: Shorter pauses do not part segments, in seconds.
        folder: Where temporary files go; the system's folder for them if not given.
        progress: Called with the work done and the work there is.

    Returns:
        The `segments`, the narrator's `turns`, and a `report`.

    Raises:
        DataError: If the track was not aligned with the film.
    """
    time_map = map_of(aligned)
    with _decoded(pair, folder, 3 if method == "lms" else 1) as (film, ad):
        found = segment_samples(
            ad,
            film,
            time_map,
            stretched=aligned.get("mode") == "stretched",
            method=method,
            threshold=threshold,
            min_length=min_length,
            gap=gap,
            progress=progress,
        )
        findings = segmentation_findings(found)
        if method == "lms":
            findings += _isolation_findings(film, ad)
    return {
        "method": found.method,
        "thresholds": list(found.thresholds),
        "narrated": round(sum(each.end - each.start for each in found.segments), 3),
        "segments": [asdict(each) for each in found.segments],
        "turns": narration_turns(found.segments),
        "report": report(findings),
    }


def _isolation_findings(film: Samples, ad: Samples) -> list[Remark]:
    alike = [name for name, each in (("film", film), ("described track", ad)) if each.mono]
    return [
        Remark("mono", f"Left and right of the {name} are equal: its centre cannot be isolated.")
        for name in alike
    ]


def map_of(aligned: Mapping[str, Any]) -> TimeMap:
    """Read the time map of an alignment.

    Args:
        aligned: What `align` gave.

    Raises:
        DataError: If it has no map, or an empty one.

    >>> piece = {"ad_start": 0.0, "ad_end": 9.0, "film_start": 1.0, "rate": 1.0}
    >>> map_of({"map": [piece]}).to_film(2.0)
    3.0
    """
    try:
        pieces = msgspec.convert(aligned.get("map"), tuple[Piece, ...])
    except msgspec.ValidationError as error:
        raise DataError(
            f"The alignment has no time map ({error}); make it with 'reelscore corpus align'."
        ) from None
    if not pieces:
        raise DataError(
            "The described track was not found in the film, so there is nothing to segment; "
            "see the report of 'reelscore corpus align'."
        )
    return TimeMap(pieces)


def report(findings: Sequence[Remark]) -> list[dict[str, Any]]:
    """Write findings as plain data.

    Args:
        findings: The findings.

    >>> report([Remark("mono", "Left and right are equal.")])
    [{'code': 'mono', 'message': 'Left and right are equal.', 'trusted': True, 'details': []}]
    """
    return [{**asdict(finding), "details": list(finding.details)} for finding in findings]
