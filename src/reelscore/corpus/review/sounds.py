"""Short pieces of a film's sounds, decoded when they are asked for: never a whole track."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Literal

import numpy as np

from reelscore.corpus.pipeline import ALIGN
from reelscore.corpus.project import Project
from reelscore.corpus.project_files import AudioTrack
from reelscore.corpus.sound.audio import (
    GUESSED,
    JITTER,
    RATE,
    Floats,
    Role,
    SampleReader,
    block_resampler,
    decoded_frames,
    find_track,
    open_media,
    speakers,
    to_stereo,
)
from reelscore.corpus.sound.narration import unexplained_sound, warped
from reelscore.corpus.time_map import TimeMap
from reelscore.errors import DataError

if TYPE_CHECKING:
    from av import AudioFrame, AudioResampler

Voice = Literal["film", "ad", "residual"]

LONGEST = 60.0
"""Seconds of sound that are given at once."""

_BLOCK = 10 * RATE
_BLOCKS = 12  # that are kept: two minutes, 8 MB
_BEFORE = 1.0  # seconds that decoders need to find their way in


class TrackParts(SampleReader):
    """The samples of a track, decoded in blocks of ten seconds where they are read."""

    def __init__(self, track: AudioTrack) -> None:
        self.track = track
        self._blocks: OrderedDict[int, Floats] = OrderedDict()
        self._lock = Lock()
        self._container = open_media(track.path)
        self._stream = self._container.streams.audio[track.stream]
        self._stream.codec_context.thread_type = "NONE"
        self._origin = (self._container.start_time or 0) / 1e6
        self._is_guessed = bool(set(self._container.format.name.split(",")) & GUESSED)
        first = next(iter(decoded_frames(self._container, self._stream)), None)
        lead = 0.0 if first is None or first.time is None else first.time - self._origin
        self._origin += lead if abs(lead) <= JITTER else 0.0  # as where a whole track is decoded

    def read(self, start: int, stop: int, channel: int = 0) -> Floats:
        """Read samples by their numbers; there is silence before the first and after the last."""
        samples = np.zeros(max(0, stop - start), np.float32)
        with self._lock:
            for number in range(max(0, start) // _BLOCK, -(-stop // _BLOCK)):
                block, first = self._block(number), number * _BLOCK
                low, high = max(start, first), min(stop, first + _BLOCK)
                samples[low - start : high - start] = block[low - first : high - first]
        return samples

    def _block(self, number: int) -> Floats:
        if number in self._blocks:
            self._blocks.move_to_end(number)
            return self._blocks[number]
        block = self._blocks[number] = self._decoded(number * _BLOCK)
        while len(self._blocks) > _BLOCKS:
            self._blocks.popitem(last=False)
        return block

    def _decoded(self, first: int) -> Floats:
        block = np.zeros(_BLOCK, np.float32)
        resampler: AudioResampler | None = None
        names: tuple[str, ...] = ()
        place, expected = 0, 0.0  # of the next sample to write; when the next frame should begin
        start, end = first / RATE, (first + _BLOCK) / RATE

        def put(outputs: Iterable[AudioFrame]) -> None:
            nonlocal place
            for output in outputs:
                sound = to_stereo(names, np.asarray(output.to_ndarray(), np.float32)).mean(0)
                low, high = max(place, first), min(place + len(sound), first + _BLOCK)
                if low < high:
                    block[low - first : high - first] = sound[low - place : high - place]
                place += len(sound)

        for frame in self._frames_from(start - _BEFORE):
            described = speakers(frame)
            time = expected if frame.time is None else frame.time - self._origin
            if resampler is not None and (abs(time - expected) > JITTER or described != names):
                put(resampler.resample(None))
                resampler = None
            if resampler is None:
                if time >= end:
                    break
                names, resampler = described, block_resampler(frame)
                place, expected = round(time * RATE), time
            expected += frame.samples / frame.sample_rate
            put(resampler.resample(frame))
            if expected > end + JITTER:
                break
        if resampler is not None:
            put(resampler.resample(None))
        return block

    def _frames_from(self, time: float) -> Iterator[AudioFrame]:
        """Decode from about a time on; a place that would be a guess is looked for by counting."""
        at = time + self._origin if time > 0 else 0.0
        if self._is_guessed:
            self._container.seek(0, stream=self._stream)
            return decoded_frames(self._container, self._stream, after=at)
        self._container.seek(int(at / (self._stream.time_base or 1)), stream=self._stream)
        return decoded_frames(self._container, self._stream)


class FilmSounds:
    """What can be heard of a film: its sound, its described track on the film's time, the rest."""

    def __init__(self, project: Project, film_id: str) -> None:
        film, aligned = project.film(film_id), project.result(ALIGN, film_id)
        self.time_map = TimeMap(aligned.map) if aligned and aligned.map else None
        self.stretched = aligned is not None and aligned.mode == "stretched"
        self.voices: tuple[Voice, ...] = ()
        self._paths: dict[Role, tuple[Path, int | None]] = {}
        self._tracks: dict[Role, TrackParts] = {}
        roles: tuple[Role, Role] = ("film", "ad")
        for role, path, stream in zip(
            roles, (film.film, film.ad), project.streams(film_id), strict=True
        ):
            if path is not None and (project.folder / path).is_file():
                self._paths[role] = (project.folder / path, stream)
        if "film" in self._paths:
            self.voices += ("film",)
        if "ad" in self._paths and self.time_map is not None:
            self.voices += ("ad", "residual") if "film" in self._paths else ("ad",)

    def _track(self, role: Role) -> TrackParts:
        """Open a track when it is first heard."""
        if role not in self._tracks:
            path, stream = self._paths[role]
            self._tracks[role] = TrackParts(find_track(path, role=role, stream=stream))
        return self._tracks[role]

    def read(self, voice: Voice, start: float, end: float) -> Floats:
        """Return samples, in the film's time."""
        if voice not in self.voices:
            raise DataError(f"The film has no sound {voice!r}; name its files and align it.")
        if not 0 < end - start <= LONGEST:
            raise DataError(f"A piece of sound has at most {LONGEST:.0f} seconds.")
        first, last = round(start * RATE), round(end * RATE)
        if voice == "film":
            return self._track("film").read(first, last)
        assert self.time_map is not None
        if voice == "ad":
            return warped(self._track("ad"), self.time_map, first, last)
        tracks = self._track("ad"), self._track("film")
        return unexplained_sound(*tracks, self.time_map, first, last, stretched=self.stretched)
